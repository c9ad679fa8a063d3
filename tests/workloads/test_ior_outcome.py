"""From clock readings to IOR's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.plane.causes import COARSE, Cause
from xc40io.results.programs.ior_csv import rank_lines
from xc40io.workloads.ior.options import Access
from xc40io.workloads.ior.outcome import IorRow, PhaseRecord, Stonewall, reduce, summarise
from xc40io.workloads.job_results import Stretch


def record(times: list[list[float]], calls: list[int], moved: int) -> PhaseRecord:
    """Make a record from the six readings of each rank."""
    readings = np.array(times, dtype=float).T
    names = ("open_start", "open_end", "io_start", "io_end", "close_start", "close_end")
    return PhaseRecord(
        access=Access.WRITE,
        repetition=0,
        calls=np.array(calls),
        bytes_moved=moved,
        stretch=Stretch(
            start=0.0,
            end=1.0,
            doing=np.zeros(COARSE),
            waits=np.zeros(len(Cause)),
            last_waits=np.zeros(len(Cause)),
        ),
        **dict(zip(names, readings, strict=True)),
    )


def row(total: float, *, access: Access = Access.WRITE, wall: Stonewall | None = None) -> IorRow:
    return IorRow(access, 0, 6 / total, 1.0, 1.0, 0.0, total, 0.0, total, 6, 3, wall)


def test_earliest_start_and_latest_end_over_the_ranks() -> None:
    two = record([[10, 11, 12, 20, 21, 22], [9, 13, 13, 18, 24, 30]], [4, 10], 1400)
    reduced = reduce(two)
    assert (reduced.open, reduced.io, reduced.close, reduced.total) == (4, 8, 9, 21)
    assert reduced.bandwidth == 1400 / 21
    assert reduced.iops == 14 / 8
    assert reduced.latency == 0.5  # the second rank: 5 s for 10 calls; the first takes 2 s a call
    assert (reduced.calls, reduced.bytes_moved) == (14, 1400)


def test_a_rank_without_calls_has_no_latency() -> None:
    assert reduce(record([[0, 1, 1, 1, 1, 1], [0, 1, 1, 3, 3, 3]], [0, 4], 32)).latency == 0.5
    nothing = reduce(record([[0, 1, 1, 1, 1, 1]], [0], 0))
    assert (nothing.latency, nothing.bandwidth, nothing.iops) == (0, 0, 0)


def test_no_time_at_all_is_an_infinite_rate() -> None:
    assert reduce(record([[1, 1, 1, 1, 1, 1]], [1], 8)).bandwidth == math.inf


@given(
    st.lists(st.lists(st.floats(0, 1e3), min_size=6, max_size=6).map(sorted), min_size=1),
    st.floats(0, 1e3),
)
def test_parts_lie_within_the_whole_and_the_clock_may_start_anywhere(
    times: list[list[float]], later: float
) -> None:
    reduced = reduce(record(times, [1] * len(times), 8))
    assert max(reduced.open, reduced.io, reduced.close) <= reduced.total
    assert reduced.latency <= reduced.io
    shifted = [[reading + later for reading in readings] for readings in times]
    again = reduce(record(shifted, [1] * len(times), 8))
    assert again.total == pytest.approx(reduced.total, abs=1e-9)


def test_a_summary_by_hand() -> None:
    (summary,) = summarise([row(1.0), row(3.0)])
    assert summary.access == "write"
    rate = summary.bandwidth
    assert (rate.largest, rate.smallest, rate.mean, rate.deviation) == (6, 2, 4, 2)
    rate = summary.operations
    assert (rate.largest, rate.smallest, rate.mean, rate.deviation) == (3, 1, 2, 1)
    assert (summary.mean_time, summary.bytes_moved) == (2, 6)
    assert summary.stonewall_time is summary.stonewall_bandwidth is None


def test_verifying_reads_are_reads_and_the_write_check_is_not_summarised() -> None:
    accesses = [Access.READ_CHECK, Access.WRITE_CHECK, Access.WRITE, Access.READ]
    kinds = summarise([row(float(n + 1), access=access) for n, access in enumerate(accesses)])
    assert [kind.access for kind in kinds] == ["write", "read"]
    assert kinds[1].mean_time == 2.5


def test_the_stonewall_is_averaged_over_the_repetitions() -> None:
    walls = [Stonewall(2.0, 1, 2, 8, 12), Stonewall(4.0, 1, 2, 8, 18)]
    (summary,) = summarise([row(5.0, wall=wall) for wall in walls])
    assert summary.stonewall_time == 3.0
    assert summary.stonewall_bandwidth == 30 / 6


def test_times_of_single_ranks() -> None:
    two = record([[0, 1, 1, 3, 3, 4], [0, 1, 1, 2, 2, 2]], [1, 1], 16)
    first, second = (line.split(",") for line in rank_lines(two).splitlines())
    assert first[:2] == ["write", "0"]
    assert [float(cell) for cell in first[2:]] == [4, 2, 2, 4]
    assert second[:2] == ["write", "1"]
    assert [float(cell) for cell in second[2:]] == [2, 1, 4, 8]
