"""Operations: the instructions of a program, one record each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Integers, Table, zeros


class Op(IntEnum):
    """Operations of a program; ``COLUMNS`` has what each looks at."""

    READ = 0  # `count` calls of `length` bytes from `offset` on, `stride` bytes apart, of `file`
    WRITE = 1  # the same; a byte costs the core `seconds` more than its copy: it is in no cache
    FSYNC = 2
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
    MEET = 19  # wait until `members` programs are at `meeting`; all go on `seconds` later; `within`
    # is 1 where they are a part of those that meet next, else 0; POSTS where it waits for nobody
    WORK = 20  # work in a library for `seconds`
    EXCHANGE = 21  # receive `received` transfers from `transfer` on, and send `sent`, those of the
    # turn of transfer `sent_first`; wait until all are there
    TRUNCATE = 22  # cut or lengthen the file to `offset` bytes: locks every object from there on
    FLOCK = 23  # take `length` bytes of the file from `offset` for this program (fcntl)
    FUNLOCK = 24  # give them back
    UNTIL = 25  # compute until the clock shows `seconds`, or not at all if it is past that
    RENAME = 26  # give the file another name
    ITEM = 27  # count a call; leave out this and the next `count` operations if `seconds` have
    # passed since `mark`
    WRITE_OUT = 28  # write back what is dirty of `count` files from `file` on (sync)
    READDIR = 29  # read `count` names of the directory `file`, all of which are
    # the `entries` files from `first_entry` on, in this order; none: nobody looks at them
    COMPUTE = 30  # compute for `seconds` of the core, which does first what others give it to do
    POST = 31  # count one up, for whoever awaits this program
    AWAIT = 32  # wait until program `program` has counted to `count` in this batch


POSTS = 2
"""``within`` of a ``MEET`` whose program comes and goes on, as one that sends a short message."""

_OF_CALLS = ("file", "offset", "length", "stride", "count")
_EVERY = ("timer", "tag")

COLUMNS: dict[Op, frozenset[str]] = {
    kind: frozenset((*_EVERY, *columns))
    for kind, columns in {
        Op.READ: (*_OF_CALLS, "seconds"),
        Op.WRITE: (*_OF_CALLS, "seconds"),
        Op.FSYNC: ("file",),
        Op.OPEN: ("file",),
        Op.CREATE: ("file",),
        Op.CLOSE: ("file",),
        Op.STAT: ("file",),
        Op.UNLINK: ("file",),
        Op.MKDIR: ("file",),
        Op.THINK: ("seconds",),
        Op.MARK: ("mark",),
        Op.LIMIT: ("seconds",),
        Op.REPEAT: ("mark", "seconds"),
        Op.GROUP_LOCK: ("file", "group"),
        Op.GROUP_UNLOCK: ("file",),
        Op.LOCK_AHEAD: _OF_CALLS,
        Op.PARK: (),
        Op.FORK: ("count",),
        Op.JOIN: (),
        Op.MEET: ("meeting", "members", "within", "seconds"),
        Op.WORK: ("seconds",),
        Op.EXCHANGE: ("transfer", "received", "sent", "sent_first"),
        Op.TRUNCATE: ("file", "offset"),
        Op.FLOCK: ("file", "offset", "length"),
        Op.FUNLOCK: ("file",),
        Op.UNTIL: ("seconds",),
        Op.RENAME: ("file",),
        Op.ITEM: ("mark", "seconds", "count"),
        Op.WRITE_OUT: ("file", "count"),
        Op.READDIR: ("file", "count", "first_entry", "entries"),
        Op.POST: (),
        Op.AWAIT: ("program", "count"),
        Op.COMPUTE: ("seconds",),
    }.items()
}
"""The columns that an operation looks at."""

ON_FILES = frozenset(kind for kind, columns in COLUMNS.items() if "file" in columns)
"""The operations that name a ``file``, and so are done by what keeps it."""

_COLUMNS = {
    "kind": "i4",  # an Op
    "file": "i4",
    "offset": "i8",  # bytes
    "length": "i8",  # bytes of one call
    "stride": "i8",  # bytes from one call to the next
    "count": "i8",  # calls
    "seconds": "f8",
    "timer": "i4",  # the column of the program's timers that its time is added to
    "tag": "i4",  # the library's call that it is part of (xc40io.plane.library_calls)
}
_IN_PLACE_OF = {  # columns of operations that are no calls, and where they lie
    "mark": "offset",
    "first_entry": "offset",
    "entries": "length",
    "group": "offset",
    "meeting": "file",
    "program": "file",
    "members": "count",
    "within": "length",
    "transfer": "offset",
    "received": "count",
    "sent": "length",
    "sent_first": "stride",
}


def _union() -> np.dtype[Any]:
    """Return the record of an operation: 56 bytes, whatever it does."""
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
"""An operation: ``kind`` is its :class:`Op`, and ``COLUMNS`` says which others it has."""

Operations: TypeAlias = npt.NDArray[Any]
"""``OPERATION`` records."""


def no_operations(count: int) -> Operations:
    """Return so many zeroed operations."""
    made: Operations = zeros(count, OPERATION)
    return made


def make_operations(kind: Op | Integers, number: int, /, **columns: npt.ArrayLike) -> Operations:
    """Return operations of one kind, or of several that all have the same columns.

    Parameters
    ----------
    kind
        Which operation; or int64 (number,), which of them each.
    number
        How many.
    columns
        Their columns, each a scalar or of shape (number,); zero where none is given.

    Raises
    ------
    ValueError
        If one of the operations has no such column.
    """
    made = no_operations(number)
    made["kind"] = kind
    kinds = [kind] if isinstance(kind, Op) else np.flatnonzero(np.bincount(kind)).tolist()
    for one in kinds:
        _check_columns(Op(one), columns)
    for name, values in columns.items():
        made[name] = values
    return made


def mix_operations(kind: Integers, columns: Mapping[Op, Mapping[str, npt.ArrayLike]]) -> Operations:
    """Return operations of several kinds, in which each kind has columns of its own.

    Parameters
    ----------
    kind
        int64 (n,): which operation each is.
    columns
        By kind its columns, each a scalar or of shape (n,); a kind takes what stands in its rows.
        A kind that is not named has zeros.

    Raises
    ------
    ValueError
        If one of the operations has no such column.
    """
    mixed = no_operations(len(kind))
    mixed["kind"] = kind
    for one, given in columns.items():
        _check_columns(one, given)
        rows = np.flatnonzero(kind == one)
        for name, values in given.items():
            mixed[name][rows] = np.broadcast_to(values, len(kind))[rows]
    return mixed


def _check_columns(kind: Op, columns: Mapping[str, npt.ArrayLike]) -> None:
    """Refuse columns that an operation does not have."""
    for name in columns:
        if name not in COLUMNS[kind]:
            known = ", ".join(sorted(COLUMNS[kind]))
            raise ValueError(f"{kind.name} has no column {name}; it has {known}")


def join_operations(parts: Sequence[Operations]) -> Operations:
    """Return operations one after the other.

    ``np.concatenate`` would give each column a place of its own.
    """
    joined = no_operations(sum(len(part) for part in parts))
    first = 0
    for part in parts:
        joined[first : first + len(part)] = part
        first += len(part)
    return joined


def keep_operations(programs: Table, operations: Table) -> Integers:
    """Return which operations are still to be done: int64 rows; tell the programs their new places.

    A batch is entered while other programs are at work, so that the table only grows. Every now and
    then what nobody will look at again is dropped, and programs are told where the rest is.

    The one that a program was at last is kept until its time has been added to its timer, and
    where somebody may go back to a ``MARK``, what follows the latest of each program.

    Parameters
    ----------
    programs
        The programs; those that are active get the places that their operations have when the
        rows returned are all there are.
    operations
        The operations so far.
    """
    active = np.flatnonzero(programs.active)
    op, timed = programs.op[active], programs.timed[active]
    first = np.where(timed >= 0, np.minimum(op, timed), op)
    if (operations.kind == int(Op.REPEAT)).any():
        first = np.minimum(first, programs.loop[active])
    count = programs.stop[active] - first
    shift = first - (np.cumsum(count) - count)
    programs.op[active] = op - shift
    programs.timed[active] = np.where(timed >= 0, timed - shift, -1)
    programs.loop[active] -= shift
    programs.stop[active] -= shift
    return np.repeat(shift, count) + np.arange(int(count.sum()))


TIMERS = 16
"""Timers of a program. What they measure is for control to say; column 0 takes what it does not."""
