"""What the phases of workloads are, as each program says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.scenario import Scenario
from xc40io.workloads.catalogue import traits_if_known, traits_of
from xc40io.workloads.traits import COLLECTIVE, METADATA, MIXED, OWN, SHARED, PhaseTraits, Traits

SCRIPT = """IOR START
    filePerProc=1, blockSize=4m, transferSize=1m, writeFile=1
RUN
    filePerProc=0, blockSize=8m, transferSize=2m, writeFile=0, readFile=1
RUN
IOR STOP
"""


def traits(**workload: object) -> Traits:
    return traits_of(Scenario(machine="theta", nodes=2, ppn=2, workload=workload))


@pytest.mark.parametrize(
    ("words", "sharing"),
    [("-F -w", OWN), ("-w -r", SHARED), ("-a MPIIO -c -w", COLLECTIVE)],
)
def test_ior_says_how_ranks_share_files(words: str, sharing: str) -> None:
    found = traits(ior=f"{words} -b 4m -t 1m -s 2 -o /lus/a@/lus/b")
    assert (found.sharing, found.path, found.direct) == (sharing, "/lus/a", False)
    write = found.of("write")
    assert (write.bytes_a_rank, write.block, write.call) == (8 << 20, 4 << 20, 1 << 20)
    assert write.over_mpi == ("MPIIO" in words)


def test_phases_of_several_tests_are_told_apart_by_what_they_do(tmp_path: Path) -> None:
    script = tmp_path / "both.ior"
    script.write_text(SCRIPT)
    found = traits(ior=f"-f {script}")
    write, read = found.of("write"), found.of("read")
    assert (write.access, write.call, read.access, read.call) == ("write", 1 << 20, "read", 2 << 20)
    assert {write.sharing, read.sharing, found.sharing} == {MIXED}
    assert [part.part for part in found.parts] == [0, 1]


def test_benchmarks_of_metadata_say_so() -> None:
    assert traits(mdtest="-n 10 -u").of("file read").access == METADATA
    io500 = traits(io500={})
    assert io500.of("ior-easy-read").access == "read"
    assert io500.of("ior-easy-read").sharing == OWN
    assert io500.of("ior-hard-write").sharing == SHARED
    assert io500.of("mdtest-hard-stat").access == METADATA


def test_of_a_kernel_that_has_gone_nothing_is_known() -> None:
    gone = Scenario(machine="theta", nodes=1, ppn=1, target="bb", workload={"kernel": "gone.yaml"})
    assert traits_if_known(gone) == Traits(where="bb")


@pytest.mark.parametrize(
    ("block", "call", "size", "met"),
    [
        (64, 8, 8, 5),
        (72, 8, 8, 40),
        (64, 8, 1, 40),
        (8, 8, 8, 40),
        (64, 8, 64, 40),
        (64, 8, 32, 20),
    ],
)
def test_calls_that_are_a_multiple_of_stripes_apart_meet_few_osts(block, call, size, met) -> None:
    part = PhaseTraits(call=call << 20, block=block << 20)
    each = {
        stripe % 40
        for rank in range(608)
        for stripe in range(rank * block // size, (rank * block + call - 1) // size + 1)
    }
    assert part.osts_met(608, size << 20, 40) == met == len(each)


def test_what_is_not_known_of_calls_leaves_no_ost_out() -> None:
    assert PhaseTraits().osts_met(16, 1 << 20, 8) == 8
