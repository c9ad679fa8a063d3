"""What a reader finds in an output: measurements with their runs, values of a machine, layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Run:
    """What was run, as far as the output tells; :mod:`.claims_file` finds out the rest."""

    program: str  # as a scenario calls it: ior, mdtest, kernel, io500
    asked: Any  # what stands behind the name of the program there
    tasks: int | None = None  # ranks of all nodes
    nodes: int | None = None
    ppn: int | None = None
    file: str = ""  # that it wrote, by which a layout is found
    laid_out: bool = False  # whether it says itself how its files are striped
    striping: Mapping[str, Any] = field(default_factory=dict)  # that of all its files, if it is one
    hints: Mapping[str, str] = field(
        default_factory=dict
    )  # for MPI-IO, as the library printed them


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number that was measured, in all its repetitions."""

    run: Run | None  # None for what is about a machine and a number of nodes
    metric: str  # of a claim, with {} in place of the run: write({})
    name: str  # of the number, for the id of the claim: write, file-stat
    values: tuple[float, ...]
    unit: str  # MiB/s, op/s, s
    source: str  # program, version, day, file
    seen: tuple[float, ...] = ()  # others of its repetitions, which tell no more than the spread
    assumed: tuple[str, ...] = ()  # what the output does not say: a few words each
    nodes: int = 0  # of a number without a run; 0 where it is not said


@dataclass(frozen=True)
class OwnValue:
    """A value of the machine that needs no fit."""

    path: str  # in a machine file: lustre.max_dirty
    value: Any  # as a machine file has it: 32 MiB
    source: str


@dataclass(frozen=True)
class Layout:
    """How a file, or a folder's new files, are striped."""

    file: str
    striping: Mapping[str, Any]  # as a scenario has it


@dataclass
class Found:
    """What was found in one output, or in several."""

    measurements: list[Measurement] = field(default_factory=list)
    values: list[OwnValue] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    unheeded: list[str] = field(default_factory=list)  # what was read and left: a sentence each

    def add(self, other: Found) -> None:
        """Take over what else was found."""
        for name, found in vars(other).items():
            getattr(self, name).extend(found)


@dataclass(frozen=True)
class Document:
    """A file that somebody has handed in, and what is with it."""

    path: str
    text: str
    beside: tuple[str, ...] = ()  # all files that were handed in
    is_log: bool = False  # of Darshan, which is read from its path

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return self.text.splitlines()

    def source(self, program: str, began: str = "") -> str:
        """Say where a number is from: program, day as the output has it, file."""
        return ", ".join(filter(None, (program, day_of(began), Path(self.path).name)))


_DAYS = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S")
"""How IOR and mdtest write when they began."""


def day_of(began: str) -> str:
    """Return the day of a date as IOR or mdtest writes it: ``3 May 2026``; else what is there."""
    words = re.sub(r"\s+", " ", began.strip())
    for form in _DAYS:
        try:
            day = datetime.strptime(words, form)
        except ValueError:
            continue
        return f"{day.day} {day:%B %Y}"
    return words
