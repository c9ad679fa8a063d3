"""Stations: the kinds that there are, how they are numbered, what a person calls them."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.network import STATION
from xc40io.engine.types import Table, make_table

Values = float | npt.NDArray[np.float64]


class StationKind(IntEnum):
    """What a station is."""

    NIC = 0  # one direction of a compute node's Aries network interface
    LINK = 1  # one direction of the links between two Aries routers
    LNET = 2  # one direction of an LNET router's Aries network interface
    IB = 3  # one direction of an InfiniBand link of an LNET router
    OSS = 4  # one direction of an object storage server's cap
    OST = 5  # an object storage target's disk array, shared by reads and writes
    SERVICE = 6  # an object storage server's threads for small requests
    MDS = 7  # the metadata server's threads
    CORE = 8  # a core of a compute node
    MEMORY = 9  # what all cores of a node can copy together
    SSD = 10  # the local solid-state disk of a compute node
    DVS = 11  # what the DVS client of a compute node can move
    STORE = 12  # the disks of a service node, or what stands behind all of them
    CALLBACK = 13  # a compute node's thread for what lock managers ask of it


MESSAGE_KINDS = int(StationKind.OST) + 1
"""Kinds of stations that messages of bulk RPCs meet: the first ones."""

METERS = MESSAGE_KINDS + 3
"""What is metered of a message: seconds at stations of each such kind, and then at the disks of an
OST: moving bytes, moving heads, and from there to the answer."""

DISK_METER, SEEK_METER, LATENCY_METER = range(MESSAGE_KINDS, METERS)


class Section(NamedTuple):
    """Stations of one kind and direction: ``first`` to ``first + size - 1``."""

    kind: StationKind
    first: int
    size: int
    label: Callable[[int], str]


class _Filling(NamedTuple):
    """What a section has in the columns of the table."""

    inverse_rate: Values
    latency: Values
    row: int  # of its first station in the time bins; -1 where none is watched


class StationBook:
    """Stations, section by section.

    Add all sections first; then ``table`` holds the stations for the engine.
    """

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self._fillings: list[_Filling] = []
        self._watched = 0
        self._count = 0
        self._opposed: list[tuple[int, int, int]] = []

    def add(
        self,
        kind: StationKind,
        count: int,
        label: Callable[[int], str],
        *,
        rate: Values = np.inf,
        latency: Values = 0.0,
        watched: bool = False,
    ) -> int:
        """Add a section; return the number of its first station.

        Parameters
        ----------
        kind, count, label
            What the stations are, how many, and the name of the i-th.
        rate
            Bytes/s; infinite where only requests count.
        latency
            Seconds to the next station.
        watched
            Whether its bytes are kept over time.
        """
        first = self._count
        row = self._watched if watched else -1
        self._fillings.append(_Filling(1.0 / np.asarray(rate), latency, row))
        self._watched += count if watched else 0
        self._count += count
        self.sections.append(Section(kind, first, count, label))
        return first

    def oppose(self, first: int, other: int, count: int) -> None:
        """Make stations the two directions of so many interfaces: a row of one, a row of the other.

        Parameters
        ----------
        first, other
            The first station of each row.
        count
            Stations of a row.
        """
        self._opposed += [(first, other, count), (other, first, count)]

    def table(self) -> Table:
        """Return all stations as one table of ``STATION`` records."""
        table = make_table(STATION, self._count)
        columns = {name: table[name] for name in ("inverse_rate", "latency", "kind", "row")}
        for section, filling in zip(self.sections, self._fillings, strict=True):
            own = slice(section.first, section.first + section.size)
            columns["inverse_rate"][own] = filling.inverse_rate
            columns["latency"][own] = filling.latency
            columns["kind"][own] = section.kind
            watched = filling.row >= 0
            columns["row"][own] = filling.row + np.arange(section.size) if watched else -1
        for first, other, count in self._opposed:
            table["opposite"][first : first + count] = other - first
        return table

    def name(self, station: int) -> str:
        """Return the name of a station, for people."""
        for section in self.sections:
            if section.first <= station < section.first + section.size:
                return section.label(station - section.first)
        raise IndexError(f"there is no station {station}")
