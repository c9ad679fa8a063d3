"""Streams: runs of messages over given routes, with so many under way at a time.

The bare data plane, without file systems: each stream sends its messages in order, keeps at most
``window`` of them under way, and is done when the last has arrived. So the network of the engine is
held against plain SimPy models without anything else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xc40io.compiler.core import prepare
from xc40io.engine.calendar import (
    drop_next,
    next_index,
    next_time,
    pending,
    reschedule_next,
    schedule,
)
from xc40io.engine.compiled import entry, njit
from xc40io.engine.component import Component
from xc40io.engine.network import (
    STATION,
    Network,
    begin_segment,
    hop,
    make_network,
    set_stations,
    travelling,
)
from xc40io.engine.pool import NoRowLeftError, give, take
from xc40io.engine.types import Floats, Indices, Integers, Table, make_table

STREAM = np.dtype(
    [
        ("next", "i8"),  # its next message: a row of the order book
        ("stop", "i8"),  # one past its last message
        ("window", "i4"),  # messages that may be under way at once
        ("under_way", "i4"),
        ("finish", "f8"),  # when its last message had arrived
    ],
    align=True,
)

MESSAGE_EVENT = 0


class Streams(Component):
    """The network, its routes and the streams on it.

    ``routes`` (routes + 1) delimits the segments of each route, ``segments`` (segments + 1) the
    stations of each segment in ``network.path``; ``ends`` marks the last segment of each route.
    ``order_route`` and ``order_bytes`` hold one row a message, stream by stream.
    """

    network: Network
    routes: Integers
    segments: Integers
    ends: npt.NDArray[np.bool_]
    streams: Table
    order_route: Indices
    order_bytes: Floats


@dataclass(frozen=True)
class StationSpec:
    """A station: ``rate`` in bytes/s, ``latency`` in seconds."""

    rate: float
    latency: float = 0.0


def make_streams(
    stations: list[StationSpec],
    routes: list[list[list[int]]],
    orders: list[list[tuple[int, float]]],
    windows: list[int],
) -> Streams:
    """Build streams over explicit routes.

    Parameters
    ----------
    stations
        The stations.
    routes
        For each route its segments, each a list of station numbers.
    orders
        For each stream its messages in order: (route, bytes).
    windows
        For each stream how many messages may be under way.
    """
    table = make_table(STATION, len(stations))
    table.inverse_rate = [1.0 / spec.rate for spec in stations]
    table.latency = [spec.latency for spec in stations]
    table.row = -1
    segments = [segment for route in routes for segment in route]
    path = np.array([station for segment in segments for station in segment], np.int32)
    streams = make_table(STREAM, len(orders))
    bounds = np.cumsum([0] + [len(order) for order in orders])
    streams.next, streams.stop, streams.window = bounds[:-1], bounds[1:], windows
    room = int(sum(windows)) + 1
    ends_of_routes = np.cumsum([0] + [len(route) for route in routes])
    ends = np.zeros(len(segments), np.bool_)
    ends[ends_of_routes[1:] - 1] = True
    network = make_network(meters=1, messages=room)
    set_stations(network, table, bins=2, bin_width=1.0)
    network.path = path
    plane = Streams(
        network=network,
        routes=ends_of_routes,
        segments=np.cumsum([0] + [len(segment) for segment in segments]),
        ends=ends,
        streams=streams,
        order_route=np.array([route for order in orders for route, _ in order], np.int32),
        order_bytes=np.array([size for order in orders for _, size in order], np.float64),
    )
    prepare([run_streams], plane)
    return plane


@njit
def _enter(plane: Streams, message_id: int, segment: int, now: float) -> None:
    """Put a message before a segment."""
    plane.network.messages[message_id].stage = segment
    start, stop = plane.segments[segment], plane.segments[segment + 1]
    begin_segment(plane.network, message_id, now, -1, start, stop, -1)


@njit
def _load(plane: Streams, stream_id: int, message_id: int, now: float) -> None:
    """Fill a message with the next order of its stream."""
    stream = plane.streams[stream_id]
    message = plane.network.messages[message_id]
    order = stream.next
    stream.next += 1
    message.owner = stream_id
    message.bytes = plane.order_bytes[order]
    _enter(plane, message_id, plane.routes[plane.order_route[order]], now)


@njit
def _arrive(plane: Streams, message_id: int, now: float) -> bool:
    """Take a message that has left a segment on to what follows; False if nothing does."""
    message = plane.network.messages[message_id]
    if not plane.ends[message.stage]:
        _enter(plane, message_id, message.stage + 1, now)
        return True
    stream = plane.streams[message.owner]
    if stream.next < stream.stop:
        _load(plane, message.owner, message_id, now)
        return True
    stream.under_way -= 1
    stream.finish = now
    give(plane.network.spare_messages, message_id)
    return False


@entry(raises=NoRowLeftError)
def run_streams(plane: Streams) -> int:
    """Run all streams to their end; return the number of events."""
    calendar = plane.network.calendar
    for stream_id in range(len(plane.streams)):
        stream = plane.streams[stream_id]
        while stream.under_way < stream.window and stream.next < stream.stop:
            stream.under_way += 1
            message_id = take(plane.network.spare_messages)
            _load(plane, stream_id, message_id, 0.0)
            schedule(calendar, 0.0, MESSAGE_EVENT, message_id)
    events = 0
    while pending(calendar) > 0:
        events += 1
        now = next_time(calendar)
        message_id = next_index(calendar)
        if travelling(plane.network, message_id) or _arrive(plane, message_id, now):
            reschedule_next(calendar, hop(plane.network, message_id, now))
        else:
            drop_next(calendar)
    return events
