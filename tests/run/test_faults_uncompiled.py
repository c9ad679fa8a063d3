"""Runs with faults are the same, bit for bit, whether the data plane is compiled or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from digests import digest, scenarios
from small_jobs import job

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate

NAMES = ("lost-osts", "lost-routers")

OTHERS = {
    "takeover": ["OSS 28 down from 3 ms to 4 ms, taken over after 1 ms"],
    "links": ["link green g0c0s0->g0c0s8 down from 2 ms to 9 ms, rerouted after 2 ms"],
    "evictions": ["node 0 evicted at 4 ms", "node 1 hung from 5 ms to 1 s, evicted after 0.1 s"],
}
"""Faults of servers, links and clients."""


def small(faults: list[str]) -> Scenario:
    """Return a run of some milliseconds with some faults."""
    striping = {"count": 1, "size": 1 << 20, "offset": 28}
    ior = "-w -e -b 1m -t 256k -s 4"
    return job(ior, nodes=2, ppn=1, striping=striping, faults=faults)


def told() -> list[str]:
    """Return the digests of runs with faults, and what these did."""
    runs = dict(scenarios())
    results = [simulate(runs[name]) for name in NAMES]
    results += [simulate(small(faults)) for faults in OTHERS.values()]
    return [line for result in results for line in (digest(result), *result.notes)]


@pytest.mark.slow
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
    assert any("OSS 29 had mounted OST 28" in line for line in compiled)
    assert any("the network went on, around link green" in line for line in compiled)
    assert any("had waited 100 ms for a lock" in line for line in compiled)
