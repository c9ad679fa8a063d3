"""From counters to calls: sizes, places, and who made them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.workloads.darshan.call_pattern import (
    Passes,
    collective_matrix,
    contiguous_pieces,
    even_sizes,
    holes_below,
    interleaved_pieces,
    offsets_of,
    passes_of,
    place,
    sizes_of,
)
from xc40io.workloads.darshan.call_rows import deal
from xc40io.workloads.darshan.module_counters import BIN_NAMES, Counters, active_ranks, bin_of
from xc40io.workloads.darshan.turns import ReadCosts, met_between_files, runs_of

MIB = 2**20
SIZES = st.lists(
    st.one_of(st.integers(0, 200), st.sampled_from([512, 4096, MIB]), st.integers(0, 2**31)),
    min_size=1,
    max_size=60,
)


def record_of(**counters: float) -> Counters:
    """Return one record of POSIX, by the names of its counters."""
    whole = {name: value for name, value in counters.items() if not name.startswith("F_")}
    floats = {name: value for name, value in counters.items() if name.startswith("F_")}
    tables = (
        np.array([list(whole.values())], np.int64).reshape(1, -1),
        np.array([list(floats.values())], np.float64).reshape(1, -1),
    )
    one = np.zeros(1, np.int64)
    return Counters.of("POSIX", one.astype(np.uint64), one - 1, tables, [*whole, *floats])


def counters_of(sizes: list[int], direction: str) -> dict[str, int]:
    """Count sizes as Darshan does."""
    found: dict[str, int] = {}
    for size in sizes:
        name = f"SIZE_{direction}_{BIN_NAMES[bin_of(size)]}"
        found[name] = found.get(name, 0) + 1
    return found


def common_of(sizes: list[int]) -> dict[str, int]:
    values, counts = np.unique(sizes, return_counts=True)
    found = {}
    for rank, which in enumerate(np.argsort(-counts, kind="stable")[:4].tolist(), start=1):
        found[f"ACCESS{rank}_ACCESS"] = int(values[which])
        found[f"ACCESS{rank}_COUNT"] = int(counts[which])
    return found


@given(SIZES)
def test_sizes_keep_number_bytes_and_classes(sizes):
    record = record_of(**counters_of(sizes, "WRITE"), **common_of(sizes))
    found = sizes_of(record, "WRITE", len(sizes), sum(sizes))
    assert len(found) == len(sizes)
    assert found.sum() == sum(sizes)
    assert (np.diff(found) >= 0).all()
    assert sorted(map(bin_of, found.tolist())) == sorted(map(bin_of, sizes))


@given(SIZES, SIZES)
def test_reads_and_writes_share_the_common_sizes_and_keep_their_bytes(reads, writes):
    record = record_of(
        **counters_of(reads, "READ"), **counters_of(writes, "WRITE"), **common_of(reads + writes)
    )
    for direction, sizes in (("READ", reads), ("WRITE", writes)):
        found = sizes_of(record, direction, len(sizes), sum(sizes))
        assert (len(found), found.sum()) == (len(sizes), sum(sizes))


def test_four_sizes_come_out_as_they_were():
    sizes = [512] * 9 + [544] * 5 + [328] * 3 + [262144] * 32
    record = record_of(**counters_of(sizes, "READ"), **common_of(sizes))
    assert sizes_of(record, "READ", len(sizes), sum(sizes)).tolist() == sorted(sizes)


def test_sizes_that_contradict_the_classes_are_even():
    record = record_of(SIZE_READ_0_100=3, ACCESS1_ACCESS=10, ACCESS1_COUNT=3)
    assert sizes_of(record, "READ", 3, 10**6).tolist() == [333333, 333333, 333334]
    assert even_sizes(3, 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("size", "name"), [(100, "0_100"), (101, "100_1K"), (MIB, "100K_1M")])
def test_classes_are_darshans(size, name):
    assert BIN_NAMES[bin_of(size)] == name


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=50),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 10**9),
)
def test_offsets_stay_within_the_file(sizes, consecutive, sequential, more):
    lengths = np.array(sizes, np.int64)
    extent = max(sizes) + more
    found = offsets_of(
        lengths, consecutive=consecutive, sequential=sequential, strides={}, extent=extent
    )
    assert (found >= 0).all()
    assert (found + lengths).max() <= extent


def test_consecutive_calls_follow_one_another():
    sizes = np.array([10, 20, 30, 40])
    found = offsets_of(sizes, consecutive=3, sequential=3, strides={}, extent=100)
    assert found.tolist() == [0, 10, 30, 60]


def test_known_strides_are_gaps_and_the_last_byte_is_reached():
    sizes = np.full(4, 10)
    found = offsets_of(sizes, consecutive=0, sequential=3, strides={90: 3}, extent=310)
    assert found.tolist() == [0, 100, 200, 300]
    shifted = offsets_of(sizes, consecutive=0, sequential=4, strides={90: 3}, extent=330)
    assert shifted.tolist() == [20, 120, 220, 320]
    damaged = offsets_of(sizes, consecutive=0, sequential=3, strides={90: 2**50}, extent=310)
    assert damaged.tolist() == found.tolist()


def test_jumps_back_begin_anew():
    found = offsets_of(np.full(4, 10), consecutive=2, sequential=2, strides={}, extent=20)
    assert sorted(found.tolist()) == [0, 0, 10, 10]


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 90))
def test_reads_and_writes_take_turns_as_often_as_recorded(reads, writes, switches):
    order = np.argsort(np.concatenate(runs_of(reads, writes, switches)), kind="stable")
    kinds = np.array([0] * reads + [1] * writes)[order]
    wanted = min(switches, 2 * min(reads, writes) - 1)
    assert np.count_nonzero(np.diff(kinds)) == max(1, wanted)
    assert kinds[0] == 0


def test_the_variance_tells_how_many_ranks_wrote():
    total, ranks = 43637372528, 65536
    alone = record_of(
        BYTES_WRITTEN=total,
        SLOWEST_RANK=17,
        SLOWEST_RANK_BYTES=total,
        F_VARIANCE_RANK_BYTES=total**2 / ranks - (total / ranks) ** 2,
    )
    assert active_ranks(alone, ranks).tolist() == [17]
    assert len(active_ranks(record_of(BYTES_WRITTEN=total), 64)) == 64


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60), st.integers(1, 8))
def test_ranks_that_share_a_file_do_not_overlap(sizes, members):
    lengths = np.sort(np.array(sizes, np.int64))
    dealt = deal(len(sizes), members)
    for blocks in (1, 2, max(1, len(sizes) // members)):
        extent = int(lengths.sum()) * 2
        offset = place(lengths, dealt, extent, Passes(blocks=blocks))
        order = np.argsort(offset)
        assert (offset[order][1:] >= (offset + lengths)[order][:-1]).all()
        assert (offset + lengths).max() <= extent


def test_ranks_that_read_all_of_a_file_begin_at_its_first_byte():
    dealt = deal(8, 4)
    passes = passes_of(8, 800, 200, 4, apart=0, rounds={1})
    offset = place(np.full(8, 100), dealt, 200, passes)
    assert offset[dealt.turn == 0].tolist() == [0] * 4
    assert offset[dealt.turn == 1].tolist() == [100] * 4


def test_ranks_that_go_over_a_file_twice_share_it_each_time():
    dealt = deal(16, 2)  # two ranks, each with two blocks of two calls in each of two passes
    passes = passes_of(16, 1600, 800, 2, apart=8, rounds={2})
    assert passes == Passes(times=2, blocks=2)
    offset = place(np.full(16, 100), dealt, 800, passes)
    assert offset[dealt.member == 0].tolist() == [0, 100, 400, 500] * 2
    assert offset[dealt.member == 1].tolist() == [200, 300, 600, 700] * 2


def test_what_came_faster_than_over_the_network_was_written_by_the_reader():
    costs, dealt = ReadCosts(nodes=2, call=0.0, fetch=1e-8), deal(8, 4)
    assert costs.written_by(dealt, 8, 8 * MIB, seconds=0.01) is dealt
    others = costs.written_by(dealt, 8, 8 * MIB, seconds=1.0)
    assert others.member.tolist() == [2, 3, 0, 1] * 2


def test_collective_calls_are_dealt_so_that_the_ranks_vary_as_recorded():
    sizes = np.repeat([10, 20], 8)
    even = collective_matrix(sizes, 4, 0.0)
    assert np.var(even.sum(axis=0)) == 0.0
    uneven = collective_matrix(sizes, 4, 400.0)
    assert sorted(uneven.sum(axis=0).tolist()) == [40, 40, 80, 80]


def test_holes_follow_from_what_aggregators_wrote():
    assert holes_below(1000, 1000, 10, 100) is None
    found = holes_below(25 * MIB, 95 * MIB, 100, MIB)
    assert found is not None
    assert found.density == pytest.approx(25 / 95)
    # a window is 5 % short of a stripe where it begins in a hole, 70 % of the time
    assert found.period == pytest.approx(0.05 * MIB / (1 - 25 / 95) ** 2)


@given(
    st.lists(st.integers(0, 10**5), min_size=1, max_size=20),
    st.integers(1, 6),
    st.floats(1.0, 5.0),
)
def test_interleaved_pieces_keep_the_bytes_of_each_rank_apart(sizes, each, stretch):
    lengths = np.array(sizes, np.int64)
    span = int(lengths.sum() * stretch)
    rank, offset, length = interleaved_pieces(lengths, 7, span, each)
    assert np.bincount(rank, length, len(sizes)).astype(int).tolist() == sizes
    assert (length > 0).all()
    order = np.argsort(offset)
    assert (offset[order][1:] >= (offset + length)[order][:-1]).all()
    if len(offset):
        assert offset.min() >= 7
        assert (offset + length).max() <= 7 + max(span, int(lengths.sum()))


def test_contiguous_pieces_lie_side_by_side_or_overlap_where_ranks_read_the_same():
    sizes = np.array([10, 20, 30])
    assert contiguous_pieces(sizes, 5, 60).tolist() == [5, 15, 35]
    overlapping = contiguous_pieces(np.full(4, 50), 0, 60)
    assert (overlapping + 50).max() <= 60


def own_files(*switches: int, writes: int = 4) -> Counters:
    """Records of ranks that each wrote and read a file of their own, in turns of a second.

    The last one made so many ``writes``.
    """
    whole = {"RW_SWITCHES": 0, "READS": 4, "WRITES": 4}
    seconds = {
        "F_WRITE_START_TIMESTAMP": 1.0,
        "F_WRITE_END_TIMESTAMP": 4.0,
        "F_READ_START_TIMESTAMP": 2.5,
        "F_READ_END_TIMESTAMP": 5.5,
        "F_WRITE_TIME": 2.0,
    }
    ranks = len(switches)
    counts = np.tile(np.array(list(whole.values())), (ranks, 1))
    counts[:, 0], counts[-1, 2] = switches, writes
    tables = counts, np.tile(np.array(list(seconds.values())), (ranks, 1))
    rank = np.arange(ranks)
    return Counters.of("POSIX", rank.astype(np.uint64), rank, tables, [*whole, *seconds])


def test_ranks_with_files_of_their_own_met_only_if_all_had_as_many_runs():
    assert met_between_files(own_files(3, 3, 3), 3)
    assert not met_between_files(own_files(3, 3, 3), 4)  # one has no such file
    assert not met_between_files(own_files(3, 3, 1), 3)
    assert not met_between_files(own_files(3, 3, 3, writes=1), 3)  # too few for four runs
