"""The values of a machine file: where each comes from, how firm it is, which file has it.

A machine file leaves what it does not say to another one, which it names by the field ``like``.
A machine that differs from another in few values, as the same machine in another year, says these
and no others::

    name: cori-2015
    title: Cori when its file system was accepted
    description: ...
    like: cori-haswell
    lustre:
      ost_spread: {value: 0.03, source: "...", firm: inferred}

All other values are those of the other file, each with the source that it has there. A value is
taken as a whole, never its number from here and its source from there. Name, title, description and
what was measured are of a file's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeGuard, get_args

from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.files import find, read_mapping
from xc40io.config.kept import kept
from xc40io.config.model import Model, checked

Firmness = Literal[
    "verified", "measured", "derived", "inferred", "recalled", "calibrated", "assumed"
]
"""How far a value can be trusted.

``verified``: read in the source named. ``measured``: taken from a log of the machine named.
``derived``: arithmetic on such values. ``inferred``: plausible, documented nowhere. ``recalled``:
expert's memory. ``calibrated``: fitted to the target that the source names. ``assumed``: chosen for
a what-if study, no real machine behind it.
"""


@kept
class Provenance(Model):
    """Where a value comes from, and how firm it is."""

    source: Annotated[str, Field(min_length=1)]
    firm: Firmness


class _SourcedValue(Provenance):
    """A value as a machine file writes it."""

    value: Any


def is_value(content: Mapping[str, Any]) -> bool:
    """Tell whether a mapping of a machine file is a value with its source, and no section."""
    return bool(content.keys() & _SourcedValue.model_fields.keys())


def separate(
    part: Mapping[str, Any], place: str, prefix: str = ""
) -> tuple[dict[str, Any], dict[str, Provenance]]:
    """Return the values of a part of a machine file, nested, and their provenance, by path."""
    values: dict[str, Any] = {}
    provenance: dict[str, Provenance] = {}
    for name, content in part.items():
        path = f"{prefix}{name}"
        if content is None:
            raise InputError(
                f"{place}: {path} = null, but the machine that it is like has no {path}; null "
                "takes away what that one has"
            )
        if not isinstance(content, dict):
            raise InputError(
                f"{place}: {path} = {content!r} names no source; right would be "
                f"{{value: {content}, source: ..., firm: {' or '.join(get_args(Firmness))}}}"
            )
        if is_value(content):
            leaf = checked(_SourcedValue, content, f"{place}: {path}")
            values[name] = leaf.value
            provenance[path] = Provenance(source=leaf.source, firm=leaf.firm)
        else:
            values[name], inner = separate(content, place, f"{path}.")
            provenance |= inner
    return values, provenance


LIKE = "like"
"""The field that names the other machine."""

OWN = ("name", "title", "description", "imagined", "measured")
"""What no file takes from another one."""


def leaves(part: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the paths of the values that stand in a machine file itself."""
    for name, content in part.items():
        if isinstance(content, dict):
            path = f"{prefix}{name}"
            yield from [path] if is_value(content) else leaves(content, f"{path}.")


Files = Mapping[Path, Mapping[str, Any]]
"""The file of a machine and those that it is like, in this order, with what each holds."""


def files_of(file: Path) -> Files:
    """Read the file of a machine, and those that it is like.

    Raises
    ------
    InputError
        As :func:`completed` does.
    """
    document = read_mapping(file)
    return {file: document, **dict(others(document, str(file), file.parent, file))}


def file_of_value(files: Files, path: str) -> Path | None:
    """Return the first of a machine's files in which a value stands, or None."""
    return next((one for one, said in files.items() if _has(said, path)), None)


def others(
    document: Mapping[str, Any], place: str, folder: Path, file: Path | None
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the file that a machine is like, and what it holds; the one that this is like; ..."""
    seen = [] if file is None else [file.resolve()]
    while LIKE in document:
        other = _found(document[LIKE], place, folder)
        if other.resolve() in seen:
            raise InputError(
                f"{place}: like = {document[LIKE]} leads back to {other.name}; right would be a "
                "machine that is not like this one"
            )
        seen.append(other.resolve())
        document, place, folder = read_mapping(other), str(other), other.parent
        yield other, document


def _found(name: object, place: str, folder: Path) -> Path:
    """Return the file of the machine that another one is like."""
    if not isinstance(name, str):
        raise InputError(
            f"{place}: like = {name!r}; right would be a machine, as in cori-haswell, or its file"
        )
    own = name.endswith((".yaml", ".yml"))
    try:
        return find("machines", folder / name if own else name)
    except InputError as error:
        raise InputError(f"{place}: like: {error}") from error


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two parts of machine files as one; where both have a value it is that of `above`."""
    whole = dict(below)
    for name, part in above.items():
        before = whole.get(name)
        if _is_section(before) and _is_section(part) and not _of_another_kind(before, part):
            whole[name] = merged(before, part)
        else:
            whole[name] = part
    return whole


def _of_another_kind(below: Mapping[str, Any], above: Mapping[str, Any]) -> bool:
    """Tell whether two sections say that they are of two kinds."""
    kinds = [side.get("kind", {}) for side in (below, above)]
    named = [kind.get("value") for kind in kinds if isinstance(kind, dict) and "value" in kind]
    return len(named) == len(kinds) and named[0] != named[1]


def _is_section(part: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(part, dict) and not is_value(part)


def _has(document: Mapping[str, Any], path: str) -> bool:
    """Tell whether a value stands in a machine file itself."""
    part: Any = document
    for name in path.split("."):
        part = part.get(name) if isinstance(part, dict) else None
    return isinstance(part, dict) and is_value(part)
