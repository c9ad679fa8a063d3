"""Output in the background: it hides behind computing, but for what copies and cores cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_jobs import run, run_kernel

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.plane.causes import Cause
from xc40io.run.result import Result

MIB = 1 << 20
COPY = load_machine("theta").mpi.copy_rate

APIS = ("posix", "mpiio", "hdf5")


def overlap(depth: int = 1, **options: Any) -> Result:
    job = {"striping": {"count": 4}, "cores": {"depth": depth}}
    return run_kernel("overlap", 1, 2, job=job, **options)


def end(result: Result) -> float:
    return max(row.end for row in result.rows)


def spent(result: Result, name: str) -> float:
    return sum(row.longest for row in result.rows if row.phase == name)


@settings(max_examples=12)
@given(
    st.sampled_from(APIS),
    st.integers(1, 64),
    st.integers(0, 40).map(lambda ticks: ticks / 100),
    st.booleans(),
)
def test_a_step_takes_as_long_as_the_longer_of_both(api, mebibytes, compute, copy_first):
    """The bounds: no less than either, no more than both, and the copy on top."""
    asked: dict[str, Any] = {"api": api, "size": mebibytes * MIB, "compute": compute, "steps": 2}
    alone = overlap(**asked)
    behind = {
        depth: overlap(depth, overlap=True, copy_first=copy_first, **asked) for depth in (1, 2)
    }
    copies = 2 * copy_first * mebibytes * MIB / COPY
    for result in behind.values():
        writing = spent(result, "write (background)")
        assert spent(result, "write") == pytest.approx(copies, rel=1e-3, abs=1e-6)
        assert end(result) >= max(2 * compute, writing) + copies
        assert end(result) <= end(alone) + copies + 0.01
        assert result.bulk_bytes == pytest.approx(alone.bulk_bytes, rel=0.01)
    free = behind[2]
    writes = [row.seconds for row in free.rows if row.phase == "write (background)"]
    around = spent(free, "open") + spent(free, "sync, close")
    assert end(free) <= sum(max(compute, write) for write in writes) + copies + around + 0.01
    assert end(free) <= end(behind[1]) + 0.01


@pytest.mark.parametrize("api", APIS)
def test_a_thread_on_the_ranks_core_makes_computing_longer_and_one_on_its_own_does_not(api):
    asked: dict[str, Any] = {"api": api, "size": 128 * MIB, "steps": 1, "overlap": True}
    shared, free = (overlap(depth, compute=3.0, **asked) for depth in (1, 2))
    core = {name: one.doing[:, Cause.CORE].max() for name, one in (("s", shared), ("f", free))}
    assert core["s"] > 10 * core["f"]
    assert end(shared) - end(free) == pytest.approx(core["s"] - core["f"], rel=0.05)
    assert spent(shared, "wait") == spent(free, "wait") == 0.0


def test_the_system_threads_keep_off_the_ranks_cores_where_some_are_left_to_them():
    free, specialised = (
        run_kernel(
            "overlap", 1, 2, overlap=True, compute=2.0, steps=1, job={"cores": {"depth": 2} | more}
        )
        for more in ({}, {"system": 4})
    )
    assert free.doing[:, Cause.CORE].max() > 0.0
    assert specialised.doing[:, Cause.CORE].max() == 0.0


SKELETON = """
summary: A file that is written in the background.
files:
  out: {{per: job, api: {api}}}
phases:
  - create: out
  - write: {{file: out, size: 8 MiB, {how}, background: true}}
  - barrier
  - compute: 1 s
  - {last}
"""


def skeleton(folder: Path, api: str, how: str, last: str = "close: out") -> Result:
    path = folder / "background.yaml"
    path.write_text(SKELETON.format(api=api, how=how, last=last))
    return run({"kernel": {"name": str(path)}}, nodes=2, ppn=2)


@pytest.mark.parametrize("last", ["close: out", "wait: out"])
def test_the_file_is_waited_for_and_a_barrier_is_not_the_end_of_it(tmp_path, last):
    result = skeleton(tmp_path, "mpiio", "transfer: 1 MiB", last)
    (row,) = [row for row in result.rows if row.phase == "write out (background)"]
    assert row.bytes == result.bulk_bytes == 4 * 8 * MIB
    assert 0.0 < row.end < 1.0
    assert 1.0 < end(result) < 1.2


def test_romio_makes_calls_of_several_pieces_at_once(tmp_path):
    result = skeleton(tmp_path, "mpiio", "piece: 64 KiB, pattern: strided")
    assert "write out (background)" not in {row.phase for row in result.rows}
    assert spent(result, "write out") > 0.01
    assert end(result) > 1.0 + spent(result, "write out")


def test_collective_calls_of_mpi_io_do_not_go_on_by_themselves(tmp_path):
    with pytest.raises(InputError, match="background beside collective: MPI-IO goes on"):
        skeleton(tmp_path, "mpiio", "collective: true")
