"""Which stations bound a run: the busiest of each kind, and the bottleneck of each phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.engine.network import Bins
from sim.engine.types import Floats
from sim.lustre.tables import StationKind
from sim.run.result import Result, StationUse
from sim.workloads.ior.phases import PhaseRecord

SATURATED = 0.8
"""Share of a phase from which on we say that a station was its bottleneck."""

PLURALS = {
    StationKind.NIC: "NICs",
    StationKind.LINK: "Aries links",
    StationKind.LNET: "LNET routers",
    StationKind.IB: "InfiniBand links",
    StationKind.OSS: "OSSs",
    StationKind.OST: "OSTs",
    StationKind.SERVICE: "OSSs' request threads",
    StationKind.MDS: "MDSs",
}

Windows = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Load:
    """How busy the stations were while one test wrote, or while it read.

    All repetitions together, each from its first open to its last close. *Peers* are the stations
    of one kind and direction that had anything to do.

    Attributes
    ----------
    test_id
        Place of the test in its command, from 0.
    access
        ``write``, ``write check``, ``read`` or ``read check``.
    kind, name
        Of the station that bound the phase; if none did, of the busiest.
    busy
        Share of the time in which it was busy, 0 to 1.
    mean
        The same, averaged over its peers.
    used
        How many peers there are.
    in_turn
        Share of the time in which one or another of them was saturated: near 1 while ``busy`` is
        small, the ranks move in a convoy from station to station.
    """

    test_id: int
    access: str
    kind: StationKind
    name: str
    busy: float
    mean: float
    used: int
    in_turn: float

    @property
    def saturated(self) -> bool:
        """Whether the station, or its peers in turn, bound the phase."""
        return max(self.busy, self.in_turn) >= SATURATED

    def sentence(self) -> str:
        """Say what bound the phase: the end of a sentence that begins with the phase."""
        busy = f"busy {100 * self.busy:.0f} % of the time"
        others = f"the {self.used} in use {100 * self.mean:.0f} % on average"
        plural = PLURALS[self.kind]
        if not self.saturated:
            return f"bound by no station; the busiest, {self.name}, was {busy}."
        if self.busy < SATURATED:
            turn = f"{100 * self.in_turn:.0f} % of the time one or another was saturated"
            return (
                f"bound by the {plural} in turn: {turn}, each {100 * self.mean:.0f} % on average."
            )
        if self.used == 1:
            return f"bound by {self.name}, {busy}."
        if self.mean >= SATURATED:
            return f"bound by the {plural}: {self.name} was {busy}, {others}."
        return f"bound by the busiest {plural}: {self.name} was {busy}, {others}."


def busiest(uses: Sequence[StationUse]) -> list[StationUse]:
    """Return the station of each kind with the most seconds of service, from node to server."""
    best: dict[StationKind, StationUse] = {}
    for use in uses:
        if use.kind not in best or use.busy > best[use.kind].busy:
            best[use.kind] = use
    return [best[kind] for kind in sorted(best)]


def loads(result: Result) -> list[Load]:
    """Return the load of each kind of phase of each test, in the order in which they first ran."""
    phases = [
        (number, access, windows)
        for number, outcome in enumerate(result.tests)
        for access, windows in _windows(outcome.records).items()
    ]
    everything = [window for _, _, windows in phases for window in windows]
    return [
        _load(result, number, access, windows, everything) for number, access, windows in phases
    ]


def _windows(records: Sequence[PhaseRecord]) -> dict[str, list[tuple[float, float]]]:
    """Return from when to when each access was at work, one window for each repetition."""
    windows: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        window = float(record.open_start.min()), float(record.close_end.max())
        windows.setdefault(record.access.value, []).append(window)
    return windows


def _load(result: Result, test_id: int, access: str, windows: Windows, everything: Windows) -> Load:
    total = sum(stop - start for start, stop in windows)
    share = _busy(result, windows, everything) / total
    found = []
    for section in result._book.sections:
        peers = slice(section.first, section.first + section.size)
        working = share[peers][share[peers] > 0.0]
        if len(working):
            top = section.first + int(share[peers].argmax())
            load = Load(
                test_id=test_id,
                access=access,
                kind=section.kind,
                name=result._book.name(top),
                busy=float(share[top]),
                mean=float(working.mean()),
                used=len(working),
                in_turn=_in_turn(result, peers, windows, everything) / total,
            )
            found.append(load)
    return max(found, key=_weight)


def _weight(load: Load) -> tuple[bool, bool, float]:
    """Order loads: a saturated station first, then stations saturated in turn, then any."""
    return load.busy >= SATURATED, load.saturated, load.busy


def _busy(result: Result, windows: Windows, everything: Windows) -> Floats:
    """Return the seconds in which each station was busy inside some windows of time.

    What a station did in a time bin is shared out over the phases that the bin covers, by their
    length in it. Nodes and links are too many to have bins: what they did is shared out over all
    phases from their first service to their last.
    """
    network = result._plane.tables.network
    stations, bins = network.stations, network.bins
    served = stations[stations.requests > 0]
    busy = np.zeros(len(stations))
    spans = served.first, served.free
    busy[stations.requests > 0] = served.busy * _share(*spans, windows, everything)
    watched = stations.row >= 0
    busy[watched] = bins.busy[stations.row[watched]] @ _share(*_edges(bins), windows, everything)
    return np.minimum(busy, sum(stop - start for start, stop in windows))


def _in_turn(result: Result, peers: slice, windows: Windows, everything: Windows) -> float:
    """Return the seconds inside the windows in which at least one of some stations was saturated.

    As far as the time bins can tell; 0 for stations that are not watched.
    """
    network = result._plane.tables.network
    rows = network.stations.row[peers]
    if rows[0] < 0:
        return 0.0
    edges = _edges(network.bins)
    fullest = network.bins.busy[rows].max(axis=0) >= SATURATED * _overlap(*edges, everything)
    return float(_overlap(*edges, windows)[fullest].sum())


def _edges(bins: Bins) -> tuple[Floats, Floats]:
    """Return when each time bin begins and when it ends."""
    edges = np.arange(bins.busy.shape[1] + 1) * float(bins.width[0])
    return edges[:-1], edges[1:]


def _share(first: Floats, last: Floats, windows: Windows, everything: Windows) -> Floats:
    """Return for each span of time which share of its phases the windows are, 0 to 1."""
    part, whole = _overlap(first, last, windows), _overlap(first, last, everything)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _overlap(first: Floats, last: Floats, windows: Windows) -> Floats:
    """Return for each span of time how many of its seconds lie inside the windows."""
    inside = np.zeros(len(first))
    for start, stop in windows:
        inside += np.maximum(np.minimum(last, stop) - np.maximum(first, start), 0.0)
    return inside
