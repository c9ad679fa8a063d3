"""The text of a machine file that is like another one, and holds only what differs from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from xc40io.config.files import shipped
from xc40io.config.parts.provenance import LIKE
from xc40io.config.text.paths import nested

Leaf = Mapping[str, object] | None
"""A value with its source, as a machine file has it; None for a section that is left out."""


def like_file(
    place: Path,
    like: Path,
    *,
    title: str,
    description: str,
    leaves: Mapping[str, Leaf],
    measured: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return the text of a machine file.

    Parameters
    ----------
    place
        Where it will stand: it has the name of the file, and the path to the other one leads from
        there.
    like
        The file of the machine that it is like.
    title, description
        Of the machine.
    leaves
        What differs, by paths.
    measured
        Runs of it that were measured, as :class:`~xc40io.config.parts.measured_run.MeasuredRun`.
    """
    document: dict[str, object] = {
        "name": place.stem,
        "title": title,
        "description": description,
        LIKE: _path_from(place.parent, like),
        **nested(leaves),
    }
    if measured:
        document["measured"] = list(measured)
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=1000)


def _path_from(folder: Path, file: Path) -> str:
    """Return how a machine file names another one: a shipped one by its name."""
    if shipped("machines").get(file.stem) == file:
        return file.stem
    return os.path.relpath(file.resolve(), folder.resolve())
