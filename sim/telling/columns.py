"""Rows of words as lines of text, with the words of a column below each other."""

from __future__ import annotations

from collections.abc import Container, Sequence


def column_lines(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> list[str]:
    """Return one line for each row.

    A column is as wide as its widest cell and stands two spaces from the next; nothing follows the
    last word of a line.

    Parameters
    ----------
    rows
        Equally many cells each, heads among them.
    left
        Columns, counted from 0, whose cells begin below each other; in the others they end so.

    Raises
    ------
    ValueError
        If the rows have different numbers of cells.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def format_columns(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Return :func:`column_lines` as one text, each line with its end."""
    return "".join(f"{line}\n" for line in column_lines(rows, left))
