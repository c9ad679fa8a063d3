"""Which stations bound a run: the busiest of each kind, and the bottleneck of each phase.

A station that never rests is a bottleneck only if somebody waits for it: while the page caches
write back, disks may be saturated and the ranks feel nothing of it.

Both halves of this are bounds on what a faster machine could gain. By the utilisation law (Denning
and Buzen, "The Operational Analysis of Queueing Network Models", 1978) a phase of length T in which
a station was busy for a share U of the time cannot become shorter than U x T, whatever else is made
faster. By Amdahl's law it cannot become shorter than (1 - f) x T by a faster station, if the rank
that ends last waits for it a share f of the time. A station is named as the bottleneck if all else
together could gain less than a fifth of the phase, and the station itself a fifth or more. The
fifth is a convention, the same on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from xc40io.config.machine import Machine
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.engine.types import Floats
from xc40io.findings.held_locks import held_words
from xc40io.findings.looked_at import once
from xc40io.findings.waits import (
    AT_WORDS,
    BEHIND,
    Wait,
    Words,
    phase_doing,
    phase_waits,
    words_of,
)
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result, StationUse
from xc40io.run.station_table import MachinePart, StationTable
from xc40io.telling.units import NUMBER, PERCENT
from xc40io.workloads.job_results import Activity, Stretch, phase_title

WORTH_A_NAME = 0.2
"""Share of a phase's time that a bottleneck is worth, and that all else together is not."""

SATURATED = 1.0 - WORTH_A_NAME
"""Share of a phase in which a station must have been busy to be called its bottleneck."""

PLURALS = {
    StationKind.NIC: "NICs",
    StationKind.LINK: NetworkBase.links,
    StationKind.LNET: "LNET routers",
    StationKind.IB: "InfiniBand links",
    StationKind.OSS: "OSSs",
    StationKind.OST: "OSTs",
    StationKind.SERVICE: "OSSs' request threads",
    StationKind.MDS: "MDSs",
    StationKind.CORE: "cores",
    StationKind.MEMORY: "node memories",
    StationKind.SSD: "SSDs",
    StationKind.DVS: "DVS clients",
    StationKind.STORE: "disks of service nodes",
    StationKind.CALLBACK: "nodes' callback threads",
}

_SERVERS = {StationKind.LNET, StationKind.IB, StationKind.OSS, StationKind.OST}
_PEERS = {"LNET router", "OSS", "OST"}
_OUTLYING = 2.0

WHAT_WOULD_HELP = "What would help: xc40io explain tries it."
"""What a run says of remedies: it has tried none."""

Windows = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Load:
    """How busy the stations were while one test wrote, or while it read.

    All repetitions together, each from its first open to its last close; or all batches of a kernel
    in which its ranks did the same thing. *Peers* are the stations of one kind and direction that
    had anything to do.
    """

    test_id: int  # place of the test in its command, from 0; 0 for a kernel
    access: str  # "write", "write check", "read" or "read check"; what a kernel's ranks did
    kind: StationKind  # of the station that bound the phase; if none did, of the busiest
    name: str  # of that station
    plural: str  # what stations of its kind are called
    busy: float  # share of the time in which it was busy, 0 to 1
    mean: float  # the same, averaged over its peers
    used: int  # how many peers there are
    in_turn: float  # share of the time in which one or another of them was saturated: near 1 while
    # ``busy`` is small, the ranks move in a convoy from station to station
    felt: float  # share in which the rank that ended last waited for what such stations hold up
    waits: tuple[Wait, ...]  # what the ranks waited for in these phases, longest first
    last: Wait  # what the last rank waited for longest; of several phases, the last of each
    doing: tuple[Wait, ...] = ()  # what they were at meanwhile, longest first
    kinds: Mapping[StationKind, float] = field(default_factory=dict)
    """Share of the time in which the busiest station of each kind was busy, 0 to 1."""
    seconds: float = 0.0  # that all of these phases took

    @property
    def binds(self) -> bool:
        """Whether the station, or its peers in turn, bound the phase."""
        return max(self.busy, self.in_turn) >= SATURATED and self.felt >= WORTH_A_NAME

    def sentence(self) -> str:
        """Say what bound the phase: the end of a sentence that begins with the phase."""
        busy = f"busy {PERCENT.write(self.busy)} of the time"
        others = f"the {NUMBER.write(self.used)} in use {PERCENT.write(self.mean)} on average"
        if not self.binds:
            return f"{self.unbound()}. {self.instead()}"
        if self.busy < SATURATED:
            turn = f"{PERCENT.write(self.in_turn)} of the time one or another was saturated"
            return (
                f"bound by the {self.plural} in turn: {turn}; each was busy "
                f"{PERCENT.write(self.mean)} of the time on average."
            )
        if self.used == 1:
            return f"bound by {self.name}, {busy}."
        if self.mean >= SATURATED:
            return f"bound by the {self.plural}: {self.name} was {busy}, {others}."
        return f"bound by the busiest {self.plural}: {self.name} was {busy}, {others}."

    def unbound(self) -> str:
        """Say that no station bound the phase, and which was the busiest."""
        return (
            f"no single part is the bottleneck (busiest: {self.name}, {PERCENT.write(self.busy)})"
        )

    def instead(self) -> str:
        """Say what binds a phase that no station binds.

        Ranks that ended earlier waited for the last one, so what that one waited for counts. What
        held up all of them before is said, too, where it is much.
        """
        last = self.last
        share = f"{PERCENT.write(last.share)} of the time"
        mostly = f"The last rank waited mostly for {last.words} ({share})."
        return " ".join(filter(None, (mostly, held_words(self.waits))))


def phase_name(load: Load, found: Sequence[Load]) -> str:
    """Return the title of a kind of phase, with its test where there are several."""
    several = len({other.test_id for other in found}) > 1
    return phase_title(load.test_id, load.access, several=several)


def bound_by(result: Result) -> tuple[str, ...]:
    """Return a sentence for each kind of phase that says what bound it."""
    found = loads(result)
    return tuple(f"{phase_name(load, found).capitalize()}: {load.sentence()}" for load in found)


class Busiest(NamedTuple):
    """The station of a kind with the most seconds of service."""

    use: StationUse
    shares: dict[str, float]
    """Share of the time of each kind of phase in which it was busy, 0 to 1, by what the phase is
    called: the same base as a :class:`Load` has."""


@once
def busiest(result: Result) -> list[Busiest]:
    """Return the station of each kind with the most seconds of service, from node to server."""
    best: dict[StationKind, int] = {}
    uses = result.stations()
    for i, use in enumerate(uses):
        if use.kind not in best or use.busy > uses[best[use.kind]].busy:
            best[use.kind] = i
    shares = _phase_shares(result)
    return [
        Busiest(uses[i], {phase: float(share[i]) for phase, share in shares.items()})
        for _, i in sorted(best.items())
    ]


def _phase_shares(result: Result) -> dict[str, Floats]:
    """Return for each kind of phase the share of its time in which each used station was busy."""
    everything = _everything(result)
    served = result.station_table.requests > 0
    several = len({activity.part for activity in result.activities}) > 1
    shares = {}
    for part, name, stretches in result.activities:
        windows = _windows(stretches)
        busy = _busy(result, windows, everything)[served]
        total = sum(stop - start for start, stop in windows)
        shares[f"{part} {name}" if several else name] = busy / total
    return shares


def outliers(result: Result) -> list[MachinePart]:
    """Return the servers that had to work much longer than most of their kind.

    Of OSTs, OSSs and LNET routers: those whose busiest station had twice the seconds of service of
    the one in the middle of all that had anything to do.
    """
    busy: dict[StationKind, dict[MachinePart, float]] = {}
    for use in result.stations():
        part = use.part if use.kind in _SERVERS else None
        # An MDT that has data of files has no peers: it does other work than OSTs.
        if part is not None and part.what in _PEERS:
            part = part._replace(way="")
            of_kind = busy.setdefault(use.kind, {})
            of_kind[part] = max(of_kind.get(part, 0.0), use.busy)
    found = []
    for of_kind in busy.values():
        middle = float(np.median(list(of_kind.values())))
        part = max(of_kind, key=lambda each: of_kind[each])
        if of_kind[part] > _OUTLYING * middle:
            found.append(part)
    return sorted(set(found), key=str)


def plurals_of(machine: Machine) -> dict[StationKind, str]:
    """Return what kinds of stations are called, the links as those of a machine."""
    return {**PLURALS, StationKind.LINK: machine.network.links}


@once
def loads(result: Result) -> list[Load]:
    """Return the load of each activity in which a station worked: of each kind of phase."""
    everything = _everything(result)
    found = (_load(result, activity, everything) for activity in result.activities)
    return [load for load in found if load is not None]


def _everything(result: Result) -> Windows:
    """Return when the ranks of any job were at work."""
    if result.at_work:
        return merged(result.at_work)
    return _windows([stretch for found in result.activities for stretch in found.stretches])


def merged(windows: Windows) -> Windows:
    """Return windows that cover the same times, none of them twice."""
    found: list[tuple[float, float]] = []
    for start, stop in sorted(windows):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return found


def _windows(stretches: Sequence[Stretch]) -> Windows:
    """Return the start and the end of the ranks' work in each stretch."""
    return [(stretch.start, stretch.end) for stretch in stretches]


def _load(result: Result, activity: Activity, everything: Windows) -> Load | None:
    """Return the load of the station that bound an activity, else of the busiest, if any."""
    test_id, access, stretches = activity
    windows = _windows(stretches)
    total = sum(stop - start for start, stop in windows)
    share = _busy(result, windows, everything) / total
    words = words_of(result.machine)
    waits, last = tuple(phase_waits(stretches, total, words)), _last_wait(stretches, total, words)
    doing = tuple(phase_doing(stretches, total, words_of(result.machine, AT_WORDS)))
    plurals = plurals_of(result.machine)
    found = []
    stations = result.station_table
    for peers in stations.sections():
        working = share[peers][share[peers] > 0.0]
        if len(working):
            top = int(peers.start + share[peers].argmax())
            kind = stations.kind_of(top)
            load = Load(
                test_id=test_id,
                access=access,
                kind=kind,
                name=stations.names[top],
                plural=plurals[kind],
                busy=float(share[top]),
                mean=float(working.mean()),
                used=len(working),
                in_turn=_in_turn(result, peers, windows, everything) / total,
                felt=_felt(kind, stretches) / total,
                waits=waits,
                last=last,
                doing=doing,
            )
            found.append(load)
    if not found:
        return None
    busy: dict[StationKind, float] = {}
    for load in found:
        busy[load.kind] = max(load.busy, busy.get(load.kind, 0.0))
    return replace(max(found, key=_weight), kinds=busy, seconds=total)


def _last_wait(stretches: Sequence[Stretch], total: float, words: Words) -> Wait:
    """Return the longest wait of the ranks that ended last; ``total``: seconds in all."""
    seconds = np.sum([stretch.last_waits for stretch in stretches], axis=0)
    cause = max(words, key=lambda cause: float(seconds[cause]))
    longest = float(seconds[cause])
    return Wait(cause.name.lower(), words[cause], longest, longest / total)


def _weight(load: Load) -> tuple[bool, bool, float]:
    """Order loads: a station that binds first, then stations that bind in turn, then any."""
    return load.binds and load.busy >= SATURATED, load.binds, load.busy


def _felt(kind: StationKind, stretches: Sequence[Stretch]) -> float:
    """Return the seconds that the last ranks waited for stations of a kind."""
    return float(sum(stretch.last_waits[BEHIND[kind]].sum() for stretch in stretches))


def _busy(result: Result, windows: Windows, everything: Windows) -> Floats:
    """Return the seconds in which each station was busy inside some windows of time.

    What a station did in a time bin is shared out over the phases that the bin covers, by their
    length in it. Links and what is in nodes are too many to have bins: what they did is shared out
    over all phases from their first service to their last.
    """
    stations = result.station_table
    served = stations.requests > 0
    busy = np.zeros(len(stations))
    spans = stations.first[served], stations.last[served]
    busy[served] = stations.busy[served] * _share(*spans, windows, everything)
    watched = stations.row >= 0
    parts = _share(*_edges(stations), windows, everything)
    # A sum of products and no matrix product: the same to the last bit on every processor.
    busy[watched] = (stations.bin_busy[stations.row[watched]] * parts).sum(axis=1)
    return np.minimum(busy, sum(stop - start for start, stop in windows))


def _in_turn(result: Result, peers: slice, windows: Windows, everything: Windows) -> float:
    """Return the seconds inside the windows in which at least one of some stations was saturated.

    As far as the time bins can tell; 0 for stations that are not watched.
    """
    stations = result.station_table
    rows = stations.row[peers]
    if rows[0] < 0:
        return 0.0
    edges = _edges(stations)
    fullest = stations.bin_busy[rows].max(axis=0) >= SATURATED * _overlap(*edges, everything)
    return float(_overlap(*edges, windows)[fullest].sum())


def _edges(stations: StationTable) -> tuple[Floats, Floats]:
    """Return when each time bin begins and when it ends."""
    edges = np.arange(stations.bin_busy.shape[1] + 1) * stations.bin_width
    return edges[:-1], edges[1:]


def _share(first: Floats, last: Floats, windows: Windows, everything: Windows) -> Floats:
    """Return for each span of time the share of its phases that the windows cover, 0 to 1."""
    part, whole = _overlap(first, last, windows), _overlap(first, last, everything)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _overlap(first: Floats, last: Floats, windows: Windows) -> Floats:
    """Return the seconds of each span of time that lie inside the windows."""
    inside = np.zeros(len(first))
    for start, stop in windows:
        inside += np.maximum(np.minimum(last, stop) - np.maximum(first, start), 0.0)
    return inside
