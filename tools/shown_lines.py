"""Lines that a document shows, beside those that are printed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from documents import GAP

_REAL_TIME = re.compile(r"^# Wall time: ")
_NEVER = 10**9  # more than any document has lines


def same(shown: str, printed: str) -> bool:
    """Tell whether a printed line is as shown: all but blanks at its end, and the time of a run."""
    return shown == printed.rstrip() or bool(_REAL_TIME.match(shown) and _REAL_TIME.match(printed))


def shape(line: str) -> str:
    """Return a line with its figures and its spaces made equal."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]+", "0", line)).strip()


def renewed(shown: Sequence[str], printed: Sequence[str]) -> list[str] | None:
    """Return what should be shown: the lines as printed, with the gaps where they are.

    A shown line stands for a printed one of the same shape; of several ways to find them all, the
    one that changes the fewest lines is taken, and then the first. None: there is no such way.
    """
    changes = _changes(shown, printed)
    if changes[0][0] >= _NEVER:
        return None
    lines, at = [], 0
    for number, line in enumerate(shown):
        if line == GAP:
            while changes[number + 1][at] > changes[number][at]:
                at += 1
            lines.append(line)
        else:
            lines.append(line if same(line, printed[at]) else printed[at].rstrip())
            at += 1
    return lines


def first_unlike(shown: Sequence[str], printed: Sequence[str]) -> int:
    """Return which shown line, counted from 0, is the first with no printed one of its shape."""
    for number in range(len(shown)):
        if renewed([*shown[: number + 1], GAP], printed) is None:
            return number
    return len(shown) - 1  # all are there, but more is printed below the last one


def _changes(shown: Sequence[str], printed: Sequence[str]) -> list[list[int]]:
    """Return how many lines change from each shown line on, if it stands for each printed one."""
    ends = len(printed)
    shapes = [shape(line) for line in printed]
    changes = [[_NEVER] * ends + [0]]
    for line in reversed(shown):
        after, here = changes[-1], [_NEVER] * (ends + 1)
        if line == GAP:
            for at in range(ends, -1, -1):
                here[at] = min(after[at], here[at + 1] if at < ends else _NEVER)
        else:
            wanted = shape(line)
            for at in range(ends):
                if shapes[at] == wanted:
                    here[at] = after[at + 1] + (not same(line, printed[at]))
        changes.append(here)
    return changes[::-1]
