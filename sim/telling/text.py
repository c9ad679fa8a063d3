"""An answer as text: what a command prints."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Sequence

from xc40io.telling.answer import (
    Answer,
    Block,
    Chart,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    TimeAxis,
)
from xc40io.telling.cells import written

WIDTH = 100


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


def text_of(answer: Answer) -> str:
    """Return the blocks of an answer as text; see :func:`blocks_text`."""
    return blocks_text(answer.blocks)


def blocks_text(blocks: Sequence[Block]) -> str:
    """Return blocks below each other, an empty line between; alerts follow without."""
    lines: list[str] = []
    for block in _flat(blocks):
        told = list(_lines(block))
        alert = isinstance(block, Points) and block.alert
        lines += ["", *told] if lines and told and not alert else told
    return "".join(f"{line}\n" for line in lines)


def comments(blocks: Sequence[Block]) -> str:
    """Return blocks as text of which each line begins with ``#``: readers of tables skip it."""
    lines: list[str] = []
    for block in _flat(blocks):
        told = _unbroken(block)
        lines += ["", *told] if lines and told else told
    return "".join(f"{line}\n" for told in lines for line in wrapped(told, "# ", "#   ") or ["#"])


def _unbroken(block: Block) -> list[str]:
    """Return the lines of a block, however long they are."""
    match block:
        case Table():
            return [*_table_lines(block), *block.note.splitlines()]
        case Points(points, title):
            return [*title.splitlines(), *map(_said, points)]
        case Text(text) | Listing(text=text):
            return text.splitlines()
    raise TypeError(f"{block} has no text")


def wrapped(sentences: str, first: str = "", then: str = "") -> list[str]:
    """Return sentences as lines; a number and its percent sign stay together.

    Only words that are longer than a line, such as hints for MPI-IO, are broken.
    """
    kept = sentences.replace(" %", "\u00a0%")
    lines = textwrap.wrap(
        kept,
        WIDTH,
        initial_indent=first,
        subsequent_indent=then,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0%", " %") for line in lines]


def hanging(line: str) -> list[str]:
    """Return a line as lines: what has no room follows two further to the right.

    It begins with ``#`` where the line does; of a row, a figure and two spaces before its words,
    it follows below these words.
    """
    told = line.lstrip()
    indent = " " * (len(line) - len(told))
    figure, gap, _ = told.partition("  ")
    if told.startswith("#"):
        return wrapped(line, then=f"{indent}#   ")
    return wrapped(line, then=indent + (" " * len(figure) if gap else "") + "  ")


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, with its title before and its note behind."""
    yield from _table_lines(table)
    if table.note:
        yield from wrapped(table.note)


def _table_lines(table: Table) -> Iterator[str]:
    told = written(table)
    heads = [
        head.rjust(column.least) for head, column in zip(told.heads, told.columns, strict=True)
    ]
    rows = [
        [_cut(cell, column.most) for cell, column in zip(row, told.columns, strict=True)]
        for row in told.rows
    ]
    head, *lines = column_lines([heads, *rows], left=told.left)
    indent = "  " if told.titles else ""
    if table.title:
        yield table.title
    if not table.bare:
        yield indent + head
    for place, line in enumerate(lines):
        if place in told.titles:
            yield told.titles[place]
        yield indent + line
    if told.left_out:
        yield f"{indent}and {told.left_out:,} more"


def _flat(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks that text has room for; the blocks of a section one by one."""
    for block in blocks:
        match block:
            case Section(on="page") | Fold() | Picture() | Chart() | TimeAxis():
                pass
            case Section():
                yield from _flat(block.blocks)
            case _:
                yield block


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Table():
            yield from table_lines(block)
        case Listing():
            yield from block.text.splitlines()
        case Text(text):
            lines = text.splitlines()
            hangs = len(lines) > 1 or text.startswith("#")
            for line in lines:
                yield from hanging(line) if hangs else wrapped(line)
        case Points(points, alert=True):
            yield from map(_said, points)
        case Points(points, title):
            first, then = ("  ", "    ") if title else ("* ", "  ")
            if title:
                yield title
            for point in points:
                yield from wrapped(_said(point), first, then)


def _said(point: str | tuple[str, str]) -> str:
    return point if isinstance(point, str) else ": ".join(point)


def _cut(cell: str, most: int) -> str:
    """Leave out the middle of a long cell: what-ifs often differ at their ends alone."""
    if not most or len(cell) <= most:
        return cell
    end = (most - 3) // 2
    return f"{cell[: most - 3 - end]}...{cell[-end:]}"
