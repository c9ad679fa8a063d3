"""What only a simulator knows of a run: each column once, for JSON and for what people read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from xc40io.findings.bottlenecks import Load, busiest, loads
from xc40io.findings.critical_path import critical_paths
from xc40io.findings.lustre_counts import lustre_counts
from xc40io.findings.real_rates import real_rates
from xc40io.findings.trigger import FINDING
from xc40io.findings.triggers import triggers
from xc40io.findings.waits import doing, waits
from xc40io.plane.stations import StationKind
from xc40io.results.frames import STATIONS
from xc40io.run.result import Result
from xc40io.telling.answer import Column, Columns, chosen
from xc40io.telling.data import record
from xc40io.telling.units import ANY, NUMBER, QUEUE, RECORD, ROWS, SHARE, TIME, TIMES, WORDS

_MANY = {StationKind.NIC, StationKind.LINK, StationKind.CORE, StationKind.MEMORY}
_MANY |= {StationKind.SSD, StationKind.DVS, StationKind.CALLBACK}
_SERVERS = frozenset(StationKind) - _MANY

STATION: Columns = (
    Column("name", WORDS, help="What reports call it."),
    Column("kind", WORDS, lambda use: use.kind.name, help="What it is."),
    *chosen(STATIONS, "bytes", "requests", "busy", "first", "last", "waiting", "utilisation"),
)
"""Of a :class:`~xc40io.run.result.StationUse`."""

WAIT: Columns = (
    Column("cause", WORDS, help="Its short name."),
    Column("words", WORDS, help="What it is."),
    Column("seconds", TIME, help="Of a rank, on average."),
    Column("share", SHARE, least=7, help="Of the time, 0 to 1."),
)

PART: Columns = (
    Column("what", WORDS, head="what followed on what", help="What was done."),
    Column("where", WORDS, help="Where most of its seconds passed."),
    Column("places", NUMBER, help="At how many places they passed."),
    Column("times", TIMES, blank=1, least=7, help="How many segments of the path there are."),
    Column("seconds", QUEUE, head="time", least=9, help="In all."),
    Column("share", SHARE, least=7, help="Of the path, 0 to 1."),
)
"""Of a :class:`~xc40io.findings.critical_path.Share` of a critical path."""

_PATH: Columns = (
    Column("part", NUMBER, lambda of: of[0].part, help="Of the workload, from 0."),
    Column("phase", WORDS, lambda of: of[0].name, help="What was done, as write."),
    Column("start", TIME, lambda of: of[1].start, help="Of the longest such phase."),
    Column("end", TIME, lambda of: of[1].end, help="When its last rank ended."),
    Column("shares", ROWS, lambda of: of[1].shares(), inner=PART, help="The longest first."),
    Column("segments", ANY, lambda of: of[1].segments, help="In the order of time."),
)
"""Of an activity and its :class:`~xc40io.findings.critical_path.CriticalPath`."""

_COUNTS: Columns = (
    Column("simulated_seconds", TIME, lambda result: result.simulated),
    Column("rpcs", NUMBER),
    Column("bulk_bytes", NUMBER),
    Column("events", NUMBER),
)

RUN: Columns = (
    Column("version", WORDS, help="Of xc40io."),
    Column("scenario", ANY, lambda result: _scenario(result), help="As asked for."),
    Column("findings", ROWS, triggers, inner=FINDING, help="Findings: docs/pictures.md."),
    Column("notes", ANY, help="What to know: a sentence each."),
    Column("troubles", ANY, help="Bytes refused or lost."),
    Column("faults", ANY, help="What happened to parts of the machine, and what came of it."),
    Column(
        "loads",
        ANY,
        lambda result: list(map(_load, loads(result))),
        help="The busiest station of each phase, and what the ranks waited for in it.",
    ),
    Column(
        "real",
        ANY,
        lambda result: list(_real(result)),
        help="The rate of each kind of phase, and where nine of ten real runs would lie.",
    ),
    Column(
        "busiest",
        ANY,
        lambda result: [record(STATION, use) | {"busy_shares": of} for use, of in busiest(result)],
        help="Of each kind of station, and which share of each kind of phase it was busy.",
    ),
    Column(
        "stations",
        ROWS,
        lambda result: [use for use in result.stations() if use.kind in _SERVERS],
        inner=STATION,
        help="Of LNET and of the servers; there are thousands of others.",
    ),
    Column("waits", ROWS, waits, inner=WAIT, help="What ranks waited for, longest first."),
    Column("doing", ROWS, doing, inner=WAIT, help="What they were at meanwhile."),
    Column("critical_paths", ROWS, critical_paths, inner=_PATH, help="Of what was recorded."),
    Column("lustre", ANY, lambda result: lustre_counts(result.stats), help="Locks and caches."),
    Column("counts", RECORD, lambda result: result, inner=_COUNTS, help="Of the simulation."),
    Column(
        "wall_seconds",
        TIME,
        lambda result: result.wall,
        help="The only value that differs from run to run.",
    ),
)
"""Of a :class:`~xc40io.run.result.Result`, whatever its workload; bytes, bytes/s, seconds."""


def simulator_document(result: Result, *, exact: bool = False) -> dict[str, Any]:
    """Return :data:`RUN` of a run, as JSON has it; ``exact``: without how sure its rates are."""
    return record(tuple(each for each in RUN if each.name != "real" or not exact), result)


def _scenario(result: Result) -> dict[str, Any]:
    return result.scenario.model_dump(mode="json", exclude_none=True)


def _load(load: Load) -> dict[str, Any]:
    """Return the load of a phase as a document, with the kinds of stations by their names."""
    kinds = {kind.name: busy for kind, busy in load.kinds.items()}
    told = asdict(load) | {"kind": load.kind.name, "binds": load.binds, "kinds": kinds}
    del told["plural"]  # words of a sentence: the kind says it
    return told


def _real(result: Result) -> Iterator[dict[str, Any]]:
    """Yield how sure each rate is."""
    for one in real_rates(result):
        known = {"part": one.part, "phase": one.phase, "rate": one.rate, "unit": one.unit}
        yield known | one.real._asdict()
