"""What the command line prints: letters, never what a terminal takes for an order.

Names of files and of columns, and values from a file, may hold anything: a bell, the beginning of
an escape sequence, marks that turn the direction of writing. Whatever is printed goes through here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_ORDERS = re.compile(
    r"(?!^\rxc40io: )"  # a line of ours that is written over the one before
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and new line, DEL, C1
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"  # lines, and the direction of writing
)


def printable(text: str) -> str:
    r"""Return a text with what is no letter spelled out, as JSON spells it: ``\u0007``."""
    return _ORDERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class _Printable:
    """A stream of text; what is written to it is printable. All else is as of the stream itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = self.below = stream

    def write(self, text: str) -> int:
        """Write a text; return how many letters of it: all."""
        self._stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def printable_streams() -> Iterator[None]:
    """Let standard output and standard error take what is printable alone."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Printable(streams[0]), _Printable(streams[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
