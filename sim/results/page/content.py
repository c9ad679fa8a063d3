"""What a page consists of, as plain data: nothing here knows of HTML.

Texts may hold anything, such as the names of files: what has a meaning in HTML is made harmless
where the page is written (:mod:`sim.results.page.rendering`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Card:
    """A number of the headline.

    Attributes
    ----------
    name
        Of what it is.
    value
        With its unit.
    note
        A few words more.
    """

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Points:
    """Sentences below each other.

    Attributes
    ----------
    sentences
        The sentences.
    alert
        Whether they tell what went wrong.
    """

    kind: ClassVar[str] = "points"
    sentences: Sequence[str]
    alert: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of words and numbers.

    Attributes
    ----------
    title
        What the table shows.
    heads
        The names of its columns, with units.
    rows
        As many cells each.
    words
        Columns of words, counted from 0; the others are of numbers.
    code
        Of these, columns of what is typed.
    total
        Whether the last row adds up the others.
    note
        What else is to be known.
    """

    kind: ClassVar[str] = "table"
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Collection[int] = (0,)
    code: Collection[int] = ()
    total: bool = False
    note: str = ""


@dataclass(frozen=True)
class Listing:
    """Text whose lines stay as they are.

    Attributes
    ----------
    title
        What it is.
    text
        The lines.
    typed
        Whether it is a command, which may be broken where it is too long.
    """

    kind: ClassVar[str] = "listing"
    title: str
    text: str
    typed: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    name
        Of the picture, unlike that of any other in the page.
    title, setup, caption
        What it shows; how it was run; what else is to be known.
    svg
        An ``svg`` element; empty if it is an image.
    image
        A ``data:`` URI of an image; empty if it is SVG.
    size
        Pixels of the image, width and height.
    narrow
        Whether it need not have the whole width of a page.
    """

    kind: ClassVar[str] = "picture"
    name: str
    title: str
    setup: str
    caption: str
    svg: str = ""
    image: str = ""
    size: tuple[int, int] = (0, 0)
    narrow: bool = False


@dataclass(frozen=True)
class Fold:
    """Parts that are opened by those who want to see them.

    Attributes
    ----------
    title
        What is behind.
    parts
        The parts.
    """

    kind: ClassVar[str] = "fold"
    title: str
    parts: Sequence[Part]


Part = Paragraph | Points | Table | Listing | Picture | Fold


@dataclass(frozen=True)
class Section:
    """Parts below a heading.

    Attributes
    ----------
    name
        For links to it: letters, digits and hyphens, unlike that of any other in the page.
    title
        The heading.
    parts
        What is in it.
    """

    name: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes
    ----------
    title
        What was run.
    setup
        On which machine, and how.
    description
        What it is to show: sentences of a scenario, or nothing.
    cards
        The numbers that matter most.
    sections
        All else; those without parts are left out.
    version
        Of xc40io.
    """

    title: str
    setup: str
    description: str
    cards: Sequence[Card]
    sections: Sequence[Section]
    version: str
