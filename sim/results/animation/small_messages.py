"""The journeys of what carries no bulk: requests to servers, and the messages of locks.

Of these a recording has the times at which they are sent, come, are turned to and are done with.
Their ways take what a small message takes, and which LNET router they pass is not recorded: they
are drawn from the group of their node straight to the server.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from xc40io.findings.servers import to_mds
from xc40io.lustre.locks import MODE_NAMES
from xc40io.lustre.net.lnet import control_latency
from xc40io.plane.operations import Op
from xc40io.results.animation.journeys import Doing, Journey, JourneyKind
from xc40io.results.animation.stage import ABOUT_OBJECTS, PlaceKind, Stage, to_oss
from xc40io.results.exports.targets import mds_numbers
from xc40io.run.recording import Recording
from xc40io.run.result import Result


def small_journeys(stage: Stage, result: Result, recording: Recording) -> Iterator[Journey]:
    """Yield the journeys of all requests to MDSs and OSSs, and of the messages of all locks."""
    latency = control_latency(result.machine)
    to_server = control_latency(result.machine, result.machine.nodes.mds_message_latency)
    mds_of = mds_numbers(result.station_table)
    for request in to_mds(recording.requests):
        server = stage.find(PlaceKind.MDS, mds_of[int(request["station"])])
        what = Op(int(request["op"])).name.lower()
        node = _node(stage, recording, request)
        yield _request(JourneyKind.METADATA, what, request, (node, server), stage, to_server)
    for request in to_oss(recording.requests):
        server = _oss(stage, recording, int(request["target"]))
        what = ABOUT_OBJECTS[int(request["kind"])]
        node = _node(stage, recording, request)
        yield _request(JourneyKind.SYNC, what, request, (node, server), stage, latency)
    for lock in recording.locks:
        if recording.objects[lock["object"], 2] < 0:  # of data on an MDT, which are not drawn
            continue
        ends = stage.node[lock["node"]], _oss(stage, recording, int(lock["object"]))
        yield _enqueue(lock, ends, stage, latency)
        if isfinite(lock["returned"]) or isfinite(lock["blocked"]):
            yield _return(lock, ends, stage, latency)


def _node(stage: Stage, recording: Recording, request: Any) -> int:
    """Return the place of the node that sends a request."""
    return stage.node[int(recording.program_node[request["program"]])]


def _oss(stage: Stage, recording: Recording, object_id: int) -> int:
    """Return the place of the OSS of an object."""
    return stage.within(stage.find(PlaceKind.OST, recording.objects[object_id, 2]))


def _request(
    kind: JourneyKind,
    what: str,
    request: Any,
    ends: tuple[int, int],
    stage: Stage,
    latency: float,
) -> Journey:
    """Return the journey of a request to a server, and of its reply."""
    node, server = ends
    group = stage.within(node)
    journey = Journey(kind, what, 0, float(request["sent"]), node)
    journey.go(float(request["arrived"]), (group, server))
    journey.stay(float(request["begun"]), Doing.LEFT)
    ended = float(request["ended"])
    journey.stay(ended, Doing.INSIDE)
    journey.go(ended + latency, (group, node))
    return journey


def _enqueue(lock: Any, ends: tuple[int, int], stage: Stage, latency: float) -> Journey:
    """Return the journey of a lock from the enqueue to the grant; it waits at the OSS between."""
    node, server = ends
    group = stage.within(node)
    asked, granted = float(lock["asked"]), float(lock["granted"])
    there = asked + min(latency, (granted - asked) / 2.0)
    what = f"{MODE_NAMES[int(lock['mode'])]} lock asked for"
    journey = Journey(JourneyKind.LOCK, what, 0, asked, node)
    journey.go(there, (group, server))
    journey.stay(granted - (there - asked), Doing.LEFT)
    journey.go(granted, (group, node))
    return journey


def _return(lock: Any, ends: tuple[int, int], stage: Stage, latency: float) -> Journey:
    """Return the journey of a lock that goes back: the blocking AST, write-back and the cancel.

    A blocking AST that comes with the grant has no way of its own.
    """
    node, server = ends
    group = stage.within(node)
    granted, blocked = float(lock["granted"]), float(lock["blocked"])
    ended = float(lock["ended"])
    returned = min(float(lock["returned"]), ended)  # an evicted client sends no cancel
    what = f"{MODE_NAMES[int(lock['mode'])]} lock given back"
    sent = max(blocked - latency, granted)
    if isfinite(blocked) and sent < blocked:
        journey = Journey(JourneyKind.LOCK, what, 0, sent, server)
        journey.go(blocked, (group, node))
    else:
        journey = Journey(JourneyKind.LOCK, what, 0, min(blocked, returned), node)
    journey.stay(returned, Doing.INSIDE)
    journey.go(min(returned + latency, ended), (group, server))
    journey.stay(ended, Doing.INSIDE)
    return journey
