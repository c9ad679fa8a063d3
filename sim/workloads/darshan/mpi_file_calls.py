"""The calls of a file that was accessed through MPI-IO, from its counters.

The record of MPI-IO says what the application did; the POSIX records of the same file say what
MPI-IO made of it: they are no calls to replay, but evidence of where the data lay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.workloads.darshan.call_pattern import (
    Holes,
    apart,
    collective_matrix,
    contiguous_pieces,
    holes_below,
    interleaved_pieces,
    passes_of,
    place,
    sizes_of,
)
from xc40io.workloads.darshan.call_rows import (
    Rows,
    Sessions,
    deal,
    join,
    joined_with,
    make_rows,
    sessions_of,
    sorted_by_rank,
    spread,
    spread_to_end,
    syncs_after,
)
from xc40io.workloads.darshan.dxt import between_pauses
from xc40io.workloads.darshan.heat_map import HeatMap
from xc40io.workloads.darshan.module_counters import (
    DIRECTIONS,
    Counters,
    Direction,
    MpiCounts,
    counted,
    mpi_counted,
)
from xc40io.workloads.darshan.turns import (
    ReadCosts,
    Turns,
    begun,
    rounds_of,
    sessions_in_turns,
    turns_of,
)
from xc40io.workloads.trace import TraceOp

CREATE_MODE = 1
"""``MPI_MODE_CREATE`` among the bits of MPIIO_MODE, in MPICH."""

READ_ONLY_MODE = 2
"""``MPI_MODE_RDONLY``."""


@dataclass
class MpiFileCalls:
    """Puts together the calls of one file."""

    record: Counters  # its records of MPI-IO
    below: Counters  # its records of POSIX
    ranks: int  # of the job
    stripe: int  # bytes
    # Directions in which collective buffering was off: each rank accessed what it was asked for.
    unbuffered: frozenset[Direction] = frozenset()
    costs: ReadCosts | None = None  # what reads take where the job ran, if that is known
    heat: HeatMap | None = None  # when ranks moved bytes through MPI-IO, if that is known
    holes: dict[str, Holes] = field(default_factory=dict)  # by direction, where there are any
    # Where the holes are in a file that is longer than its data, by direction: in words.
    holed: dict[str, str] = field(default_factory=dict)
    sessions_of_data: Sessions | None = None  # where DXT tells better when the file was open
    busy: Rows | None = None  # the reads, writes and syncs, where DXT tells of them
    _calls: int = 0

    @cached_property
    def members(self) -> Integers:
        """The ranks of the communicator: int64, ascending."""
        return self.record.members(self.ranks)

    @property
    def creates(self) -> bool:
        """Whether the job made the file: nothing was read of it before it was written.

        It must have been opened with MPI_MODE_CREATE. Darshan keeps the mode of one open only: one
        for reading says nothing of that for writing.
        """
        mode = int(np.bitwise_or.reduce(np.maximum(self.record["MODE"], 0)))
        reads, writes = self.record.window("READ"), self.record.window("WRITE")
        if writes is None:
            return False
        may_create = bool(mode & CREATE_MODE) or bool(mode & READ_ONLY_MODE)
        return may_create and (reads is None or writes[0] <= reads[0])

    def sessions(self) -> Sessions:
        """Return when the file was open."""
        opens = self.record.total("COLL_OPENS") + self.record.total("INDEP_OPENS")
        members = len(self.members)
        count = self.record.total("COLL_OPENS") // members or -(-opens // members)
        sessions = sessions_of(self.record, count, 2 * opens)
        return sessions if self.turns is None else sessions_in_turns(sessions, self.turns)

    @cached_property
    def turns(self) -> Turns | None:
        """When ranks read and wrote in turn; None if they did not, or DXT tells when."""
        known: dict[Direction, MpiCounts] = {
            way: mpi_counted(self.record, way) for way, _ in DIRECTIONS
        }
        members = len(self.members)
        mixed = any(
            (of.collective and of.independent) or 0 < of.calls < members for of in known.values()
        )
        if self.busy is not None or mixed:
            return None
        made: dict[Direction, int] = {way: of.calls for way, of in known.items()}
        return turns_of(self.record, members, made, self.heat)

    def rows(self) -> Rows:
        """Return all calls; the reads and writes that DXT knows, if they have been settled."""
        sessions = self.sessions_of_data or self.sessions()
        if self.busy is None:
            calls = [*(self._data(*way) for way in DIRECTIONS), self._syncs()]
        else:
            calls = [self.busy]
        calls = [
            self._opens(TraceOp.OPEN, sessions),
            *(sessions.keep(part) for part in calls),
            *([self._opens(TraceOp.CLOSE, sessions)] if sessions.closes else []),
        ]
        return join(calls)

    def number(self, calls: int) -> Integers:
        """Return numbers for so many new collective calls: int64."""
        self._calls += calls
        return np.arange(self._calls - calls, self._calls)

    def _opens(self, op: TraceOp, sessions: Sessions) -> Rows:
        """Return the opens, or the closes, of all ranks."""
        members, opens = self.members, self.record.total("COLL_OPENS")
        full, alone = divmod(opens, len(members))
        alone += self.record.total("INDEP_OPENS")
        start, took = self._opening(sessions)
        if op is TraceOp.CLOSE:
            start, took = sessions.closed, np.full(len(sessions.closed), sessions.took)
        together = make_rows(
            rank=np.tile(members, full),
            op=op,
            start=np.repeat(start[:full], len(members)),
            took=np.repeat(took[:full], len(members)),
            coll=np.repeat(self.number(full), len(members)),
            mpi=1,
        )
        member, turn = deal(alone, len(members))
        turn = np.minimum(turn, len(start) - 1)
        start, took = start[turn], took[turn]
        single = make_rows(rank=members[member], op=op, start=start, took=took, mpi=1)
        rows = join([together, single])
        if op is TraceOp.OPEN and self.creates:
            rows.op[: len(members) if full else 1] = TraceOp.CREATE
        return rows

    def _opening(self, sessions: Sessions) -> tuple[Floats, Floats]:
        """Return when the file was opened, and for how long: (sessions,) each.

        Of the last open Darshan knows when it ended.
        """
        took = np.full(len(sessions.opened), sessions.took)
        window = self.record.window("OPEN")
        if window is not None and self.busy is not None:
            took[-1] = max(window[1] - float(sessions.opened[-1]), sessions.took)
        return sessions.opened, took

    def _syncs(self) -> Rows:
        """Return the calls of MPI_File_sync: of all ranks, evenly among the writes."""
        members, count = self.members, self.record.total("SYNCS")
        window = self.record.window("WRITE") or self.record.window("READ") or (0.0, 0.0)
        member, turn = deal(count, len(members))
        pace = None if self.heat is None else self.heat.pace("WRITE")
        start = spread_to_end(-(-count // len(members)), window, pace)[turn]
        full = count - count % len(members) if self.record.total("COLL_OPENS") else 0
        coll = np.full(count, -1, np.int64)
        coll[:full] = self.number(full // len(members))[turn[:full]]
        return make_rows(rank=members[member], op=TraceOp.FSYNC, start=start, coll=coll, mpi=1)

    def settle(self, data: Rows) -> None:
        """Put syncs, opens and closes where DXT shows pauses between reads and writes.

        A rank that comes to a close when it has done its last call waits there for the others: the
        time of opens and closes is first of all what they waited. So its last call before a close
        is taken to last until the file is closed, since the rank does not compute meanwhile. Where
        there is less of that time, the ranks were elsewhere for the rest, and did compute.
        """
        count, seconds = self.record.total("SYNCS"), self.record.seconds("F_WRITE_TIME")
        if self.below.total("FSYNCS") < count:  # only aggregators did: a call of all ranks
            syncs = [self._syncs()]
        else:  # MPI-IO has each rank that has the file open sync it for itself
            syncs = syncs_after(sorted_by_rank(data), self.members, count, seconds, mpi=1)
        sessions = between_pauses(self.sessions(), join([data, *syncs]))
        busy = joined_with(data, syncs)
        place = np.searchsorted(self.members, busy.rank)
        session = np.searchsorted(sessions.opened, busy.start, side="right") - 1
        key = place * len(sessions.opened) + np.maximum(session, 0)
        last = np.flatnonzero(np.append(key[1:] != key[:-1], True)[: len(key)])
        closed = sessions.closed[np.maximum(session[last], 0)]
        waits = np.maximum(closed - (busy.start + busy.took)[last], 0.0)
        seconds, waited = self.record.seconds("F_META_TIME"), float(waits.sum())
        busy.took[last] += waits * min(1.0, seconds / max(waited, 1e-30))
        opens = 2 * len(sessions.opened) * len(self.members)
        self.sessions_of_data = sessions._replace(took=max(seconds - waited, 0.0) / opens)
        self.busy = busy

    def _data(self, direction: Direction, op: TraceOp) -> Rows:
        """Return the reads or the writes; independent calls get the smallest sizes."""
        known = mpi_counted(self.record, direction)
        if known.calls == 0:
            return join([])
        sizes = sizes_of(self.record, direction, known.calls, known.bytes)
        took = known.seconds / known.calls
        alone = self._independent(direction, op, sizes[: known.independent], took)
        begin = self._header(alone, sizes, known)
        together = self._collective(direction, op, sizes[known.independent :], took, begin)
        return join([alone, together])

    def _header(self, alone: Rows, sizes: Integers, known: MpiCounts) -> int:
        """Return where in the file collective calls begin: behind a header, if there is one."""
        if not known.collective or not known.independent:
            return 0
        end = int((alone.offset + alone.length).max())
        return end if end < 0.1 * int(sizes[known.independent :].sum()) else 0

    def _extent(self, direction: Direction, total: int) -> int:
        """Return where the file ends as far as these calls go, from what POSIX saw below."""
        return counted(self.below, direction).extent or total

    def _independent(self, direction: Direction, op: TraceOp, sizes: Integers, took: float) -> Rows:
        """Return independent calls: dealt to all ranks, or, if they are fewer, all of one rank.

        Beside collective calls they are those on a header, which every rank reads from its begin.
        """
        members, calls = self.members, len(sizes)
        if not calls:
            return join([])
        dealt = deal(calls, len(members) if calls >= len(members) else 1)
        total = int(sizes.sum())
        header = mpi_counted(self.record, direction).collective > 0
        extent = -(-total // (int(dealt.member.max()) + 1)) if header else 0
        below = counted(self.below, direction)
        apart = 1.0 - self.below.total(f"CONSEC_{direction}S") / max(1, below.calls)
        active = int(dealt.member.max()) + 1
        extent = extent or self._extent(direction, total)
        opens = self.record.total("COLL_OPENS") + self.record.total("INDEP_OPENS")
        passes = passes_of(
            calls,
            total,
            extent,
            active,
            apart=round(apart * calls),
            rounds=rounds_of(opens, len(members), self.turns),
        )
        where = dealt
        if direction == "READ" and self.costs is not None and self.record.total("BYTES_WRITTEN"):
            where = self.costs.written_by(dealt, calls, total, took * calls)
        if self.turns is None:
            each, ranks = -(-calls // active), members[:active]
            start = begun(self.record, direction, ranks, each, took, self.heat)
            start = start[dealt.member, dealt.turn]
        else:
            start, took = self.turns.start[direction][dealt.turn], self.turns.took[direction]
        return make_rows(
            rank=members[dealt.member],
            op=op,
            offset=place(sizes, where, extent, passes),
            length=sizes,
            start=start,
            took=took,
            mpi=1,
        )

    def _collective(
        self, direction: Direction, op: TraceOp, sizes: Integers, took: float, begin: int
    ) -> Rows:
        """Return collective calls of all ranks, and one of some ranks for the sizes left over."""
        members = self.members
        full, left = divmod(len(sizes), len(members))
        if len(sizes) == 0:
            return join([])
        variance = float(self.record["F_VARIANCE_RANK_BYTES"].max(initial=0.0))
        table = collective_matrix(sizes[left:], full, variance) if full else np.zeros((0, 0))
        calls = [*table.astype(np.int64), *([sizes[:left]] if left else [])]
        total = int(sizes.sum())
        extent = max(self._extent(direction, begin + total) - begin, 1)
        if self.turns is None:
            pace = None if self.heat is None else self.heat.pace(direction)
            starts = spread(len(calls), self.record.window(direction), took, pace)
        else:
            starts, took = self.turns.start[direction], self.turns.took[direction]
        self._find_holes(direction)
        grain = self._grain(direction, len(calls))
        own = (
            begin + self._own_blocks(direction, table.astype(np.int64), extent)
            if not left
            else None
        )
        parts, done = [], 0
        for number, call, start in zip(self.number(len(calls)), calls, starts, strict=True):
            stretch = extent / max(total, 1)
            rank, offset, length = self._call(direction, call, begin, done, stretch, extent, grain)
            if own is not None and len(own):
                offset, own = own[0], own[1:]
            done += int(call.sum())
            parts.append(
                make_rows(
                    rank=members[rank],
                    op=op,
                    offset=offset,
                    length=length,
                    start=start,
                    took=took,
                    coll=number,
                    mpi=1,
                )
            )
        return join(parts)

    def _own_blocks(self, direction: Direction, table: Integers, extent: int) -> Integers:
        """Return where each rank's piece of each call begins in a block of its own: int64.

        Of shape (calls, ranks); of no call where the pieces of a call lie side by side. From one
        call of an aggregator to its next there are then all blocks but one call of the rank's, and
        not all stripes but one, as Darshan's most frequent strides tell.
        """
        none = np.zeros((0, len(self.members)), np.int64)
        calls, total = len(table), int(table.sum())
        rounds = max(1, round(total / extent))
        if direction in self.holes or calls < 2 * rounds or calls % rounds or not total:
            return none
        each = calls // rounds
        block = int(table[:each, 0].sum())
        strides, piece = self.below.common("STRIDE"), min(int(table[0, 0]), self.stripe)
        if (table != table[0, 0]).any() or rounds * block * len(self.members) != total:
            return none
        if not strides.get(block - piece) or max(strides.values()) > strides[block - piece]:
            return none
        call = np.arange(calls)[:, None] % each * int(table[0, 0])
        return call + np.arange(len(self.members)) * block

    def _grain(self, direction: Direction, calls: int) -> int:
        """Return of what bytes holes are multiples that lie within calls; 0 if between them.

        A file that is longer than what is written has holes. Without collective buffering they may
        be anywhere. Aggregators would read windows with holes before they write them: where they
        did not, holes are whole stripes; and between calls, if there are several.
        """
        where, grain = "holes between collective calls", 0
        if direction in self.unbuffered:
            where, grain = "holes between the ranks' pieces", 1
        elif calls == 1:
            where, grain = "holes of whole stripes between the ranks' pieces", self.stripe
        self.holed[direction] = where
        return grain

    def _find_holes(self, direction: Direction) -> None:
        """Note whether the data of collective calls has holes."""
        known, below = mpi_counted(self.record, direction), counted(self.below, direction)
        found = holes_below(known.bytes, below.bytes, below.calls - known.independent, self.stripe)
        if found is not None:
            self.holes[direction] = found

    def _call(
        self,
        direction: Direction,
        sizes: Integers,
        begin: int,
        done: int,
        stretch: float,
        extent: int,
        grain: int,
    ) -> tuple[Integers, Integers, Integers]:
        """Return the pieces of one collective call: place in the communicator, offset and length.

        Calls follow one another in the file, stretched if it is longer than they are together;
        if it is shorter, they begin anew at its end.
        """
        moved = int(sizes.sum())
        at = int(done * stretch) if stretch >= 1.0 else done % extent
        if at + moved > extent:
            at = max(extent - moved, 0)
        holes = self.holes.get(direction)
        span = int(moved * max(stretch, 1.0))
        if holes is None or stretch <= 1.0:
            offset = contiguous_pieces(sizes, begin + at, extent)
            if stretch > 1.0 and grain:
                offset += apart(sizes, int(moved * stretch), grain)
            return np.arange(len(sizes)), offset, sizes
        each = max(1, round(span / holes.period / len(sizes)))
        rank, offset, length = interleaved_pieces(sizes, begin + at, span, each)
        idle = np.flatnonzero(sizes == 0)
        offset = np.concatenate((offset, np.full(len(idle), begin + at)))
        return np.concatenate((rank, idle)), offset, np.concatenate((length, sizes[idle]))
