"""Small requests of programs to servers: they skip the queues of the bulk.

A program sends one request, or one to every stripe object of a file at once, and goes on when the
last reply has come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import inlined, njit, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network
from xc40io.engine.pool import Pool, make_pool, next_row, reserve, take
from xc40io.engine.types import Table, make_table
from xc40io.lustre.net.lnet import Lnet
from xc40io.lustre.server.oss import OssThreads
from xc40io.plane.files import Files, ost_object_count, ost_objects_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import Programs, wait_for
from xc40io.plane.recorder import Recorder
from xc40io.plane.registry import REQUEST_EVENT
from xc40io.plane.site import Site

_STAT = int(Op.STAT)

# What a request asks for.
MDS_OPERATION = 1
MDS_SYNC = 2
OST_SYNC = 3
GLIMPSE = 4
PUNCH = 5
SERVER_REQUEST = 6  # of a service node behind DVS
GLIMPSE_AST = 7  # a glimpse for which the OST asks a client in turn
OBJECT_FSYNC = 8  # an OST_SYNC that has the mutex of the object's inode, or waits for it
LAYOUT_READ = 9  # the layout of a file (IT_LAYOUT)
LAYOUT_WRITE = 10  # objects for further components of a layout (LAYOUT_INTENT_WRITE)
LOOKUP = 11  # a name that is to be removed (IT_LOOKUP); recorded as a stat: both are a getattr


REQUEST = np.dtype(  # a small request to a server
    [
        ("service", "f8"),
        ("latency", "f8"),  # seconds of the message to its server, and of the reply
        ("sent", "f8"),
        ("arrived", "f8"),
        ("begun", "f8"),  # when its server turned to it
        ("served", "f8"),  # and when that had done what it can do alone
        ("spent", "f8"),  # of a glimpse AST: seconds of the glimpse at its server
        ("program", "i4"),
        ("station", "i4"),
        ("kind", "i4"),
        ("object", "i4"),
        ("node", "i4"),  # of a glimpse AST: the node that is asked; about a layout: its stage
        ("next", "i4"),  # about a layout: the next that waits for its lock
        ("waiting", "i4"),  # nodes that have not given it back yet
        ("end", "i8"),  # bytes up to which components are to have objects
        ("freed", "f8"),  # when the last node has given the lock back
    ],
    align=True,
)


class Requests(Component):
    """All small requests under way."""

    network: Network
    files: Files
    programs: Programs
    lnet: Lnet
    osses: OssThreads
    rows: Table  # `REQUEST` records
    spare_rows: Pool

    @classmethod
    def build(cls, site: Site) -> Requests:
        """Return no requests."""
        rows = make_table(REQUEST, site.rows)
        return site.make(cls, rows=rows, spare_rows=make_pool(site.rows))

    def demands(self) -> Demands:
        """Return the row that an operation takes to ask one server."""
        return [(self.spare_rows, 1)]

    def pending(self) -> int:
        """Return the most events that can be pending: one a request."""
        return len(self.rows)


@outlined
def may_send(requests: Requests, count: int) -> bool:
    """Tell whether there are rows to send so many requests in one event."""
    return reserve(requests.spare_rows, count)


@outlined
def send(
    requests: Requests,
    program_id: int,
    kind: int,
    station: int,
    service: float,
    latency: float,
    target: int,
    now: float,
) -> None:
    """Send a request to a server that takes ``service`` seconds for it, as :func:`new_request`."""
    request_id = new_request(requests, program_id, kind, station, service, latency, target, now)
    schedule(requests.network.calendar, now + latency, REQUEST_EVENT, request_id)


@inlined
def new_request(
    requests: Requests,
    program_id: int,
    kind: int,
    station: int,
    service: float,
    latency: float,
    target: int,
    now: float,
) -> int:
    """Return a request that is on its way to a server, which takes ``service`` seconds for it.

    ``latency`` are the seconds of a small message to the server or back, and ``target`` is the
    file or the object that the request is about.
    """
    request_id = take(requests.spare_rows)
    request = requests.rows[request_id]
    request.program = program_id
    request.kind = kind
    request.station = station
    request.service = service
    request.latency = latency
    request.object = target
    request.sent = now
    return request_id


@outlined
def add_request(
    requests: Requests, request_id: int, station: int, arrived: float, begun: float, ended: float
) -> None:
    """Record a request that a station has served, or will have by the time ``ended``."""
    request, programs = requests.rows[request_id], requests.programs
    looks_up = request.kind == LOOKUP
    kind = MDS_OPERATION if looks_up else request.kind
    row = record_request(programs.recorder, request.program, kind, request.object)
    row.op = _STAT if looks_up else programs.operations[programs.rows[request.program].op].kind
    row.station = station
    row.sent = request.sent
    row.arrived = arrived
    row.begun = begun
    row.ended = ended


@njit
def record_request(recorder: Recorder, program_id: int, kind: int, target: int) -> Any:
    """Begin the record of a request about a file or an object; the caller writes the rest."""
    row = recorder.requests[next_row(recorder.spare_requests, len(recorder.requests))]
    row.program = program_id
    row.kind = kind
    row.target = target
    return row


@outlined
def send_to_objects(
    requests: Requests, program_id: int, kind: int, file_id: int, now: float
) -> None:
    """Send a request to the OSS of every stripe object of a file, and wait for all replies.

    Of a file without one on an OST there is nobody to ask, and nothing to wait for.
    """
    service, latency = requests.osses.request_service, requests.lnet.control_latency
    wait_for(requests.programs, program_id, ost_object_count(requests.files, file_id), now)
    for object_id in ost_objects_of(requests.files, file_id):
        oss = requests.osses.server_of[requests.files.objects[object_id].ost]
        station = requests.osses.service + oss
        send(requests, program_id, kind, station, service, latency, object_id, now)
