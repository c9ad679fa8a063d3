"""Files that a process has open through MPI-IO, with their views and pointers."""

from __future__ import annotations

import re
from typing import NamedTuple

from xc40io.workloads.trace import TraceOp
from xc40io.workloads.tracers.call import Call, Told
from xc40io.workloads.tracers.limits import within_file

WORLD = "MPI_COMM_WORLD"

SIZES = {
    **dict.fromkeys(("BYTE", "PACKED", "C_BOOL", "CHARACTER", "INTEGER1"), 1),
    **dict.fromkeys(("CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR", "INT8_T", "UINT8_T"), 1),
    **dict.fromkeys(("SHORT", "UNSIGNED_SHORT", "INT16_T", "UINT16_T", "INTEGER2"), 2),
    **dict.fromkeys(("INT", "UNSIGNED", "FLOAT", "INT32_T", "UINT32_T", "WCHAR"), 4),
    **dict.fromkeys(("INTEGER", "INTEGER4", "REAL", "REAL4", "LOGICAL"), 4),
    **dict.fromkeys(("LONG", "UNSIGNED_LONG", "LONG_LONG", "LONG_LONG_INT"), 8),
    **dict.fromkeys(("UNSIGNED_LONG_LONG", "DOUBLE", "INT64_T", "UINT64_T"), 8),
    **dict.fromkeys(("INTEGER8", "REAL8", "DOUBLE_PRECISION", "COMPLEX", "COMPLEX8"), 8),
    **dict.fromkeys(("OFFSET", "AINT", "COUNT", "C_COMPLEX", "C_FLOAT_COMPLEX"), 8),
    **dict.fromkeys(("LONG_DOUBLE", "REAL16", "DOUBLE_COMPLEX", "COMPLEX16"), 16),
    "C_DOUBLE_COMPLEX": 16,
}
"""Bytes of MPI's own types, without ``MPI_``, on 64-bit Linux."""

WAITING = ("Barrier", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv")
"""Calls that no rank leaves before all have come, besides those of files."""

_ALL_WAIT = {f"MPI_{name}" for name in (*WAITING, "Reduce_scatter", "Reduce_scatter_block")}
_MOVE = re.compile(r"MPI_File_(i?)(read|write)(_at|_shared|_ordered)?(_all)?(_begin)?")

SHARED_POINTER = "calls at a file pointer that ranks share are replaced by the POSIX calls beneath"
TYPES = "calls of types or through views that the trace does not explain are replaced likewise"
NO_MPI_FILE = (
    "calls of MPI-IO do not say which file they are about: the POSIX calls beneath are replayed"
)
NOT_BLOCKING = "calls of MPI-IO that do not wait are made as calls that do"
ORDER_LOST = "calls of {} order ranks in a way that a replay does not keep"

_ORDERING = ("Send", "Ssend", "Recv", "Sendrecv", "Bcast", "Reduce", "Gather", "Scatter", "Scan")


class MpiAccess(NamedTuple):
    """What a call of MPI does."""

    op: TraceOp
    path: str | None = None
    offset: int = 0
    length: int = 0
    # What all its ranks call the same, if it waits for others: a file or a communicator.
    meets: tuple[object, ...] | None = None
    known: bool = True  # whether the trace says what is accessed


class _MpiFile:
    """A file that is open."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.first, self.unit = 0, 1  # of the view, in bytes
        self.plain = True  # whether the view is one piece, all that is behind its first byte
        self.pointer: int | None = 0  # in units; None: not known


class MpiFiles:
    """The files of a process."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._open: dict[str, _MpiFile] = {}

    def access(self, call: Call) -> MpiAccess | None:
        """Return what a call does that a replay does too; None if nothing."""
        name = call.name
        if name in _ALL_WAIT:
            return MpiAccess(TraceOp.BARRIER, meets=("ranks", call.comm or "", name))
        if name == "MPI_File_open":
            return self._opens(call)
        if name.startswith("MPI_File_"):
            file = self._open.get(call.handle or "")
            if file is None:
                self._told[NO_MPI_FILE] += bool(_MOVE.fullmatch(name))
                return None
            return self._on_file(call, file)
        plain = name.removeprefix("MPI_").removeprefix("I").capitalize().rstrip("v")
        if plain in _ORDERING:
            self._told[ORDER_LOST.format(name)] += 1
        return None

    def _opens(self, call: Call) -> MpiAccess | None:
        if call.path is None or call.handle is None:
            self._told[NO_MPI_FILE] += 1
            return None
        self._open[call.handle] = _MpiFile(call.path)
        op = TraceOp.CREATE if (call.flags or 0) & 1 else TraceOp.OPEN
        return MpiAccess(op, call.path, meets=("file", call.handle))

    def _on_file(self, call: Call, file: _MpiFile) -> MpiAccess | None:
        meets = ("file", call.handle)
        if call.name == "MPI_File_close":
            del self._open[call.handle or ""]
            return MpiAccess(TraceOp.CLOSE, file.path, meets=meets)
        if call.name == "MPI_File_sync":
            return MpiAccess(TraceOp.FSYNC, file.path, meets=meets)
        if call.name == "MPI_File_set_view":
            self._view(call, file)
        elif call.name == "MPI_File_seek":
            self._seek(call, file)
        move = _MOVE.fullmatch(call.name)
        return None if move is None else self._moves(call, file, move)

    def _view(self, call: Call, file: _MpiFile) -> None:
        unit, _, of_file = call.kind.partition(" ")
        size = _size(unit)
        file.plain = size is not None and of_file == unit and call.offset is not None
        file.first, file.unit, file.pointer = call.offset or 0, size or 1, 0

    def _seek(self, call: Call, file: _MpiFile) -> None:
        base = {"CUR": file.pointer, "SET": 0}.get(call.kind[-3:])
        file.pointer = None if base is None or call.offset is None else base + call.offset

    def _moves(self, call: Call, file: _MpiFile, move: re.Match[str]) -> MpiAccess:
        not_blocking, way, place, together, _ = move.groups()
        op = TraceOp.READ if way == "read" else TraceOp.WRITE
        meets = ("file", call.handle) if together or place == "_ordered" else None
        self._told[NOT_BLOCKING] += bool(not_blocking)
        size = _size(call.kind)
        lost = MpiAccess(op, file.path, meets=meets, known=False)
        if place in ("_shared", "_ordered"):
            self._told[SHARED_POINTER] += 1
            return lost
        unit = call.offset if place == "_at" else file.pointer
        length = None if size is None or call.amount is None else call.amount * size
        if place != "_at":
            ends = unit is not None and length is not None
            file.pointer = (unit or 0) + (length or 0) // file.unit if ends else None
        if file.plain and unit is not None and length is not None:
            offset = file.first + unit * file.unit
            if within_file(offset, length):
                return MpiAccess(op, file.path, offset, length, meets)
        self._told[TYPES] += 1
        return lost


def _size(kind: str) -> int | None:
    """Return the bytes of a type of MPI's own; None of one that a program has made."""
    return SIZES.get(kind.removeprefix("MPI_"))
