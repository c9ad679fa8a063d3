"""Rows of words in columns that are as wide as they need to be."""

from __future__ import annotations

from collections.abc import Container, Sequence


def format_grid(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Return rows of equally many cells as lines; columns in ``left`` are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "".join(f"{line}\n" for line in lines)
