"""Recordings are the same, bit for bit, whether the data plane is compiled or not."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from digests import scenarios

from xc40io.plane.recorder import LOGS
from xc40io.run.simulate import simulate

NAMES = ("conflicts", "direct", "interleaved", "threads", "ssd", "bb")


def recorded_digests() -> list[str]:
    """Return a digest of each log of some small runs."""
    runs = dict(scenarios())
    found = []
    for name in NAMES:
        recording = simulate(runs[name], record=True).recording
        assert recording is not None
        for log in LOGS:
            columns = getattr(recording, log)
            data = b"".join(np.ascontiguousarray(columns[part]) for part in columns.dtype.names)
            found.append(f"{name} {log} {hashlib.sha256(data).hexdigest()[:16]}")
    return found


def test_recordings_are_the_same_without_the_compiler() -> None:
    words = [
        sys.executable,
        "-c",
        f"import {__name__} as m; print(*m.recorded_digests(), sep='\\n')",
    ]
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent / "support"), *sys.path])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    plain = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert plain.stdout.split("\n")[:-1] == recorded_digests()
