"""What a process's calls do to files: descriptors, positions and streams followed call by call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.workloads.trace import TraceOp
from xc40io.workloads.tracers.call import APPEND, CREATE, DIRECT, TRUNCATE, Call, Told
from xc40io.workloads.tracers.limits import within_file
from xc40io.workloads.tracers.mpi_files import MpiAccess, MpiFiles

ROW = np.dtype(
    [
        ("op", "i1"),
        ("mpi", "i1"),
        ("file", "i4"),
        ("offset", "i8"),
        ("length", "i8"),
        ("start", "f8"),
        ("end", "f8"),
        ("call", "i8"),  # the meeting that it is part of, as Meetings numbers them; -1: none
        ("within", "?"),  # whether it is what an MPI library did for that meeting, or that call
    ]
)
Rows = npt.NDArray[np.void]

OF_THE_NODE = (
    *("/etc/", "/dev/", "/usr/", "/bin/", "/boot/", "/lib/", "/lib64/", "/opt/", "/run/"),
    *("/sbin/", "/sys/", "/proc/", "/tmp/", "/var/"),
)
"""Where what a node has for itself lies: not on the file system that is simulated."""

LEFT_OUT = f"calls on files of the node ({', '.join(OF_THE_NODE[:3])} ...) are left out"
FAILED = "calls that failed are left out"
NO_FILE = "calls on descriptors that the trace does not open are left out: pipes, sockets, streams"
NO_PLACE = "calls whose place in the file the trace does not say are left out"
AT_ONCE = "calls begin while others of their process run: its threads' calls are made in turn"
APPENDED = "calls append to a file that several processes write: each appends to what it wrote"
NOT_REPLAYED = "calls of {} have no counterpart in a replay and are left out"

_KNOWN_MUTE = ("ftell", "ftello", "fileno", "getcwd", "umask", "fdopen", "fcntl", "access")
_RESOLUTION = 2e-6  # seconds: twice what DFTracer cuts off


class Meetings:
    """What several processes do together: a number for each, by what names it."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}

    def number(self, *name: object) -> int:
        """Return the number of a meeting."""
        return self._numbers.setdefault(name, len(self._numbers))

    def names(self) -> list[tuple[object, ...]]:
        """Return what names each, by number."""
        return list(self._numbers)


class Files:
    """The files of all processes, numbered in the order of their coming."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.direct: set[int] = set()  # opened with O_DIRECT
        self.mpi: set[int] = set()  # opened through MPI-IO
        self.emptied: set[int] = set()  # opened with O_TRUNC
        self.appended: set[int] = set()

    def number(self, path: str) -> int:
        """Return the number of a file."""
        return self._numbers.setdefault(path, len(self._numbers))

    def names(self) -> list[str]:
        """Return their names, by number."""
        return list(self._numbers)


class _Open:
    """An open file of a process."""

    def __init__(self, path: str, *, appends: bool = False) -> None:
        self.path, self.appends = path, appends
        self.position: int | None = 0  # None: not known


class Follower:
    """Follows the calls of one process and makes the rows of its rank."""

    def __init__(self, files: Files, meetings: Meetings, told: Told) -> None:
        self._files, self._meetings, self._told = files, meetings, told
        self._rows: list[tuple[object, ...]] = []
        self._by_handle: dict[str, _Open] = {}
        self._by_path: dict[str, _Open] = {}
        self._before: dict[tuple[str, str], _Open] = {}  # open when the trace began
        self._ends: dict[str, int] = {}  # of each file, as this process knows it
        self._mpi = MpiFiles(told)
        self._met: dict[tuple[object, ...], int] = {}  # how often each meeting has been
        self._within = _Within()
        self._latest = 0.0
        self._do: dict[str, Callable[[Call], None]] = {
            "open": self._opens,
            "creat": self._opens,
            "close": self._closes,
            "read": self._moves,
            "write": self._moves,
            "pread": self._moves,
            "pwrite": self._moves,
            "lseek": self._seeks,
            "fsync": lambda call: self._names(call, TraceOp.FSYNC),
            "stat": lambda call: self._names(call, TraceOp.STAT),
            "unlink": lambda call: self._names(call, TraceOp.UNLINK),
            "mkdir": lambda call: self._names(call, TraceOp.MKDIR),
            "dup": self._duplicates,
            "dup2": self._duplicates,
        }

    def rows(self, calls: Iterable[Call]) -> Rows:
        """Return the rows of calls in any order."""
        for call in sorted(calls, key=lambda call: (call.start, -call.end)):
            if call.name.startswith("MPI_"):
                self._mpi_call(call)
            elif call.name in self._do:
                self._do[call.name](call)
            elif call.name not in _KNOWN_MUTE:
                self._told[NOT_REPLAYED.format(call.name)] += 1
        return np.array(self._rows, ROW)

    def _row(
        self, call: Call, op: TraceOp, path: str | None, offset: int = 0, length: int = 0
    ) -> None:
        """Add a row of a call of POSIX or of a stream."""
        if path is not None and path.startswith(OF_THE_NODE):
            self._told[LEFT_OUT] += 1
            return
        within = self._within.holds(call)
        if not within and call.start < self._latest - _RESOLUTION:
            self._told[AT_ONCE] += 1
        if not within:
            self._latest = max(self._latest, call.end)
        file = -1 if path is None else self._files.number(path)
        meeting = self._within.meeting if within else -1
        self._rows.append((op, 0, file, offset, length, call.start, call.end, meeting, within))

    def _failed(self, call: Call) -> bool:
        """Tell whether a call failed, and count it."""
        failed = call.result is not None and call.result < 0
        self._told[FAILED] += failed
        return failed

    def _open_file(self, call: Call) -> _Open | None:
        """Return the open file that a call is about; None if the trace does not say it."""
        found = self._by_handle.get(call.handle) if call.handle is not None else None
        if found is not None:
            return found  # its name is that of its opening: DFTracer's short hashes meet
        if call.path is None:
            self._told[NO_FILE] += 1
            return None
        if call.handle is None:
            return self._by_path.setdefault(call.path, _Open(call.path))
        return self._before.setdefault((call.handle, call.path), _Open(call.path))

    def _opens(self, call: Call) -> None:
        if self._failed(call):
            return
        if call.path is None:
            self._told[NO_FILE] += 1
            return
        flags = (CREATE | TRUNCATE if call.name == "creat" else 0) | (call.flags or 0)
        opened = _Open(call.path, appends=bool(flags & APPEND))
        self._by_path[call.path] = opened
        if call.result is not None:
            self._by_handle[str(call.result)] = opened
        if flags & TRUNCATE:
            self._ends[call.path] = 0
        self._row(call, TraceOp.CREATE if flags & CREATE else TraceOp.OPEN, call.path)
        for flag, kind in (
            (DIRECT, self._files.direct),
            (TRUNCATE, self._files.emptied),
            (APPEND, self._files.appended),
        ):
            if flags & flag and not call.path.startswith(OF_THE_NODE):
                kind.add(self._files.number(call.path))

    def _closes(self, call: Call) -> None:
        opened = self._open_file(call)
        if call.handle is not None:
            self._by_handle.pop(call.handle, None)
        if opened is not None and not self._failed(call):
            self._row(call, TraceOp.CLOSE, opened.path)

    def _moves(self, call: Call) -> None:
        """Take a read or a write, at the place that it names or where the file stands."""
        if self._failed(call):
            return
        opened = self._open_file(call)
        if opened is None:
            return
        op = TraceOp.READ if call.name.endswith("read") else TraceOp.WRITE
        length = call.amount if call.result is None else call.result
        placed = call.name.startswith("p")
        if opened.appends and op == TraceOp.WRITE:
            opened.position = self._ends.get(opened.path, 0)
        offset = call.offset if placed else opened.position
        if offset is None or length is None or not within_file(offset, length):
            self._told[NO_PLACE] += 1
            return
        end = offset + length
        if not placed:
            opened.position = end
        if op == TraceOp.WRITE:
            self._ends[opened.path] = max(self._ends.get(opened.path, 0), end)
        self._row(call, op, opened.path, offset, length)

    def _seeks(self, call: Call) -> None:
        opened = self._open_file(call)
        if opened is None or self._failed(call):
            return
        # lseek returns where the file stands then, fseek nothing but 0.
        base = {"0": 0, "1": opened.position, "2": self._ends.get(opened.path)}.get(call.kind)
        if call.result:
            opened.position = call.result
        elif base is None or call.offset is None:
            opened.position = None
        else:
            opened.position = base + call.offset

    def _names(self, call: Call, op: TraceOp) -> None:
        """Take a call that only names a file, or a descriptor of one."""
        if self._failed(call):
            return
        opened = None if call.handle is None else self._open_file(call)
        path = opened.path if opened is not None else call.path
        if path is not None:
            self._row(call, op, path)

    def _duplicates(self, call: Call) -> None:
        opened = self._by_handle.get(call.handle or "")
        new = call.offset if call.name == "dup2" else call.result
        if opened is not None and new is not None and new >= 0:
            self._by_handle[str(new)] = opened

    def _mpi_call(self, call: Call) -> None:
        """Take a call of MPI: of a file, or one in which ranks wait for each other."""
        access = self._mpi.access(call)
        if access is None:
            return
        meeting = -1
        if access.meets is not None:
            turn = self._met[access.meets] = self._met.get(access.meets, -1) + 1
            meeting = self._meetings.number(*access.meets, turn, access.op)
        if access.path is not None:
            self._within = _Within(call.thread, call.end, meeting)
        self._latest = max(self._latest, call.end)
        if access.path is None:
            file = -1
        elif access.path.startswith(OF_THE_NODE):
            self._told[LEFT_OUT] += 1
            return
        else:
            file = self._files.number(access.path)
            self._files.mpi.add(file)
        self._add_access(call, access, file, meeting)

    def _add_access(self, call: Call, access: MpiAccess, file: int, meeting: int) -> None:
        if access.known:
            times = (call.start, call.end)
            self._rows.append(
                (access.op, file >= 0, file, access.offset, access.length, *times, meeting, False)
            )
        elif meeting < 0:
            self._within = _Within()  # what it did below stands for it
        else:
            self._rows.append((LOST, 1, file, 0, 0, call.start, call.end, meeting, False))


LOST = -1
"""In place of an operation: a rank takes part in a meeting, and nobody knows with what."""


class _Within(NamedTuple):
    """The call of MPI-IO that was kept last."""

    thread: int = -1
    end: float = -1.0
    meeting: int = -1

    def holds(self, call: Call) -> bool:
        """Tell whether a call is part of what the MPI library did for it."""
        return call.thread == self.thread and call.start < self.end and call.end <= self.end
