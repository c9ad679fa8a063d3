"""Seconds that programs have waited: by activity, and by the part of the path they were behind."""

from __future__ import annotations

from typing import NamedTuple

from sim.engine.types import Floats
from sim.plane.causes import COARSE, TAKEN_APART, Cause

_TAKEN_APART = sorted(TAKEN_APART)


class Waited(NamedTuple):
    """Seconds that programs, or ranks, have waited: the same seconds, arranged in two ways."""

    doing: Floats  # float64 (n, `COARSE`): by what each was at, as in an fsync or for a lock
    # float64 (n, causes): by the part of the path that it was behind. Nothing stands at the causes
    # that are taken apart, but at `TRANSFER` the latency of messages.
    causes: Floats

    def __sub__(self, other: Waited) -> Waited:
        return Waited(self.doing - other.doing, self.causes - other.causes)


def waited_of(doing: Floats, behind: Floats) -> Waited:
    """Return the seconds that programs have waited, arranged in both ways.

    Parameters
    ----------
    doing
        float64 (n, ``COARSE``): ``Programs.waits`` of some programs.
    behind
        float64 (n, causes): ``Programs.behind`` of the same.
    """
    causes = behind.copy()
    causes[:, :COARSE] += doing
    causes[:, _TAKEN_APART] -= doing[:, _TAKEN_APART]
    causes[:, Cause.TRANSFER] = doing[:, _TAKEN_APART].sum(axis=1) - behind.sum(axis=1)
    return Waited(doing.copy(), causes)
