"""Tables of the options of benchmarks, made from the rows that read them.

In a page of the site the comment ``<!-- options of xc40io.workloads.ior.parameters:OPTIONS -->`` is
replaced by a table of these rows.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

from xc40io.workloads.option_table import Option

COMMENT = re.compile(r"^<!-- options of ([\w.]+):(\w+) -->$", re.MULTILINE)
_HEAD = ("option", "unless given", "in a simulation")  # behind the section, where there are any


def rows_of(comment: re.Match[str]) -> dict[str, list[Option]]:
    """Return the options that a comment names, each once: by section, all in "" without any."""
    found: Any = getattr(import_module(comment[1]), comment[2])
    if not isinstance(found, dict):
        return {"": list(found)}
    if all(isinstance(one, Option) for one in found.values()):
        return {"": list(dict.fromkeys(found.values()))}
    return {name: list(dict.fromkeys(rows.values())) for name, rows in found.items()}


def table(sections: dict[str, list[Option]]) -> str:
    """Return options as a table in Markdown."""
    first = () if "" in sections else ("section",)
    lines = [(*first, *_HEAD), ("---",) * (len(_HEAD) + len(first))]
    for section, rows in sections.items():
        for one in rows:
            names = "<br>".join(f"`{name}`" for name in one.names)
            named = (f"`[{section}]`",) if first else ()
            lines.append((*named, names, _default(one.default), _judged(one)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        value = "@".join(value)
    return "" if value in (None, "") else f"`{value}`".replace("|", "\\|")


def _judged(one: Option) -> str:
    if one.refused:
        but = " or ".join(f"`{value}`" for value in one.harmless)
        return f"refused{f' unless {but}' if but else ''}: {one.refused}"
    return f"without effect: {one.idle}" if one.idle else ""


def _expand(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = COMMENT.sub(lambda comment: table(rows_of(comment)), source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("source-read", _expand)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
