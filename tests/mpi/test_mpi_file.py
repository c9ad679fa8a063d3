"""What the ranks of a communicator do for each call on an MPI file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_files import (
    NUMBER,
    batch_of,
    calls,
    covered,
    done_by,
    kinds,
    mpi_file,
    of_pieces,
    random_accesses,
)

from xc40io.engine.types import make_table
from xc40io.mpi.file import PREALLOCATION_PIECE, is_interleaved
from xc40io.mpi.hints import Switch
from xc40io.mpi.stats import Timer
from xc40io.plane.files import FILE
from xc40io.plane.operations import Op

CONTIGUOUS = of_pieces([(rank, 100 * rank, 100) for rank in range(8)])
INTERLEAVED = of_pieces([(rank, 80 * i + 10 * rank, 10) for rank in range(8) for i in range(5)])
HOLES = of_pieces([(rank, 1000 * rank + 50 * i, 10) for rank in range(8) for i in range(5)])


def opened(**hints):
    """Return a file that all who do so have opened."""
    file = mpi_file(**hints)
    file.open(batch_of(), create=True)
    return file


def done(file, method, *arguments, **options):
    """Return what each rank does for one call."""
    batch = batch_of()
    getattr(file, method)(batch, *arguments, **options)
    return done_by(batch)


def doing(of_ranks, kind):
    """Return the ranks that do an operation of a kind."""
    return [rank for rank, operations in enumerate(of_ranks) if kind in kinds(operations)]


def written(of_ranks, kind=Op.WRITE):
    """Return the calls of all ranks."""
    return [call for operations in of_ranks for call in calls(operations, kind)]


def test_one_rank_creates_and_all_open_when_they_know():
    file = mpi_file()
    of_ranks = done(file, "open", create=True)
    first = file.aggregators[0]
    assert doing(of_ranks, Op.CREATE) == [first]
    assert doing(of_ranks, Op.OPEN) == list(range(8))
    sequence = [kind for kind in kinds(of_ranks[first]) if kind is not Op.MEET]
    assert sequence == [Op.CREATE, Op.CLOSE, Op.OPEN]
    assert {tuple(k for k in kinds(o) if k is Op.MEET) for o in of_ranks} == {3 * (Op.MEET,)}


def test_all_operations_of_an_open_are_on_its_timer():
    of_ranks = done(mpi_file(), "open", create=True)
    assert {o["timer"] for operations in of_ranks for o in operations} == {Timer.OPEN}


def test_deferred_open_leaves_the_file_to_the_aggregators():
    file = mpi_file(romio_no_indep_rw=True)
    assert doing(done(file, "open", create=True), Op.OPEN) == sorted(file.aggregators)
    assert doing(done(file, "sync"), Op.FSYNC) == sorted(file.aggregators)
    assert doing(done(file, "close"), Op.CLOSE) == sorted(file.aggregators)


def test_an_independent_access_opens_what_deferred_open_left_out():
    file = opened(romio_no_indep_rw=True, cray_cb_write_lock_mode=1)
    late = next(rank for rank in range(8) if rank not in file.aggregators)
    operations = done(file, "write_at", of_pieces([(late, 0, 10)]))[late]
    assert kinds(operations) == [Op.OPEN, Op.GROUP_LOCK, Op.WRITE]
    again = done(file, "write_at", of_pieces([(late, 10, 10)]))[late]
    assert kinds(again) == [Op.WRITE]


def test_lock_mode_1_locks_as_one_group_from_open_to_close():
    file = mpi_file(cray_cb_write_lock_mode=1)
    of_ranks = done(file, "open", create=False)
    locks = [o for operations in of_ranks for o in operations if o["kind"] == Op.GROUP_LOCK]
    assert len(locks) == 8
    assert len({int(o["group"]) for o in locks}) == 1
    assert locks[0]["group"] > 0
    closing = [kind for kind in kinds(done(file, "close")[0]) if kind is not Op.MEET]
    assert closing == [Op.GROUP_UNLOCK, Op.CLOSE]


def test_a_file_opened_for_reading_takes_no_group_lock():
    file = mpi_file(cray_cb_write_lock_mode=1)
    assert not doing(done(file, "open", create=False, writing=False), Op.GROUP_LOCK)
    assert not doing(done(file, "close"), Op.GROUP_UNLOCK)


def test_a_closed_file_can_be_opened_again():
    file = opened()
    done(file, "close")
    assert doing(done(file, "open", create=False), Op.OPEN) == list(range(8))


def test_a_file_opened_again_has_nothing_counted_and_no_locks_asked_for():
    file = opened(cray_cb_write_lock_mode=2)
    asked = doing(done(file, "write_at_all", CONTIGUOUS), Op.LOCK_AHEAD)
    assert asked
    assert not doing(done(file, "write_at_all", CONTIGUOUS), Op.LOCK_AHEAD)
    before = file.counts
    done(file, "close")
    done(file, "open", create=False)
    assert (before.writes.collective, file.counts.writes.collective) == (16, 0)
    assert doing(done(file, "write_at_all", CONTIGUOUS), Op.LOCK_AHEAD) == asked


@pytest.mark.parametrize(("mode", "flag"), [(0, 0), (1, 0), (2, 1)])
def test_only_lock_ahead_keeps_locks_from_growing(mode, flag):
    files = make_table(FILE.dtype, NUMBER + 1)
    mpi_file(cray_cb_write_lock_mode=mode, direct_io=True).set_flags(files)
    assert (files.no_expand[NUMBER], files.direct[NUMBER]) == (flag, 1)


def test_with_collective_buffering_only_aggregators_write():
    file = opened(romio_cb_write=Switch.ENABLE)
    of_ranks = done(file, "write_at_all", CONTIGUOUS)
    assert doing(of_ranks, Op.WRITE) == sorted(file.aggregators)
    assert covered(written(of_ranks)) == set(range(800))


def test_without_collective_buffering_nobody_waits_for_anybody():
    file = opened(romio_cb_write=Switch.DISABLE)
    of_ranks = done(file, "write_at_all", CONTIGUOUS)
    assert [kinds(operations) for operations in of_ranks] == 8 * [[Op.WRITE]]
    counts = file.counts.writes
    assert (counts.collective, counts.independent, counts.active.sum()) == (8, 0, 0)


@pytest.mark.parametrize(
    ("library", "threshold", "accesses", "reading", "aggregated"),
    [
        ("cray", 0, CONTIGUOUS, False, True),
        ("cray", 99, CONTIGUOUS, False, False),
        ("cray", 100, CONTIGUOUS, False, True),
        ("cray", 9, INTERLEAVED, False, True),
        ("romio", 99, CONTIGUOUS, False, False),
        ("romio", 0, CONTIGUOUS, True, False),
        ("romio", 0, INTERLEAVED, True, True),
        ("cray", 0, CONTIGUOUS, True, True),
    ],
)
def test_automatic_buffers_what_is_interleaved_or_small(
    library, threshold, accesses, reading, aggregated
):
    file = opened(library=library, romio_lustre_coll_threshold=threshold)
    of_ranks = done(file, "read_at_all" if reading else "write_at_all", accesses)
    counts = file.counts.reads if reading else file.counts.writes
    assert (counts.active.sum() > 0) == aggregated
    assert Timer.PLAN in {o["timer"] for o in of_ranks[0]}


@pytest.mark.parametrize(
    "hints",
    [{}, {"write_method": "one-sided"}, {"intra_node": True}, {"romio_cb_write": Switch.DISABLE}],
)
@given(accesses=random_accesses())
def test_whatever_the_way_the_file_gets_all_bytes_and_what_the_counts_name(hints, accesses):
    file = opened(**hints)
    of_ranks = done(file, "write_at_all", accesses)
    pieces = list(
        zip(accesses.offset.tolist(), (accesses.offset + accesses.length).tolist(), strict=True)
    )
    calls_made = written(of_ranks)
    assert covered(pieces) <= covered(calls_made)
    counts = file.counts.writes
    assert counts.system_bytes == sum(stop - start for start, stop in calls_made)
    assert (counts.system, counts.collective, counts.bytes) == (
        len(calls_made),
        8,
        accesses.bytes,
    )
    if len(covered(pieces)) == accesses.bytes:
        assert counts.system_bytes == accesses.bytes + counts.rewritten_bytes


@pytest.mark.parametrize("writing", [True, False])
@pytest.mark.parametrize("switch", list(Switch))
@given(accesses=random_accesses())
def test_strided_independent_accesses_reach_every_byte_of_every_rank(writing, switch, accesses):
    file = opened(romio_ds_write=switch, romio_ds_read=switch, ind_wr_buffer_size=200)
    of_ranks = done(file, "write_at" if writing else "read_at", accesses)
    kind = Op.WRITE if writing else Op.READ
    for rank, operations in enumerate(of_ranks):
        own = accesses.rank == rank
        pieces = zip(accesses.offset[own], accesses.length[own], strict=True)
        asked = covered([(a, a + b) for a, b in pieces])
        made = calls(operations, kind)
        assert asked <= covered(made)
        if switch is Switch.DISABLE:
            assert sum(stop - start for start, stop in made) == len(asked)
    counts = file.counts.writes if writing else file.counts.reads
    assert counts.system_bytes == sum(stop - start for start, stop in written(of_ranks, kind))
    assert counts.independent == len(counts.ranks) == len(set(accesses.rank.tolist()))
    if writing:
        assert counts.system_bytes == accesses.bytes + counts.rewritten_bytes


def test_sieving_spares_who_has_one_contiguous_piece():
    file = opened(romio_ds_write=Switch.AUTOMATIC)
    of_ranks = done(file, "write_at", of_pieces([(0, 0, 10), (0, 10, 10), (1, 50, 5), (1, 60, 5)]))
    assert kinds(of_ranks[0]) == [Op.WRITE]
    assert kinds(of_ranks[1]) == [Op.FLOCK, Op.READ, Op.WORK, Op.WRITE, Op.FUNLOCK]


def test_calls_of_their_own_are_counted_one_by_one_and_done_as_runs():
    file = opened()
    accesses = of_pieces([(rank, 1000 * i + 10 * rank, 10) for rank in range(8) for i in range(9)])
    of_ranks = done(file, "write_at", accesses, each=True)
    assert [len(operations) for operations in of_ranks] == 8 * [1]
    assert calls(of_ranks[3], Op.WRITE) == [(1000 * i + 30, 1000 * i + 40) for i in range(9)]
    assert (file.counts.writes.independent, file.counts.writes.system) == (72, 72)


def test_gaps_are_what_a_rank_leaves_out():
    file = opened()
    done(file, "read_at", HOLES)
    assert (file.counts.reads.gaps, file.counts.reads.gap_bytes) == (8 * 4, 8 * 4 * 40)


def test_set_size_is_one_truncate_between_two_meetings():
    file = opened()
    of_ranks = done(file, "set_size", 12345)
    (one,) = doing(of_ranks, Op.TRUNCATE)
    assert kinds(of_ranks[one]) == [Op.MEET, Op.TRUNCATE, Op.MEET]
    assert of_ranks[one][1]["offset"] == 12345


def test_a_truncate_waits_for_no_group_lock():
    file = opened(cray_cb_write_lock_mode=1)
    sequence = kinds(done(file, "set_size", 0)[file.aggregators[0]])
    assert [kind for kind in sequence if kind is not Op.MEET] == [
        Op.GROUP_UNLOCK,
        Op.TRUNCATE,
        Op.GROUP_LOCK,
    ]
    assert Op.MEET in sequence[sequence.index(Op.GROUP_UNLOCK) : sequence.index(Op.TRUNCATE)]


@given(st.integers(0, 5 * PREALLOCATION_PIECE), st.integers(0, 3 * PREALLOCATION_PIECE))
def test_rank_0_preallocates_by_writing_the_file_once(size, present):
    file = opened(romio_no_indep_rw=True)
    of_ranks = done(file, "preallocate", size, present=present)
    ends = calls(of_ranks[0], Op.WRITE)
    place = 0
    for start, stop in ends:
        assert start == place
        assert 0 < stop - start <= PREALLOCATION_PIECE
        place = stop
    assert place == size
    assert sum(b - a for a, b in calls(of_ranks[0], Op.READ)) == min(size, present)
    assert written(of_ranks) == ends
    assert file.counts.writes.system == 0


def test_pieces_one_after_the_other_are_not_interleaved():
    assert not is_interleaved(CONTIGUOUS)
    assert is_interleaved(INTERLEAVED)
    assert not is_interleaved(of_pieces([]))
    assert not is_interleaved(of_pieces([(5, 0, 10)]))
    assert is_interleaved(of_pieces([(2, 100, 10), (3, 0, 10)]))


def test_a_rank_without_a_piece_parts_those_beside_it():
    """As recorded of ROMIO: it ends where it begins, so the rank behind it is not compared."""
    assert not is_interleaved(of_pieces([(1, 100, 10), (3, 0, 10)]))
