"""An answer as a page of HTML: one text with everything in it.

The template escapes whatever it is given but the figures, which Matplotlib has written; a policy in
the head of the page keeps browsers from loading anything, and from running anything but the script
of the axis of time, which it knows by its hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xc40io.archive.whole_files import write_whole
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Chart,
    Fold,
    Picture,
    Section,
    TimeAxis,
)
from xc40io.telling.cells import written
from xc40io.telling.drawing import drawn
from xc40io.telling.time_axis import drawn_axis

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATES = Path(__file__).parent / "templates"
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), " ")
"""Characters that HTML does not allow."""


def write_page(answer: Answer, path: str | Path, option: str) -> None:
    """Write an answer as a page, whole or not at all.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the file.
    """
    write_whole(path, render(answer), option)


def render(answer: Answer) -> str:
    """Return the HTML of an answer; the same answer gives the same text."""
    script = _script() if any(_moves(answer.blocks)) else ""
    shown = [block for block in answer.blocks if not isinstance(block, Section) or _is_told(block)]
    return fill(
        _TEMPLATES / "page.html",
        page=answer,
        blocks=[block for block in shown if not isinstance(block, Section)],
        sections=[block for block in shown if isinstance(block, Section)],
        style=style(),
        script=script,
        script_hash=_hash_of(script),
    )


def fragment(blocks: Sequence[Block], cards: Sequence[Card] = ()) -> str:
    """Return cards and blocks as a part of a page of others, which has :func:`blocks_style`."""
    return fill(_TEMPLATES / "fragment.html", blocks=blocks, shown=cards)


def notebook_html(answer: Answer) -> str:
    """Return an answer as what stands below a cell of a notebook: short, and without pictures."""
    told = _short(answer.blocks)
    return fill(_TEMPLATES / "notebook.html", page=answer, blocks=told, style=blocks_style())


_ELSEWHERE = ("again", "command", "machine", "scenario", "each-job")
"""Sections that a page has and a cell has not: a notebook holds the scenario itself."""


def _short(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks without pictures, and without sections that have nothing else."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Section):
            inner = _short(block.blocks) if block.on != "text" else []
            if inner and block.name not in _ELSEWHERE:
                found.append(replace(block, blocks=inner))
        elif not isinstance(block, Picture | Chart | TimeAxis):
            found.append(block)
    return found


def _moves(blocks: Sequence[Block]) -> Iterator[bool]:
    """Yield whether each block wants the script."""
    for block in blocks:
        if isinstance(block, Section | Fold):
            yield from _moves(block.blocks)
        else:
            yield isinstance(block, TimeAxis)


@cache
def _script() -> str:
    """Return the one script of pages: it moves the axis of time, and asks for nothing."""
    return (_TEMPLATES / "time_axis.js").read_text(encoding="utf-8")


def _hash_of(script: str) -> str:
    """Return by what the policy of a page knows the only script that may run."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def _is_told(section: Section) -> bool:
    return bool(section.blocks) and section.on != "text"


def _kind(block: Block) -> str:
    """Return what the template calls a block."""
    return type(block).__name__.lower()


def fill(template: Path, **content: Any) -> str:
    """Return the HTML that a template makes of what it is given, without what HTML forbids."""
    text = _template(template).render(**content)
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode("utf-8")


@cache
def style() -> str:
    """Return how all pages look: on a screen or on paper, light and dark."""
    return blocks_style() + (_TEMPLATES / "page.css").read_text(encoding="utf-8")


@cache
def blocks_style() -> str:
    """Return how blocks look, in the colours that a page names."""
    return (_TEMPLATES / "blocks.css").read_text(encoding="utf-8")


@cache
def _template(path: Path) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(kind=_kind, written=written, drawn=drawn, axis_of=drawn_axis)
    return environment.get_template(path.name)
