"""Colours of pictures: people with other colour vision can tell them apart, too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from colour_vision import VISION, distance, lab, seen
from matplotlib import colormaps
from matplotlib.colors import to_rgb

from xc40io.telling.sheet import INK, OTHER, PALETTE, READ, REST, SMALL, WRITE, shades
from xc40io.topology.dragonfly_load import JOB_INK
from xc40io.topology.inks import COMPUTE_INK, EMPTY_INK, LNET_INK

APART = 10.0
"""Delta E of CIEDE2000: four times what one can just see."""

SETS = {
    "kinds": (*PALETTE, SMALL, REST),
    "ways and targets": (WRITE, READ, OTHER, INK, SMALL, "#ffffff"),
    "routers": (JOB_INK, LNET_INK, COMPUTE_INK, EMPTY_INK),
}


@pytest.mark.parametrize(
    ("one", "other", "apart"),  # from the paper's own table of test data
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.0, 2.0), (50.0, 0.0, 0.0), 2.3669),
        ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distances_are_those_of_ciede2000(one, other, apart):
    assert distance(np.array(one), np.array(other)) == pytest.approx(apart, abs=1e-4)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", SETS)
def test_colours_of_kinds_stay_apart(name: str, vision: str):
    colours = SETS[name]
    found = lab(seen(np.array([to_rgb(colour) for colour in colours]), vision))
    near = {
        (colours[i], colours[j]): round(distance(found[i], found[j]), 1)
        for i, j in combinations(range(len(colours)), 2)
        if distance(found[i], found[j]) < APART
    }
    assert near == {}


@pytest.mark.parametrize("vision", VISION)
def test_scales_go_from_light_to_dark(vision: str):
    scales = {
        "busy": colormaps["YlGnBu"](np.linspace(0.0, 1.0, 32))[:, :3],
        "series": np.array(shades(8))[::-1, :3],
    }
    for name, colours in scales.items():
        lightness = lab(seen(colours, vision))[:, 0]
        assert (np.diff(lightness) < 0.0).all(), name
