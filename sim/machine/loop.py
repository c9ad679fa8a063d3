"""The loop over the events of the data plane, put together from what components register.

Which handler is called for an event, an operation or a message is decided by chains of comparisons
that are written here from the registry and compiled with the loop: LLVM makes a jump table of such
a chain. The loop knows no component but the programs and the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xc40io.engine.calendar import (
    drop_next,
    in_sight,
    index_of,
    is_alone,
    kind_of,
    look_farther,
    next_index,
    next_kind,
    next_time,
    reschedule_next,
    sees_farther,
)
from xc40io.engine.compiled import entry, inlined, outlined
from xc40io.engine.component import annotated
from xc40io.engine.network import hop, travelling
from xc40io.engine.pool import COUNTS, EVENTS_A_LOOK, FREE, NEEDED, NoRowLeftError
from xc40io.engine.prefetch import prefetch
from xc40io.engine.types import Integers
from xc40io.machine.tables import Tables
from xc40io.plane import registry
from xc40io.plane.control import end, read_timer
from xc40io.plane.files import Backend
from xc40io.plane.operations import ON_FILES, Op
from xc40io.plane.recorder import may_go_on
from xc40io.plane.registry import FULL, GO_ON, GONE, MESSAGE_EVENT, PROGRAM_EVENT, STAGES, Handler

IDLE, ENDED, PAUSED, OUT_OF_ROWS = 0, 1, 2, 3
"""What :func:`run` answers: nothing is due, a batch has ended, some events are done, a table must
be made longer."""

_STEPS = 3  # in which more than an entity's own row is fetched
_SLOTS_A_STEP = 1  # of the calendar: a row that is asked for comes within these

_BACKENDS = len(Backend)
_FIELDS = {part: name for name, part in annotated(Tables).items()}


def _dispatcher(
    name: str, parameters: str, handlers: Iterable[tuple[int, Handler]], *, answers: bool = True
) -> Callable[..., Any]:
    """Return a function that calls the handler of a number.

    Parameters
    ----------
    name
        Of the function, which takes ``tables``, the number and the parameters.
    parameters
        What handlers take behind their component: names and annotations.
    handlers
        By number, those that are called most first.
    answers
        Whether they answer when the entity acts next, and any other number ``GONE``; else nothing.
    """
    returns, otherwise = ("float", "GONE") if answers else ("None", "None")
    arguments = re.sub(r": \w+", "", parameters)
    lines = [f"def {name}(tables: Tables, number: int, {parameters}) -> {returns}:"]
    functions: dict[str, Any] = {"Tables": Tables, "GONE": GONE, "__name__": __name__}
    for number, handler in handlers:
        called = f"_{number}"
        functions[called] = handler.function
        part = _FIELDS[handler.component]
        lines.append(f"    if number == {number}:")
        lines.append(f"        return {called}(tables.{part}, {arguments})")
    lines.append(f"    return {otherwise}")
    exec("\n".join(lines), functions)
    return outlined(functions[name])


def _slot(operation: int, backend: int) -> int:
    """Return the number of an operation on a file that some backend keeps."""
    return operation * _BACKENDS + backend


def _operations() -> list[tuple[int, Handler]]:
    """Return the handlers of operations by :func:`_slot`, reads and writes on Lustre first."""
    found: dict[int, Handler] = {}
    for (operation, backend), handler in sorted(registry.OPERATIONS.items(), key=str):
        every = range(_BACKENDS) if backend is None and operation in ON_FILES else [backend or 0]
        found |= {_slot(operation, one): handler for one in every}
    return sorted(found.items())


def _others() -> list[tuple[int, Handler]]:
    """Return the handlers of all events but those that the loop itself looks at."""
    known = MESSAGE_EVENT, PROGRAM_EVENT
    return [(kind, one) for kind, one in sorted(registry.EVENTS.items()) if kind not in known]


# An operation that nobody performs on such a file, such as advice about locks where there are
# none, is passed over; and there are no other events and messages than those that are handled.
_perform = _dispatcher("_perform", "program_id: int, now: float", _operations())
_handle = _dispatcher("_handle", "index: int, now: float", _others())
_carry = _dispatcher("_carry", "message_id: int, now: float", sorted(registry.MESSAGES.items()))
_expect = _dispatcher(
    "_expect", "message_id: int, step: int", sorted(registry.EXPECTED.items()), answers=False
)
_expect_program = _dispatcher(
    "_expect_program",
    "program_id: int, step: int",
    sorted(registry.EXPECTED_PROGRAMS.items()),
    answers=False,
)
_PERFORMED = np.zeros(len(Op) * _BACKENDS, np.bool_)
_PERFORMED[[slot for slot, _ in _operations()]] = True
_ON_FILE = np.array([operation in ON_FILES for operation in Op])


@inlined
def _on_message(tables: Tables, message_id: int, now: float, until: float) -> float:
    """Take a message one step further; return when it acts next, or ``GONE``.

    Where it reaches the next station of its segment before anything else happens, it is served
    there at once: that too counts as an event, and spares the way through the calendar.

    ``hop``, which is compiled into its callers, is called in one place for all turns of all
    journeys: that keeps the loop's machine code small.
    """
    network, programs = tables.network, tables.programs
    if not travelling(network, message_id):
        carrier = network.messages[message_id].stage // STAGES
        answer = _carry(tables, carrier, message_id, now)
        if answer != GO_ON:
            return answer
    while True:
        again = hop(network, message_id, now)
        if not travelling(network, message_id):
            return again
        if again >= until or not is_alone(network.calendar, again):
            return again
        now = again
        programs.clock[0] = now
        programs.counts[0] += 1


@outlined
def _step(tables: Tables, program_id: int, now: float) -> float:
    """Take a program on from where it waited.

    Returns when it acts next by itself, ``GONE`` when others will wake it or it has ended, or
    ``FULL``.
    """
    programs = tables.programs
    program = programs.rows[program_id]
    while program.op < program.stop:
        if not may_go_on(programs.recorder):
            return FULL
        if program.op != program.timed:
            read_timer(programs, program_id, now)
        operation = programs.operations[program.op]
        # Where there is no file, the column `file` is something else.
        slot = operation.kind * _BACKENDS
        if _ON_FILE[operation.kind]:
            slot += programs.files.rows[operation.file].backend
        if not _PERFORMED[slot]:
            program.op += 1
            continue
        answer = _perform(tables, slot, program_id, now)
        if answer != GO_ON:
            return answer
    read_timer(programs, program_id, now)
    end(programs, program_id, now)
    return GONE


@inlined
def _has_room(counts: Integers) -> bool:
    """Tell whether every pool can serve the events until the next look."""
    short = 0  # added up: no branch for each of many pools, of which hardly ever one is short
    for pool in range(0, len(counts), COUNTS):
        short += counts[pool + FREE] < counts[pool + NEEDED]
    return short == 0


@outlined
def _fetch_ahead(tables: Tables) -> None:
    """Have the rows of what is due soon fetched, so that no event waits for them.

    A row may name others that its event needs; these are fetched when it has come, one slot of the
    calendar after the other.
    """
    calendar = tables.network.calendar
    while sees_farther(calendar):
        look_farther(calendar)
        row = in_sight(calendar, 0)
        while row >= 0:
            _fetch(tables, calendar.later[row].key)
            row = calendar.later[row].next
        for step in range(_STEPS):
            row = in_sight(calendar, _SLOTS_A_STEP * (step + 1))
            while row >= 0:
                _fetch_more(tables, calendar.later[row].key, step)
                row = calendar.later[row].next


@inlined
def _fetch(tables: Tables, key: int) -> None:
    """Have the row of an entity fetched."""
    index = index_of(key)
    if kind_of(key) == MESSAGE_EVENT:
        prefetch(tables.network.messages, index)
        prefetch(tables.network.spent, index)
    elif kind_of(key) == PROGRAM_EVENT:
        prefetch(tables.programs.rows, index)


@inlined
def _fetch_more(tables: Tables, key: int, step: int) -> None:
    """Have what else a message or a program will need fetched, whose own row has come."""
    index, kind = index_of(key), kind_of(key)
    if kind == PROGRAM_EVENT:
        _expect_program(tables, kind, index, step)
    elif kind == MESSAGE_EVENT and not travelling(tables.network, index):
        _expect(tables, tables.network.messages[index].stage // STAGES, index, step)


@entry(raises=NoRowLeftError)
def run(tables: Tables, pools: Integers, until: float, events: int) -> int:
    """Work through at most ``events`` events before ``until``, up to one that ends a batch.

    ``pools`` (int64) are the counts of all pools of rows, one pool behind the other.
    """
    network, programs = tables.network, tables.programs
    calendar = network.calendar
    for i in range(events):
        now = next_time(calendar)
        if now >= until:
            return IDLE
        # Before the event is touched: what it needs may take a longer table.
        if i % EVENTS_A_LOOK == 0 and not _has_room(pools):
            return OUT_OF_ROWS
        if sees_farther(calendar):
            _fetch_ahead(tables)
        programs.clock[0] = now
        programs.counts[0] += 1
        kind = next_kind(calendar)
        index = next_index(calendar)
        if kind == MESSAGE_EVENT:
            again = _on_message(tables, index, now, until)
        elif kind == PROGRAM_EVENT:
            again = _step(tables, index, now)
        else:
            again = _handle(tables, kind, index, now)
        if again >= 0.0:
            reschedule_next(calendar, again)
        elif again == FULL:  # the event stays where it is, and counts when it happens
            programs.counts[0] -= 1
            return OUT_OF_ROWS
        else:
            drop_next(calendar)
        if programs.ended_count[0] > 0:
            return ENDED
    return PAUSED
