"""The score of an animation: all that its player plays, as plain values for JSON.

Times are whole nanoseconds since the simulation began, sizes are bytes, places are positions in
``places``.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.units import format_bytes
from xc40io.findings.servers import of_osts, recording_of, to_mds
from xc40io.results.animation.bulk import bulk_journeys
from xc40io.results.animation.journeys import Journey
from xc40io.results.animation.lock_hands import LockHands, lock_hands_of
from xc40io.results.animation.small_messages import small_journeys
from xc40io.results.animation.stage import PlaceKind, Stage, stage_of, to_oss
from xc40io.results.pictures.scene import Scene
from xc40io.run.recording import Recording
from xc40io.topology.text import format_count

MOST_JOURNEYS = 12_000
"""RPCs, requests and locks that a browser moves without a stutter: some 4 MB of HTML."""

_NANO = 1e9


def score_of(scene: Scene, option: str) -> dict[str, Any]:
    """Return the score of a recorded run.

    Raises
    ------
    InputError
        If nothing was recorded, nothing went to Lustre, or too much for an animation; `option`
        says what needs it.
    """
    result, recording = scene.result, recording_of(scene.result, option)
    _check_size(recording, option)
    stage = stage_of(result, recording, option)
    journeys = [
        *bulk_journeys(stage, result.machine, of_osts(recording, result.machine.lustre.osts)),
        *small_journeys(stage, result, recording),
    ]
    journeys.sort(key=lambda journey: journey.begin)
    begin = min(journey.begin for journey in journeys)
    end = max(scene.end, max(map(_last, journeys)))
    hands = lock_hands_of(recording)
    return {
        "begin": _whole(begin),
        "end": _whole(end),
        "group": stage.group_word,
        "network": result.machine.network.interconnect,
        "places": [[place.kind.name.lower(), place.number, place.within] for place in stage.places],
        "phases": [
            [lane.name, [list(map(_whole, span)) for span in lane.windows]] for lane in scene.lanes
        ],
        "journeys": [_journey(journey, end) for journey in journeys],
        "locks": None if hands is None else _locks(stage, hands),
        "told": _told(stage, recording),
    }


def _check_size(recording: Recording, option: str) -> None:
    """Raise InputError if there is nothing to animate, too much, or too little is known of it."""
    if not len(recording.rpcs):
        raise InputError(
            f"{option}: no BRW RPC was sent in this run, so nothing would move; right would be a "
            "run that reads or writes data on Lustre (--target lustre)"
        )
    if "left" not in (recording.rpcs.dtype.names or ()):
        raise InputError(
            f"{option}: the run was recorded by an older xc40io, which did not record when the "
            "bulk of an RPC leaves; right would be to run it again"
        )
    requests = recording.requests
    count = len(recording.rpcs) + len(recording.locks)
    count += len(to_mds(requests)) + len(to_oss(requests))
    if count > MOST_JOURNEYS:
        raise InputError(
            f"{option}: the run has {count:,} BRW RPCs, small requests and extent locks, and a "
            f"browser moves {MOST_JOURNEYS:,} at most; right would be a smaller run: fewer nodes "
            "or ranks, fewer bytes a rank, or only its write or its read"
        )


def _last(journey: Journey) -> float:
    """Return the last time in a journey that has come."""
    times = [step.until for step in journey.steps if isfinite(step.until)]
    return times[-1] if times else journey.begin


def _journey(journey: Journey, end: float) -> dict[str, Any]:
    """Return a journey up to the end of the run; ``over`` tells whether it had ended by then."""
    over = journey.now <= end
    journey.cut(end)
    return {
        "kind": journey.kind.value,
        "what": journey.what,
        "bytes": journey.size,
        "over": over,
        "begin": _whole(journey.begin),
        "origin": journey.origin,
        "until": [_whole(step.until) for step in journey.steps],
        "place": [step.place for step in journey.steps],
        "doing": "".join(step.doing for step in journey.steps),
    }


def _locks(stage: Stage, hands: LockHands) -> dict[str, Any]:
    """Return the locks of the object: what has not come is null."""
    names = ("asked", "granted", "blocked", "returned", "ended")
    times = np.stack([hands.locks[name] for name in names], axis=1).tolist()
    columns = (hands.locks[name].tolist() for name in ("node", "mode", "start", "end"))
    held = zip(*columns, hands.row.tolist(), times, strict=True)
    return {
        "object": hands.object_name,
        "size": hands.size,
        "locks": [
            {
                "node": stage.node[node],
                "row": row,
                "mode": mode,
                "from": start,
                "to": min(end + 1, hands.size),
                **{name: _whole(at) for name, at in zip(names, five, strict=True)},
            }
            for node, mode, start, end, row, five in held
        ],
        "told": f"{hands.object_name}: {format_count(len(hands.locks), 'extent lock')}, "
        f"{hands.asked_back:,} of them called back by a blocking AST.",
    }


def _told(stage: Stage, recording: Recording) -> str:
    """Say in a sentence what is under way in the run."""

    def several(kind: PlaceKind, word: str) -> str:
        return format_count(sum(place.kind == kind for place in stage.places), word)

    routers = several(PlaceKind.ROUTER, "LNET router")
    through = "" if routers.startswith("0 ") else f", through {routers}"
    requests = len(to_mds(recording.requests)) + len(to_oss(recording.requests))
    size = int(recording.rpcs["bytes"].sum())
    return (
        f"{format_count(len(recording.rpcs), 'BRW RPC')} of {format_bytes(size, 3)} in all between "
        f"{several(PlaceKind.NODE, 'compute node')} and {several(PlaceKind.OST, 'OST')}{through}; "
        "beside them "
        f"{format_count(requests, 'small request')} to servers, and the messages of "
        f"{format_count(len(recording.locks), 'extent lock')}."
    )


def _whole(time: float) -> int | None:
    """Return a time in whole nanoseconds; nothing for one that has not come."""
    return round(time * _NANO) if isfinite(time) else None
