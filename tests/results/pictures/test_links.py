"""How busy the links of the network were."""

from __future__ import annotations

import pytest

from xc40io import Result, Scenario, simulate
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.network_pictures import link_loads, links_of
from xc40io.results.pictures.scene import scene_of
from xc40io.run.fabric import fabric_of


def test_each_link_has_the_share_of_the_run_in_which_it_was_busy(lustre: Result):
    fabric = fabric_of(lustre.machine)
    busy = link_loads(scene_of(lustre), fabric)
    assert busy is not None
    names = {f"link {fabric.link_name(link)}": link for link in busy.nonzero()[0].tolist()}
    uses = [use for use in lustre.stations() if use.kind is StationKind.LINK]
    assert names.keys() == {use.name for use in uses}
    for use in uses:
        assert busy[names[use.name]] == pytest.approx(use.busy / lustre.simulated)


def test_links_of_a_torus_are_left_out():
    job = {"nodes": 2, "ppn": 1, "workload": {"ior": "-w -e -b 1m -t 1m"}}
    run = simulate(Scenario(machine="titan", **job))
    assert links_of(scene_of(run), run.allocation.nodes) is None
