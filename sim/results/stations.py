"""Which stations bound a run: the busiest of each kind, and the bottleneck of each phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

Window = tuple[float, float]


@dataclass(frozen=True)
class Load:
    """How busy the stations were while one test wrote, or while it read.

    All repetitions together, each from its first open to its last close.

    Attributes
    ----------
    test_id
        Place of the test in its command, from 0.
    access
        ``write``, ``write check``, ``read`` or ``read check``.
    kind
        Of the busiest station.
    name
        Of the busiest station.
    busy
        Share of the time in which it was busy, 0 to 1.
    mean
        The same, averaged over the stations of this kind and direction that had anything to do.
    used
        How many those are.
    """

    test_id: int
    access: str
    kind: StationKind
    name: str
    busy: float
    mean: float
    used: int

    @property
    def saturated(self) -> bool:
        """Whether the station bound the phase."""
        return self.busy >= SATURATED

    def sentence(self) -> str:
        """Say in one sentence what bound the phase."""
        busy = f"busy {100 * self.busy:.0f} % of the time"
        others = f"the {self.used} in use {100 * self.mean:.0f} % on average"
        plural = PLURALS[self.kind]
        if not self.saturated:
            return f"Bound by no station: the busiest was {self.name}, {busy}."
        if self.used == 1:
            return f"Bound by {self.name}, {busy}."
        if self.mean >= SATURATED:
            return f"Bound by the {plural}: {self.name} {busy}, {others}."
        return f"Bound by the busiest of the {plural}: {self.name} {busy}, {others}."


def busiest(uses: Sequence[StationUse]) -> list[StationUse]:
    """Return the station of each kind with the most seconds of service, from node to server."""
    best: dict[StationKind, StationUse] = {}
    for use in uses:
        if use.kind not in best or use.busy > best[use.kind].busy:
            best[use.kind] = use
    return [best[kind] for kind in sorted(best)]


def loads(result: Result) -> list[Load]:
    """Return the load of each kind of phase of each test, in the order in which they first ran."""
    return [
        _load(result, number, access, windows)
        for number, outcome in enumerate(result.tests)
        for access, windows in _windows(outcome.records).items()
    ]


def _windows(records: Sequence[PhaseRecord]) -> dict[str, list[Window]]:
    """Return from when to when each access was at work, one window for each repetition."""
    windows: dict[str, list[Window]] = {}
    for record in records:
        window = float(record.open_start.min()), float(record.close_end.max())
        windows.setdefault(record.access.value, []).append(window)
    return windows


def _load(result: Result, test_id: int, access: str, windows: Sequence[Window]) -> Load:
    share = _busy(result, windows) / sum(stop - start for start, stop in windows)
    top = int(share.argmax())
    section = result.book.section(top)
    peers = share[section.first : section.first + section.size]
    working = peers[peers > 0]
    return Load(
        test_id=test_id,
        access=access,
        kind=section.kind,
        name=result.book.name(top),
        busy=min(float(share[top]), 1.0),
        mean=min(float(working.mean()), 1.0),
        used=len(working),
    )


def _busy(result: Result, windows: Sequence[Window]) -> Floats:
    """Return the seconds in which each station was busy inside some windows of time."""
    raise NotImplementedError
