"""What an animation plays is what was recorded: as many RPCs, as many bytes, at the same times."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from recorded_runs import recorded, recording_of_run

from xc40io import Scenario, simulate
from xc40io.config.errors import InputError
from xc40io.findings.servers import to_mds
from xc40io.results.animation import score, stage
from xc40io.results.animation.score import score_of
from xc40io.results.pictures.scene import scene_of

NAMES = ("shared file", "own files", "not synced")


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def played(name: str) -> dict[str, Any]:
    """The score of one of the runs."""
    return score_of(scene_of(recorded(name)), "--animate")


def of_kinds(played: dict[str, Any], *kinds: str) -> list[dict[str, Any]]:
    return [journey for journey in played["journeys"] if journey["kind"] in kinds]


def nanoseconds(times: Any) -> list[int]:
    return [round(1e9 * time) for time in times.tolist() if np.isfinite(time)]


def test_every_bulk_rpc_is_there_with_its_bytes(name: str, played: dict[str, Any]) -> None:
    result, bulk = recorded(name), of_kinds(played, "write", "read")
    assert len(bulk) == result.rpcs
    assert sum(journey["bytes"] for journey in bulk) == result.bulk_bytes
    writes = recording_of_run(name).rpcs["write"] == 1
    assert len(of_kinds(played, "write")) == writes.sum()


def test_every_request_and_every_lock_is_there(name: str, played: dict[str, Any]) -> None:
    recording = recording_of_run(name)
    assert len(of_kinds(played, "metadata")) == len(to_mds(recording.requests))
    locks = recording.locks
    given = np.isfinite(locks["returned"]) | np.isfinite(locks["blocked"])
    told = Counter(journey["what"].split(" ", 2)[2] for journey in of_kinds(played, "lock"))
    assert told["asked for"] == len(locks)
    assert told["given back"] == given.sum()


def test_what_was_under_way_at_the_end_is_said_to_be(name: str, played: dict[str, Any]) -> None:
    bulk = of_kinds(played, "write", "read")
    ended = np.isfinite(recording_of_run(name).rpcs["ended"])
    assert sum(journey["over"] for journey in bulk) == ended.sum()
    assert all(journey["until"][-1] == played["end"] for journey in bulk if not journey["over"])


def test_times_go_on_and_lie_within_the_run(played: dict[str, Any]) -> None:
    for journey in played["journeys"]:
        times = [journey["begin"], *journey["until"]]
        assert times == sorted(times)
        assert played["begin"] <= times[0]
        assert times[-1] <= played["end"]
        assert len(journey["until"]) == len(journey["place"]) == len(journey["doing"]) > 0
    begins = [journey["begin"] for journey in played["journeys"]]
    assert begins == sorted(begins)


def test_recorded_times_are_those_of_the_picture(name: str, played: dict[str, Any]) -> None:
    rpcs = recording_of_run(name).rpcs
    shown = Counter()
    for journey in of_kinds(played, "write", "read"):
        shown.update([journey["begin"], *journey["until"]])
    for column in ("start", "left", "routed", "arrived", "begun", "ended"):
        assert not Counter(nanoseconds(rpcs[column])) - shown, column


def test_data_passes_node_group_router_server_and_target(played: dict[str, Any]) -> None:
    kinds = [place[0] for place in played["places"]]
    for journey in of_kinds(played, "write", "read"):
        if not journey["over"]:
            continue
        way = [kinds[journey["origin"]]]
        for place, doing in zip(journey["place"], journey["doing"], strict=True):
            if doing == "m" and kinds[place] != way[-1]:
                way.append(kinds[place])
        if journey["kind"] == "write":
            assert way == ["node", "group", "router", "oss", "ost"]
        else:
            assert way == ["node", "oss", "router", "group", "node"]
        assert journey["place"][-1] == journey["origin"]


def test_locks_change_hands_as_they_were_asked_back(name: str, played: dict[str, Any]) -> None:
    locks = recording_of_run(name).locks
    if not len(locks):
        assert played["locks"] is None
        return
    back = np.bincount(locks["object"], np.isfinite(locks["blocked"]))
    shown = played["locks"]["locks"]
    assert sum(lock["blocked"] is not None for lock in shown) == back.max()
    own = locks[locks["object"] == back.argmax()] if back.max() else locks
    cancels = np.isfinite(own["returned"]).sum()
    if back.max():
        assert sum(lock["returned"] is not None for lock in shown) == cancels
    for lock in shown:
        times = [lock[key] for key in ("asked", "granted", "returned", "ended")]
        come = [time for time in times if time is not None]
        assert come == sorted(come)
        assert 0 <= lock["from"] <= lock["to"] <= played["locks"]["size"]


def test_a_node_stands_in_its_group(played: dict[str, Any]) -> None:
    places = played["places"]
    for kind, _, within in places:
        parent = {"node": "group", "router": "group", "ost": "oss"}.get(kind)
        assert (places[within][0] if within >= 0 else None) == parent


def test_without_a_recording_there_is_nothing_to_play() -> None:
    silent = replace(recorded("own files"), recording=None)
    with pytest.raises(InputError, match="--animate: this run was not recorded"):
        score_of(scene_of(silent), "--animate")


def test_a_recording_of_an_older_version_is_refused() -> None:
    result, recording = recorded("own files"), recording_of_run("own files")
    names = [name for name in recording.rpcs.dtype.names or () if name != "left"]
    older = replace(recording, rpcs=recording.rpcs[names])
    with pytest.raises(InputError, match="recorded by an older xc40io"):
        score_of(scene_of(replace(result, recording=older)), "--animate")


def test_too_much_is_refused_with_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(recorded("own files"))
    monkeypatch.setattr(score, "MOST_JOURNEYS", 10)
    with pytest.raises(InputError, match=r"at most; right would be a smaller run"):
        score_of(scene, "--animate")
    monkeypatch.setattr(score, "MOST_JOURNEYS", 10_000)
    monkeypatch.setattr(stage, "MOST_IN_A_COLUMN", 3)
    with pytest.raises(InputError, match="there is room for 3 in the picture; right would be"):
        score_of(scene, "--animate")


def test_a_run_that_sends_nothing_to_lustre_has_no_picture() -> None:
    job = {"nodes": 1, "ppn": 1, "target": "ssd", "workload": {"ior": "-w -F -b 1m -t 1m"}}
    run = simulate(Scenario(machine="theta", **job), record=True)
    with pytest.raises(InputError, match="no BRW RPC was sent in this run"):
        score_of(scene_of(run), "--animate")
