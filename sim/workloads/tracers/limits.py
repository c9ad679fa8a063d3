"""How much of a trace of calls is read: it stands in memory until its ranks are sorted."""

from __future__ import annotations

from collections.abc import Iterator
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO

from xc40io.config.files import Kind, check_size

TRACER = Kind("trace", 2_500_000_000)
"""A file of a tracer; one that is packed may hold as much when it is unpacked."""

MOST_CALLS = 5_000_000
"""Of all processes: some 2 GB of memory."""

LONGEST_LINE = 1 << 16

MOST_BYTES = 1 << 60
"""Calls end below this in their file, as those of a table do."""

CUT_SHORT = "files end within a line, as a killed run leaves them: the line is left out"
"""What is told of such files, whichever tracer wrote them."""


def lines_of(file: BinaryIO | GzipFile, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file of a tracer; InputError where it is larger than is read."""
    done = 0
    while line := file.readline(LONGEST_LINE):
        done += len(line)
        check_size(path, done, TRACER.most)
        yield line


def within_file(offset: int, length: int) -> bool:
    """Tell whether a file can have a piece."""
    return offset >= 0 <= length and offset + length < MOST_BYTES
