"""Runs with faults are the same, bit for bit, whether the data plane is compiled or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from digests import digest, scenarios

from sim.run.simulate import simulate

NAMES = ("lost-osts", "lost-routers")


def told() -> list[str]:
    """Return the digests of runs with faults, and what these did."""
    runs = dict(scenarios())
    results = [simulate(runs[name]) for name in NAMES]
    return [line for result in results for line in (digest(result), *result.notes)]


def test_faults_do_the_same_without_the_compiler() -> None:
    words = [sys.executable, "-c", f"import {__name__} as m; print(*m.told(), sep='\\n')"]
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent / "support"), *sys.path])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    plain = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    compiled = told()
    assert plain.stdout.split("\n")[:-1] == compiled
    assert any("clients sent 1 RPC again" in line for line in compiled)
    assert any("lost with it: 1 message of bulk" in line for line in compiled)
    assert any("lost meanwhile: 1 message more; they sent all" in line for line in compiled)
