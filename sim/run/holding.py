"""Stations that serve nothing before a time: what stands before them waits until then."""

from __future__ import annotations

from collections.abc import Iterable

from sim.machine.plane import Plane


class Holding:
    """Which stations are kept from serving, and until when.

    Parameters
    ----------
    plane
        The data plane.
    """

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._held: dict[int, tuple[float, float]] = {}  # free before, and free when held

    def hold(self, stations: Iterable[int], until: float) -> None:
        """Let stations begin no service before a time in seconds."""
        free = self._plane.stations.free
        for station in stations:
            if free[station] < until:
                before, held = self._held.get(station, (0.0, -1.0))
                self._held[station] = before if free[station] == held else free[station], until
                free[station] = until

    def release(self, stations: Iterable[int], now: float) -> None:
        """Let stations serve from now on: nothing stands before them any more."""
        free = self._plane.stations.free
        for station in stations:
            free[station] = min(float(free[station]), now)

    def settle(self) -> None:
        """Say again when the last service ended of those stations that have served nothing since.

        The end of a station's last service is when it is free; a report tells it.
        """
        free = self._plane.stations.free
        for station, (before, held) in self._held.items():
            if free[station] == held:
                free[station] = before
