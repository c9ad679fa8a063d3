"""Stations, and messages that travel over them: the queueing network of the data plane.

A *station* is anything that serves one message after another, first come, first served: one
direction of a link, a network interface, a router's port, a server, a disk array. It holds a
message for ``bytes / rate``.

A *segment* is a row of stations in which messages cut through, as packets do in Aries and in
InfiniBand: the head of a message reaches the next station one latency after its service started,
whether or not its tail has left. With ``start = max(head arrival, station free)`` the tail leaves
at ``max(start + held, tail arrival + latency)``. Between segments a message is stored and
forwarded: the next segment sees it when its tail has arrived.

A station may have an *opposite*, the other direction of one interface. While both serve, both are
slower.

The rule and its parameters are the only things that this module knows; which stations there are
and how messages find their way is decided above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.calendar import Calendar, make_calendar
from xc40io.engine.compiled import inlined, njit
from xc40io.engine.component import Component
from xc40io.engine.pool import Pool, make_pool, rows_in_use
from xc40io.engine.types import Floats, Indices, Table, make_table, untouched, zeros

STATION = np.dtype(  # 64 bytes, as a message has: every hop waits for one line of each
    [
        ("inverse_rate", "f8"),  # seconds a byte
        ("latency", "f8"),  # seconds from here to the next station of the segment
        ("free", "f8"),  # when the station has served all that it has accepted
        ("bytes", "f8"),  # served so far
        ("busy", "f8"),  # seconds of service so far
        ("waiting", "f8"),  # seconds that messages queued here, summed
        ("requests", "i4"),
        ("opposite", "i4"),  # how far on the station of the other direction is; 0: there is none
        ("kind", "i4"),  # what it is: an index that the builder of the network chose
        ("row", "i4"),  # its row in the time bins, or -1
    ],
    align=True,
)

MESSAGE = np.dtype(
    [
        ("tail", "f8"),  # when the last byte has left the latest station
        ("bytes", "f8"),
        ("owner", "i4"),  # what it belongs to: an index that the sender chose
        ("stage", "i4"),  # which part of its journey: a number that the sender chose
        ("first", "i4"),  # station before the path, or -1
        ("start", "i4"),  # path[start:stop]: the stations of the segment
        ("stop", "i4"),
        ("last", "i4"),  # station after the path, or -1
        ("position", "i4"),  # where it is: start - 1 at `first`, stop at `last`
        ("final", "i4"),  # the position of the segment's last station
        ("gateway", "i4"),  # free for the sender: the router it was sent through
        ("node", "i4"),  # and those at the ends of its journey
        ("server", "i4"),
    ],
    align=True,
)


class Bins(NamedTuple):
    """Bytes and busy seconds of the watched stations over time.

    ``served`` has the shape (2, rows, bins), in Fortran order: the bytes and the busy seconds of a
    bin lie together, and beside them the present bins of all other stations, so that they stay in
    the cache. ``width`` holds the width of a bin in seconds. When time runs past the last bin,
    neighbours are added up and the width doubles, so memory stays fixed however long the run.
    """

    served: Floats
    width: Floats

    @property
    def bytes(self) -> Floats:
        """Bytes: float64 (rows, bins)."""
        moved: Floats = self.served[0]
        return moved

    @property
    def busy(self) -> Floats:
        """Seconds of service: float64 (rows, bins)."""
        seconds: Floats = self.served[1]
        return seconds


class Network(Component):
    """All stations, the messages under way and the calendar of their events.

    ``path`` (int32) lists the stations of every segment end to end; ``spent`` (messages, meters)
    holds the seconds that each message has spent at stations of each kind, and behind these what
    its sender meters besides; ``first`` (stations,) when the first service of each began, which is
    infinity before that. ``opposed`` (1,) is how many times as long a station serves while the one
    of the other direction does too.
    """

    calendar: Calendar
    stations: Table
    first: Floats
    path: Indices
    messages: Table
    spent: Floats
    spare_messages: Pool
    bins: Bins
    opposed: Floats

    def pending(self) -> int:
        """Return the most events that can be pending: one a message."""
        return len(self.messages)

    def grow(self, name: str, rows: int) -> None:
        """Make the table of messages longer."""
        used = rows_in_use(self.spare_messages)
        super().grow(name, rows)
        spent = zeros((rows, self.spent.shape[1]), np.float64)
        spent[:used] = self.spent[:used]
        self.spent = spent


def make_network(*, meters: int, messages: int) -> Network:
    """Return a network without stations, at rest.

    Parameters
    ----------
    meters
        How many kinds of stations there are that messages meet, and what is metered besides.
    messages
        Room for messages under way and for pending events.
    """
    return Network(
        calendar=make_calendar(messages),
        stations=make_table(STATION, 0),
        first=np.zeros(0),
        path=np.zeros(0, np.int32),
        messages=make_table(MESSAGE, messages),
        spent=zeros((messages, meters), np.float64),
        spare_messages=make_pool(messages),
        bins=_make_bins(2, 2, 1.0),
        opposed=np.ones(1),
    )


def set_stations(
    network: Network, stations: Table, *, bins: int, bin_width: float, opposed: float = 1.0
) -> None:
    """Give a network its stations.

    Parameters
    ----------
    network
        Without any.
    stations
        Table of ``STATION`` records with rates, latencies, kinds and rows filled in.
    bins, bin_width
        Number of time bins and their width at the start in seconds.
    opposed
        How many times as long a station serves while the one of the other direction does too.
    """
    network.stations = stations
    network.opposed = np.array([opposed])
    network.first = np.full(len(stations), np.inf)
    # Two rows at least: an array of one row is in C order too, which Numba takes for another type.
    network.bins = _make_bins(max(int(stations.row.max(initial=-1)) + 1, 2), bins, bin_width)


def _make_bins(rows: int, bins: int, width: float) -> Bins:
    nothing = untouched(2 * rows * bins * 8).view(np.float64)  # a short run needs few of them
    return Bins(nothing.reshape((2, rows, bins), order="F"), np.array([width]))


@njit
def _fold(bins: Bins) -> None:
    """Double the width of the time bins: add each pair up."""
    served = bins.served
    _, rows, count = served.shape
    half = count // 2
    # In place: a bin is written only when it has been read as part of its pair.
    for i in range(count):
        pair = 2 * i
        for row in range(rows):
            for what in range(2):
                both = served[what, row, pair] + served[what, row, pair + 1] if i < half else 0.0
                served[what, row, i] = both
    bins.width[0] *= 2.0


@njit
def _record(bins: Bins, row: int, start: float, held: float, size: float) -> None:
    """Add a service of ``held`` seconds from ``start`` to the time bins of a station."""
    count = bins.served.shape[2]
    while start + held >= count * bins.width[0]:
        _fold(bins)
    width = bins.width[0]
    bins.served[0, row, int(start / width)] += size
    left = held
    at = start
    while left > 0.0:
        i = int(at / width)
        part = min(left, (i + 1) * width - at)
        if part <= 0.0:  # `at` rounds to the end of its bin
            i += 1
            part = min(left, width)
        bins.served[1, row, i] += part
        left -= part
        at += part


@inlined
def serve(network: Network, station_id: int, now: float, size: float, held: float) -> float:
    """Queue a service of ``held`` seconds for ``size`` bytes at a station; return its start."""
    station = network.stations[station_id]
    start = max(now, station.free)
    station.free = start + held
    station.bytes += size
    station.busy += held
    station.waiting += start - now
    if station.requests == 0:
        network.first[station_id] = start
    station.requests += 1
    if station.row >= 0:  # few are watched: bins of all would be most of the memory
        _record(network.bins, station.row, start, held, size)
    return start


def take_back(network: Network, station_id: int, start: float, held: float, size: float) -> None:
    """Undo a service of ``held`` seconds from ``start``: the station had failed before it ended.

    When the station is free stays as it is.
    """
    station = network.stations[station_id]
    station.bytes -= size
    station.busy -= held
    station.requests -= 1
    if station.requests == 0:
        network.first[station_id] = np.inf
    if station.row >= 0:
        bins = network.bins
        undone = _make_bins(2, bins.bytes.shape[1], float(bins.width[0]))
        _record(undone, 0, start, held, size)
        bins.bytes[station.row] -= undone.bytes[0]
        bins.busy[station.row] -= undone.busy[0]


@inlined
def begin_segment(
    network: Network, message_id: int, now: float, first: int, start: int, stop: int, last: int
) -> None:
    """Put a message, wholly here at ``now``, before ``first``, ``path[start:stop]``, ``last``."""
    message = network.messages[message_id]
    message.tail = now
    message.first = first
    message.start = start
    message.stop = stop
    message.last = last
    message.position = start - 1 if first >= 0 else start
    message.final = stop if last >= 0 else stop - 1


@inlined
def travelling(network: Network, message_id: int) -> bool:
    """Tell whether a message has stations of its segment before it."""
    message = network.messages[message_id]
    return message.position <= message.final


@inlined
def station_ahead(network: Network, message_id: int) -> int:
    """Return the station at which the head of a message stands."""
    message = network.messages[message_id]
    if message.position < message.start:
        return message.first
    if message.position < message.stop:
        return network.path[message.position]
    return message.last


@inlined
def _held_beside(network: Network, station_id: int, held: float, start: float) -> float:
    """Return the seconds of a service from ``start`` that would take ``held`` alone.

    It is slower until the station of the other direction has served all that it has accepted. What
    that one accepts later finds this one busy, and is slower in its turn.
    """
    opposite = network.stations[station_id + network.stations[station_id].opposite]
    beside = opposite.free - start
    if beside <= 0.0:
        return held
    slower = network.opposed[0]
    return min(held * slower, held + beside * (1.0 - 1.0 / slower))


@inlined
def hop(network: Network, message_id: int, now: float) -> float:
    """Serve a message, whose head is here ``now``, at the next station of its segment.

    Returns when its head reaches the station after that; after the last station of the segment,
    when its tail has left.
    """
    message = network.messages[message_id]
    station_id = station_ahead(network, message_id)
    station = network.stations[station_id]
    held = message.bytes * station.inverse_rate
    if station.opposite != 0:
        held = _held_beside(network, station_id, held, max(now, station.free))
    start = serve(network, station_id, now, message.bytes, held)
    network.spent[message_id, station.kind] += start - now
    # The tail leaves when all is served, and not before it has come: after a slow station a fast
    # one waits for it.
    message.tail = max(start + held, message.tail + station.latency)
    message.position += 1
    if message.position > message.final:
        # While its tail follows its head it passes the slowest station of the segment: this one,
        # or one before it, of which the first stands for all.
        slowest = station.kind
        if message.tail > start + held and message.first >= 0:
            slowest = network.stations[message.first].kind
        network.spent[message_id, slowest] += message.tail - start
        return message.tail
    return start + station.latency
