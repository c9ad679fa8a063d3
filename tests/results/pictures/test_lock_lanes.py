"""Locks of an object changing hands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xc40io import Result
from xc40io.results.pictures import lock_lanes
from xc40io.results.pictures.lock_lanes import draw_lock_lanes, lock_lanes_of
from xc40io.results.pictures.scene import scene_of


def test_the_object_is_the_one_with_most_locks_asked_back(recorded: Result):
    found = lock_lanes_of(scene_of(recorded))
    assert found is not None
    assert recorded.recording is not None
    locks = recorded.recording.locks
    back = np.bincount(locks["object"][np.isfinite(locks["blocked"])])
    assert set(found.locks["object"].tolist()) == {int(back.argmax())}
    assert found.object_name.startswith("stripe object 0 of testFile, on OST ")
    assert np.isfinite(found.locks["blocked"]).sum() == back.max()


def test_locks_in_a_row_follow_each_other_and_a_lane_is_a_node(recorded: Result):
    found = lock_lanes_of(scene_of(recorded))
    assert found is not None
    for row in np.unique(found.row):
        mine = found.locks[found.row == row]
        assert len(set(mine["node"].tolist())) == 1
        assert (mine["ended"][:-1] <= mine["asked"][1:]).all()
    for lane, node in enumerate(found.nodes.tolist()):
        rows = found.row[found.locks["node"] == node]
        assert rows.min() >= found.first_row[lane]
        assert rows.max() < found.first_row[lane + 1]


def test_of_many_nodes_those_with_most_asked_back_are_shown(recorded: Result, monkeypatch):
    monkeypatch.setattr(lock_lanes, "_MOST_LANES", 1)
    found = lock_lanes_of(scene_of(recorded))
    assert found is not None
    assert len(found.nodes) == 1
    assert found.fought > len(found.locks)


def test_lanes_are_named_by_the_numbers_of_the_machine(recorded: Result):
    scene = scene_of(recorded)
    found = lock_lanes_of(scene)
    assert found is not None
    (axes,) = draw_lock_lanes(scene, found).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    nodes = recorded.allocation.nodes[found.nodes].tolist()
    assert names == [f"node {node}" for node in nodes]
    assert axes.get_xlabel() in ("simulated time (s)", "simulated time (ms)")
    bars = [patch.get_width() for patch in axes.patches]
    assert min(bars) >= 0.0
    assert len(bars) > len(found.locks)


def test_without_conflicts_or_a_recording_there_is_no_picture(recorded: Result):
    assert recorded.recording is not None
    quiet = recorded.recording.locks.copy()
    quiet["blocked"] = np.inf
    for recording in (None, replace(recorded.recording, locks=quiet)):
        assert lock_lanes_of(scene_of(replace(recorded, recording=recording))) is None
