"""How busy stations of a kind were over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xc40io import Result, load_machine
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.heat import LNET_ROUTERS, OSTS, SERVICE_NODES, draw_heat, heat_of
from xc40io.results.pictures.scene import scene_of


def test_a_row_is_an_ost_that_had_anything_to_do(lustre: Result):
    heat = heat_of(scene_of(lustre), OSTS)
    assert heat is not None
    uses = {use.name: use for use in lustre.stations() if use.kind is StationKind.OST}
    assert [f"OST {number}" for number in heat.numbers] == list(uses)
    assert len(uses) == 4
    seconds = heat.busy.sum(axis=1) * heat.clock.width
    assert seconds == pytest.approx([use.busy for use in uses.values()])
    assert heat.busy.max() <= 1.0 + 1e-9


def test_a_router_is_as_busy_as_the_busiest_of_its_links(lustre: Result):
    heat = heat_of(scene_of(lustre), LNET_ROUTERS)
    assert heat is not None
    number = heat.numbers[0]
    own = [use.name for use in lustre.stations() if use.name.startswith(f"LNET router {number} ")]
    lines = [heat.clock.sums(lustre.timeline(name).busy) for name in own]
    assert len(lines) > 2
    assert heat.busy[0] == pytest.approx(np.max(lines, axis=0) / heat.clock.width)


@pytest.mark.parametrize(("name", "network"), [("theta", "Aries"), ("titan", "Gemini")])
def test_the_network_of_the_machine_is_named(lustre: Result, name: str, network: str):
    scene = scene_of(replace(lustre, machine=load_machine(name)))
    heat = heat_of(scene, LNET_ROUTERS)
    assert heat is not None
    caption = " ".join(text.get_text() for text in draw_heat(scene, LNET_ROUTERS, heat).texts)
    assert f"links, to {network} and to InfiniBand" in " ".join(caption.split())


def test_service_nodes_have_a_picture_where_the_files_are_there(lustre: Result, home: Result):
    assert heat_of(scene_of(lustre), SERVICE_NODES) is None
    assert heat_of(scene_of(home), OSTS) is None
    heat = heat_of(scene_of(home), SERVICE_NODES)
    assert heat is not None
    disks = [use for use in home.stations() if use.name.startswith("disks of")]
    assert [f"disks of home DVS node {number}" for number in heat.numbers] == [
        d.name for d in disks
    ]
    assert heat.busy.sum() * heat.clock.width == pytest.approx(sum(use.busy for use in disks))


def test_rows_are_named_and_the_colours_have_a_scale(lustre: Result):
    scene = scene_of(lustre)
    heat = heat_of(scene, OSTS)
    assert heat is not None
    axes, scale, _ = draw_heat(scene, OSTS, heat).axes
    assert axes.get_ylabel() == "OST"
    assert [label.get_text() for label in axes.get_yticklabels()] == list(map(str, heat.numbers))
    assert scale.get_ylabel() == "busy (%)"
    (mesh,) = axes.collections
    painted = np.ma.filled(mesh.get_array(), 0.0).reshape(heat.busy.shape)
    assert painted == pytest.approx(100 * heat.busy)
