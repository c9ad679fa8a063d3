from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sim

TINY = """
import json
from sim.config.scenario import Scenario, Workload
from sim.config.striping import StripeRequest
from sim.run.simulate import simulate

scenario = Scenario(
    machine="theta",
    nodes=2,
    ppn=2,
    striping=StripeRequest(count=3, size=1 << 20),
    workload=Workload(ior=("-w", "-r", "-e", "-g", "-C", "-b", "3m", "-t", "1536k")),
)
result = simulate(scenario)
times = [
    list(map(float.hex, getattr(record, name).tolist()))
    for record in result.outcome.tests[0].records
    for name in ("open_start", "open_end", "io_start", "io_end", "close_start", "close_end")
]
stations = [
    (use.name, use.requests, *map(float.hex, (use.bytes, use.busy, use.waiting, use.last)))
    for use in result.stations()
]
waits = [list(map(float.hex, row)) for row in result.waits.tolist()]
print(json.dumps([times, stations, waits, result.events]))
"""


def python(code: str, folder: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_plain_python_gives_the_very_same_result() -> None:
    """The same code, bit for bit: compiled, and with the JIT off for debuggers and lessons."""
    compiled = json.loads(python(TINY, NUMBA_DISABLE_JIT="0"))
    plain = json.loads(python(TINY, NUMBA_DISABLE_JIT="1"))
    assert compiled == plain


class Checkout:
    """A copy of the compiled packages, with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        source = Path(sim.__file__).parent
        shutil.copytree(source, folder / "sim", ignore=shutil.ignore_patterns("__pycache__"))

    def cache(self) -> str:
        """Return where this version of the sources keeps its compiled code."""
        return python(
            "import numba, sim.engine.jit; print(numba.config.CACHE_DIR)",
            self.folder,
            NUMBA_CACHE_DIR=str(self.folder / "cache"),
        ).strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    "name", ["engine/network.py", "lustre/net/lnet.py", "storage/dvs/blocks.py", "plane/events.py"]
)
def test_the_cache_folder_follows_every_compiled_source(checkout: Checkout, name: str) -> None:
    before = checkout.cache()
    assert Path(before).parent == checkout.folder / "cache"
    assert checkout.cache() == before
    source = checkout.folder / "sim" / name
    source.write_text(source.read_text() + "\n# another version\n")
    assert checkout.cache() != before
