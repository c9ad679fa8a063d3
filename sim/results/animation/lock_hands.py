"""The locks of one object, as they change hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xc40io.engine.types import Integers
from xc40io.plane.recorder import Records
from xc40io.results.pictures.lock_lanes import (
    most_asked_back,
    object_name,
    packed_rows,
)
from xc40io.run.recording import Recording


@dataclass(frozen=True, eq=False)
class LockHands:
    """The locks of the object that was fought for most."""

    object_name: str  # of which file and stripe it is, and on which OST
    locks: Records  # ``LOCK`` records, all of the object, in the order in which they were asked for
    row: Integers
    """int64 (locks,): the row of each in the lane of its node; those that a node has at a time have
    rows of their own."""
    size: int  # bytes of the object that anything was done with

    @property
    def asked_back(self) -> int:
        """How many got a blocking AST."""
        return int(np.isfinite(self.locks["blocked"]).sum())


def lock_hands_of(recording: Recording) -> LockHands | None:
    """Return the locks of the object of which most were called back; None if there are no locks.

    If none was called back, it is the object that most were asked for of.
    """
    if not len(recording.locks):
        return None
    object_id = most_asked_back(recording.locks)
    if object_id is None:
        object_id = int(np.bincount(recording.locks["object"]).argmax())
    locks = recording.locks[recording.locks["object"] == object_id]
    locks = locks[np.argsort(locks["asked"], kind="stable")]
    row = np.zeros(len(locks), np.int64)
    for node in np.unique(locks["node"]):
        own = locks["node"] == node
        row[own] = packed_rows(locks[own])
    rpcs = recording.rpcs[recording.rpcs["object"] == object_id]
    size = max(int((rpcs["offset"] + rpcs["bytes"]).max(initial=1)), int(locks["start"].max()) + 1)
    return LockHands(object_name(recording, object_id), locks, row, size)
