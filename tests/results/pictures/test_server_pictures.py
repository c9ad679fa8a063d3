"""Pictures of servers over time: operations of the MDTs, rates of the OSTs, load of the OSSs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import recorded, recording_of_run

from xc40io import Scenario, simulate
from xc40io.plane.operations import Op
from xc40io.results.pictures.scene import Scene, scene_of
from xc40io.results.pictures.server_pictures import (
    draw_mdt_operations,
    draw_oss_load,
    draw_server_rates,
    mdt_operations_of,
    mean_load,
    oss_load_of,
    server_rates_of,
)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of(recorded("own files"))


def test_every_operation_of_the_mdts_is_counted(scene: Scene):
    found = mdt_operations_of(scene)
    assert found is not None
    calls = recording_of_run("own files").calls["op"]
    for operation in (Op.CREATE, Op.OPEN, Op.CLOSE, Op.UNLINK):
        number = found.rates[operation].sum() * found.clock.width
        assert number == pytest.approx((calls == operation).sum())


def test_operations_stand_above_each_other_and_are_named(scene: Scene):
    found = mdt_operations_of(scene)
    assert found is not None
    axes, strip = draw_mdt_operations(scene, found).axes
    assert axes.get_ylabel() == "operations/s"
    labels = [text.get_text() for text in strip.get_legend().get_texts()]
    assert labels == ["create", "open", "close", "unlink", "sync"]
    tops = [patch.get_data().values for patch in axes.patches]
    assert tops[-1] == pytest.approx(sum(found.rates.values()))


def test_osts_have_the_bytes_that_were_moved_each_way(scene: Scene):
    found = server_rates_of(scene)
    assert found is not None
    rpcs = recording_of_run("own files").rpcs
    for way, write in (("written", 1), ("read", 0)):
        own = rpcs[rpcs["write"] == write]
        each = np.bincount(own["ost"], weights=own["bytes"], minlength=56)
        moved = found.ways[way].sum(axis=1) * found.clock.width
        assert moved == pytest.approx(each[list(found.numbers)])
        assert each.sum() == pytest.approx(moved.sum())


def test_rates_have_a_panel_for_each_way_and_one_scale(scene: Scene):
    found = server_rates_of(scene)
    assert found is not None
    written, read, scale = draw_server_rates(scene, found).axes
    assert [written.get_title("left"), read.get_title("left")] == ["written", "read"]
    assert scale.get_ylabel() == "GB/s"
    limits = {axes.collections[0].get_clim() for axes in (written, read)}
    assert len(limits) == 1
    assert written.get_position().x1 < read.get_position().x0
    assert scale.get_position().x1 < 0.95


def test_lines_part_the_osts_of_different_servers():
    scenario = Scenario(
        machine="theta",
        changes={"lustre.osts_per_oss": 4},
        nodes=1,
        ppn=1,
        striping={"count": 12, "size": "1m"},
        workload={"ior": "-w -e -b 24m -t 1m"},
    )
    scene = scene_of(simulate(scenario, record=True))
    found = server_rates_of(scene)
    assert found is not None
    assert len(found.numbers) == 12
    axes, _ = draw_server_rates(scene, found).axes
    _, lines = axes.collections
    servers = [number // 4 for number in found.numbers]
    between = [path.vertices[0][1] for path in lines.get_paths()]
    assert between == [place + 0.5 for place in range(11) if servers[place] != servers[place + 1]]
    load = oss_load_of(scene)
    assert load is not None
    assert len(load.loads) == len(set(servers))


def test_loads_add_up_to_the_time_that_rpcs_took(scene: Scene):
    found = oss_load_of(scene)
    assert found is not None
    rpcs, latency = (
        recording_of_run("own files").rpcs,
        scene.result.machine.lustre.ost_write_latency,
    )
    done = np.where(rpcs["write"] == 1, rpcs["served"] + latency, rpcs["ended"])
    seconds = found.loads.sum() * found.clock.width
    assert seconds == pytest.approx((done - rpcs["arrived"]).sum(), rel=1e-6)


def test_the_load_has_its_mean_within_the_band(scene: Scene):
    found = oss_load_of(scene)
    assert found is not None
    axes, _ = draw_oss_load(scene, found).axes
    band, mean = (patch.get_data() for patch in axes.patches)
    assert (band.baseline <= mean.values).all()
    assert (mean.values <= band.values).all()


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=12),
    st.lists(st.integers(0, 70), min_size=2, max_size=6, unique=True).map(sorted),
)
def test_a_mean_load_is_the_share_of_time_that_each_is_there(
    intervals: list[tuple[int, int]], edges: list[int]
):
    start, length = np.array(intervals, float).reshape(-1, 2).T
    found = mean_load(start, start + length, np.array(edges, float))
    for low, high, mean in zip(edges, edges[1:], found, strict=False):
        inside = np.minimum(start + length, high) - np.maximum(start, low)
        assert mean == pytest.approx(np.maximum(inside, 0.0).sum() / (high - low), abs=1e-8)
