"""Cori when its file system was new: what differs from the machine that it became."""

from __future__ import annotations

import pytest

from xc40io.config.machine import Machine, load_machine

DIFFERENT = {
    "nodes.count",
    "lustre.years",
    "lustre.ost_spread",
    "lustre.slow_share",
    "lustre.ost_fullness",
    "lustre.fullness_spread",
    "lustre.other_reads",
    "lustre.other_writes",
    "lustre.disk_seek",
    "lustre.readahead",
    "burst_buffer.nodes",
    "burst_buffer.capacity",
    "burst_buffer.shared_read_rate",
    "burst_buffer.shared_write_rate",
}


@pytest.fixture(scope="module")
def new() -> Machine:
    return load_machine("cori-2015")


@pytest.fixture(scope="module")
def later() -> Machine:
    return load_machine("cori-haswell")


def test_it_differs_in_what_changes_with_the_years(new: Machine, later: Machine) -> None:
    before, after = new.values(), later.values()
    assert {path for path in before | after if before.get(path) != after.get(path)} == DIFFERENT
    same = before.keys() - DIFFERENT
    assert all(new.provenance[path] == later.provenance[path] for path in same)


def test_its_osts_are_new_and_nobody_else_is_there(new: Machine, later: Machine) -> None:
    assert new.lustre.ost_spread < later.lustre.ost_spread / 3
    assert new.lustre.ost_fullness < 0.1
    assert new.lustre.ost_fullness < new.lustre.fullness_knee
    assert new.lustre.other_reads == new.lustre.other_writes == 0
    assert new.lustre.readahead == load_machine("theta").lustre.readahead


def test_the_acceptance_tests_fit_on_it(new: Machine) -> None:
    assert new.nodes.count * new.nodes.cores == 52_160
    assert new.nodes.count > 4480 // 4
    buffer = new.burst_buffer
    assert buffer is not None
    assert buffer.shared_write_rate == pytest.approx(buffer.nodes * buffer.write_rate)


def test_no_value_of_its_own_names_an_acceptance_test_that_it_is_for(new: Machine) -> None:
    own = [new.provenance[path].source for path in DIFFERENT]
    assert not any(row in source for row in ("D01", "D02", "752", "678") for source in own)
