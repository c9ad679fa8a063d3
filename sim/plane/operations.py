"""Operations: the instructions of a program, one record each."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt


class Op(IntEnum):
    """Operations of a program; in brackets the columns of its record that it looks at."""

    READ = 0  # `count` calls of `length` bytes from `offset` on, `stride` bytes apart, of `file`
    WRITE = 1
    FSYNC = 2  # (file)
    OPEN = 3
    CREATE = 4
    CLOSE = 5
    STAT = 6
    UNLINK = 7
    MKDIR = 8
    THINK = 9  # compute for `seconds`
    MARK = 10  # note the time in column `mark` of the program's marks
    LIMIT = 11  # start no read or write later than `seconds` from now
    REPEAT = 12  # go back to the latest MARK until `seconds` have passed since `mark`
    GROUP_LOCK = 13  # lock all objects of `file` for the group of number `group`
    GROUP_UNLOCK = 14
    LOCK_AHEAD = 15  # ask for locks on the extents of later calls (as READ), and do not wait
    PARK = 16  # the first operation of a thread: rest until its leader starts it
    FORK = 17  # start the next `count` programs, the threads of this one
    JOIN = 18  # wait until they have ended
    MEET = 19  # wait until `members` programs are at `meeting`; all go on `seconds` later
    WORK = 20  # work in a library for `seconds`
    EXCHANGE = 21  # receive `received` transfers from `transfer` on, and send `sent`, those of the
    # turn of transfer `sent_first`; wait until all are there
    TRUNCATE = 22  # cut or lengthen the file to `offset` bytes: locks every object from there on
    FLOCK = 23  # take `length` bytes of the file from `offset` for this program (fcntl)
    FUNLOCK = 24  # give them back
    UNTIL = 25  # compute until the clock shows `seconds`, or not at all if it is past that


ON_FILES = frozenset(
    {Op.READ, Op.WRITE, Op.FSYNC, Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR}
    | {Op.TRUNCATE, Op.FLOCK, Op.FUNLOCK, Op.GROUP_LOCK, Op.GROUP_UNLOCK, Op.LOCK_AHEAD}
)
"""The operations that name a ``file``, and so are done by what keeps it."""

_COLUMNS = {
    "kind": "i4",  # an Op
    "file": "i4",
    "offset": "i8",  # bytes
    "length": "i8",  # bytes of one call
    "stride": "i8",  # bytes from one call to the next
    "count": "i8",  # calls
    "seconds": "f8",
    "timer": "i8",  # the column of the program's timers that its time is added to
}
_IN_PLACE_OF = {  # columns of operations that are no calls, and where they lie
    "mark": "offset",
    "group": "offset",
    "meeting": "file",
    "members": "count",
    "transfer": "offset",
    "received": "count",
    "sent": "length",
    "sent_first": "stride",
}


def _union() -> np.dtype[Any]:
    """Return the record of an operation: 64 bytes, a line of the cache, whatever it does."""
    plain = np.dtype(list(_COLUMNS.items()), align=True)
    assert plain.fields is not None
    forms, offsets = dict(_COLUMNS), {name: plain.fields[name][1] for name in _COLUMNS}
    for name, place in _IN_PLACE_OF.items():
        forms[name], offsets[name] = forms[place], offsets[place]
    return np.dtype(
        {
            "names": list(forms),
            "formats": list(forms.values()),
            "offsets": [offsets[name] for name in forms],
            "itemsize": plain.itemsize,
        }
    )


OPERATION = _union()
"""An operation: ``kind`` is its :class:`Op`; the columns of other operations mean nothing in it."""

Operations: TypeAlias = npt.NDArray[Any]
"""``OPERATION`` records."""


def no_operations(count: int) -> Operations:
    """Return so many zeroed operations."""
    return np.zeros(count, OPERATION)


def join_operations(parts: Sequence[Operations]) -> Operations:
    """Return operations one after the other.

    ``np.concatenate`` would give each column a place of its own.
    """
    joined = np.zeros(sum(len(part) for part in parts), OPERATION)
    first = 0
    for part in parts:
        joined[first : first + len(part)] = part
        first += len(part)
    return joined


TIMERS = 16
"""Timers of a program. What they measure is for control to say; column 0 takes what it does not."""
