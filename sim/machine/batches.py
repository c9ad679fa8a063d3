"""Batches of programs: operations and transfers in, a number out that says when all have ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.engine.pool import Spans
from xc40io.engine.types import Integers, enlarge_table, make_table
from xc40io.machine.rows import Rows
from xc40io.machine.tables import Tables
from xc40io.mpi.exchange import GATE, TRANSFER, drop_transfers, gates_of
from xc40io.network.peers import PeerRoutes
from xc40io.plane.batch import Batch, Transfers, most_at_once, refer_from
from xc40io.plane.control import start_programs
from xc40io.plane.library_calls import LIBRARY_CALL
from xc40io.plane.operations import OPERATION, Op, Operations, keep_operations
from xc40io.plane.pace import Pace
from xc40io.plane.programs import PROGRAM

_MANY_TRANSFERS = 1 << 18
"""Transfers below which those that have ended are left where they are."""

_EXCHANGE, _MEET, _ITEM = int(Op.EXCHANGE), int(Op.MEET), int(Op.ITEM)


class Batches:
    """What programs are to do next: one operation after the other, of many programs at once.

    Parameters
    ----------
    tables, rows
        All components, at rest, and their rows.
    routes
        Finds the ways between the jobs' nodes.
    pace
        How long programs compute.
    """

    def __init__(self, tables: Tables, rows: Rows, routes: PeerRoutes, pace: Pace) -> None:
        self._tables = tables
        self._rows = rows
        self._routes = routes
        self._pace = pace
        self._used = 0  # rows of the table of operations
        self._spare_meetings = Spans()
        self._live_transfers = 0  # that were left when the ended ones were last dropped
        self._held: dict[int, tuple[int, int]] = {}  # transfers for operations yet to come
        self._tags = 0  # of the library calls so far
        self._library_calls: list[npt.NDArray[Any]] = []

    def add_meetings(self, count: int = 1) -> int:
        """Add meetings, where programs of a communicator wait for each other.

        Returns the number of the first.
        """
        exchange, first = self._tables.exchange, self._spare_meetings.take(count)
        if first is None:
            first = len(exchange.meetings)
            exchange.meetings = enlarge_table(exchange.meetings, first + count)
        exchange.meetings.arrived[first : first + count] = 0
        exchange.meetings.head[first : first + count] = -1
        return first

    def give_meetings(self, first: int, count: int) -> None:
        """Give back meetings that were added together; nobody waits there."""
        self._spare_meetings.give(first, count)

    def note_library_calls(self, batch: Batch, operations: Operations) -> None:
        """Keep what the library calls of a batch asked for, if it is to be recorded.

        Parameters
        ----------
        batch
            Whose calls.
        operations
            Its operations, yet to be submitted: each gets the tag that its call has among all.
        """
        if not self._tables.recorder.on:
            return
        of_calls = operations["tag"] > 0
        operations["tag"][of_calls] += self._tags
        for call in batch.library_calls:
            self._tags += 1
            self._library_calls.append(call.parts(batch.programs, self._tags))

    @property
    def library_calls(self) -> npt.NDArray[Any]:
        """What the calls of I/O libraries asked for so far: ``LIBRARY_CALL`` records."""
        return np.concatenate([np.zeros(0, LIBRARY_CALL), *self._library_calls])

    def submit(
        self,
        programs: Integers,
        operations: npt.NDArray[Any],
        bounds: Integers,
        now: float,
        transfers: Sequence[Transfers] = (),
        *,
        going_on: bool = False,
        held: int | None = None,
    ) -> int:
        """Start a batch of programs; return its number.

        Parameters
        ----------
        programs
            int64 (n,): which programs; none may be active.
        operations
            ``OPERATION`` records of all of them, one program after the other.
        bounds
            int64 (n + 1,): where each program's operations begin and end.
        now
            The time in seconds.
        transfers
            What their ``EXCHANGE`` operations move, numbered from 0 in this order.
        going_on
            Whether the programs go on with a list that they get in pieces: at once, and reading
            ahead as before. Else they come out of a barrier.
        held
            What :meth:`hold_transfers` returned, if ``EXCHANGE`` operations refer to those.

        Raises
        ------
        ValueError
            If a program is still active, if one has nothing to do, or if there is none.
        """
        known, exchange = self._tables.programs, self._tables.exchange
        if len(programs) == 0 or known.rows.active[programs].any():
            raise ValueError("a batch needs one program or more, none of them still active")
        if (np.diff(bounds) == 0).any():
            raise ValueError("a program of a batch needs one operation or more")
        if not known.rows.active.any():
            self._used = 0  # nobody refers to an operation: the table is filled from its start
            if not self._held and len(exchange.transfers):
                exchange.transfers, exchange.gates = make_table(TRANSFER, 0), make_table(GATE, 0)
        base = self._enter(operations)
        pool = known.operations[base : self._used]
        self._pace.apply(pool, programs, np.diff(bounds))
        if (pool.kind == _EXCHANGE).any():
            if held is None:
                first = self._add_transfers(transfers, most_at_once(pool))
            else:
                first = self._held[held][0]
            refer_from(pool, first)
        batch = self._new_batch(len(programs))
        known.clock[0] = now
        if not going_on:
            PROGRAM.renew(known.rows, programs)
            if (pool.kind == _MEET).any():
                # They come out of a barrier, which is a meeting too: what kept the last to come to
                # the next one happened since.
                causes = known.waited(programs).causes
                known.met[np.ix_(causes.any(axis=0), programs)] = causes[:, causes.any(axis=0)].T
        start_programs(known, programs, bounds + base, batch, going_on)
        return batch

    def _enter(self, operations: npt.NDArray[Any]) -> int:
        """Write operations behind those in use; return the row of the first.

        Where the table is full, those that are done are dropped from it first.
        """
        programs, count = self._tables.programs, len(operations)
        table = programs.operations
        if self._used == 0 and count > len(table):  # taken over as they are: no copy
            programs.operations = operations.view(np.recarray)
            self._used = count
            return 0
        if self._used + count > len(table):
            rows = keep_operations(programs.rows, table[: self._used])
            self._used = len(rows)
            kept = table[rows]
            if 2 * (self._used + count) > len(table):
                programs.operations = table = make_table(OPERATION, 2 * (self._used + count))
            table[: self._used] = kept
        first = self._used
        table[first : first + count] = operations
        self._used += count
        return first

    def drop_operations(self) -> None:
        """Drop the operations of all programs, which have ended: they may take much memory."""
        self._tables.programs.operations = make_table(OPERATION, 0)
        self._used = 0

    def hold_transfers(self, transfers: Sequence[Transfers], at_once: int) -> int:
        """Enter transfers for operations that follow in batches to come.

        Parameters
        ----------
        transfers
            What the ``EXCHANGE`` operations move, numbered from 0 in this order.
        at_once
            Most transfers that one of the operations begins.

        Returns
        -------
        int
            To be given to :meth:`submit` with the operations, and in the end to
            :meth:`release_transfers`.
        """
        first = self._add_transfers(transfers, at_once)
        number = max(self._held, default=-1) + 1
        self._held[number] = first, len(self._tables.exchange.transfers)
        return number

    def release_transfers(self, held: int) -> None:
        """Note that no operation to come refers to transfers that :meth:`hold_transfers` took."""
        del self._held[held]

    def _drop_transfers(self) -> None:
        """Drop the transfers that have ended, if there may be many."""
        exchange = self._tables.exchange
        if len(exchange.transfers) < max(_MANY_TRANSFERS, 2 * self._live_transfers):
            return
        number = drop_transfers(exchange, self._used, self._held.values())
        self._live_transfers = len(exchange.transfers)
        for held, (first, stop) in self._held.items():
            self._held[held] = int(number[first]), int(number[stop])

    def _add_transfers(self, added: Sequence[Transfers], at_once: int) -> int:
        """Enter transfers, their gates and their ways; return the number of the first.

        ``at_once`` of them begin together.
        """
        self._drop_transfers()
        exchange = self._tables.exchange
        first_of_all = len(exchange.transfers)
        for one in added:
            gates, gate = gates_of(one)
            gates.following[gates.following >= 0] += len(exchange.gates)
            gate[gate >= 0] += len(exchange.gates)
            route = self._routes.rows(one.source, one.target)
            first = len(exchange.transfers)
            exchange.transfers = enlarge_table(exchange.transfers, first + len(one.size))
            new = exchange.transfers[first:]
            new.left, new.source, new.target = one.size, one.source, one.target
            new.route, new.gate, new.next, new.after = route, gate, -1, one.after
            exchange.gates = np.concatenate([exchange.gates, gates]).view(np.recarray)
            at_once = max(at_once, int(np.bincount(one.source).max(initial=0)))
        exchange.at_once = max(exchange.at_once, at_once)
        self._rows.demanded()
        return first_of_all

    def _new_batch(self, programs: int) -> int:
        """Return a batch number with nothing left in it, now with so many programs."""
        known = self._tables.programs
        free = np.flatnonzero(known.batches == 0)
        if not len(free):
            first, size = len(known.batches), 2 * len(known.batches)
            batches = np.zeros(size, np.int32)
            batches[:first] = known.batches
            known.batches, known.ended = batches, np.zeros(size, np.int32)
            free = np.arange(first, size)
        known.batches[free[0]] = programs
        return int(free[0])

    def end_deadlines(self, programs: Integers) -> None:
        """Let the deadlines of programs, int64 (n,), be now: of their calls, and of their items."""
        table = self._tables.programs
        own, now = table.rows[programs], float(table.clock[0])
        limited = programs[np.isfinite(own["limit"])]
        table.rows["limit"][limited] = now
        for program, first, stop in zip(programs, own["op"], own["stop"], strict=True):
            ahead = table.operations[first:stop]
            items = np.flatnonzero(ahead["kind"] == _ITEM)
            begun = table.marks[program, ahead["mark"][items]]
            ahead["seconds"][items] = np.minimum(ahead["seconds"][items], now - begun)
