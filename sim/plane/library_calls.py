"""Calls of an I/O library: which operations of a program are one call of MPI-IO, and what it asked.

A call of MPI-IO makes its ranks do many operations, or none but a meeting. What the ranks asked for
cannot be seen in them. So whoever adds operations to a batch says of which call they are part
(:meth:`xc40io.plane.batch.Batch.calling`): they get its *tag*, and when they are recorded, their
records do. Nothing of it changes what is simulated.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Integers

OWN = 0
"""The tag of an operation that the program does by itself."""

ALONE = -1
"""The tag of an operation that is a call of the library, each of its reads or writes one of them:
what the library was asked for is what the operation does."""


class LibraryOp(IntEnum):
    """What a call of a library is for."""

    OPEN = 0
    CLOSE = 1
    READ = 2
    WRITE = 3
    SYNC = 4


LIBRARY_CALL = np.dtype(  # the part of one program in a call of a library
    [
        ("tag", "i4"),  # of its operations: 1 and up
        ("op", "i4"),  # `xc40io.plane.library_calls.LibraryOp`
        ("program", "i4"),  # the rank
        ("file", "i4"),  # number in `file_names`
        ("mode", "i4"),  # of an open, added up: 1 creates, 2 to read, 4 to write
        ("collective", "i4"),  # 1: made by all ranks of a communicator; 0: by the rank alone
        ("pieces", "i4"),  # contiguous pieces of the file that it asked for
        ("offset", "i8"),  # bytes: where the first of them begins
        ("bytes", "i8"),  # bytes of all of them
    ],
    align=True,
)


class Pieces(NamedTuple):
    """What the members of a call ask for: columns (pieces,), int64."""

    member: Integers  # whose piece it is: a position in `owners` of the call
    # offset, length: where it lies in the file, in bytes
    offset: Integers
    length: Integers


READING, WRITING, CREATING = 2, 4, 1
"""Access modes: MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_CREATE of MPICH."""


class LibraryCall(NamedTuple):
    """A call of a library, made by some programs of a batch."""

    op: LibraryOp  # what it is for
    file: int | Integers  # the number of its file; or int64 (members,), if each member has its own
    owners: Integers  # int64 (members,): the positions of the programs in the batch
    # whether all members make it together. Else only those that have a piece make it, each for
    # itself.
    collective: bool
    pieces: Pieces | None = None  # what is read or written; None if the call moves no data
    mode: int = 0  # of an open: `READING`, `WRITING` and `CREATING`, added up
    # whether `pieces`, all of member 0, are what each member asks for in its own file
    alike: bool = False

    def repeated(self, owners: Integers, files: Integers) -> LibraryCall:
        """Return a call of one member repeated for others, each on a file of its own."""
        return self._replace(owners=owners, file=files, alike=True)

    def parts(self, programs: Integers, tag: int) -> npt.NDArray[Any]:
        """Return the part of each program that makes the call: ``LIBRARY_CALL`` records.

        Parameters
        ----------
        programs
            int64 (n,): the programs of the batch.
        tag
            Of the operations of the call.
        """
        parts = np.zeros(len(self.owners), LIBRARY_CALL)
        parts["tag"], parts["op"], parts["file"] = tag, int(self.op), self.file
        parts["mode"], parts["collective"] = self.mode, self.collective
        parts["program"] = programs[self.owners]
        if self.pieces is None:
            return parts
        asked = parts[:1] if self.alike else parts
        member, offset, length = self.pieces
        np.add.at(asked["pieces"], member, 1)
        np.add.at(asked["bytes"], member, length)
        asked["offset"] = np.iinfo(np.int64).max
        np.minimum.at(asked["offset"], member, offset)
        asked["offset"][asked["pieces"] == 0] = 0
        for column in ("pieces", "bytes", "offset") if self.alike else ():
            parts[column] = asked[column]
        return parts if self.collective else parts[parts["pieces"] > 0]
