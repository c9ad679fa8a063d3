"""The blocks of MPI-IO's access counts and times, as they are printed."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.lustre.striping import Layout
from xc40io.mpi.stats import AccessCounts, Timer
from xc40io.plane.operations import TIMERS
from xc40io.results.mpiio.mpiio_stats import stats_text, timers_text


def cube():
    """Return the counts of a published run: 192 ranks write a file through one aggregator."""
    counts = AccessCounts(stripe_count=1, stripe_size=1 << 20, aggregators=1)
    counts.writes.add_independent(np.zeros(106, np.int64), 1000)
    counts.writes.add_collective(192, 4_382_276_718, aggregators=1, active=1)
    counts.writes.add_system(np.array([1_022_463]), Layout.striped(1 << 20, [0]), np.array([4286]))
    return counts


def values(text: str) -> dict[str, str]:
    """Return what stands behind the equals sign of each row."""
    rows = (line.partition(" = ") for line in text.splitlines() if " = " in line)
    return {label.strip("| "): value.strip() for label, _, value in rows}


def times(ranks: int, **seconds: list[float]):
    """Return the timers of some ranks."""
    timers = np.zeros((ranks, TIMERS))
    for name, column in seconds.items():
        timers[:, Timer[name]] = column
    return timers


def test_counts_are_printed_as_cray_prints_them():
    text = stats_text("spin.cube", cube())
    assert "| MPIIO write access patterns for spin.cube" in text.splitlines()
    shown = values(text)
    assert shown["independent writes"] == "106"
    assert shown["collective writes"] == "192"
    assert shown["independent writers"] == "1"
    assert shown["aggregators active"] == "192,0,0,0 (1, <= 1, > 1, 1)"
    assert shown["total bytes for writes"] == "4382277718 = 4179 MiB = 4 GiB"
    assert shown["ave system write size"] == "1022463"
    assert shown["read-modify-write count"] == "0"
    assert shown["ave write gap size"] == "NA"


def test_a_direction_without_calls_has_no_block():
    assert "read access" not in stats_text("spin.cube", cube())
    assert stats_text("nothing", AccessCounts(1, 1 << 20, 1)) == ""


def test_reads_have_a_block_without_read_modify_write():
    counts = AccessCounts(stripe_count=4, stripe_size=64, aggregators=4)
    counts.reads.add_collective(8, 800, aggregators=4, active=3)
    counts.reads.add_gaps(np.array([10, 30]))
    shown = values(stats_text("some.nc", counts))
    assert shown["collective reads"] == "8"
    assert shown["aggregators active"] == "0,0,8,0 (1, <= 2, > 2, 4)"
    assert (shown["number of read gaps"], shown["ave read gap size"]) == ("2", "20")
    assert "read-modify-write count" not in shown


def test_times_of_all_ranks_and_of_the_writers():
    timers = times(4, PLAN=[1.0] * 4, EXCHANGE=[1.0] * 4, RAW_WRITE=[4.0, 2.0, 0, 0])
    timers[:, Timer.FINISH] = [0, 2.0, 4.0, 4.0]
    everyone, writers = timers_text("a", "write", cube(), timers).split("+\n+")
    assert values(everyone)["ranks writing"] == "2"
    assert values(everyone)["ranks not writing"] == "2"
    assert float(values(everyone)["total"]) == 6.0
    least, most, mean, share = values(everyone)["raw file write"].split()
    assert (float(least), float(most), float(mean), share) == (0.0, 4.0, 1.5, "25%")
    least, most, mean, share = values(writers)["raw file write"].split()
    assert (float(least), float(most), float(mean), share) == (2.0, 4.0, 3.0, "50%")


def test_bandwidths_are_those_of_the_published_run():
    timers = times(192, FINISH=[4.679 - 4.0376] + [4.679] * 191)
    timers[0, Timer.RAW_WRITE] = 4.0376
    shown = values(timers_text("spin.cube", "write", cube(), timers))
    assert float(shown["raw write BW (MiB/s)"]) == pytest.approx(1035.084, rel=1e-4)
    assert float(shown["net write BW (MiB/s)"]) == pytest.approx(893.550, rel=1e-3)


def test_phases_that_did_not_happen_are_left_out():
    shown = values(timers_text("a", "read", cube(), times(2, RAW_READ=[1.0, 1.0])))
    assert "raw file read" in shown
    assert "locks" not in shown
    assert shown["net read BW (MiB/s)"] == "0.000"


def test_what_was_done_besides_is_told_too():
    timers = times(2, RAW_READ=[1.0, 0.0], RAW_WRITE=[2.0, 0.0], SYNC=[3.0, 3.0])
    shown = values(timers_text("a", "read", cube(), timers))
    assert shown["raw file write"].split()[1] == "2.000000"
    assert shown["sync"].split()[1] == "3.000000"
    assert shown["ranks reading"] == "1"
    assert "raw file read" in values(timers_text("a", "write", cube(), timers))


def test_all_lines_of_a_block_fit_its_frame():
    timers = times(2, **{timer.name: [1e3, 0.0] for timer in Timer if timer})
    lines = timers_text("a", "write", cube(), timers).splitlines()
    assert max(len(line) for line in lines) == len(lines[0])
