"""Results in files, written whole and without loss; ``sim.results.saved`` reads them back."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from sim.archive.archive import Format, write_archive
from sim.config.kept import kept

RESULT_FILE = Format(name="result of xc40io", version=2, option="--save")


@kept
class Saved(NamedTuple):
    """What is in a file."""

    content: Any  # of a run, of jobs, or of a replayed log: sim.results.saved.Content
    shown: Mapping[str, bool]  # how it was printed when it was saved: the options, by name


def save(content: Any, path: str | Path, shown: Mapping[str, bool] | None = None) -> None:
    """Write a result to a file; see :class:`Saved`.

    Raises
    ------
    InputError
        If it cannot be written there.
    """
    write_archive(path, RESULT_FILE, version("xc40io"), Saved(content, shown or {}))
