"""What is known of a machine's values before anything is measured there."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.machine import load_machine
from xc40io.validation.value_prior import free_values

MINE = """
name: mine
title: Mine
description: Of the tests.
like: theta
lustre:
  ost_write_rate: {value: 1 GB/s, source: "a log", firm: measured}
  shared_commit: {value: 50 ms, source: "a guess", firm: assumed}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    return file


def test_what_was_measured_is_known_better_than_what_another_machine_has(mine: Path) -> None:
    priors = {one.path: prior for one, prior in free_values(load_machine(mine), mine).items()}
    measured = priors["lustre.ost_write_rate"]
    assumed = priors["lustre.shared_commit"]
    foreign = priors["lustre.journal_commit"]
    assert measured.spread < foreign.spread < 1.5
    assert assumed.spread > measured.spread
    assert measured.why.startswith("measured here")
    assert foreign.why.startswith("another machine's")


def test_rates_and_times_may_move_and_counts_may_not(mine: Path) -> None:
    free = {one.path: one for one in free_values(load_machine(mine), mine)}
    assert {"nodes.write_copy_rate", "lustre.mds.stat_rate", "lustre.shared_commit"} <= free.keys()
    assert not {"lustre.rpc_size", "nodes.lock_threads", "lustre.osts"} & free.keys()
    for one in free.values():
        assert one.lower < one.value < one.upper


def test_whose_a_value_is_shows_without_the_file_too(tmp_path):
    place = tmp_path / "mine.yaml"
    leaf = "{value: 250 MB/s, source: dd, firm: measured}"
    head = "name: mine\ntitle: Mine\ndescription: Mine.\nlike: theta\n"
    place.write_text(f"{head}nodes: {{write_copy_rate: {leaf}}}\n")
    for machine, file in ((load_machine(place), place), (load_machine("theta"), None)):
        known = {one.path: prior for one, prior in free_values(machine, file).items()}
        told = {one.path: prior for one, prior in free_values(machine).items()}
        assert told == known
