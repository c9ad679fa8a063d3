"""Bandwidth over time: what is drawn is what the servers moved."""

from __future__ import annotations

import re

import numpy as np
import pytest

from xc40io import Result, Scenario, simulate
from xc40io.config.units import GB
from xc40io.results.pictures.bandwidth import bandwidth_of, draw_bandwidth
from xc40io.results.pictures.scene import scene_of

WRITTEN, READ = "written, into the OSSs", "read, out of the OSSs"
OSTS, DISKS = "both, at the disks of the OSTs", "both, at the disks of service nodes"
MOVED = 16 * 4 * 2**20


def test_the_area_below_each_curve_is_the_bytes_moved(lustre: Result):
    found = bandwidth_of(scene_of(lustre))
    assert found is not None
    moved = {what: rates.sum() * found.clock.width for what, rates in found.rates.items()}
    read = sum(use.bytes for use in lustre.stations() if re.match(r"OSS \d+ out", use.name))
    assert read >= MOVED  # read-ahead brings more than was asked for
    assert moved == pytest.approx({WRITTEN: MOVED, READ: read, OSTS: MOVED + read})


def test_each_way_is_at_work_in_its_phase(lustre: Result):
    scene = scene_of(lustre)
    found = bandwidth_of(scene)
    assert found is not None
    (_, written), *_ = scene.lanes[0].windows
    column = int(written / found.clock.width)
    assert not found.rates[READ][:column].any()
    assert not found.rates[WRITTEN][column + 1 :].any()


def test_one_step_is_what_the_time_bins_have(lustre: Result):
    found = bandwidth_of(scene_of(lustre))
    assert found is not None
    names = [use.name for use in lustre.stations() if use.name.startswith("OST ")]
    lines = np.sum([lustre.timeline(name).bytes for name in names], axis=0)
    clock = found.clock
    first = lines[: clock.each * 40].reshape(40, clock.each).sum(axis=1)
    assert found.rates[OSTS][:40] == pytest.approx(first / clock.width)


def test_bytes_behind_service_nodes_count_once(home: Result):
    found = bandwidth_of(scene_of(home))
    assert found is not None
    assert list(found.rates) == [DISKS]
    assert found.rates[DISKS].sum() * found.clock.width == pytest.approx(4 * 4 * 2**20)


def test_local_disks_have_no_file_system_to_draw():
    job = {"nodes": 1, "ppn": 1, "target": "ssd"}
    run = simulate(Scenario(machine="theta", workload={"ior": "-w -F -b 1m -t 1m"}, **job))
    assert bandwidth_of(scene_of(run)) is None


def test_the_axes_have_units_and_the_curves_the_rates(lustre: Result):
    scene = scene_of(lustre)
    found = bandwidth_of(scene)
    assert found is not None
    axes, strip = draw_bandwidth(scene, found).axes
    assert axes.get_ylabel() == "GB/s"
    assert axes.get_xlabel() == f"simulated time ({found.clock.unit})"
    drawn = {patch.get_label(): patch.get_data().values for patch in axes.patches}
    assert list(drawn) == list(found.rates)
    assert all((drawn[what] == rates / GB).all() for what, rates in found.rates.items())
    assert [label.get_text() for label in strip.get_yticklabels()] == ["write", "read"]
