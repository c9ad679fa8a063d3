"""Memory that IOR occupies is not there for the page cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from theta_runs import scenario

from xc40io.config.machine import load_machine
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.options import parse_arguments

GIB = 1 << 30


@pytest.mark.parametrize(
    ("typed", "gib"),
    [("-w", 0), ("-M 3g", 3), ("-M 25%", 48), ("-O memoryPerTask=2g", 8)],
)
def test_memory_is_given_for_a_node_or_for_a_task(typed: str, gib: int) -> None:
    (test,) = parse_arguments(typed.split()).tests
    assert test.occupied_memory(load_machine("theta").nodes.memory, tasks=4) == gib * GIB


def run(ior: str) -> Result:
    return simulate(scenario(ior, 1, 16, count=8, nodes__memory="2 GiB"))


def test_what_is_left_bounds_the_cache() -> None:
    # 512 MiB fit into half of the memory, but not into an eighth of it.
    ior = "-w -r -F -b 32m -t 1m"
    roomy, tight = run(ior), run(f"{ior} -M 1792m")
    assert roomy.stats[Stat.EVICTED_BYTES] == 0
    assert tight.stats[Stat.EVICTED_BYTES] > 0
    assert tight.stats[Stat.HIT_BYTES] < roomy.stats[Stat.HIT_BYTES]
    assert run(f"{ior} -M 50%").stats == roomy.stats  # Lustre caches no more than half anyway


def test_each_test_of_a_script_has_its_own_memory(tmp_path: Path) -> None:
    script = tmp_path / "memory.ior"
    settings = "blockSize=32m\ntransferSize=1m\nfilePerProc=1\n"
    runs = "memoryPerNode=1792m\nRUN\nmemoryPerNode=0\nRUN\n"
    script.write_text(f"IOR START\n{settings}{runs}IOR STOP\n")
    tight, roomy = run(f"-f {script}").outcome.tests
    assert tight.records[1].stretch.doing[Cause.TRANSFER] > 0.0  # the read went to the servers
    assert roomy.records[1].stretch.doing[Cause.TRANSFER] == 0.0
