"""Handlers: one for each event, operation and message, and no event beyond the calendar's keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from xc40io.engine.calendar import KIND_BITS
from xc40io.engine.component import Component
from xc40io.plane import registry
from xc40io.plane.files import Backend
from xc40io.plane.operations import Op
from xc40io.plane.registry import Handler, on_event, on_message, performs


class Thing(Component):
    size: int


def first(thing: Thing, number: int, now: float) -> float:
    return now + thing.size + number


def second(thing: Thing, number: int, now: float) -> float:
    return now - thing.size - number


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the handlers of the simulator alone."""
    for name in ("EVENTS", "OPERATIONS", "MESSAGES"):
        monkeypatch.setattr(registry, name, {})


REGISTRARS = {
    "event": partial(on_event, Thing, 7),
    "message": partial(on_message, Thing, 2),
    "operation": partial(performs, Thing, Op.MEET),
    "operation on files": partial(performs, Thing, Op.READ, Op.WRITE, on=Backend.SSD),
}


@pytest.mark.parametrize("registrar", REGISTRARS.values(), ids=REGISTRARS)
def test_a_second_handler_is_refused_by_name(registrar: Callable[[], Any]) -> None:
    assert registrar()(first) is first
    registrar()(first)  # a module that is loaded anew registers what it did before
    with pytest.raises(ValueError, match=r"has two handlers: .*first.* and .*second"):
        registrar()(second)


def test_a_handler_is_found_by_its_event_with_its_component() -> None:
    on_event(Thing, 7)(first)
    on_event(Thing, 8)(second)
    assert {7: Handler(Thing, first), 8: Handler(Thing, second)} == registry.EVENTS


def test_what_keeps_a_file_has_handlers_of_its_own() -> None:
    performs(Thing, Op.READ, Op.WRITE, on=Backend.SSD)(first)
    performs(Thing, Op.READ, on=Backend.DVS)(second)
    assert {
        (Op.READ, Backend.SSD): Handler(Thing, first),
        (Op.WRITE, Backend.SSD): Handler(Thing, first),
        (Op.READ, Backend.DVS): Handler(Thing, second),
    } == registry.OPERATIONS


@pytest.mark.parametrize("kind", [-1, 1 << KIND_BITS])
def test_a_kind_of_events_fits_into_the_keys_of_the_calendar(kind: int) -> None:
    with pytest.raises(ValueError, match=f"event kind {kind}; right would be 0 to 15"):
        on_event(Thing, kind)
