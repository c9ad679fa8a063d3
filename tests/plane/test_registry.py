"""Two components cannot claim the same events, and no kind may spill into the calendar's keys."""

from __future__ import annotations

import pytest

from sim.engine.calendar import KIND_BITS
from sim.plane import registry
from sim.plane.events import LOCK_EVENT
from sim.plane.files import Files
from sim.plane.registry import on_event


@pytest.fixture(autouse=True)
def _own_handlers(monkeypatch):
    monkeypatch.setattr(registry, "EVENTS", {})


def first(_files: Files, _index: int, now: float) -> float:
    return now


def second(_files: Files, _index: int, now: float) -> float:
    return now


def test_a_kind_has_one_handler():
    on_event(Files, LOCK_EVENT)(first)
    with pytest.raises(ValueError, match="two handlers"):
        on_event(Files, LOCK_EVENT)(second)
    assert registry.EVENTS[LOCK_EVENT].function is first


@pytest.mark.parametrize("kind", [-1, 1 << KIND_BITS])
def test_a_kind_fits_into_the_keys_of_the_calendar(kind):
    with pytest.raises(ValueError, match=f"event kind {kind}; right would be 0 to 15"):
        on_event(Files, kind)
