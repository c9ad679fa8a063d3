"""Parts of a machine that are slow: their services take longer than usual, or less long."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.machine.plane import Plane
from sim.plane.stationbook import Section, StationBook
from sim.plane.stations import StationKind
from sim.run.pace import is_computing

_BY_BYTES = {
    *(StationKind.NIC, StationKind.LINK, StationKind.LNET, StationKind.IB),
    *(StationKind.OSS, StationKind.OST),
}
"""Stations whose time goes by the bytes that they serve."""


def slow_down(plane: Plane, book: StationBook, slow: Mapping[str, float]) -> None:
    """Have services of some parts take longer from now on.

    Parameters
    ----------
    plane
        At rest.
    book
        What its stations are called.
    slow
        How many times as long, by the name of a station, or of a part with several stations whose
        names begin with its own: ``LNET router 5``. What such a part does besides, that does not
        go by bytes, stays as it is: the small requests of an OSS. What ranks compute is none of
        its parts (:func:`~sim.run.pace.set_pace`).

    Raises
    ------
    InputError
        If there is no such part, or it is one that this cannot be said of.
    """
    for name, factor in slow.items():
        if is_computing(name):
            continue
        found = [
            (section, i)
            for section in book.sections
            for i in range(section.size)
            if f"{section.label(i)} ".startswith(f"{name} ")
        ]
        if not found:
            names = {section.label(i) for section in _sayable(book) for i in range(section.size)}
            hint = nearest(name, names) or "; right would be, for instance, OST 3 or LNET router 5"
            raise InputError(f"slow: {name}: the machine has no such part{hint}")
        by_bytes = [(section, i) for section, i in found if section.kind in _BY_BYTES]
        if not by_bytes and not np.isclose(factor, 1.0):
            section, i = found[0]
            raise InputError(
                f"slow: {name}: the time of {section.label(i)} does not go by bytes; right would "
                "be an OST, an OSS, an LNET router, a NIC or a link; what the MDS and the nodes "
                "take are values of the machine, as lustre.mds.open_rate"
            )
        for section, i in by_bytes:
            _slow_down(plane, section, i, factor)


def _sayable(book: StationBook) -> list[Section]:
    """Return the sections of stations that can be slow, but links, of which there are many."""
    kinds = _BY_BYTES - {StationKind.LINK}
    return [section for section in book.sections if section.kind in kinds]


def _slow_down(plane: Plane, section: Section, i: int, factor: float) -> None:
    if section.kind == StationKind.OST:
        disks = plane.tables.disks
        disks.seconds[:, i] *= factor
        disks.overhead[:, i] *= factor
    else:
        plane.stations.inverse_rate[section.first + i] *= factor
