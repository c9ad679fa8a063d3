"""Small requests of programs to servers: they skip the queues of the bulk.

A program sends one request, or one to every stripe object of a file at once, and goes on when the
last reply has come.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import njit
from sim.engine.pool import take
from sim.lustre.events import REQUEST_EVENT
from sim.lustre.tables import Lustre

# What a request asks for.
MDS_OPERATION = 1
MDS_SYNC = 2
OST_SYNC = 3
GLIMPSE = 4
PUNCH = 5
SERVER_REQUEST = 6  # of a service node behind DVS
GLIMPSE_AST = 7  # a glimpse for which the OST asks a client in turn


@njit
def send(
    lustre: Lustre,
    program_id: int,
    kind: int,
    station: int,
    service: float,
    target: int,
    now: float,
) -> None:
    """Send a request to a server that takes ``service`` seconds for it.

    ``target`` is the file or the object that it is about.
    """
    request_id = take(lustre.spare_requests)
    request = lustre.requests[request_id]
    request.program = program_id
    request.kind = kind
    request.station = station
    request.service = service
    request.object = target
    arrival = now + lustre.limits.control_latency
    schedule(lustre.network.calendar, arrival, REQUEST_EVENT, request_id)


@njit
def send_to_objects(lustre: Lustre, program_id: int, kind: int, file_id: int, now: float) -> None:
    """Send a request to the OSS of every stripe object of a file, and wait for all replies."""
    file = lustre.files[file_id]
    service = lustre.limits.request_service
    wait_for(lustre, program_id, file.stripe_count, now)
    for object_id in range(file.first_object, file.first_object + file.stripe_count):
        oss = lustre.objects[object_id].ost // lustre.limits.osts_per_oss
        send(lustre, program_id, kind, lustre.stations.service + oss, service, object_id, now)


@njit
def wait_for(lustre: Lustre, program_id: int, replies: int, now: float) -> None:
    """Let a program wait for so many replies."""
    program = lustre.programs[program_id]
    program.pending = replies
    program.ready = now
