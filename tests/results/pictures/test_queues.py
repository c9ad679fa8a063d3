"""How many RPCs, requests and locks were waited for over time."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io import Result
from xc40io.results.pictures.queues import Queue, draw_queues, queues_of
from xc40io.results.pictures.scene import scene_of


def queue(result: Result, name: str) -> tuple[Queue, float]:
    found = queues_of(scene_of(result))
    assert found is not None
    (one,) = [queue for queue in found.queues if queue.name == name]
    return one, found.clock.width


def test_the_area_is_the_time_that_all_were_under_way(recorded: Result):
    assert recorded.recording is not None
    rpcs = recorded.recording.rpcs
    one, width = queue(recorded, "RPCs")
    area = {name: part.sum() * width for name, part in one.parts.items()}
    assert area["waiting at their OST"] == pytest.approx((rpcs["begun"] - rpcs["arrived"]).sum())
    assert area["at the disks"] == pytest.approx((rpcs["served"] - rpcs["begun"]).sum())
    assert sum(area.values()) == pytest.approx((rpcs["ended"] - rpcs["start"]).sum())


def test_mds_requests_are_those_of_its_stations(recorded: Result):
    assert recorded.recording is not None
    names = list(recorded.station_table.names)
    numbers = recorded.station_table.number[[i for i, name in enumerate(names) if "MDS" in name]]
    requests = recorded.recording.requests
    there = requests[np.isin(requests["station"], numbers)]
    one, width = queue(recorded, "MDS requests")
    area = sum(part.sum() for part in one.parts.values()) * width
    assert len(there)
    assert area == pytest.approx((there["ended"] - there["arrived"]).sum())


def test_locks_are_waited_for_from_the_enqueue_to_the_grant(recorded: Result):
    assert recorded.recording is not None
    locks = recorded.recording.locks
    one, width = queue(recorded, "extent locks")
    (part,) = one.parts.values()
    assert part.sum() * width == pytest.approx((locks["granted"] - locks["asked"]).sum())


def test_each_queue_has_axes_of_its_own_with_one_clock(recorded: Result):
    scene = scene_of(recorded)
    found = queues_of(scene)
    assert found is not None
    figure = draw_queues(scene, found)
    panels = [axes for axes in figure.axes if axes.get_ylabel()]
    assert {axes.get_ylabel() for axes in panels} == {"RPCs", "MDS requests", "extent locks"}
    assert sum(bool(axes.get_xlabel()) for axes in panels) == 1
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    for axes in panels:
        low, high = axes.get_ylim()
        ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
        assert ticks == [round(tick) for tick in ticks], "there is no quarter of an RPC"
    for panel, queue_of in zip(panels, found.queues, strict=False):
        assert all(part.any() for part in queue_of.parts.values()), panel.get_ylabel()
    for above, below in zip(panels[1:], [*panels[2:], panels[0]], strict=True):
        assert above.get_position().y0 > below.get_position().y1
