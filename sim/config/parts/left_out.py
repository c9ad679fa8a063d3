"""What a machine file leaves out: what the machine that it is like has, and what follows.

``null`` takes away what the other machine has: a section (``ssd: null``) or a value (``mounts:
null``). What follows from the rest and is not said is filled in, as
:meth:`~xc40io.config.machine.Machine.with_changes` does: LNET routers and OSSs are shared out over
the FGR groups, and there are as many service blades as the service nodes need. Without ``groups``
there is no fine-grained routing: all routers and OSSs are one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xc40io.config.parts.machine_changes import fill_in
from xc40io.config.parts.provenance import (
    LIKE,
    OWN,
    Provenance,
    is_value,
    leaves,
    merged,
    others,
)
from xc40io.config.text.paths import nested


def completed(
    document: Mapping[str, Any], place: str, folder: Path, file: Path | None = None
) -> dict[str, Any]:
    """Return a machine file's mapping with all that it leaves to the file that it is like.

    A section or value that is ``null`` is left out: what the other machine has there, this one has
    not. So is what the other one says of a network of another ``kind``.
    ``place`` is what messages call it, ``folder`` where the paths of files start that it names.

    Raises
    ------
    InputError
        If there is no such machine, if a file is like itself over any number of others, or if
        routers or OSSs cannot be shared out.
    """
    below: dict[str, Any] = {}
    for other, said in reversed([*others(document, place, folder, file)]):
        rest = {name: part for name, part in said.items() if name not in OWN}
        below = _settled(below, rest, str(other))
    whole = _settled(below, document, place)
    return {name: part for name, part in whole.items() if name != LIKE}


def _settled(below: Mapping[str, Any], above: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a machine of what a file says over another machine, with what follows from it."""
    whole = _without(merged(below, above), below)
    before, values = _values(below), _values(whole)
    was = {path: value for path, value in before.items() if path in values}
    settled = dict(values)
    fill_in(settled, was, set(leaves(above)), place)
    followed = {
        path: {"value": value} | _source(before.get(path)).model_dump()
        for path, value in settled.items()
        if path not in values or values[path] != value
    }
    return merged(whole, nested(followed))


def _without(whole: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is null in place of something that the other machine has."""
    kept = {}
    for name, part in whole.items():
        inner = below.get(name)
        if part is None and name in below:
            continue
        if isinstance(part, dict) and isinstance(inner, dict) and not is_value(part):
            part = _without(part, inner)
        kept[name] = part
    return kept


def _values(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a part by path, without their sources."""
    return dict(_each_value(part, ""))


def _each_value(part: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, content in part.items():
        if not isinstance(content, dict):
            continue
        if is_value(content):
            yield f"{prefix}{name}", content.get("value")
        else:
            yield from _each_value(content, f"{prefix}{name}.")


def _source(before: object) -> Provenance:
    """Return the source of a value that follows, and was another one before."""
    was = "" if before is None else f"; was {before}"
    return Provenance(source=f"follows from the other values{was}", firm="derived")
