"""Extent locks that ranks wait for while their holders still move bytes below them.

The first lock on an object is granted for all of it (``xc40io.lustre.locks``), and a holder gives
it back only when the chunk that it is moving is finished: a call, or what of it lies in one stripe.
In a long run that is a small part of what locks cost. A short burst may consist of little else:
each object changes hands once, however large its stripes are, and all but the first nodes wait for
that.
"""

from __future__ import annotations

from collections.abc import Iterable

from xc40io.findings.waits import Wait
from xc40io.plane.causes import Cause
from xc40io.telling.units import PERCENT

WORTH_SAYING = 0.1
"""Share of a phase's time that ranks must wait for such locks: our own, as that of metadata."""

MOSTLY = 0.5
"""Share of all waiting behind locks that it must be: else commits and write-back tell more."""

_USE = Cause.LOCK_USE.name.lower()
_BEHIND = {
    _USE,
    *(cause.name.lower() for cause in (Cause.LOCK_QUEUE, Cause.LOCK_FLUSH, Cause.LOCK_COMMIT)),
}

WHY = "who comes to an object first locks all of it until its call, or its stripe, is done"
"""Why a lock is held."""


def held(waits: Iterable[Wait]) -> Wait | None:
    """Return the waiting for locks still in use, if it strikes among all waits of a phase."""
    behind = {wait.cause: wait for wait in waits if wait.cause in _BEHIND}
    found = behind.get(_USE)
    if found is None or found.share < WORTH_SAYING:
        return None
    return found if found.share >= MOSTLY * sum(wait.share for wait in behind.values()) else None


def held_words(waits: Iterable[Wait]) -> str:
    """Say in a sentence how long ranks waited for locks still in use; nothing if that is little."""
    found = held(waits)
    if found is None:
        return ""
    return (
        f"A rank waited {PERCENT.write(found.share)} of the time for extent locks that their "
        f"holders still used: {WHY}."
    )
