"""What the groups of a dragonfly moved over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io import Result, Scenario, simulate
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.clock import Clock
from xc40io.results.pictures.network_pictures import draw_groups, moved_by, traffic_of
from xc40io.results.pictures.scene import scene_of
from xc40io.run.fabric import fabric_of

IOR = {"ior": "-w -r -C -e -b 4m -t 1m"}


@pytest.fixture(scope="module")
def scattered() -> Result:
    """A recorded run on nodes of several groups."""
    job = {"nodes": 8, "ppn": 2, "placement": "random", "striping": {"count": 4, "size": "1m"}}
    return simulate(Scenario(machine="theta", workload=IOR, **job), record=True)


def test_every_byte_is_in_the_group_that_it_leaves_and_in_the_one_it_comes_to(scattered: Result):
    traffic = traffic_of(scene_of(scattered))
    assert traffic is not None
    nodes, routers = traffic.panels
    width = traffic.clock.width
    assert nodes.rates.sum() * width == pytest.approx(scattered.bulk_bytes)
    at_routers = sum(use.bytes for use in scattered.stations() if use.kind is StationKind.LNET)
    assert at_routers == scattered.bulk_bytes
    assert routers.rates.sum() * width == pytest.approx(at_routers)


def test_groups_are_those_of_the_job_and_of_the_routers_that_served(scattered: Result):
    traffic = traffic_of(scene_of(scattered))
    assert traffic is not None
    fabric = fabric_of(scattered.machine)
    nodes, routers = traffic.panels
    own = np.unique(fabric.compute_group[scattered.allocation.nodes])
    assert len(own) > 2
    assert nodes.groups.tolist() == own.tolist()
    share = np.bincount(fabric.compute_group[scattered.allocation.nodes])[own] / 8
    assert nodes.rates.sum(axis=1) / nodes.rates.sum() == pytest.approx(share, abs=0.05)
    names = {use.name for use in scattered.stations() if use.kind is StationKind.LNET}
    served = [int(name.split()[2]) for name in names]
    assert set(routers.groups.tolist()) == set(fabric.router_group[fabric.lnet_router[served]])


def test_without_a_recording_the_routers_are_shown(lustre: Result, home: Result):
    traffic = traffic_of(scene_of(lustre))
    assert traffic is not None
    assert [panel.name for panel in traffic.panels] == ["LNET routers of the group"]
    assert traffic_of(scene_of(home)) is None


def test_each_panel_has_a_scale_and_names_its_groups(scattered: Result):
    scene = scene_of(scattered)
    traffic = traffic_of(scene)
    assert traffic is not None
    figure = draw_groups(scene, traffic)
    panels = [axes for axes in figure.axes if axes.get_ylabel() == "group"]
    scales = [axes for axes in figure.axes if axes.get_ylabel() == "GB/s"]
    assert len(panels) == len(scales) == 2
    for axes, panel in zip(panels, reversed(traffic.panels), strict=True):
        shown = [int(label.get_text()) for label in axes.get_yticklabels()]
        assert shown == panel.groups.tolist()


TIMES = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(TIMES, TIMES, st.floats(1e3, 1e9)), max_size=6))
def test_transfers_are_spread_evenly_over_their_time(transfers: list[tuple[float, float, float]]):
    clock = Clock(1.0, 0.1, 1)
    wanted = np.zeros(10)
    for start, length, speed in transfers:
        for column in range(10):
            low, high = column * 0.1, (column + 1) * 0.1
            wanted[column] += speed * max(min(start + length, high) - max(start, low), 0.0)
    since, length, speed = np.array(transfers).reshape(-1, 3).T
    assert moved_by(clock, since, since + length, speed) == pytest.approx(wanted, rel=1e-6, abs=2.0)
