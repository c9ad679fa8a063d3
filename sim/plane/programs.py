"""Programs: what a rank, one of its threads or a service node does, one operation after another.

A program that waits is woken by its event. Who makes it wait says so in the program's own columns
(``pending``, ``since``), so that whoever ends the wait need know nothing of the operation.

An operation ``READ`` or ``WRITE`` is a run of calls, ``stride`` bytes apart, whatever keeps its
file. A program is at call ``call`` of it; of this it has turned to ``done`` of ``length`` bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network
from xc40io.engine.queue import pass_turn, pop
from xc40io.engine.randomness import stream
from xc40io.engine.record import Column, Record
from xc40io.engine.types import (
    CACHE_LINE,
    Floats,
    Indices,
    Integers,
    Table,
    make_table,
    zeros,
)
from xc40io.plane.causes import COARSE, DOING, TAKEN_APART, Cause, WaitSeconds, waited_of
from xc40io.plane.counters import Stat
from xc40io.plane.files import Files
from xc40io.plane.operations import OPERATION, TIMERS
from xc40io.plane.recorder import Recorder, add_call, note_called, record_span
from xc40io.plane.registry import PROGRAM_EVENT
from xc40io.plane.site import Site

MARKS = 8
"""Times that a program can note in one batch."""

CAUSES = len(Cause)

ASKED, AT_SERVER, SERVER, AT_JOURNAL, FOR_OBJECTS, AT_CALLBACK = range(6)
"""Columns of ``Programs.replies``: when a program asked; what the latest of the replies took at its
server, and the cause that this is; what it waited for a commit, for objects, and for a client."""

FIRST_PHASE = 0
"""The phase of a program that begins an operation: the first state of every one is 0."""

REFUSED, FAILED = 0, 1
"""Columns of ``Programs.refused``: for want of room, and because a device was lost."""

_JOURNAL, _OBJECTS = int(Cause.JOURNAL), int(Cause.OBJECTS)
_CALLBACK = int(Cause.CALLBACK)

PROGRAM = Record(
    Column("op", "i8", often=True),  # the operation it is at
    Column("timed", "i8", often=True),  # the operation that it is being timed at
    Column("timed_since", "f8", often=True),
    Column("loop", "i8"),  # the operation after its latest MARK
    Column("stop", "i8", often=True),  # one past its last operation
    Column("call", "i8", often=True),  # calls of that operation that are done
    Column("length", "i8", often=True),  # bytes of the present call
    Column("done", "i8", often=True),  # bytes of it that are done
    Column("offset", "i8", often=True),  # where in the object it is
    Column("left", "i8", often=True),  # bytes left of the stripe chunk
    Column("pending", "i8", often=True),  # bytes or replies that it waits for
    Column("ready", "f8"),  # when the latest of the replies arrives
    Column("since", "f8", often=True),  # when the wait began
    Column("limit", "f8", often=True),  # start no read or write after this time
    Column("calls", "i8", often=True),  # reads and writes done since the batch began
    Column("node", "i4", often=True),
    Column("core", "i4", often=True),  # station
    Column("batch", "i4"),
    Column("phase", "i4", often=True),  # the state that it is in within an operation that waits
    Column("active", "i4"),
    Column("leader", "i4", often=True),  # the program that it is a thread of, or -1
    Column("threads", "i4"),  # its threads that have not ended
    Column("next", "i4", often=True),  # the next in whichever queue it waits
    Column("barriers", "i4"),  # that it has come out of
    Column("posts", "i4"),  # that it has counted in this batch
    Column("watchers", "i4"),  # the first of the programs that await them, or -1
)


class Programs(Component):
    """All programs of all jobs: their operations, clocks, waits and counts."""

    network: Network
    files: Files
    recorder: Recorder
    rows: Table  # `PROGRAM` records
    operations: Table  # `OPERATION` records, program after program
    # What is by cause or by timer has a row of it, with all programs (`_by_program`): one that
    # nobody meets takes no memory.
    waits: Floats  # float64 (`COARSE`, programs): seconds that each has waited, by what it was at
    # float64 (causes, programs): the parts of the path it was behind, where a cause is taken apart
    # (xc40io.plane.causes.TAKEN_APART); what no part takes is the latency of messages
    behind: Floats
    whole: Floats  # float64 (`COARSE`,): 1 for what is a cause in itself, 0 for what is taken apart
    # float64 (causes, programs): what each had waited when it came out of its latest meeting
    # (xc40io.plane.lateness)
    met: Floats
    since_met: Floats  # float64 (causes, 2): room to compare two programs in
    replies: Floats  # float64 (programs, 6): the latest of the replies that each waits for
    # marks, timers: float64 (programs, marks) and (`TIMERS`, programs), in seconds
    marks: Floats
    timers: Floats
    # int64 (programs, 2): bytes that each did not get written because a device was full, and that
    # it could not read or write because a device was lost
    refused: Integers
    # int32: programs left in each batch. `ended` lists the batches that ended at the present time,
    # `ended_count` (1,) how many.
    batches: Indices
    ended: Indices
    ended_count: Integers
    clock: Floats  # float64 (1,): the present time
    counts: Integers  # int64 (3,): events, bulk RPCs, and the bytes that these have moved
    stats: Integers  # int64, by xc40io.plane.counters.Stat
    barrier_skew: float  # seconds within which the programs of a batch begin
    # seed, first_draw: of the draws that say when within them: see xc40io.engine.randomness.uniform
    seed: int
    first_draw: int

    @classmethod
    def build(cls, site: Site) -> Programs:
        """Return the programs of all jobs, idle."""
        occupants = site.occupants
        rows = PROGRAM.table(len(occupants.program_node))
        rows.node = occupants.program_node
        return site.make(
            cls,
            rows=rows,
            operations=make_table(OPERATION, 0),
            waits=_by_program(COARSE, rows),
            behind=_by_program(CAUSES, rows),
            whole=np.array([float(cause not in TAKEN_APART) for cause in DOING]),
            met=_by_program(CAUSES, rows),
            since_met=np.zeros((CAUSES, 2)),
            replies=np.zeros((len(rows), AT_CALLBACK + 1)),
            marks=np.zeros((len(rows), MARKS)),
            timers=_by_program(TIMERS, rows),
            refused=zeros((len(rows), 2), np.int64),
            batches=np.zeros(64, np.int32),
            ended=np.zeros(64, np.int32),
            ended_count=np.zeros(1, np.int64),
            clock=np.zeros(1),
            counts=np.zeros(3, np.int64),
            stats=np.zeros(len(Stat), np.int64),
            barrier_skew=site.machine.mpi.barrier_skew,
            seed=jitter_seed(site.seed),
            first_draw=site.machine.lustre.osts,
        )

    def begin_anew(self, programs: Integers, nodes: Indices, cores: Indices) -> None:
        """Let programs, int64 (n,), forget whose they were; put them on nodes and core stations."""
        PROGRAM.clear(self.rows, programs)
        self.rows.node[programs] = nodes
        self.rows.core[programs] = cores
        for table in (self.replies, self.marks, self.refused):
            table[programs] = 0
        for table in (self.waits, self.behind, self.met, self.timers):
            table[:, programs] = 0.0

    def waited(self, programs: Integers) -> WaitSeconds:
        """Return the waits of some programs, int64 (n,), so far, in arrays of the caller's."""
        if self.counts[0] == 0:  # nobody has begun: nothing takes memory that is not needed
            count = len(programs)
            return WaitSeconds(np.zeros((count, COARSE)), np.zeros((count, CAUSES)))
        return waited_of(row_a_program(self.waits, programs), row_a_program(self.behind, programs))

    def pending(self) -> int:
        """Return the most events that can be pending: one a program."""
        return len(self.rows)


def _by_program(count: int, rows: Table) -> Floats:
    """Return ``count`` rows for what is counted of all programs.

    They are a little longer than there are programs: what one has in all rows would else be in few
    places of the processor's cache, where a power of two of programs is.
    """
    lines = len(rows) * 8 // CACHE_LINE + 1
    counted: Floats = zeros((count, CACHE_LINE // 8 * (lines | 1)), np.float64)
    return counted


def row_a_program(counted: Floats, programs: Integers) -> Floats:
    """Return what is counted of some programs, int64 (n,): float64 (n, counted), a copy."""
    rows: Floats = zeros((len(programs), len(counted)), np.float64)
    for column, of_all in zip(rows.T, counted, strict=True):
        if of_all.any():
            column[:] = of_all[programs]
    return rows


def jitter_seed(seed: int) -> int:
    """Return the seed of all draws in compiled code; ``seed`` is the scenario's."""
    return int(stream(seed, "jitter").integers(1 << 31))


@outlined
def wake(programs: Programs, program_id: int, now: float) -> None:
    """Wake a program: it goes on from where it waits, at this time."""
    schedule(programs.network.calendar, now, PROGRAM_EVENT, program_id)


@outlined
def wake_all(programs: Programs, head: int, now: float) -> None:
    """Wake every program of a list."""
    program_id = head
    while program_id >= 0:
        wake(programs, program_id, now)
        program_id = programs.rows[program_id].next


@njit
def wake_into(programs: Programs, waiters: Any, room: int, each: int, now: float) -> None:
    """Wake the first programs of a queue, as many as there is room for, if each takes so much.

    ``room`` and ``each`` are in bytes; the last of them may find less.
    """
    while room > 0:
        program_id = pop(waiters, programs.rows)
        if program_id < 0:
            return
        wake(programs, program_id, now)
        room -= each


@outlined
def wait_for(programs: Programs, program_id: int, replies: int, now: float) -> None:
    """Note that a program waits for so many replies."""
    program = programs.rows[program_id]
    program.pending = replies
    program.ready = now
    programs.replies[program_id, ASKED] = now


@outlined
def count_down(programs: Programs, program_id: int, now: float) -> None:
    """Count one of the things that a program waits for as done; wake it after the last."""
    program = programs.rows[program_id]
    program.pending -= 1
    if program.pending == 0:
        wake(programs, program_id, now)


@outlined
def charge(programs: Programs, program_id: int, cause: int, now: float) -> None:
    """Charge what a program has waited since its wait began to a cause."""
    since = programs.rows[program_id].since
    programs.waits[cause, program_id] += now - since
    record_span(programs.recorder, program_id, cause, since, now)


@outlined
def charge_ahead(
    programs: Programs, program_id: int, cause: int, seconds: float, now: float
) -> float:
    """Charge a program with the coming seconds, which it is sure to take; return their end."""
    programs.waits[cause, program_id] += seconds
    record_span(programs.recorder, program_id, cause, now, now + seconds)
    return now + seconds


@outlined
def charge_to(programs: Programs, program_id: int, cause: int, part: int, now: float) -> None:
    """Charge a program's wait to a cause that has parts, all of it to one part."""
    charge(programs, program_id, cause, now)
    programs.behind[part, program_id] += now - programs.rows[program_id].since


@outlined
def note_reply(
    programs: Programs, program_id: int, server: int, at_server: float, ready: float
) -> bool:
    """Note a reply that will be there at ``ready``; tell whether it is the latest so far.

    ``at_server`` are the seconds at its server, and ``server`` is the cause that these are.
    """
    program = programs.rows[program_id]
    if ready < program.ready:
        return False
    program.ready = ready
    reply = programs.replies[program_id]
    reply[SERVER] = server
    reply[AT_SERVER] = at_server
    reply[AT_JOURNAL] = reply[FOR_OBJECTS] = reply[AT_CALLBACK] = 0.0
    return True


@outlined
def charge_reply(programs: Programs, program_id: int) -> None:
    """Charge a program's wait for replies to the causes that delayed the latest reply."""
    reply, behind = programs.replies[program_id], programs.behind
    behind[int(reply[SERVER]), program_id] += reply[AT_SERVER]
    behind[_JOURNAL, program_id] += reply[AT_JOURNAL]
    behind[_OBJECTS, program_id] += reply[FOR_OBJECTS]
    behind[_CALLBACK, program_id] += reply[AT_CALLBACK]


@njit
def pass_on(programs: Programs, turn: Any, now: float) -> None:
    """Give up a turn; wake the next in line."""
    heir = pass_turn(turn, programs.rows)
    if heir >= 0:
        wake(programs, heir, now)


@outlined
def call_is_due(programs: Programs, program_id: int, now: float) -> bool:
    """Tell whether another call of a run of reads or writes is to be begun.

    After the last of them, or when it is too late for more, the program turns to the next
    operation.
    """
    program = programs.rows[program_id]
    if program.call < programs.operations[program.op].count and now <= program.limit:
        return True
    program.call = 0
    program.op += 1
    return False


@outlined
def start_of_call(programs: Programs, program_id: int) -> int:
    """Return where in the file the present call of a program begins, in bytes."""
    program = programs.rows[program_id]
    operation = programs.operations[program.op]
    return operation.offset + program.call * operation.stride


@outlined
def begin_call(programs: Programs, program_id: int, now: float) -> None:
    """Begin the next call of a run; none of its bytes has been moved."""
    note_called(programs.recorder, program_id, now)
    program = programs.rows[program_id]
    program.length = programs.operations[program.op].length
    program.done = 0


@outlined
def clip_to_file(programs: Programs, program_id: int) -> None:
    """End a read where its file ends."""
    program = programs.rows[program_id]
    file = programs.files.rows[programs.operations[program.op].file]
    left = file.end - start_of_call(programs, program_id)
    program.length = max(min(program.length, left), 0)


@outlined
def end_call(programs: Programs, program_id: int, now: float) -> None:
    """Count a call as done."""
    program = programs.rows[program_id]
    drop_call(programs, program_id, program.length, now)
    program.calls += 1


@outlined
def drop_call(programs: Programs, program_id: int, moved: int, now: float) -> None:
    """Turn to the next call of the run, after one that has moved some bytes; it is not counted."""
    if programs.recorder.on:
        kind = programs.operations[programs.rows[program_id].op].kind
        file = programs.operations[programs.rows[program_id].op].file
        tag = programs.operations[programs.rows[program_id].op].tag
        start = start_of_call(programs, program_id)
        called = programs.recorder.called[program_id]
        add_call(programs.recorder, program_id, kind, file, tag, start, moved, called, now)
    programs.rows[program_id].call += 1
