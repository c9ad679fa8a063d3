"""How busy the links of a dragonfly were, as a picture."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from dragonflies import full, shapes
from hypothesis import given
from whole_networks import all_compute

from xc40io.topology import DragonflyShape, Fabric, LinkClass, TorusShape, torus
from xc40io.topology.dragonfly_load import bundle_loads, busiest_group, busiest_links
from xc40io.topology.dragonfly_places import bundles, circle
from xc40io.topology.drawing import load_figure

SMALL = full(DragonflyShape(groups=3, chassis=2, slots=4, group_links=4))


def loads(fabric: Fabric, **busy: float) -> np.ndarray:
    """Return the loads of all links, 0 but for those of these colours."""
    found = np.zeros(fabric.links)
    for colour, share in busy.items():
        found[fabric.links_of(colour)[-1]] = share
    return found


def test_a_bundle_is_as_busy_as_its_busiest_link():
    found = bundle_loads(np.array([-1, 0, 0, 1, -1]), 3, np.array([0.9, 0.2, 0.3, 0.1, 0.8]))
    assert found.tolist() == [0.3, 0.1, 0.0]


@given(shapes())
def test_every_blue_link_is_in_the_bundle_of_its_two_groups(shape: DragonflyShape):
    fabric = full(shape)
    found = bundles(fabric, circle(fabric))
    blue = fabric.links_of("blue")
    groups = np.sort(
        [fabric.router_group[fabric.link_source], fabric.router_group[fabric.link_target]], axis=0
    )
    assert (np.flatnonzero(found.of_link >= 0) == blue).all()
    assert (found.first[found.of_link[blue]] == groups[0, blue]).all()
    assert (found.second[found.of_link[blue]] == groups[1, blue]).all()
    assert found.links.sum() * 2 == fabric.link_multiplicity[blue].sum()


def test_the_group_with_the_busiest_link_inside_is_enlarged():
    busy = loads(SMALL, green=0.2, blue=0.9)
    link = SMALL.links_of("green")[-1]
    assert busiest_group(SMALL, busy) == SMALL.router_group[SMALL.link_source[link]]
    assert busiest_group(SMALL, np.zeros(SMALL.links)) == 0


def test_the_busiest_link_of_each_colour_is_named():
    green, black, blue = busiest_links(SMALL, loads(SMALL, blue=0.125))
    name = SMALL.link_name(int(SMALL.links_of("blue")[-1]))
    assert blue == f"Busiest blue link: {name.removeprefix('blue ')}, 12.5 %"
    assert green.endswith(", 0 %")
    assert black.startswith("Busiest black link: ")


@pytest.mark.parametrize("shape", [(3, 2, 4), (1, 1, 2), (1, 2, 2)])
def test_a_picture_of_loads(shape: tuple[int, int, int]):
    groups, chassis, slots = shape
    fabric = full(DragonflyShape(groups=groups, chassis=chassis, slots=slots, group_links=4))
    busy = np.linspace(0.0, 0.5, fabric.links)
    written = BytesIO()
    load_figure(fabric, busy, np.array([0, 1]), "Links", "how busy they were").savefig(written)
    assert written.getvalue().startswith(b"\x89PNG")


def test_links_of_a_torus_are_not_drawn():
    kinds = dict.fromkeys(("mezzanine", "backplane", "cable"), LinkClass(1e9, 1e-7, "electrical"))
    fabric = all_compute(torus(TorusShape(x=2, y=2, z=2, slots=2), kinds))
    with pytest.raises(ValueError, match="there is no picture of the links of a torus"):
        load_figure(fabric, np.zeros(fabric.links), np.array([0]), "Links", "")
