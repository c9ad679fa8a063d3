"""How much of a trace of calls is read: it stands in memory until its ranks are sorted."""

from __future__ import annotations

from xc40io.config.files import Kind

TRACER = Kind("trace", 2_500_000_000)
"""A file of a tracer; one that is packed may hold as much when it is unpacked."""

MOST_CALLS = 5_000_000
"""Of all processes: some 2 GB of memory."""

LONGEST_LINE = 1 << 16

MOST_BYTES = 1 << 60
"""Calls end below this in their file, as those of a table do."""

CUT_SHORT = "files end within a line, as a killed run leaves them: the line is left out"
"""What is told of such files, whichever tracer wrote them."""


def within_file(offset: int, length: int) -> bool:
    """Tell whether a file can have a piece."""
    return offset >= 0 <= length and offset + length < MOST_BYTES
