"""Pages of commands, made from the commands themselves.

In a page of the site ``<!-- command xc40io plan -->`` is replaced by the usage, the help and the
options of a command, or of all commands of a group; ``<!-- commands -->`` by a table of all, and
``<!-- options in common -->`` by those options that many commands have: each is told once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from typing import NamedTuple

import click
from sphinx.application import Sphinx

from xc40io.cli.app import cli
from xc40io.cli.rare import tell_all

COMMENT = re.compile(r"^<!-- command (xc40io [\w-]+) -->$", re.MULTILINE)
ALL, COMMON = "<!-- commands -->", "<!-- options in common -->"
PROGRAM = "xc40io"
_MANY = 4
"""Commands that have an option, from which number on it is told with those in common."""

_EXAMPLES = "\b"
"""What click has before a paragraph whose lines are kept as they are."""


class Named(NamedTuple):
    """A command with what is typed for it."""

    name: str
    context: click.Context

    @property
    def options(self) -> list[click.Option]:
        """Its options, in the order of its help."""
        made = self.context.command.get_params(self.context)
        options = [one for one in made if isinstance(one, click.Option) and not one.hidden]
        return [one for one in options if one.name not in ("help", "help_all")]


@cache
def commands() -> dict[str, list[Named]]:
    """Return all commands by the first word behind the program; of a group those in it."""
    top = click.Context(cli, info_name=PROGRAM)
    return {name: list(_named(top, name)) for name in cli.list_commands(top)}


def _named(above: click.Context, name: str) -> Iterator[Named]:
    command = above.command.get_command(above, name)  # type: ignore[attr-defined]
    context = tell_all(click.Context(command, info_name=name, parent=above))
    yield Named(context.command_path, context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _named(context, inner)


def _record(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Return how an option is typed, and what it is for."""
    found = option.get_help_record(context)
    assert found is not None  # hidden options are left out
    return found


@cache
def in_common() -> tuple[tuple[str, str], ...]:
    """Return the options that many commands have, each as it is typed with what it is for."""
    every = [
        _record(option, one.context)
        for group in commands().values()
        for one in group
        for option in one.options
    ]
    return tuple(record for record, count in Counter(every).items() if count >= _MANY)


def _page(comment: re.Match[str]) -> str:
    first, *inner = commands()[comment[1].removeprefix(f"{PROGRAM} ")]
    parts = [_told(first), *(f"## {one.name}\n\n{_told(one)}" for one in inner)]
    return "\n\n".join(parts)


def _told(one: Named) -> str:
    """Return a command in Markdown: usage, help, options of its own."""
    usage = " ".join(one.context.command.collect_usage_pieces(one.context))
    parts = [f"```text\n{one.name} {usage}\n```", *_paragraphs(one.context.command.help or "")]
    records = [_record(option, one.context) for option in one.options]
    own = [record for record in records if record not in in_common()]
    if own:
        parts.append(_list(own))
    if len(own) < len(records):
        also = "Also" if own else "It has"
        parts.append(f"{also} the [options in common](../common-options.md) that `--help` lists.")
    return "\n\n".join(parts)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in cleandoc(text).split("\n\n"):
        if paragraph.startswith(_EXAMPLES):
            yield f"```text\n{paragraph.removeprefix(_EXAMPLES).strip(chr(10))}\n```"
        else:
            yield _plain(paragraph)


def _list(records: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    """Return options as a list of terms, each with what it is for."""
    return "\n\n".join(f"`{typed}`\n: {_plain(words) or '...'}" for typed, words in records)


def _plain(text: str) -> str:
    """Return words in which nothing is Markdown."""
    return re.sub(r"([*_<>`\[\]|\\])", r"\\\1", text)


def _table() -> str:
    told = {name: first.context.command for name, (first, *_) in commands().items()}
    rows = [
        f"| [{name}](commands/{name}.md) | {_plain(command.get_short_help_str(200))} |"
        for name, command in told.items()
    ]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _expand(_app: Sphinx, _page_name: str, source: list[str]) -> None:
    text = COMMENT.sub(_page, source[0])
    if ALL in text:
        text = text.replace(ALL, _table())
    if COMMON in text:
        text = text.replace(COMMON, _list(in_common()))
    source[0] = text


def setup(app: Sphinx) -> dict[str, bool | str]:
    """Join Sphinx."""
    app.connect("source-read", _expand)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
