"""The stations of a run when it has ended, as plain columns, apart from the data plane."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.machine.plane import Plane
from xc40io.plane.stations import StationBook, StationKind

_NAME = re.compile(r"(?P<what>\D+?) (?P<number>\d+)(?: (?P<way>.*))?")


class MachinePart(NamedTuple):
    """A part of the machine that a station belongs to: ``OST 3``."""

    what: str  # ``OST``, ``MDT``, ``OSS``, ``MDS``, ``LNET router``
    number: int  # which of them
    way: str = ""  # what of it the station is: ``in``, ``small requests``; empty for all of it

    def __str__(self) -> str:
        """Return its name."""
        return f"{self.what} {self.number}"


class BookNames(Sequence[str]):
    """Names of stations out of the book, made when they are asked for.

    A run of the whole machine has hundreds of thousands of stations, and prints the names of few.

    Parameters
    ----------
    book
        Of all stations.
    numbers
        int64: which of them.
    """

    def __init__(self, book: StationBook, numbers: Integers) -> None:
        self._book = book
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> BookNames: ...
    def __getitem__(self, index: int | slice) -> str | BookNames:
        if isinstance(index, slice):
            return BookNames(self._book, self._numbers[index])
        return self._book.name(int(self._numbers[index]))


@dataclass(frozen=True)
class Timeline:
    """What a watched station did over time: one value a bin of ``width`` seconds."""

    width: float
    bytes: Floats
    busy: Floats


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class StationTable:
    """Every station that served anything or was watched, in the order of their numbers."""

    names: Sequence[str]  # What a person calls them.
    number: Integers  # int64: of each in the tables of the data plane.
    kind: Integers  # int64: a :class:`~xc40io.plane.stations.StationKind` each.
    section: Integers  # int64: stations of one kind and direction, *peers*, have the same.
    # float64 and int64: what each served.
    bytes: Floats
    requests: Integers
    # float64: seconds of service; when the first one began and the last one ended; seconds that
    # messages and requests queued there, summed.
    busy: Floats
    first: Floats
    last: Floats
    waiting: Floats
    row: Integers  # int64: its row in the time bins; -1 for a station that is not watched.
    bin_width: float  # Seconds of a time bin.
    # float64 (watched stations, bins): what was served, and seconds of service.
    bin_bytes: Floats
    bin_busy: Floats

    def __len__(self) -> int:
        return len(self.kind)

    def sections(self) -> Iterator[slice]:
        """Yield where the peers of each section stand."""
        bounds = np.flatnonzero(np.diff(self.section, prepend=-1, append=-1))
        yield from map(slice, bounds[:-1].tolist(), bounds[1:].tolist())

    def part(self, position: int) -> MachinePart | None:
        """Return the part of the machine that a station is of; None where these have no numbers.

        Names are read here alone: a kept result has nothing else that tells.
        """
        found = _NAME.fullmatch(self.names[position])
        if found is None:
            return None
        return MachinePart(found["what"], int(found["number"]), found["way"] or "")

    def kind_of(self, position: int) -> StationKind:
        """Return the kind of a station."""
        return StationKind(int(self.kind[position]))

    def timeline(self, row: int) -> Timeline:
        """Return a row of the time bins."""
        return Timeline(self.bin_width, self.bin_bytes[row], self.bin_busy[row])

    @cached_property
    def watched(self) -> dict[str, int]:
        """The rows of the time bins, by the names of their stations."""
        positions = np.flatnonzero(self.row >= 0).tolist()
        return {self.names[position]: int(self.row[position]) for position in positions}


def station_table(plane: Plane, book: StationBook) -> StationTable:
    """Return the stations of a data plane at its end; the time bins are its own."""
    stations, bins = plane.stations, plane.bins
    numbers = np.flatnonzero((stations.requests > 0) | (stations.row >= 0))
    used = stations[numbers]
    firsts = [section.first for section in book.sections]
    return StationTable(
        names=BookNames(book, numbers),
        number=numbers,
        kind=used.kind.astype(np.int64),
        section=np.searchsorted(firsts, numbers, "right") - 1,
        bytes=used.bytes.copy(),
        requests=used.requests.astype(np.int64),
        busy=used.busy.copy(),
        first=plane.first[numbers],
        last=used.free.copy(),
        waiting=used.waiting.copy(),
        row=used.row.astype(np.int64),
        bin_width=float(bins.width[0]),
        bin_bytes=bins.bytes,
        bin_busy=_by_station(bins.busy, int(used.free.max(initial=0.0) / bins.width[0]) + 1),
    )


def _by_station(busy: Floats, reached: int) -> Floats:
    """Return time bins with those of a station side by side: reports add these up.

    ``reached``: how many of them services came to; most runs are short.
    """
    lying = np.zeros(busy.shape)
    lying[:, :reached] = busy[:, :reached]
    return lying
