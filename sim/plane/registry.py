"""Who does what: the kinds of events and messages, and the handlers that components register.

The loop over the events knows no component by name. A component's module declares beside its
functions which events, operations and messages they are for, and the loop is put together from that
(``xc40io.machine.loop``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from xc40io.engine.calendar import KIND_BITS
from xc40io.engine.component import Component
from xc40io.plane.files import Backend
from xc40io.plane.operations import Op

# Kinds of entities: each has a handler (:func:`on_event`).
MESSAGE_EVENT = 0
PROGRAM_EVENT = 1
REQUEST_EVENT = 2
LOCK_EVENT = 3
ARRAY_EVENT = 4  # the disk array of an OST can turn to the next RPC that waits
BACKGROUND_EVENT = 5
FLUSHER_EVENT = 6  # of a node's SSD
EXPIRY_EVENT = 7  # dirty pages of a node before its SSD may be old
SSD_READ_EVENT = 8  # an extent has been read from an SSD
# 9 is left to a component of the reader: the example of docs/architecture.md takes it.
STATAHEAD_EVENT = 10  # the statahead thread of a program
ENTRY_EVENT = 11  # an entry of a directory that such a thread asks for
LAYOUT_EVENT = 12  # a request to an MDT about the layout of a file
LAYOUT_AST_EVENT = 13  # a blocking AST for the layout lock of an inode

# What a message belongs to: each has a handler (:func:`on_message`).
BRW, PEER, DVS = 0, 1, 2

STAGES = 16
"""A message's stage, its place in the journey, tells its carrier: stages ``carrier * STAGES`` to
``(carrier + 1) * STAGES - 1`` are the carrier's."""

GONE = -1.0
"""A handler's answer: the entity has no further event for now; others will wake it, or it ended."""

GO_ON = -2.0
"""The answer of a part of an entity's work: it is done, and the entity goes on at once."""

FULL = -3.0
"""The answer of a program's handler that needs more rows than are free: nothing has happened, and
the event is begun again when there are as many (:func:`~xc40io.engine.pool.reserve`)."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Handler(NamedTuple):
    """A compiled function, and the component that is its first argument."""

    component: type[Component]
    function: Callable[..., Any]


EVENTS: dict[int, Handler] = {}
"""By kind of event: ``function(component, index, now)`` returns when the entity acts next."""

OPERATIONS: dict[tuple[Op, Backend | None], Handler] = {}
"""By operation and what keeps its file (None: it has none, or that is all the same).

``function(component, program_id, now)`` returns when the program acts next.
"""

MESSAGES: dict[int, Handler] = {}
"""By what a message is part of: ``function(component, message_id, now)``, between two segments."""


EXPECTED: dict[int, Handler] = {}
"""By what a message is part of: ``function(component, message_id, step)``, before it is due.

It does nothing but :func:`~xc40io.engine.prefetch.prefetch` rows that the message will need: in
step 0 those that its own row names, in step 1 those that these name.
"""

EXPECTED_PROGRAMS: dict[int, Handler] = {}
"""By event kind, of which programs have one: ``function(component, program_id, step)``, as well."""


def on_event(component: type[Component], kind: int) -> Callable[[Function], Function]:
    """Register a function for a kind of events.

    The kinds that there are have their numbers above; a component may bring one of its own.

    Raises
    ------
    ValueError
        If the kind has another handler, or no place in the keys of the calendar.
    """
    if not 0 <= kind < 1 << KIND_BITS:
        raise ValueError(f"event kind {kind}; right would be 0 to {(1 << KIND_BITS) - 1}")
    return _registrar(EVENTS, [kind], component)


def on_message(component: type[Component], carrier: int) -> Callable[[Function], Function]:
    """Register a function for the messages of a carrier."""
    return _registrar(MESSAGES, [carrier], component)


def before_message(component: type[Component], carrier: int) -> Callable[[Function], Function]:
    """Register a function that fetches what the messages of a carrier will need."""
    return _registrar(EXPECTED, [carrier], component)


def before_program(component: type[Component]) -> Callable[[Function], Function]:
    """Register the function that fetches what programs will need."""
    return _registrar(EXPECTED_PROGRAMS, [PROGRAM_EVENT], component)


def performs(
    component: type[Component], *operations: Op, on: Backend | None = None
) -> Callable[[Function], Function]:
    """Register a function for operations, on files that ``on`` keeps."""
    return _registrar(OPERATIONS, [(operation, on) for operation in operations], component)


def _registrar(
    handlers: dict[Any, Handler], keys: list[Any], component: type[Component]
) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for key in keys:
            if key in handlers and handlers[key].function is not function:
                raise ValueError(f"{key} has two handlers: {handlers[key].function} and {function}")
            handlers[key] = Handler(component, function)
        return function

    return register
