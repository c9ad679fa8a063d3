"""Rows of arrays that ranks write together: how many can be told one by one."""

from __future__ import annotations

MOST_ROWS = 2_000_000
"""Rows of all ranks in a call. More take gigabytes, and minutes; several are moved as one then."""


def rows_as_one(as_one: int, rows: int) -> str:
    """Return the sentence that says so."""
    return (
        f"{as_one:,} rows of a block, which lie one behind the other, are moved as one: the ranks "
        f"have {rows:,}, and at most {MOST_ROWS:,} are told one by one."
    )
