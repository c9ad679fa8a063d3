"""Releases of Lustre: what the defaults of a newer one would make of a machine.

``--set lustre.release=2.12`` stands for all values that clients and servers of that release have by
default (``configs/releases/``); the hardware stays as it is, and so does what a change beside it
says. What is not known of a release stands in its file, and is told where it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from xc40io.config.errors import InputError, nearest
from xc40io.config.files import read_mapping, shipped
from xc40io.config.parts.provenance import LIKE, Provenance, separate
from xc40io.config.text.paths import flat

RELEASE = "lustre.release"
"""The change that stands for all values of a release."""


class Release(NamedTuple):
    """A release of Lustre."""

    name: str  # as 2.12
    title: str
    unknown: str  # what is not known of it, or not simulated
    values: dict[str, Any]  # by dotted path
    provenance: dict[str, Provenance]


def releases() -> tuple[str, ...]:
    """Return the releases that there are, the oldest first."""
    return tuple(sorted(shipped("releases"), key=lambda name: [*map(int, name.split("."))]))


@cache
def load_release(name: str) -> Release:
    """Return a release by its number.

    Raises
    ------
    InputError
        If there is none of that number; the sentence lists those that there are.
    """
    files = shipped("releases")
    if name not in files:
        raise InputError(
            f"{RELEASE} = {name}: right would be {', '.join(releases())}{nearest(name, files)}"
        )
    document = read_mapping(files[name])
    values, provenance = separate({"lustre": document["lustre"]}, str(files[name]))
    values = flat(values)
    if LIKE in document:
        older = load_release(document[LIKE])
        values, provenance = older.values | values, older.provenance | provenance
    return Release(name, document["title"], document["unknown"], values, provenance)


def with_release(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Provenance]]:
    """Return changes in which a release has become its values, and where these come from.

    Raises
    ------
    InputError
        As :func:`load_release` does.
    """
    if RELEASE not in changes:
        return dict(changes), {}
    release = load_release(release_name(changes[RELEASE]))
    others = {path: value for path, value in changes.items() if path != RELEASE}
    sources = {path: where for path, where in release.provenance.items() if path not in others}
    return release.values | others, sources


def release_of(version: str) -> tuple[int, ...]:
    """Return the release of a version of Lustre: (2, 7) of ``2.7.2.26``."""
    return tuple(int(number) for number in re.findall(r"[0-9]+", version)[:2]) or (2, 7)


def release_name(value: object) -> str:
    """Return a release as its file is called: 2.10 reaches us as the number 2.1 where YAML is."""
    name = str(value)
    return f"{name}0" if isinstance(value, float) and f"{name}0" in releases() else name
