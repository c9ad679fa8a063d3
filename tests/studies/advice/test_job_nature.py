"""What a job is, as the search for its settings sees it."""

from __future__ import annotations

import pytest

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate
from xc40io.studies.advice.changes import JobChanges
from xc40io.studies.advice.job_knobs import BY_DEFAULT, knobs_of
from xc40io.studies.advice.job_nature import nature_of
from xc40io.studies.advice.knobs import Who, stripe_count_of, stripe_size_of
from xc40io.studies.case import Case
from xc40io.studies.record import record_of


def job(**fields: object) -> Scenario:
    kernel = {"name": "vpic-io", "steps": 1, "particles": 4096}
    return Scenario.model_validate(
        {"machine": "theta", "nodes": 1, "ppn": 2, "workload": {"kernel": kernel}, **fields}
    )


def test_stripes_that_a_kernel_asks_for_itself_are_not_those_of_the_machine() -> None:
    nature = nature_of(job(), record_of(simulate(job())))
    assert nature.lays_out
    assert stripe_count_of(nature) is None
    asked = job(striping={"count": 4, "size": "1m"})
    nature = nature_of(asked, record_of(simulate(asked)))
    assert stripe_count_of(nature) == 4
    assert stripe_size_of(nature) == 1 << 20


def test_then_one_stripe_is_a_change_too() -> None:
    maker = JobChanges("", Case(job()), nature_of(job(), record_of(simulate(job()))))
    typed = {change.typed for change in maker.single()}
    assert {"--stripe-count 1", "--stripe-count 56"} <= typed


@pytest.mark.parametrize(("method", "own"), [("POSIX", False), ("MPI_AGGREGATE", True)])
def test_adios_lays_out_its_subfiles_where_it_aggregates(method: str, own: bool) -> None:
    kernel = {"name": "adios", "method": method, "steps": 1, "compute": 0}
    scenario = job(workload={"kernel": kernel})
    assert nature_of(scenario, record_of(simulate(scenario))).lays_out is own


def test_options_that_a_skeleton_says_to_try_are_changes_of_the_program() -> None:
    kernel = {"name": "amrex-plotfile", "levels": 1, "cells": 8, "nfiles": 2}
    scenario = job(workload={"kernel": kernel}, striping={"count": 1})
    nature = nature_of(scenario, record_of(simulate(scenario)))
    assert nature.tried["sync"] == ("turn", "end", "never")
    assert "flush" not in {knob.name for knob in knobs_of(nature, BY_DEFAULT)}
    maker = JobChanges("", Case(scenario), nature)
    changes = {change.typed: change.who for change in maker.single()}
    for typed in ("--flush level", "--level-barrier", "--sync turn", "--sync end"):
        assert changes[typed] is Who.PROGRAM


def test_who_writes_subfiles_is_told_by_the_environment() -> None:
    """Of a kernel that can have them; it does nothing without."""
    scenario = job()
    nature = nature_of(scenario, record_of(simulate(scenario)))
    (knob,) = [one for one in knobs_of(nature, ("options",)) if one.name == "concentrators"]
    assert knob.values == (1, 2)
    assert knob.idles({"subfiling": False})
    assert not knob.idles({"subfiling": True})
    assert knob.change(scenario, 2).environment == {"H5FD_SUBFILING_IOC_PER_NODE": "2"}
    chosen = job(environment={"H5FD_SUBFILING_IOC_SELECTION_CRITERIA": "3:2"})
    nature = nature_of(chosen, record_of(simulate(chosen)))
    assert "concentrators" not in {one.name for one in knobs_of(nature, ("options",))}
