"""A page as HTML: one text with everything in it.

The template escapes whatever it is given but the figures, which Matplotlib has written; a policy in
the head of the page keeps browsers from loading or running anything.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.archive.files import write_whole
from sim.results.page.content import Page

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATES = Path(__file__).parent / "templates"
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), " ")
"""Characters that HTML does not allow."""


def write_page(page: Page, path: str | Path, option: str) -> None:
    """Write a page as a file, whole or not at all.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the file.
    """
    write_whole(path, render(page), option)


def render(page: Page) -> str:
    """Return the HTML of a page; the same page gives the same text."""
    shown = [section for section in page.sections if section.parts]
    return fill(_TEMPLATES / "page.html", page=page, sections=shown, style=style())


def fill(template: Path, **content: Any) -> str:
    """Return the HTML that a template makes of what it is given, without what HTML forbids."""
    text = _template(template).render(**content)
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode("utf-8")


@cache
def style() -> str:
    """Return how all pages look: on a screen or on paper, light and dark."""
    return (_TEMPLATES / "page.css").read_text(encoding="utf-8")


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
    return environment.get_template(path.name)
