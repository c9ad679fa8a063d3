"""The recorder: what programs, RPCs, small requests and locks did, one record each.

Whoever ends something adds its record to a *log*, a table whose rows are taken in order. Compiled
code cannot make a table longer, so the loop sees to room in logs as it does in all tables
(:mod:`xc40io.engine.pool`), and has what is in a full one put aside. A program that goes on from
one operation to the next within one event looks itself whether there is room for one more
(:func:`may_go_on`).

Where nothing is to be recorded, the tables are empty, and all that is left is one look at ``on``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.pool import FREE, Pool, make_log, next_row
from xc40io.engine.types import Floats, Table, as_bytes, make_table
from xc40io.plane.site import Site

# The comments beside the columns make docs/reference/result-tables.md. Columns without one share
# that of the column before.
CALL = np.dtype(  # a call of a program on a file, or an operation that is none
    [
        ("program", "i4"),  # whose it is: `ranks` and `threads` say more
        ("op", "i4"),  # `xc40io.plane.operations.Op`
        ("file", "i4"),  # number in `file_names`; -1: none
        ("tag", "i4"),  # the call of MPI-IO that it is part of; -1: is one itself; 0: none
        ("offset", "i8"),  # bytes: where in the file it begins
        ("bytes", "i8"),  # bytes: really moved
        ("start", "f8"),  # s: the program calls
        ("end", "f8"),  # s: the call returns
    ],
    align=True,
)

RPC = np.dtype(  # a bulk (BRW) RPC
    [
        ("node", "i4"),  # the client, by its position in `nodes`
        ("ost", "i4"),  # the OST
        ("object", "i4"),  # the stripe object, a row of `objects`
        ("write", "i4"),  # 1: a write; 0: a read
        ("in_flight", "i4"),  # RPCs of its OSC when it was sent, itself included
        ("gateway", "i4"),  # the LNET router of its last part; -1: none of its parts has come
        ("pieces", "i4"),  # of the object in which its bytes lie, at most; 1 while it is under way
        ("bytes", "i8"),  # bytes
        ("offset", "i8"),  # bytes: where in the object it begins
        ("start", "f8"),  # s: the OSC sends it
        ("left", "f8"),  # s: the bulk leaves its sender, the node of a write, the OSS of a read
        ("routed", "f8"),  # s: LNET routers have stored all of the bulk
        ("arrived", "f8"),  # s: the request, or all of the bulk of a write, is at the OSS
        ("begun", "f8"),  # s: block I/O begins
        ("served", "f8"),  # s: the array can turn to another
        ("ended", "f8"),  # s: the client has the reply, or all of the data
        ("at_nic", "f8"),  # s: of its last part at stations of each kind, waiting and being served
        ("at_link", "f8"),
        ("at_lnet", "f8"),
        ("at_ib", "f8"),
        ("at_oss", "f8"),
    ],
    align=True,
)

REQUEST = np.dtype(  # a small request to a server
    [
        ("program", "i4"),  # who waits for the reply
        ("kind", "i4"),  # `xc40io.lustre.requests`
        ("op", "i4"),  # the `Op` of the program that it is for
        ("station", "i4"),  # where it is served; a glimpse AST: the node's first callback thread
        ("target", "i4"),  # a file (to an MDS) or an object (to an OSS)
        ("sent", "f8"),  # s: it leaves the client
        ("arrived", "f8"),  # s: it is at the server
        ("begun", "f8"),  # s: a thread turns to it
        ("ended", "f8"),  # s: the reply leaves; a sync waits for the journal before that
    ],
    align=True,
)

LOCK = np.dtype(  # an extent lock of a client node
    [
        ("object", "i4"),  # the stripe object, a row of `objects`
        ("node", "i4"),  # by its position in `nodes`
        ("mode", "i4"),  # `xc40io.lustre.locks`
        ("start", "i8"),  # bytes of the object: what it covers, both ends included
        ("end", "i8"),
        ("asked", "f8"),  # s: the enqueue is sent
        ("granted", "f8"),  # s: the client holds it
        ("blocked", "f8"),  # s: a blocking AST comes, on its own or with the grant
        ("returned", "f8"),  # s: all pages are written back and dropped, and the cancel is sent
        ("ended", "f8"),  # s: the server has removed it, after the commit of what was written
    ],
    align=True,
)

SPAN = np.dtype(  # what a program waited for
    [
        ("program", "i4"),  # who waited
        ("cause", "i4"),  # `xc40io.plane.causes.Cause`, as the columns of `Result.waits`
        ("since", "f8"),  # s: when it began and ended
        ("until", "f8"),
    ],
    align=True,
)

LOGS: dict[str, tuple[np.dtype[Any], str]] = {
    "calls": (CALL, "end"),
    "rpcs": (RPC, "ended"),
    "requests": (REQUEST, "ended"),
    "locks": (LOCK, "ended"),
    "spans": (SPAN, "until"),
}
"""The logs: their records, and the column by which they are sorted in the end."""

MOST_RECORDS = 20_000_000
"""Records of all logs beyond which recording stops: one to one and a half GB."""

_LOG_ROWS = 1 << 16  # of a log before they are put aside
_CALLS_A_STEP = 2  # a call ends, and the operation before it
_SPANS_A_STEP = 8  # a copy and what it waited for, and a lock before it; twice

Records = npt.NDArray[Any]


class Recorder(Component):
    """What is recorded."""

    on: int  # whether anything is: 1 or 0
    # calls, rpcs, requests, locks, spans: records of these names: what has come since the log was
    # last put aside
    calls: Table
    spare_calls: Pool
    rpcs: Table
    spare_rpcs: Pool
    requests: Table
    spare_requests: Pool
    locks: Table
    spare_locks: Pool
    spans: Table
    spare_spans: Pool
    called: Floats  # float64 (programs,): when each program began its present call, in seconds
    spans_an_event: int  # the most that one event adds: all programs of a node may wait for one RPC

    @classmethod
    def build(cls, site: Site) -> Recorder:
        """Return empty logs."""
        logs: dict[str, Any] = {}
        for name, (layout, _) in LOGS.items():
            logs[name] = make_table(layout, 0)
            logs[f"spare_{name}"] = make_log(endless=not site.record)
        programs = site.occupants.program_node
        most_on_node = int(np.bincount(programs).max(initial=0))
        return site.make(
            cls,
            on=int(site.record),
            **logs,
            called=np.zeros(len(programs) if site.record else 0),
            spans_an_event=most_on_node + _SPANS_A_STEP,
        )

    def demands(self) -> Demands:
        """Return the most rows that one event adds."""
        if not self.on:
            return []
        return [
            (self.spare_calls, _CALLS_A_STEP),
            (self.spare_rpcs, 1),
            (self.spare_requests, 1),
            (self.spare_locks, 1),
            (self.spare_spans, self.spans_an_event),
        ]

    def grow(self, name: str, rows: int) -> None:
        """Put what is in a log aside; then more than so many rows are free in it."""
        spare: Pool = getattr(self, f"spare_{name}")
        table = getattr(self, name)
        used = len(table) - int(spare.counts[FREE])
        if used:
            self._aside[name].append(as_bytes(table[:used]).copy())
        length = max(2 * rows, _LOG_ROWS)
        if len(table) < length:
            table = make_table(table.dtype, length)
            setattr(self, name, table)
        spare.counts[FREE] = len(table)

    @property
    def _aside(self) -> dict[str, list[Records]]:
        """What has been put aside, log by log, as bytes: no field, as compiled code has no need."""
        aside: dict[str, list[Records]] = self.__dict__.setdefault(
            "_aside", {name: [] for name in LOGS}
        )
        return aside

    def is_full(self) -> bool:
        """Tell whether it has as many records as it may."""
        return sum(len(part) for parts in self._aside.values() for part in parts) >= MOST_RECORDS

    def add(self, name: str, records: Records) -> None:
        """Add records to a log behind those that it has."""
        self.grow(name, 0)
        self._aside[name].append(as_bytes(records))

    def stop(self) -> None:
        """Record nothing any more; what has been recorded stays."""
        for name in LOGS:
            self.grow(name, 0)
            setattr(self, name, make_table(LOGS[name][0], 0))
            getattr(self, f"spare_{name}").counts[:] = make_log(endless=True).counts
        self.on = 0

    def take_all(self) -> dict[str, Records]:
        """Return the records, log by log, each sorted by the time of its end; keep none.

        It must have been stopped.
        """
        found = {}
        for name, (layout, ended) in LOGS.items():
            # As bytes: NumPy copies records field by field, which takes several times as long.
            whole = np.concatenate([as_bytes(getattr(self, name)[:0]), *self._aside[name]])
            self._aside[name].clear()
            end = whole.view(layout)[ended]
            if (end[1:] < end[:-1]).any():
                whole = whole[np.argsort(end, kind="stable")]
            found[name] = whole.view(layout)
        return found


@njit
def may_go_on(recorder: Recorder) -> bool:
    """Tell whether there is room for the records of a program that begins another operation."""
    if recorder.on == 0:
        return True
    calls = recorder.spare_calls.counts[FREE] >= _CALLS_A_STEP
    return calls and recorder.spare_spans.counts[FREE] >= _SPANS_A_STEP


@njit
def note_called(recorder: Recorder, program_id: int, now: float) -> None:
    """Note that a program begins a call."""
    if recorder.on:
        recorder.called[program_id] = now


@outlined
def add_call(
    recorder: Recorder,
    program_id: int,
    kind: int,
    file: int,
    tag: int,
    offset: int,
    size: int,
    start: float,
    now: float,
) -> None:
    """Record a call, or an operation, that a program has ended."""
    call = recorder.calls[next_row(recorder.spare_calls, len(recorder.calls))]
    call.program = program_id
    call.op = kind
    call.file = file
    call.tag = tag
    call.offset = offset
    call.bytes = size
    call.start = start
    call.end = now


@njit
def record_span(
    recorder: Recorder, program_id: int, cause: int, since: float, until: float
) -> None:
    """Record a wait of a program, with its cause, begin and end."""
    if recorder.on and until > since:
        _add_span(recorder, program_id, cause, since, until)


@outlined
def _add_span(recorder: Recorder, program_id: int, cause: int, since: float, until: float) -> None:
    span = recorder.spans[next_row(recorder.spare_spans, len(recorder.spans))]
    span.program = program_id
    span.cause = cause
    span.since = since
    span.until = until
