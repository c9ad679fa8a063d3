"""An answer as text: what a command prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from sim.telling.answer import (
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
from sim.telling.cells import written
from sim.telling.columns import column_lines

WIDTH = 100


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


def wrapped(
    sentences: str, first: str = "", then: str = "", *, break_words: bool = False
) -> list[str]:
    """Return sentences as lines; a number and its percent sign stay together.

    ``break_words``: also words that are longer than a line, such as hints for MPI-IO.
    """
    kept = sentences.replace(" %", "\u00a0%")
    lines = textwrap.wrap(
        kept,
        WIDTH,
        initial_indent=first,
        subsequent_indent=then,
        break_on_hyphens=False,
        break_long_words=break_words,
    )
    return [line.replace("\u00a0%", " %") for line in lines]


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table, with its title before and its note behind."""
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
    yield indent + head
    for place, line in enumerate(lines):
        if place in told.titles:
            yield told.titles[place]
        yield indent + line
    if told.left_out:
        yield f"{indent}and {told.left_out:,} more"
    if table.note:
        yield from wrapped(table.note)


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
            yield from wrapped(text)
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
