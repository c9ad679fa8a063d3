"""What ``lfs getstripe`` prints: how files are striped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found, Layout

_FIELD = re.compile(
    r"\s*(?:lmm_|lcme_extent\.)?(stripe_count|stripe_size|pattern|e_start|e_end):\s*(\S+)"
)
_PAIRS = re.compile(r"\b(stripe_count|stripe_size|pattern):\s*(\S+)")
_NAME = re.compile(r"[^\s:]\S*$")


def recognises(document: Document) -> bool:
    """Tell whether it has stripes of files."""
    return (
        re.search(r"^\s*(?:lmm_)?stripe_count:\s*-?[0-9]", document.text, re.MULTILINE) is not None
    )


def read(document: Document) -> Found:
    """Return the layouts of the files in it."""
    with reading(document.path, "what lfs getstripe prints") as at:
        return Found(layouts=list(_layouts(document, at)))


def _layouts(document: Document, at: Cursor) -> Iterator[Layout]:
    name, components = "", list[dict[str, str]]()
    for number, line in enumerate([*document.lines, "end"], 1):
        at.line(number)
        if _NAME.match(line):
            if components:
                yield Layout(name, _striping(components, at))
            name, components = line, []
        for field, value in _PAIRS.findall(line) or _FIELD.findall(line):
            begins = field == "e_start" or (field == "stripe_count" and not _open(components))
            if begins:
                components.append({})
            components[-1][field] = value


def _open(components: list[dict[str, str]]) -> bool:
    """Tell whether the last component has not said its stripes yet."""
    return bool(components) and "stripe_count" not in components[-1]


def _striping(components: list[dict[str, str]], at: Cursor) -> Mapping[str, object]:
    """Return a layout as a scenario has it; of several components the options of setstripe."""
    if len(components) == 1 and components[0].get("e_end", "EOF") == "EOF":
        (only,) = components
        count = at.count("stripe_count", only["stripe_count"])
        size = at.count("stripe_size", only.get("stripe_size", "0"))
        return {"count": count} | ({"size": size} if size else {})
    words = []
    for one in components:
        end = one.get("e_end", "EOF")
        words += ["-E", "-1" if end == "EOF" else end]
        if one.get("pattern") == "mdt":
            words += ["-L", "mdt"]
            continue
        words += ["-c", one["stripe_count"], "-S", one.get("stripe_size", "0")]
    return {"setstripe": " ".join(words)}
