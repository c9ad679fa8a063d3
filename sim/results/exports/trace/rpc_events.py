"""Bulk RPCs in a trace, with arrows from lane to lane; requests to servers; counters of both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xc40io.config.units import format_bytes
from xc40io.engine.types import Floats, Integers
from xc40io.findings.servers import to_mds
from xc40io.lustre.requests import GLIMPSE, GLIMPSE_AST, OST_SYNC, PUNCH
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.results.exports.machine_view import MachineView
from xc40io.results.exports.targets import client_host, mds_numbers, ost_name
from xc40io.results.exports.trace.board import (
    COUNTERS,
    MDSES,
    NODES,
    OSSES,
    OSTS,
    ROUTERS,
    RPC_LANES,
    Board,
    Lane,
    arrow_event,
    counter_event,
    lanes_by,
    nanoseconds,
    slice_event,
)
from xc40io.run.recording import Recording

_ARRAY, _QUEUE = 1, 2  # lanes of an OST: its disk array, and the RPCs that wait for it


_OF_OBJECTS = {
    OST_SYNC: "sync",
    GLIMPSE: "glimpse",
    GLIMPSE_AST: "glimpse and its AST",
    PUNCH: "punch",
}
_POINTS = 1000


class _Times(NamedTuple):
    """The times of RPCs in nanoseconds: int64 (n,) each, or one number."""

    start: Any
    arrived: Any
    begun: Any
    served: Any
    ended: Any


class _Row(NamedTuple):
    """Where an RPC stands among those that overlap it: at its client, its router, its OST."""

    client: int
    router: int
    queue: int


def add_rpcs(board: Board, view: MachineView, rpcs: Records) -> None:
    """Add RPCs; the lanes show at most as many at once as are in the sample."""
    times = _Times(*(nanoseconds(rpcs[name]) for name in _Times._fields))
    write = rpcs["write"] == 1
    # On the way: a write until all of it has arrived, a read from when the array has it.
    begin = np.where(write, times.start, times.served)
    end = np.where(write, times.arrived, times.ended)
    rows = zip(
        lanes_by(rpcs["node"], times.start, times.ended).tolist(),
        lanes_by(rpcs["gateway"], begin, end).tolist(),
        lanes_by(rpcs["ost"], times.arrived, times.begun).tolist(),
        strict=True,
    )
    columns = zip(*(column.tolist() for column in times), strict=True)
    ways = zip(begin.tolist(), end.tolist(), strict=True)
    whole = zip(rpcs, rows, columns, ways, strict=True)
    for number, (rpc, row, at, way) in enumerate(whole):
        shown = _ShownRpc(board, view, rpc)
        shown.add(number, _Row(*row), _Times(*at), way)


class _ShownRpc:
    """An RPC on the board; ``rpc`` is its ``RPC`` record."""

    def __init__(self, board: Board, view: MachineView, rpc: Any) -> None:
        recording = view.recording
        self._board = board
        self._rpc = rpc
        self._client = client_host(int(recording.nodes[rpc["node"]]))
        self._group = NODES + int(recording.nodes[rpc["node"]])
        self._ost = int(rpc["ost"])
        self._routed = view.result.machine.lnet is not None
        self._target = ost_name(view.result.machine, self._ost)
        way = "write" if rpc["write"] else "read"
        self._name = f"{way} {format_bytes(int(rpc['bytes']))}"
        self._said = {
            "client": self._client,
            "target": self._target,
            "bytes": int(rpc["bytes"]),
            "offset in the object": int(rpc["offset"]),
            "file": view.file_names[recording.objects[rpc["object"], 0]],
            "RPCs in flight": int(rpc["in_flight"]),
        }

    def add(self, number: int, row: _Row, at: _Times, way: tuple[int, int]) -> None:
        """Add it at its client, on its way at its times, and at its OST; and its arrow."""
        client = self._lane(
            self._group, self._client, RPC_LANES + row.client, f"RPC in flight {row.client + 1}"
        )
        self._slice(client, "rpc", at.start, at.ended)
        stops: list[tuple[int, Lane]] = []
        if self._routed:
            router = int(self._rpc["gateway"])
            on_way = self._lane(
                ROUTERS + router, f"LNET router {router}", 1 + row.router, f"bulk {row.router + 1}"
            )
            self._slice(on_way, "bulk", *way)
            stops.append((way[0], on_way))
        if at.begun > at.arrived:
            queue = self._lane(
                OSTS + self._ost, self._target, _QUEUE + row.queue, f"waiting {row.queue + 1}"
            )
            self._slice(queue, "queue", at.arrived, at.begun)
        array = self._lane(OSTS + self._ost, self._target, _ARRAY, "disk array")
        self._slice(array, "disk", at.begun, at.served)
        stops.append((at.begun, array))
        _add_arrow(self._board, number, client, at.start, at.ended, stops)

    def _lane(self, group: int, group_name: str, number: int, name: str) -> Lane:
        return self._board.lane(group, group_name, number, name)

    def _slice(self, lane: Lane, kind: str, start: int, end: int) -> None:
        self._board.add(slice_event(lane, self._name, kind, start, end, self._said))


def _add_arrow(
    board: Board, number: int, client: Lane, start: int, end: int, stops: list[tuple[int, Lane]]
) -> None:
    """Add the arrow of an RPC: from the client through where it stops, and back."""
    board.add(arrow_event("s", number, client, start))
    for time, lane in sorted(stops):
        board.add(arrow_event("t", number, lane, time))
    # A nanosecond before the end of the slice: at its end the next one may have begun.
    board.add(arrow_event("f", number, client, max(start, end - 1)))


def lustre_requests(requests: Records) -> Records:
    """Return the requests to servers of Lustre."""
    to_objects = np.isin(requests["kind"], list(_OF_OBJECTS))
    return requests[to_objects | np.isin(requests["kind"], np.unique(to_mds(requests)["kind"]))]


def add_requests(board: Board, view: MachineView, requests: Records) -> None:
    """Add requests; each stands where it is served from its thread's turn until its reply."""
    begun, ended = nanoseconds(requests["begun"]), nanoseconds(requests["ended"])
    lane = lanes_by(requests["station"], begun, ended)
    numbers = mds_numbers(view.result.station_table)
    each = view.result.machine.lustre.osts_per_oss
    for i, request in enumerate(requests):
        operation, rank = Op(int(request["op"])), int(view.rank[request["program"]])
        said = {
            "rank": rank if rank >= 0 else "no rank",
            "waited (us)": round(1e6 * float(request["begun"] - request["arrived"]), 3),
        }
        kind = int(request["kind"])
        if kind in _OF_OBJECTS:
            server = int(view.recording.objects[request["target"], 2]) // each
            group, host, name = OSSES + server, f"OSS {server}", _OF_OBJECTS[kind]
        else:
            server = numbers[int(request["station"])]
            group, host, name = MDSES + server, f"MDS {server}", operation.name.lower()
            said["file"] = view.file_names[request["target"]]
        number = int(lane[i])
        where = board.lane(group, host, 1 + number, f"request {number + 1}")
        board.add(slice_event(where, name, "request", int(begun[i]), int(ended[i]), said))


def add_counters(board: Board, recording: Recording, end: float) -> None:
    """Add RPCs in flight, those that wait for disks, and requests at the MDSs, over the run."""
    times = np.linspace(0.0, end, _POINTS)
    rpcs, requests = recording.rpcs, to_mds(recording.requests)
    lines = {
        "RPCs in flight": _by_way(rpcs, "start", "ended", times),
        "RPCs that wait for disks": _by_way(rpcs, "arrived", "begun", times),
        "requests at the MDSs": {"all": _between(requests["arrived"], requests["ended"], times)},
    }
    board.group(COUNTERS, "all together")
    for name, values in lines.items():
        for i, time in enumerate(nanoseconds(times).tolist()):
            now = {word: int(count[i]) for word, count in values.items()}
            board.add(counter_event(COUNTERS, name, time, now))


def _by_way(rpcs: Records, since: str, until: str, times: Floats) -> dict[str, Integers]:
    """Return how many RPCs there were between two of their times, by way."""
    ways = {"write": rpcs[rpcs["write"] == 1], "read": rpcs[rpcs["write"] == 0]}
    return {way: _between(own[since], own[until], times) for way, own in ways.items()}


def _between(since: Floats, until: Floats, times: Floats) -> Integers:
    begun = np.searchsorted(np.sort(since), times, "right")
    over: Integers = np.searchsorted(np.sort(until), times, "right")
    return begun - over
