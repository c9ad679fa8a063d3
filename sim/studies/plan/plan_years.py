"""A mix over years: when the file system is full, what its drives take, what is on the MDTs.

The bytes are those that the jobs of the mix write where they write them, as their runs tell; how
many of them a day, how many stay and how they grow, the mix says (:mod:`xc40io.config.years`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.config.units import format_bytes
from xc40io.config.workload_mix import MixJob, WorkloadMix
from xc40io.config.years import Years
from xc40io.studies.plan.mix_runs import (
    Setting,
    jobs_of_weights,
    mix_title,
    run_mix,
)
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Progress, Simulations
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Answer, Column, Columns, Points, Section, Table, Unit
from xc40io.telling.units import ANY, NUMBER, RECORD, ROWS, TWO_DECIMALS, WORDS, figure
from xc40io.topology.text import format_count

_DAYS = 365
_OSTS = "lustre"
_PLACES = {_OSTS: "OSTs", "ssd": "SSDs of the nodes", "bb": "burst buffer", "home": "home"}
"""Where jobs write, by the kinds of their targets, and what that is called."""


class Year(NamedTuple):
    """One year."""

    year: int  # from 1
    written: float  # bytes a day at its end, all places together
    with_purge: float  # most bytes that are there in it
    without_purge: float


class Wear(NamedTuple):
    """What the drives of one place take."""

    place: str  # as people call it
    drives: float  # bytes of all of them
    writes: float  # times that these are written a day, the mean over all years
    rated: float | None  # how many times they may be


class OnMdts(NamedTuple):
    """What is on the metadata targets when the file system is full."""

    files: float
    data: float  # bytes of files
    inodes: float  # bytes
    capacity: int | None  # None: not said

    @property
    def whole(self) -> float:
        """Bytes of both."""
        return self.data + self.inodes


@dataclass(frozen=True)
class MixYears(KeptStudy):
    """What :func:`plan_years` returns."""

    mix: WorkloadMix  # the jobs, with their weights
    written: Mapping[str, float]  # bytes a day at the beginning, by the kinds of targets
    years: int  # how many

    def __repr__(self) -> str:
        """Return a line: of which mix, over how many years."""
        return f"<MixYears of {mix_title(self.mix)!r}: {format_count(self.years, 'year')}>"

    @property
    def said(self) -> Years:
        """What the mix says of years."""
        assert self.mix.years is not None  # plan_years sees to it
        return self.mix.years

    @property
    def capacity(self) -> int:
        """Bytes that the file system holds."""
        return self.mix.machine.lustre.capacity

    @cached_property
    def every(self) -> tuple[Year, ...]:
        """Each year."""
        days = [self._days(purged=purged) for purged in (True, False)]
        parts = [slice(_DAYS * year, _DAYS * (year + 1)) for year in range(self.years)]
        return tuple(
            Year(number, self._written(_DAYS * number), *(max(one[part]) for one in days))
            for number, part in enumerate(parts, 1)
        )

    def full(self, *, purged: bool) -> int | None:
        """Return the day, from 1, on which the file system is full; None: on none of them."""
        days = enumerate(self._days(purged=purged), 1)
        return next((day for day, there in days if there >= self.capacity), None)

    @property
    def needed(self) -> float:
        """Bytes for all that will be there, with the purge if there is one."""
        return max(year.with_purge for year in self.every)

    def _written(self, day: int) -> float:
        """Return the bytes written on a day, from 0."""
        grown: float = (1.0 + self.said.growth_a_year) ** (day / _DAYS)
        return sum(self.written.values()) * grown

    def _days(self, *, purged: bool) -> list[float]:
        """Return the most bytes that are there on each day: before a purge that ends it."""
        there, purge = float(self.said.in_use), self.said.purge if purged else None
        on_lustre = self.written.get(_OSTS, 0.0) / sum(self.written.values())
        days = []
        for day in range(_DAYS * self.years):
            there += self.said.stays * on_lustre * self._written(day)
            days.append(there)
            if purge is not None and (day + 1) % purge.days == 0:
                there *= 1.0 - purge.removes
        return days

    @cached_property
    def wear(self) -> tuple[Wear, ...]:
        """What the drives of each place take that is written to and has any."""
        mean = sum(map(self._written, range(_DAYS * self.years))) / (_DAYS * self.years)
        grown = mean / self._written(0)
        machine, drives, ssds = self.mix.machine, self.said.drives, self.said.ssds
        found = []
        if drives is not None and _OSTS in self.written:
            size = float(self.capacity)
            if drives.each_ost is not None and drives.size is not None:
                size = float(machine.lustre.osts * drives.each_ost * drives.size)
            factor = grown * drives.amplification / (1.0 - drives.parity) / size
            found.append(Wear(_PLACES[_OSTS], size, self.written[_OSTS] * factor, drives.rated))
        sizes = {
            "ssd": machine.ssd and machine.ssd.capacity * machine.nodes.count,
            "bb": machine.burst_buffer and machine.burst_buffer.capacity,
        }
        for kind, held in sizes.items():
            if held and kind in self.written:
                factor = grown * (ssds.amplification if ssds else 1.0) / held
                rated = ssds.rated if ssds else None
                wear = Wear(_PLACES[kind], float(held), self.written[kind] * factor, rated)
                found.append(wear)
        return tuple(found)

    @cached_property
    def on_mdts(self) -> OnMdts | None:
        """What is on the metadata targets when the file system is full, if the mix says it."""
        mdt = self.said.mdt
        if mdt is None:
            return None
        more = self.capacity / sum(size * count for size, count in mdt.files.items())
        files, first = more * sum(mdt.files.values()), self.dom_size
        data = more * sum(min(size, first) * count for size, count in mdt.files.items())
        return OnMdts(files, data, files * mdt.inode, mdt.capacity)

    @property
    def dom_size(self) -> int:
        """Bytes of a file that are on an MDT."""
        said = None if self.said.mdt is None else self.said.mdt.dom_size
        return (self.mix.machine.lustre.dom_size or 0) if said is None else said

    @property
    def table(self) -> Table:
        """A row a year; bytes."""
        note = "Written a day: at the end of the year. Fullest: most that is there in it."
        columns = _YEARS if self.said.purge is not None else (*_YEARS[:2], _YEARS[3])
        return Table(columns, lambda: self.every, title="Year by year", note=note, most=self.years)


def _size(size: float) -> str:
    """Write bytes as makers of drives count them."""
    scales = {"PB": 1e15, "TB": 1e12, "GB": 1e9}
    unit = next((unit for unit, scale in scales.items() if size >= scale), "GB")
    return f"{figure(size / scales[unit], 3)} {unit}"


_HELD = Unit("bytes", int, _size)

_YEARS: Columns = (
    Column("year", NUMBER),
    Column("written", _HELD, lambda year: round(year.written), head="written a day"),
    Column("with_purge", _HELD, lambda year: round(year.with_purge), head="fullest, with purge"),
    Column("without_purge", _HELD, lambda year: round(year.without_purge), head="without purge"),
)


def plan_years(
    mix: WorkloadMix,
    years: int,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> MixYears:
    """Run a mix on its machine, and tell of years in which its jobs come day after day.

    Parameters
    ----------
    mix
        As :func:`~xc40io.config.workload_mix.load_mix` returns it, with ``years``.
    years
        How many.
    jobs, scheduler, store, progress
        As for :func:`~xc40io.studies.plan.plan`.

    Raises
    ------
    InputError
        If the mix does not say what fills the file system, or writes nothing.
    """
    said = said_of_years(mix)
    simulations = Simulations.of_study(jobs, store, progress, scheduler)
    (present,) = run_mix(mix, [Setting(mix.machine)], [mix.seed], simulations)
    if isinstance(present, Failure):
        raise InputError(f"on the machine as it is: {present.reason}")
    counts = jobs_of_weights(mix, present)
    written: dict[str, float] = {}
    for job, count, runs in zip(mix.jobs, counts, present, strict=True):
        kind = _target(job)
        wrote = runs.records[0].written  # with the first seed
        written[kind] = written.get(kind, 0.0) + count * wrote
    written = {kind: size for kind, size in written.items() if size}
    if not written:
        raise InputError("--years: no job of the mix writes; right would be one that does")
    if said.written_a_day is not None:
        scale = said.written_a_day / sum(written.values())
        written = {kind: scale * size for kind, size in written.items()}
    return MixYears(mix=mix, written=written, years=years, **simulations.counted())


def said_of_years(mix: WorkloadMix) -> Years:
    """Return what a mix says of years; InputError, before anything runs, if it is not enough."""
    said = mix.years
    if said is None:
        raise InputError(
            "--years: the mix has no part years; right would be one in its file, as "
            "docs/all-flash.md shows: {written_a_day: 700 TB, stays: 0.2, purge: {days: 28}}"
        )
    if said.written_a_day is None and mix.weights != "jobs":
        raise InputError(
            f"years.written_a_day is missing, and weights = {mix.weights} tell of no day; right "
            "would be the bytes that all jobs write in a day, or weights: jobs"
        )
    if said.in_use > mix.machine.lustre.capacity:
        raise InputError(
            f"years.in_use = {format_bytes(said.in_use)}; right would be at most lustre.capacity "
            f"of {mix.machine.name}, {format_bytes(mix.machine.lustre.capacity)}"
        )
    return said


def _target(job: MixJob) -> str:
    """Return where a job writes: of several at the same time, where the first does."""
    run = job.run
    return run.target.kind if isinstance(run, Scenario) else run.jobs[0].target.kind


def with_years(answer: Answer, found: MixYears) -> Answer:
    """Return an answer that tells at its end of years."""
    values = answer.values
    if values is not None:
        told = Column("years", RECORD, lambda _: found, inner=_TOLD)
        values = replace(values, columns=(*values.columns, told))
    section = Section("years", f"Over {format_count(found.years, 'year')}", _blocks(found))
    answer = replace(answer, blocks=[*answer.blocks, section], values=values)
    return answer if answer.table is not None else replace(answer, setup="", table=found.table)


def _blocks(found: MixYears) -> list[Points | Table]:
    told = [_verdict(found), *_filling(found), *_wearing(found), *_holding(found)]
    return [Points(told), found.table]


def _verdict(found: MixYears) -> str:
    """Say at once whether all is enough."""
    held = found.on_mdts
    enough = {"capacity": found.full(purged=True) is None}
    for one in found.wear:
        if one.rated is not None:
            enough[f"drives of the {one.place}"] = one.writes <= one.rated
    if held is not None and held.capacity is not None:
        enough["MDTs"] = held.whole <= held.capacity
    over = f"over {format_count(found.years, 'year')}"
    if all(enough.values()):
        return f"Enough {over}: {', '.join(enough)}."
    return f"NOT enough {over}: {', '.join(what for what, is_so in enough.items() if not is_so)}."


def _filling(found: MixYears) -> Iterator[str]:
    """Say when the file system is full."""
    said, purge = found.said, found.said.purge
    stays = "all of it stays" if said.stays == 1 else f"{figure(100 * said.stays, 3)} % of it stays"
    yield f"{_size(sum(found.written.values()))} is written a day at first, and {stays}."
    never = f"is {_when(found, purged=False)}."
    whole = f"The file system of {_size(found.capacity)}"
    if purge is None:
        yield f"{whole} {never}"
        return
    yield (
        f"{whole}, of which a purge removes {figure(100 * purge.removes, 3)} % every {purge.days} "
        f"days, is {_when(found, purged=True)}."
    )
    yield f"Without a purge it {never}"


def _when(found: MixYears, *, purged: bool) -> str:
    """Say when it is full, or how full it becomes."""
    day = found.full(purged=purged)
    most = max(year.with_purge if purged else year.without_purge for year in found.every)
    if day is None:
        return f"never full: {_size(most)} at most, {100 * most / found.capacity:.0f} %"
    return f"full on day {day:,}, in year {1 + (day - 1) // _DAYS}; it would need {_size(most)}"


def _wearing(found: MixYears) -> Iterator[str]:
    """Say what drives take."""
    for one in found.wear:
        rated = "" if one.rated is None else f"; they are rated for {one.rated:g}"
        yield (
            f"Drives of the {one.place} ({_size(one.drives)}) are written {figure(one.writes, 3)} "
            f"times a day, the mean of all years{rated}."
        )


def _holding(found: MixYears) -> Iterator[str]:
    """Say what metadata targets hold."""
    held = found.on_mdts
    if held is not None:
        of = "" if held.capacity is None else f", of {_size(held.capacity)}"
        yield (
            f"When it is full, its MDTs hold {_size(held.whole)}{of}: {_size(held.data)} of data, "
            f"the first {format_bytes(found.dom_size)} of each file, and {_size(held.inodes)} of "
            f"inodes, of {held.files / 1e6:,.0f} million files."
        )


_TOLD = (
    Column("written", ANY, lambda found: found.written, help="Bytes a day at first, by target."),
    Column("full_without_purge", NUMBER, lambda found: found.full(purged=False), help="Day."),
    Column("full_with_purge", NUMBER, lambda found: found.full(purged=True), help="Day."),
    Column("needed", _HELD, lambda found: round(found.needed), help="Capacity, with the purge."),
    Column(
        "wear",
        ROWS,
        inner=(
            Column("place", WORDS),
            Column("drives", _HELD, lambda one: round(one.drives), help="Bytes of all of them."),
            Column("writes", TWO_DECIMALS, help="Drive writes a day, the mean over all years."),
            Column("rated", TWO_DECIMALS),
        ),
    ),
    Column(
        "on_mdts",
        RECORD,
        inner=(
            Column("files", NUMBER, lambda held: round(held.files)),
            Column("data", _HELD, lambda held: round(held.data)),
            Column("inodes", _HELD, lambda held: round(held.inodes)),
            Column("capacity", _HELD),
        ),
    ),
    Column("every", ROWS, inner=_YEARS),
)
