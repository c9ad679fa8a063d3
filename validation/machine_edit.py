"""New values for a machine file, in which every other character stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from xc40io.config.errors import InputError, nearest
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.parts.provenance import Firmness, file_of_value, files_of


@dataclass(frozen=True)
class NewValue:
    """What is to stand in a machine file."""

    value: str  # As text, with its unit: ``281 MB/s``.
    # Its provenance.
    source: str
    firm: Firmness


def edited_machine(path: Path, values: Mapping[str, NewValue]) -> str:
    """Return the text of a machine file with new numbers and provenance for some values.

    Only the three texts of each value change; comments, order and layout stay. It has been read
    back: with the new values, and all others as before.

    Parameters
    ----------
    path
        The file.
    values
        The new values by dotted path.

    Raises
    ------
    InputError
        If the file has no such value, writes it in a way that cannot be edited, or does not read
        back as it should.
    """
    before, files = load_machine(path), files_of(path)
    for value in values:
        stands = file_of_value(files, value)
        if stands not in (path, None):
            raise InputError(
                f"{path}: {value} stands in {stands}, which this file is like; right would be to "
                "change it there"
            )
    changed = _edited(path.read_bytes().decode("utf-8"), values, str(path))
    _check(before, changed, values, str(path))
    return changed


def _edited(text: str, values: Mapping[str, NewValue], place: str) -> str:
    """Return the text of a machine file with new values."""
    # The pure Python parser: its marks are places in the text, whatever characters stand before.
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    leaves = dict(_leaves(root))
    pieces: list[tuple[int, int, str]] = []
    for path, new in values.items():
        if path not in leaves:
            raise InputError(f"{place}: {path}: there is no such value{nearest(path, leaves)}")
        written = {"value": new.value, "source": json.dumps(new.source, ensure_ascii=False)}
        for name, piece in (written | {"firm": new.firm}).items():
            pieces.append((*_place(leaves[path], name, f"{place}: {path}"), piece))
    for begin, end, piece in sorted(pieces, reverse=True):
        text = text[:begin] + piece + text[end:]
    return text


def _leaves(node: yaml.Node | None, prefix: str = "") -> Iterator[tuple[str, yaml.MappingNode]]:
    """Yield the mappings {value, source, firm} of a machine file by dotted path."""
    if not isinstance(node, yaml.MappingNode):
        return
    if any(key.value == "value" for key, _ in node.value):
        yield prefix.removesuffix("."), node
        return
    for key, inner in node.value:
        yield from _leaves(inner, f"{prefix}{key.value}.")


def _place(leaf: yaml.MappingNode, name: str, place: str) -> tuple[int, int]:
    """Return from where to where a text of a value stands in the file."""
    found = next((inner for key, inner in leaf.value if key.value == name), None)
    begin, end = leaf.start_mark.index, leaf.end_mark.index
    if (
        not isinstance(found, yaml.ScalarNode)
        or not begin <= found.start_mark.index < found.end_mark.index <= end
        or found.style not in (None, '"', "'")
    ):
        raise InputError(
            f"{place}: {name} is written as an alias or as a block; right would be "
            '{value: 281 MB/s, source: "...", firm: measured}'
        )
    return found.start_mark.index, found.end_mark.index


def _check(before: Machine, text: str, values: Mapping[str, NewValue], place: str) -> None:
    """Raise InputError unless a changed text says what it should."""
    after = read_machine(yaml.safe_load(text), place, Path(place).parent)
    wanted = before.with_changes({path: new.value for path, new in values.items()})
    if after.values() != wanted.values():
        raise InputError(f"{place}: does not read back as it was meant; it is left as it was")
    for path, provenance in after.provenance.items():
        new = values.get(path)
        told = (provenance.source, provenance.firm)
        old = before.provenance[path]
        if told != ((new.source, new.firm) if new else (old.source, old.firm)):
            raise InputError(f"{place}: {path} does not read back as it was meant")
