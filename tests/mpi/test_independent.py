"""FileWindows of data sieving against a plain loop over pieces, and what is read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_files import (
    batch_of,
    calls,
    covered,
    done_by,
    kinds,
    of_pieces,
    random_accesses,
    target,
)

from xc40io.mpi.independent import joined, read_sieved, sieve_windows, write_sieved
from xc40io.mpi.stats import AccessCounts, Timer
from xc40io.plane.operations import Op


def windows_by_hand(pieces, size, aligned):
    """Go through the pieces of one rank one by one, as a library with one buffer does."""
    end = max(offset + length for offset, length in pieces)
    windows, stop = [], 0
    for offset, length in pieces:
        while offset + length > stop:
            start = max(offset, stop)
            stop = (start // size + 1) * size if aligned else start + size
            stop = min(stop, end)
            windows.append((start, stop))
    return windows


@given(random_accesses(), st.integers(1, 200), st.booleans())
def test_windows_are_those_of_a_loop_over_the_pieces(accesses, size, aligned):
    accesses = joined(accesses)
    if not len(accesses.rank):
        return
    sieve = sieve_windows(accesses, size, aligned=aligned)
    for rank in set(accesses.rank.tolist()):
        own = accesses.rank == rank
        pieces = list(
            zip(accesses.offset[own].tolist(), accesses.length[own].tolist(), strict=True)
        )
        rows = sieve.rank == rank
        windows = [
            (offset, offset + length)
            for offset, length in zip(
                sieve.offset[rows].tolist(), sieve.length[rows].tolist(), strict=True
            )
        ]
        assert windows == windows_by_hand(pieces, size, aligned)
        for window, size_in, count in zip(
            windows, sieve.bytes[rows].tolist(), sieve.pieces[rows].tolist(), strict=True
        ):
            inside = [
                min(offset + length, window[1]) - max(offset, window[0])
                for offset, length in pieces
                if offset < window[1] and offset + length > window[0]
            ]
            assert (size_in, count) == (sum(inside), len(inside))


@pytest.mark.parametrize("library", ["cray", "romio"])
@given(accesses=random_accesses())
def test_a_sieved_write_writes_its_pieces_and_what_it_has_read(library, accesses):
    accesses = joined(accesses)
    if not len(accesses.rank):
        return
    batch, counts = batch_of(), AccessCounts(4, 64, 1)
    file = target(library=library, ind_wr_buffer_size=100)
    write_sieved(batch, file, accesses, counts)
    written = 0
    for rank, operations in enumerate(done_by(batch)):
        reads, writes = calls(operations, Op.READ), calls(operations, Op.WRITE)
        assert reads == writes
        own = accesses.rank == rank
        pieces = zip(accesses.offset[own], accesses.length[own], strict=True)
        assert covered([(a, a + b) for a, b in pieces]) <= covered(writes)
        assert len(covered(writes)) == sum(stop - start for start, stop in writes)
        written += len(covered(writes))
    assert written == counts.writes.system_bytes == counts.writes.modify_read_bytes
    assert written == accesses.bytes + counts.writes.rewritten_bytes


def test_plain_romio_writes_stripe_by_stripe():
    batch, counts = batch_of(), AccessCounts(4, 64, 1)
    pieces = of_pieces([(0, 10, 20), (0, 60, 10), (0, 300, 5)])
    write_sieved(batch, target(library="romio"), pieces, counts)
    assert calls(done_by(batch)[0], Op.WRITE) == [(10, 64), (64, 128), (300, 305)]


def test_each_window_is_read_modified_and_written_in_turn():
    batch, counts = batch_of(), AccessCounts(4, 64, 1)
    write_sieved(batch, target(ind_wr_buffer_size=50), of_pieces([(3, 0, 20), (3, 40, 60)]), counts)
    operations = done_by(batch)[3]
    assert kinds(operations) == 2 * [Op.FLOCK, Op.READ, Op.WORK, Op.WRITE, Op.FUNLOCK]
    assert [Timer(o["timer"]) for o in operations[:5]] == [
        Timer.LOCK,
        Timer.MODIFY_READ,
        Timer.INDEPENDENT,
        Timer.INDEPENDENT,
        Timer.LOCK,
    ]


def test_romio_of_mpich_4_holds_one_lock_around_all_windows():
    """As recorded under MPICH 4.0.2; before 3.4.2 each window had its own."""
    batch, counts = batch_of(), AccessCounts(4, 64, 1)
    pieces = of_pieces([(1, 10, 20), (1, 60, 10), (3, 100, 5), (3, 300, 5)])
    write_sieved(batch, target(library="romio", release="4"), pieces, counts)
    window = [Op.READ, Op.WORK, Op.WRITE]
    first, second = (done_by(batch)[rank] for rank in (1, 3))
    assert kinds(first) == [Op.FLOCK, *window, *window, Op.FUNLOCK]
    assert (first[0]["offset"], first[0]["length"]) == (10, 60)
    assert kinds(second) == [Op.FLOCK, *window, *window, Op.FUNLOCK]
    assert (second[0]["offset"], second[0]["length"]) == (100, 205)


@given(random_accesses())
def test_a_sieved_read_reads_every_piece_and_writes_nothing(accesses):
    accesses = joined(accesses)
    if not len(accesses.rank):
        return
    batch, counts = batch_of(), AccessCounts(4, 64, 1)
    read_sieved(batch, target(ind_rd_buffer_size=90), accesses, counts)
    for rank, operations in enumerate(done_by(batch)):
        own = accesses.rank == rank
        pieces = zip(accesses.offset[own], accesses.length[own], strict=True)
        assert covered([(a, a + b) for a, b in pieces]) <= covered(calls(operations, Op.READ))
        assert not calls(operations, Op.WRITE)
    assert counts.reads.system_bytes >= accesses.bytes


def test_a_larger_buffer_makes_fewer_and_larger_reads():
    accesses = of_pieces([(0, 100 * i, 10) for i in range(100)])
    few, many = AccessCounts(4, 64, 1), AccessCounts(4, 64, 1)
    read_sieved(batch_of(), target(ind_rd_buffer_size=5000), accesses, few)
    read_sieved(batch_of(), target(ind_rd_buffer_size=500), accesses, many)
    assert (few.reads.system, many.reads.system) == (2, 20)
