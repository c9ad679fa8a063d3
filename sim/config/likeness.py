"""What a machine file leaves to another one, which it names by the field ``like``.

A machine that differs from another in few values, as the same machine in another year, says these
and no others::

    name: cori-2015
    title: Cori when its file system was accepted
    description: ...
    like: cori-haswell
    lustre:
      ost_spread: {value: 0.03, source: "...", firm: inferred}

All other values are those of the other file, each with the source that it has there. A value is
taken as a whole, never its number from here and its source from there. Name, title and description
are of a file's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from sim.config.errors import InputError
from sim.config.files import find, read_mapping
from sim.config.provenance import is_value

LIKE = "like"
"""The field that names the other machine."""

OWN = ("name", "title", "description")
"""What no file takes from another one."""


def completed(
    document: Mapping[str, Any], place: str, folder: Path, file: Path | None = None
) -> dict[str, Any]:
    """Return a machine file's mapping with all that it leaves to the file that it is like.

    Parameters
    ----------
    document
        As the file has it.
    place
        What messages call it.
    folder
        From where the paths of files go out that it names.
    file
        The file, if it is one.

    Raises
    ------
    InputError
        If there is no such machine, or if a file is like itself over any number of others.
    """
    whole = dict(document)
    for _, other in _others(document, place, folder, file):
        rest = {name: part for name, part in other.items() if name not in OWN}
        whole = _merged(rest, whole)
    whole.pop(LIKE, None)
    return whole


def file_of_value(file: Path, path: str) -> Path | None:
    """Return the file in which a value stands: the one given, or one that it is like.

    Parameters
    ----------
    file
        Of a machine.
    path
        Of the value, as ``lustre.osts``.

    Raises
    ------
    InputError
        As :func:`completed` does.
    """
    document = read_mapping(file)
    files = [(file, document), *_others(document, str(file), file.parent, file)]
    return next((one for one, said in files if _has(said, path)), None)


def _others(
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
            f"{place}: like = {name!r}; right would be a machine, as cori-haswell, or its file"
        )
    own = name.endswith((".yaml", ".yml"))
    try:
        return find("machines", folder / name if own else name)
    except InputError as error:
        raise InputError(f"{place}: like: {error}") from error


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two parts of machine files as one; where both have a value it is that of `above`."""
    merged = dict(below)
    for name, part in above.items():
        before = merged.get(name)
        merged[name] = _merged(before, part) if _is_section(before) and _is_section(part) else part
    return merged


def _is_section(part: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(part, dict) and not is_value(part)


def _has(document: Mapping[str, Any], path: str) -> bool:
    """Tell whether a value stands in a machine file itself."""
    part: Any = document
    for name in path.split("."):
        part = part.get(name) if isinstance(part, dict) else None
    return isinstance(part, dict) and is_value(part)
