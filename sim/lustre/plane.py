"""The data plane of Lustre: the compiled loop over its events, and what control sees of it.

Control hands over a batch of programs, one a rank, and gets one SimPy event back when the last of
them has ended. Everything that happens once a chunk, an RPC, a message or a request happens here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.engine.calendar import (
    MAX_INDEX,
    drop_next,
    next_index,
    next_kind,
    next_time,
    reschedule_next,
    schedule,
)
from sim.engine.jit import announce_compilation, compilation_done, njit
from sim.engine.network import enlarge_network
from sim.engine.pool import Pool, enlarge_pool
from sim.engine.types import Indices, Integers, Table, enlarge_table, make_table
from sim.lustre.osc import MESSAGE_EVENT, PROGRAM_EVENT, on_message
from sim.lustre.programs import on_request, step
from sim.lustre.tables import FILE, Lustre

_SLICE = 1 << 20  # events between two looks at the user: some tenths of a second

_IDLE, _ENDED, _PAUSED, _FULL = 0, 1, 2, 3


@njit
def _has_room(lustre: Lustre, room: int) -> bool:
    """Tell whether every pool can serve the largest demand of one event."""
    return (
        lustre.network.spare.left[0] > room
        and lustre.spare_rpcs.left[0] > room
        and lustre.spare_works.left[0] > room
        and lustre.spare_requests.left[0] > room
    )


@njit
def run(lustre: Lustre, until: float, events: int, room: int) -> int:
    """Work through at most ``events`` events before ``until``, up to one that ends a batch."""
    calendar = lustre.network.calendar
    for _ in range(events):
        now = next_time(calendar)
        if now >= until:
            return _IDLE
        if not _has_room(lustre, room):
            return _FULL
        lustre.clock[0] = now
        lustre.counts[0] += 1
        kind = next_kind(calendar)
        index = next_index(calendar)
        if kind == MESSAGE_EVENT:
            again = on_message(lustre, index, now)
        elif kind == PROGRAM_EVENT:
            again = step(lustre, index, now)
        else:
            again = on_request(lustre, index, now)
        if again >= 0.0:
            reschedule_next(calendar, again)
        else:
            drop_next(calendar)
        if lustre.ended_count[0] > 0:
            return _ENDED
    return _PAUSED


def _enlarged(table: Table, pool: Pool, room: int) -> tuple[Table, Pool]:
    """Return a table and its pool, doubled if fewer than ``room`` rows are left."""
    if pool.left[0] > room:
        return table, pool
    rows = min(2 * len(table) + room, MAX_INDEX)
    return enlarge_table(table, rows), enlarge_pool(pool, rows)


@njit
def _start_programs(lustre: Lustre, programs: Integers, bounds: Integers, batch: int) -> None:
    """Let programs begin their operations ``bounds[i]:bounds[i + 1]`` at the present time."""
    now = lustre.clock[0]
    for i in range(len(programs)):
        program = lustre.programs[programs[i]]
        program.op = program.loop = bounds[i]
        program.stop = bounds[i + 1]
        program.call = 0
        program.done = 0
        program.phase = 0
        program.calls = 0
        program.call_time = 0.0
        program.limit = np.inf
        program.batch = batch
        program.active = 1
        schedule(lustre.network.calendar, now, PROGRAM_EVENT, programs[i])


class LustrePlane:
    """The data plane as control sees it.

    Parameters
    ----------
    tables
        Everything that the loop reads and writes, at rest.
    room
        Most rows of any table that one event may take.
    """

    def __init__(self, tables: Lustre, room: int) -> None:
        self.tables = tables
        self._room = room
        announce_compilation()

    @property
    def now(self) -> float:
        """Time of the latest event in seconds."""
        return float(self.tables.clock[0])

    def add_files(self, stripe_count: int, stripe_size: int, osts: Indices, mdt: int = 0) -> int:
        """Add files of one shape; return the number of the first.

        Parameters
        ----------
        stripe_count, stripe_size
            Their striping; size in bytes.
        osts
            int32 (files, stripe_count): the OST of every stripe object.
        mdt
            The metadata target that holds them.
        """
        tables = self.tables
        first, first_object, count = len(tables.files), len(tables.objects), len(osts)
        files = enlarge_table(tables.files, first + count)
        added = files[first:]
        added.first_object = first_object + stripe_count * np.arange(count)
        added.stripe_count = stripe_count
        added.stripe_size = stripe_size
        added.mdt = mdt
        objects = np.concatenate([tables.objects, osts.ravel().astype(np.int32)])
        self.tables = tables._replace(files=files, objects=objects)
        return first

    def forget_files(self) -> None:
        """Drop all files: nothing is under way and none will be used again."""
        self.tables = self.tables._replace(files=make_table(FILE, 0), objects=np.zeros(0, np.int32))

    def submit(
        self, programs: Integers, operations: npt.NDArray[Any], bounds: Integers, now: float
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

        Raises
        ------
        ValueError
            If a program is still active, or there is none.
        """
        tables = self.tables
        if len(programs) == 0 or tables.programs.active[programs].any():
            raise ValueError("a batch needs one program or more, none of them still active")
        base = 0
        pool = operations.view(np.recarray)
        if tables.programs.active.any():
            base = len(tables.operations)
            pool = np.concatenate([tables.operations, operations]).view(np.recarray)
        batch = self._new_batch(len(programs))
        tables.clock[0] = now
        self.tables = self.tables._replace(operations=pool)
        _start_programs(self.tables, programs, bounds + base, batch)
        return batch

    def _new_batch(self, programs: int) -> int:
        """Return a batch number with nothing left in it, now with so many programs."""
        free = np.flatnonzero(self.tables.batches == 0)
        if not len(free):
            size = 2 * len(self.tables.batches)
            batches = np.zeros(size, np.int32)
            batches[: len(self.tables.batches)] = self.tables.batches
            self.tables = self.tables._replace(batches=batches, ended=np.zeros(size, np.int32))
            free = np.flatnonzero(batches == 0)
        self.tables.batches[free[0]] = programs
        return int(free[0])

    def next_time(self) -> float:
        """Return the time of the next event in seconds; infinity when there is none."""
        calendar = self.tables.network.calendar
        return float(calendar.times[0]) if calendar.counts[0] else np.inf

    def advance(self, until: float) -> tuple[float, list[int]]:
        """Work through events before ``until``; return the time and the batches that ended."""
        while (outcome := run(self.tables, until, _SLICE, self._room)) == _FULL:
            self._enlarge()
        compilation_done()
        if outcome != _ENDED:
            return self.now, []
        tables = self.tables
        ended = tables.ended[: tables.ended_count[0]].tolist()
        tables.ended_count[0] = 0
        return self.now, ended

    def _enlarge(self) -> None:
        """Double what is nearly full."""
        tables = self.tables
        room = self._room
        works, spare_works = _enlarged(tables.works, tables.spare_works, room)
        rpcs, spare_rpcs = _enlarged(tables.rpcs, tables.spare_rpcs, room)
        requests, spare_requests = _enlarged(tables.requests, tables.spare_requests, room)
        messages = len(tables.network.messages)
        if tables.network.spare.left[0] <= room:
            messages = min(2 * messages + room, MAX_INDEX)
        events = messages + len(tables.programs) + len(requests)
        self.tables = tables._replace(
            network=enlarge_network(tables.network, messages, events),
            works=works,
            spare_works=spare_works,
            rpcs=rpcs,
            spare_rpcs=spare_rpcs,
            requests=requests,
            spare_requests=spare_requests,
        )
