"""The process that reads Darshan logs, kept from log to log: see :mod:`.reader`, its program."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Read(NamedTuple):
    """What came of reading a log."""

    status: int | None  # of the process, negative if it crashed; None if its time was over
    found: bytes  # arrays, as NumPy keeps them
    said: str  # why nothing was found


class _Reader:
    """A process that reads one log after the other."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("reader.py")
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt is for who asks: this ends with its input
        )

    def ask(self, path: Path, seconds: float) -> Read:
        """Have a log read; OSError if the process is gone."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        request = {"path": str(path.absolute()), "seconds": seconds}
        asked.write(json.dumps(request).encode() + b"\n")
        asked.flush()
        line = answered.readline()
        if not line:
            raise BrokenPipeError
        head = json.loads(line)
        found, said = (answered.read(size) for size in head["sizes"])
        return Read(head["status"], found, said.decode("utf-8", "replace"))

    def end(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # it is gone, and has not read the last request
                    stream.close()
        self._process.wait()


_IDLE: list[_Reader] = []
"""Processes of which nobody waits for a log: several threads may read at a time."""


def read_apart(path: Path, seconds: float) -> Read:
    """Read a log in another process, which may take so many seconds."""
    reader = _IDLE.pop() if _IDLE else _Reader()
    try:
        read = reader.ask(path, seconds)
    except OSError:  # somebody has ended it
        reader.end()
        return Read(1, b"", "")
    except BaseException:  # an interrupt: the answer would be taken for that of the next log
        reader.end()
        raise
    _IDLE.append(reader)
    return read


@atexit.register
def _end_all() -> None:
    while _IDLE:
        _IDLE.pop().end()
