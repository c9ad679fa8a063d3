"""What is looked for in a run once, however often it is asked for: text, JSON and pages want it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from xc40io.run.result import Result

_Found = TypeVar("_Found")


def once(find: Callable[[Result], list[_Found]]) -> Callable[[Result], list[_Found]]:
    """Return a search that keeps what it has found, as long as the run is there."""
    known: WeakKeyDictionary[Result, list[_Found]] = WeakKeyDictionary()

    @wraps(find)
    def recalled(result: Result) -> list[_Found]:
        if result not in known:
            known[result] = find(result)
        return list(known[result])

    return recalled
