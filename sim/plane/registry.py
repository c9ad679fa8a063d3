"""Who does what: the handlers that components register with their decorators.

The loop over the events knows no component by name. A component's module declares beside its
functions which events, operations and messages they are for, and the loop is put together from that
(``sim.machine.loop``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sim.engine.calendar import KIND_BITS
from sim.engine.component import Component
from sim.plane.events import PROGRAM_EVENT
from sim.plane.files import Backend
from sim.plane.operations import Op

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

It does nothing but :func:`~sim.engine.prefetch.prefetch` rows that the message will need: in step 0
those that its own row names, in step 1 those that these name.
"""

EXPECTED_PROGRAMS: dict[int, Handler] = {}
"""By event kind, of which programs have one: ``function(component, program_id, step)``, as well."""


def on_event(component: type[Component], kind: int) -> Callable[[Function], Function]:
    """Register a function for a kind of events.

    ``sim.plane.events`` numbers the kinds that there are; a component may bring one of its own.

    Raises
    ------
    ValueError
        If the kind has another handler, or no place in the keys of the calendar.
    """
    if not 0 <= kind < 1 << KIND_BITS:
        raise ValueError(f"event kind {kind}; right would be 0 to {(1 << KIND_BITS) - 1}")
    return _registrar(EVENTS, [kind], component)


def on_message(component: type[Component], carrier: int) -> Callable[[Function], Function]:
    """Register a function for the messages of a carrier (``sim.plane.events``)."""
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
