"""An MPI file: opened, written, read, synced and closed by the ranks of a communicator.

What the ranks do, and in which order, is that of ROMIO (MPICH's mpi-io and adio/common), from which
Cray's MPI-IO descends. Each method adds to a batch what one call of MPI makes the ranks do; several
calls may go into one batch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xc40io.config.machine import Machine
from xc40io.engine.types import Integers, Table
from xc40io.lustre.striping import Layout
from xc40io.mpi import independent, intranode, onesided, twophase
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.aggregators import choose_aggregators
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.domains import CollectiveFile
from xc40io.mpi.hints import Hints, Switch
from xc40io.mpi.independent import TypesWithHoles
from xc40io.mpi.rounds import meet
from xc40io.mpi.stats import AccessCounts, DirectionCounts, Timer
from xc40io.plane.batch import Batch
from xc40io.plane.library_calls import CREATING, READING, WRITING, LibraryCall, LibraryOp, Pieces
from xc40io.plane.operations import Op

PREALLOCATION_PIECE = 16 * 2**20
"""Bytes that ``MPI_File_preallocate`` writes in one go (ROMIO, ADIOI_PREALLOC_BUFSZ)."""


class MpiFile:
    """A file of the data plane as the ranks of a communicator have it open."""

    def __init__(
        self,
        number: int,  # of the file in the data plane
        layout: Layout,
        communicator: Communicator,
        hints: Hints,  # in force for the file
        machine: Machine,
        inner_meeting: int,  # a second meeting in the data plane, for a part of the ranks
    ) -> None:
        self.number = number
        self.layout = layout
        self.communicator = communicator
        self.hints = hints
        library = machine.mpi.library
        self._mpi = machine.mpi
        self._costs = Collectives(machine.mpi, communicator.nodes, communicator.size)
        self._writing, self._reading = (
            CollectiveFile(
                number=number,
                layout=layout,
                communicator=communicator,
                aggregators=choose_aggregators(
                    communicator.host, hints, layout, library, reading=reading
                ),
                hints=hints,
                mpi=machine.mpi,
                costs=self._costs,
                inner_meeting=inner_meeting,
            )
            for reading in (False, True)
        )
        self.counts = self._no_counts()  # since the file was opened (`MPICH_MPIIO_STATS`)
        # which datatypes have holes in calls for all pieces of a rank
        self.scattered = TypesWithHoles.NOWHERE
        self._opens = hints.opens(library)
        self._is_open = np.zeros(communicator.size, bool)
        self._lock_mode = 0

    @property
    def aggregators(self) -> Integers:
        """int64 (aggregators,): the ranks that write for all, in the order of file domains."""
        return self._writing.aggregators

    @property
    def read_aggregators(self) -> Integers:
        """int64 (aggregators,): the ranks that read for all, in the order of file domains."""
        return self._reading.aggregators

    @property
    def open_ranks(self) -> Integers:
        """The ranks that have the file open in the file system: int64, ascending."""
        return np.flatnonzero(self._is_open)

    @property
    def syncs(self) -> bool:
        """Whether ``MPI_File_sync`` does anything: the Lustre driver of MPICH 4 does nothing.

        ADIOI_GEN_Flush asks whether this rank has written, which its own writes never note.
        """
        return not self._writing.mpi.is_romio_4

    def set_flags(self, files: Table) -> None:
        """Note in the data plane's table of files how the hints have the file opened.

        To be called before the file is opened: O_DIRECT, and in lock mode 2 the flag that lets
        the server grant locks just as they are asked for.
        """
        files.direct[self.number] = self.hints.direct_io
        files.no_expand[self.number] = self.hints.cray_cb_write_lock_mode == 2

    def take_as_one(self, pieces: int) -> None:
        """Let each piece of the calls to come stand for so many, whose lists cost as many."""
        mpi = self._mpi.model_copy(update={"piece_time": self._mpi.piece_time * pieces})
        self._writing, self._reading = (
            replace(target, mpi=mpi) for target in (self._writing, self._reading)
        )

    def open(self, batch: Batch, *, create: bool, writing: bool = True, fresh: bool = True) -> None:
        """Open the file (``MPI_File_open``).

        To ``create`` it the first aggregator opens it and closes it again, even if it is there and
        so not ``fresh``; when the others know, they open it:
        all of them, or with ``romio_no_indep_rw`` the aggregators alone (deferred open), those of
        ``cb_config_list``, of which a write may use fewer. In lock mode 1 whoever opens it for
        writing then takes part in the group lock. What was counted, which locks were asked for
        and where holes were found while it was open before is forgotten.
        """
        self.counts = self._no_counts()
        self._writing.locked.clear()
        self._writing.holes.clear()
        self._lock_mode = self.hints.cray_cb_write_lock_mode if writing else 0
        mode = (WRITING if writing else READING) | (CREATING if create else 0)
        with batch.calling(self._call(LibraryOp.OPEN)._replace(mode=mode)):
            self._open(batch, create=create, fresh=fresh)

    def _open(self, batch: Batch, *, create: bool, fresh: bool) -> None:
        """Add the operations of the ranks that open the file."""
        costs, first = self._costs, self.aggregators[:1]
        self._meet(batch, costs.allreduce(4), Timer.OPEN)
        if create:
            if fresh:  # ROMIO's rank 0 looks for it, to find its folder's file system
                batch.note(Op.STAT, self.communicator.owners[:1], self.number)
            self._do(batch, Op.CREATE if fresh else Op.OPEN, first, Timer.OPEN)
            for _ in range(1, self._opens):
                self._do(batch, Op.OPEN, first, Timer.OPEN)
            # It is the root of a broadcast, and goes on before the others hear of it.
            self._close(batch, first)
            self._meet(batch, costs.bcast(4), Timer.OPEN)
        everyone = np.arange(self.communicator.size)
        deferred = self.hints.romio_no_indep_rw
        self._open_by(batch, self._reading.aggregators if deferred else everyone)
        self._meet(batch, costs.bcast(20) + costs.allreduce(4), Timer.OPEN)

    def close(self, batch: Batch) -> None:
        """Close the file (``MPI_File_close``): meet, give back the group lock, close."""
        with batch.calling(self._call(LibraryOp.CLOSE)):
            self._meet(batch, self._costs.barrier(), Timer.OPEN)
            if self._lock_mode == 1:
                self._do(batch, Op.GROUP_UNLOCK, self.open_ranks, Timer.LOCK)
            self._close(batch, self.open_ranks)
        self._is_open[:] = False

    def write_at_all(self, batch: Batch, accesses: Accesses) -> None:
        """Write in one collective call of all ranks; those without a piece take part.

        The hints say how: two-phase, one-sided, with aggregation inside the nodes, or, if
        collective buffering is off or not worth while, every rank by itself.
        """
        with batch.calling(self._call(LibraryOp.WRITE, accesses)):
            self._write_together(batch, accesses)

    def _write_together(self, batch: Batch, accesses: Accesses) -> None:
        """Add the operations of a collective write."""
        hints, switch = self.hints, self.hints.romio_cb_write
        if not _goes_through_aggregators(
            switch, worth_while=self._is_interleaved_or_small(accesses)
        ):
            self._do_without(batch, accesses, self.counts.writes, switch, writing=True)
            return
        self._open_by(batch, self.aggregators)
        if hints.write_method == "one-sided":
            method = onesided.write_all
        else:
            method = intranode.write_all if hints.intra_node else twophase.write_all
        method(batch, self._writing, accesses, self.counts)

    def read_at_all(self, batch: Batch, accesses: Accesses) -> None:
        """Read in one collective call of all ranks; those without a piece take part.

        Plain ROMIO finds collective buffering worth while if the ranks' pieces are interleaved,
        Cray's library as it does for writes. ROMIO's Lustre driver has no one-sided reads: they are
        two-phase whatever ``read_method`` says.
        """
        with batch.calling(self._call(LibraryOp.READ, accesses)):
            self._read_together(batch, accesses)

    def _read_together(self, batch: Batch, accesses: Accesses) -> None:
        """Add the operations of a collective read."""
        switch = self.hints.romio_cb_read
        if self._reading.mpi.library == "cray":
            worth_while = self._is_interleaved_or_small(accesses)
        else:
            worth_while = is_interleaved(accesses)
        if not _goes_through_aggregators(switch, worth_while=worth_while):
            self._do_without(batch, accesses, self.counts.reads, switch, writing=False)
            return
        self._open_by(batch, self.read_aggregators)
        method = intranode.read_all if self.hints.intra_node else twophase.read_all
        method(batch, self._reading, accesses, self.counts)

    def write_at(self, batch: Batch, accesses: Accesses, *, each: bool = False) -> None:
        """Write independently: one call of each rank for all its pieces.

        With ``each`` every piece is a contiguous call of its own, in the order given.
        """
        self._access(batch, accesses, writing=True, each=each)

    def read_at(self, batch: Batch, accesses: Accesses, *, each: bool = False) -> None:
        """Read independently; the parameters are those of :meth:`write_at`."""
        self._access(batch, accesses, writing=False, each=each)

    def sync(self, batch: Batch) -> None:
        """Make durable what was written (``MPI_File_sync``): an fsync by whoever has it open."""
        with batch.calling(self._call(LibraryOp.SYNC)):
            if self.syncs:
                self._do(batch, Op.FSYNC, self.open_ranks, Timer.SYNC)

    def sync_at(self, batch: Batch, ranks: Integers) -> None:
        """Let some ranks sync, each by itself."""
        if self.syncs:
            with batch.calling():
                self._do(batch, Op.FSYNC, ranks, Timer.SYNC)

    def set_size(self, batch: Batch, size: int) -> None:
        """Set the size in bytes (``MPI_File_set_size``): the first aggregator truncates it.

        A truncate locks the objects for itself, and would wait for ever for a group lock. So in
        lock mode 1 the group gives its lock back and takes it again.
        """
        self._meet(batch, 2 * self._costs.allreduce(8), Timer.OPEN)
        if self._lock_mode == 1:
            self._do(batch, Op.GROUP_UNLOCK, self.open_ranks, Timer.LOCK)
            self._meet(batch, self._costs.barrier(), Timer.LOCK)
        self._do(batch, Op.TRUNCATE, self.aggregators[:1], Timer.OPEN, offset=size)
        self._meet(batch, self._costs.bcast(4), Timer.OPEN)
        if self._lock_mode == 1:
            self._lock(batch, self.open_ranks)

    def preallocate(self, batch: Batch, size: int, *, present: int = 0) -> None:
        """Have space allocated (``MPI_File_preallocate``): rank 0 writes the file once.

        It reads and writes back what is there, and writes zeros from there on, 16 MiB in a call.
        Neither counts among the accesses of the application.

        Parameters
        ----------
        batch
            Takes the operations.
        size
            Bytes to allocate.
        present
            Bytes that the file holds already.
        """
        self._meet(batch, 2 * self._costs.allreduce(8), Timer.OPEN)
        if size == 0:
            return
        self._open_by(batch, np.arange(self.communicator.size))
        self._do(batch, Op.STAT, np.zeros(1, np.int64), Timer.OPEN)  # what is there already?
        offset = np.arange(0, min(present, size), PREALLOCATION_PIECE)
        self._do_pieces(batch, [Op.READ, Op.WRITE], offset, min(present, size))
        self._do_pieces(batch, [Op.WRITE], np.arange(present, size, PREALLOCATION_PIECE), size)
        self._meet(batch, self._costs.barrier(), Timer.OPEN)

    def _no_counts(self) -> AccessCounts:
        return AccessCounts.of(self.layout, len(self.aggregators))

    def _do_pieces(self, batch: Batch, kinds: list[Op], offset: Integers, end: int) -> None:
        """Add operations of these kinds of rank 0 on each piece in turn, up to ``end``."""
        each = len(kinds)
        batch.add(
            np.tile(np.array(kinds, np.int64), len(offset)),
            np.full(len(offset) * each, self.communicator.owners[0]),
            file=self.number,
            offset=np.repeat(offset, each),
            length=np.repeat(np.minimum(PREALLOCATION_PIECE, end - offset), each),
            count=1,
            timer=Timer.OPEN,
        )

    def _access(self, batch: Batch, accesses: Accesses, *, writing: bool, each: bool) -> None:
        """Access the file independently; a rank that has not opened it does so now."""
        direction = self.counts.writes if writing else self.counts.reads
        self._open_by(batch, np.unique(accesses.rank))
        if each:
            direction.add_independent(accesses.rank, accesses.bytes)
            with batch.calling():
                independent.call_each(batch, self._writing, accesses, self.counts, writing=writing)
            return
        direction.add_independent(np.unique(accesses.rank), accesses.bytes)
        kind = LibraryOp.WRITE if writing else LibraryOp.READ
        with batch.calling(self._call(kind, accesses, collective=False)):
            self._access_at_once(batch, accesses, writing=writing)

    def _access_at_once(self, batch: Batch, accesses: Accesses, *, writing: bool) -> None:
        """Let each rank access all its pieces in one call, by itself."""
        independent.access(
            batch,
            self._writing,
            accesses,
            self.counts,
            writing=writing,
            scattered=self.scattered,
        )

    def _do_without(
        self,
        batch: Batch,
        accesses: Accesses,
        direction: DirectionCounts,
        switch: Switch,
        *,
        writing: bool,
    ) -> None:
        """Do each rank's part of a collective call by itself, as an independent one.

        Unless collective buffering is off, the ranks have had to look at all offsets first.
        """
        direction.add_collective(
            self.communicator.size,
            accesses.bytes,
            aggregators=len(self.aggregators),
            active=0,
        )
        if switch is not Switch.DISABLE:
            self._meet(batch, twophase.gathering_cost(self._writing, accesses), Timer.PLAN)
        self._open_by(batch, np.unique(accesses.rank))
        self._access_at_once(batch, accesses, writing=writing)

    def _is_interleaved_or_small(self, accesses: Accesses) -> bool:
        """Tell whether ROMIO's Lustre driver finds collective buffering worth while.

        It does if the pieces of the ranks are interleaved, or are on average no longer than
        ``romio_lustre_coll_threshold``, or if there is no such limit (ADIOI_LUSTRE_Docollect).
        """
        limit, pieces = self.hints.romio_lustre_coll_threshold, len(accesses.rank)
        small = limit == 0 or pieces == 0 or accesses.bytes // pieces <= limit
        return small or is_interleaved(accesses)

    def _open_by(self, batch: Batch, ranks: Integers) -> None:
        """Open the file at the ranks that have not yet; take the group lock with it."""
        closed = np.sort(ranks[~self._is_open[ranks]])
        for _ in range(self._opens):
            self._do(batch, Op.OPEN, closed, Timer.OPEN)
        if self._lock_mode == 1:
            self._lock(batch, closed)
        self._is_open[closed] = True

    def _close(self, batch: Batch, ranks: Integers) -> None:
        for _ in range(self._opens):
            self._do(batch, Op.CLOSE, ranks, Timer.OPEN)

    def _lock(self, batch: Batch, ranks: Integers) -> None:
        self._do(batch, Op.GROUP_LOCK, ranks, Timer.LOCK, group=self.number + 1)

    def _call(
        self, op: LibraryOp, accesses: Accesses | None = None, *, collective: bool = True
    ) -> LibraryCall:
        """Return a call of the ranks; one without accesses is alone if there is but one rank."""
        if accesses is None:
            together = self.communicator.size > 1
            return LibraryCall(op, self.number, self.communicator.owners, together)
        return LibraryCall(op, self.number, self.communicator.owners, collective, Pieces(*accesses))

    def _do(self, batch: Batch, kind: Op, ranks: Integers, timer: Timer, **columns: int) -> None:
        owners = self.communicator.owners[ranks]
        batch.add(kind, owners, file=self.number, timer=timer, **columns)

    def _meet(self, batch: Batch, seconds: float, timer: Timer) -> None:
        meet(batch, self.communicator, seconds, timer)


def _goes_through_aggregators(switch: Switch, *, worth_while: bool) -> bool:
    """Tell whether a collective call is buffered: as the hint says, or as seems worth while."""
    return worth_while if switch is Switch.AUTOMATIC else switch is Switch.ENABLE


def is_interleaved(accesses: Accesses) -> bool:
    """Tell whether a rank's first byte lies before the last byte of the rank before it.

    The test of ROMIO. A rank without a piece ends before it begins, so that neither it nor the one
    behind it counts.
    """
    rank, offset, length = accesses
    first = np.append(0, np.flatnonzero(rank[1:] != rank[:-1]) + 1)[: len(rank)]
    last = np.append(first[1:], len(rank))[: len(first)] - 1
    follows = rank[first][1:] == rank[first][:-1] + 1
    return bool((follows & (offset[first][1:] < (offset + length)[last][:-1] - 1)).any())
