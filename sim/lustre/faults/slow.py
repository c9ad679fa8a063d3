"""Parts of a machine that are slow: their services take longer than usual, or less long.

Any station can be so whose time goes by bytes, of whichever room. An OST is slow in all that its
array does.

How fast the OSTs are differs from one day, and from one hour, to the next, so that measurements of
the same run do: the speeds of the OSTs spread, and now and then one is slow for minutes, as while
the RAID rebuilds a disk or another job keeps it busy. Such a state lasts longer than a repetition
of a run and is not in the hands of the job, so it is drawn anew for each, by the seed and the
number of the repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import nearest
from xc40io.config.parts.lustre import Lustre
from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats, Indices
from xc40io.lustre.server.disks import Disks, byte_seconds
from xc40io.lustre.server.journal import Journals, commit_seconds
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.plane.stations import Section, StationBook, StationKind

_BY_BYTES = {
    *(StationKind.NIC, StationKind.LINK, StationKind.LNET, StationKind.IB),
    *(StationKind.OSS, StationKind.OST),
}
"""Stations whose time goes by the bytes that they serve."""


class SlowStations(NamedTuple):
    """Stations of a section that can be slow."""

    section: Section
    numbers: Indices  # int: which of them, each once


class Slowness:
    """How slow the parts of a machine are, now."""

    def __init__(self, disks: Disks, book: StationBook) -> None:
        self._disks = disks
        self._book = book
        self._usual: dict[Section, tuple[Floats, ...]] = {}
        self._slow: list[tuple[SlowStations, float]] = []  # in the order in which they began

    def parts(self, course: Course, factor: float) -> list[SlowStations]:
        """Return the stations to slow by a factor, of those whose time goes by bytes.

        The part is a station, or has several stations whose names begin with its own: ``LNET router
        5``. What such a part does besides, that does not go by bytes, stays as it is: the small
        requests of an OSS.

        Raises
        ------
        InputError
            If there is no such part, or it is one that this cannot be said of.
        """
        name = course.fault.part
        found = []
        for section in self._book.sections:
            if not section.size or not _same_noun(section.label(0), name):
                continue  # to write the names of all stations takes longer than to build the rest
            named = [f"{section.label(i)} ".startswith(f"{name} ") for i in range(section.size)]
            if any(named):
                found.append(SlowStations(section, np.flatnonzero(named).astype(np.int32)))
        if not found:
            raise course.refusal(f"the machine has no such part{self._hint(name)}")
        by_bytes = [part for part in found if part.section.kind in _BY_BYTES]
        if not by_bytes and not np.isclose(factor, 1.0):
            section, numbers = found[0]
            raise course.refusal(
                f"the time of {section.label(int(numbers[0]))} does not depend on bytes; right "
                "would be an OST, an OSS, an LNET router, a NIC or a link; the times of the MDS "
                "and the nodes are values of the machine, as in lustre.mds.open_rate"
            )
        return by_bytes

    def _hint(self, name: str) -> str:
        """Return the end of a sentence about a part that there is not."""
        names = {section.label(i) for section in self._sayable() for i in range(section.size)}
        router = " or LNET router 5" if "LNET router 0 from Aries" in names else ""
        return nearest(name, names) or f"; right would be, for instance, OST 3{router}"

    def _sayable(self) -> list[Section]:
        """Return the sections of stations that can be slow, but links, of which there are many."""
        kinds = _BY_BYTES - {StationKind.LINK}
        return [section for section in self._book.sections if section.kind in kinds]

    def begin(self, parts: Iterable[SlowStations], factor: float) -> None:
        """Have services of some parts take so many times as long from now on."""
        for part in parts:
            if part.section not in self._usual:
                values = self._values(part.section)
                self._usual[part.section] = tuple(each.copy() for each in values)
            self._slow.append((part, factor))
            self._set(part)

    def end(self, parts: Iterable[SlowStations], factor: float) -> None:
        """Undo :meth:`begin`; slow-downs of a part by other faults stay."""
        for part in parts:
            ended = next(
                n for n, (one, by) in enumerate(self._slow) if one is part and by == factor
            )
            del self._slow[ended]
            self._set(part)

    def osts(self, numbers: Sequence[int]) -> list[SlowStations]:
        """Return the disk arrays of OSTs by their numbers."""
        section = next(one for one in self._book.sections if one.kind == StationKind.OST)
        return [SlowStations(section, np.array(numbers, np.int32))] if len(numbers) else []

    def renew(self, seconds: Floats) -> None:
        """Have a byte usually cost something else at each OST from now on.

        Parameters
        ----------
        seconds
            float64 (2, OSTs): seconds, read and write. What is slow stays so many times slower.
        """
        osts = seconds.shape[1]  # behind them stand MDTs that have data, which stay as they are
        self._disks.seconds[:, :osts] = seconds
        for section, usual in self._usual.items():
            if section.kind == StationKind.OST:
                usual[0][:, :osts] = seconds
                self._set(SlowStations(section, np.arange(osts, dtype=np.int32)))

    def _set(self, part: SlowStations) -> None:
        # From the usual values each time: what ends leaves no rounding behind.
        for values, usual in zip(
            self._values(part.section), self._usual[part.section], strict=True
        ):
            values[..., part.numbers] = usual[..., part.numbers]
            for other, factor in self._slow:
                if other.section is part.section:
                    met = np.intersect1d(other.numbers, part.numbers, assume_unique=True)
                    values[..., met] *= factor

    def _values(self, section: Section) -> tuple[Floats, ...]:
        """Return the values to set of a section: the seconds of a byte at each station.

        Of OSTs those of an RPC too, and how many times as long as usual heads take to move.
        """
        if section.kind == StationKind.OST:
            return self._disks.seconds, self._disks.overhead, self._disks.moving
        stations = self._disks.network.stations
        return (stations.inverse_rate[section.first : section.first + section.size],)


def _same_noun(label: str, part: str) -> bool:
    """Tell whether the names of two parts begin with the same word."""
    return label.split(" ", 1)[0] == part.split(" ", 1)[0]


@fault("", "slow")
def slow_down(slowness: Slowness, disks: Disks, course: Course) -> Process:
    """Let services of a part take so many times as long."""
    factor = course.fault.factor
    parts = slowness.parts(course, factor)
    if course.said.told and course.fault.noun == "OST":
        disks.serve_in_turn()
    yield course.begins()
    tell = f"{course.fault.part} began to take {factor:g} times as long."
    yield from _take_longer(slowness, course, parts, factor, tell)


@fault("OST", "rebuilding")
def rebuild(slowness: Slowness, disks: Disks, course: Course) -> Process:
    """Let an array give a share of its time to the rebuild of a disk."""
    parts = slowness.osts([course.number(disks.first_mdt)])
    disks.serve_in_turn()
    yield course.begins()
    share = course.fault.factor or course.recovery_times.rebuild_share
    tell = f"{course.fault.part} began to rebuild a disk, for {share:.0%} of its time."
    yield from _take_longer(slowness, course, parts, 1.0 / (1.0 - share), tell)


def _take_longer(
    slowness: Slowness, course: Course, parts: list[SlowStations], factor: float, tell: str
) -> Process:
    slowness.begin(parts, factor)
    course.tell(tell)
    if course.fault.end is not None:
        yield course.until(course.end)
        slowness.end(parts, factor)
        course.tell(f"{course.fault.part} was back to its usual speed.")


class Conditions:
    """The state of the OSTs of a machine.

    Parameters
    ----------
    lustre
        Of the machine.
    seed
        Of the scenario.
    journals
        At rest, with the commits of the first repetition.
    slowness
        Of its parts.
    """

    def __init__(self, lustre: Lustre, seed: int, journals: Journals, slowness: Slowness) -> None:
        self._lustre = lustre
        self._seed = seed
        self._commits = journals.ost_commit
        self._usual_commits = self._commits.copy()
        self._slowness = slowness
        self._repetition = 0
        self._slow: list[SlowStations] = []
        self._told: list[str] = []
        self._begin_spells()

    def again(self) -> None:
        """Draw the state that the next repetition finds."""
        self._repetition += 1
        self._slowness.end(self._slow, self._lustre.slow_factor)
        seconds = byte_seconds(self._lustre, self._seed, self._repetition)
        self._slowness.renew(seconds)
        self._usual_commits = commit_seconds(self._lustre, seconds)
        self._begin_spells()

    def notes(self) -> tuple[str, ...]:
        """Return which OSTs were slow, a sentence each."""
        return tuple(self._told)

    def _begin_spells(self) -> None:
        lustre, repetition = self._lustre, self._repetition
        drawn = stream(self._seed, "slow OSTs", repetition).random(lustre.osts)
        slow = (drawn < lustre.slow_share).nonzero()[0].tolist()
        self._commits[:, : lustre.osts] = self._usual_commits[:, : lustre.osts]
        self._commits[:, slow] *= lustre.slow_factor
        self._slow = self._slowness.osts(slow)
        self._slowness.begin(self._slow, lustre.slow_factor)
        self._told += [
            f"OST {number} is slow in repetition {repetition}, as it is {lustre.slow_share:.2g} of "
            f"its time: its services take {lustre.slow_factor:g} times as long"
            for number in slow
        ]
