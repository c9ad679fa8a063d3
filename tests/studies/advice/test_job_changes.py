"""The changes of a job: each knob turned by itself, as it is asked for on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate
from xc40io.studies.advice.changes import Change, JobChanges, asked_for
from xc40io.studies.advice.job_nature import nature_of
from xc40io.studies.advice.knobs import Who
from xc40io.studies.case import Case
from xc40io.studies.record import record_of


def job(ior: str, **fields: Any) -> Scenario:
    described = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"ior": ior}, **fields}
    return Scenario.model_validate(described)


def changes(scenario: Scenario) -> dict[str, Change]:
    maker = JobChanges("", Case(scenario), nature_of(scenario, record_of(simulate(scenario))))
    return {change.typed: change for change in maker.single()}


def test_independent_calls_may_become_collective_ones_and_files_their_own() -> None:
    found = changes(job("-a MPIIO -w -b 1m -t 256k", striping={"count": 4, "size": "1m"}))
    assert found["IOR with -c"].words == "collective calls in place of independent calls"
    own = found["--stripe-count 1, IOR with -F"]
    assert own.who is Who.PROGRAM
    assert own.turned == {"layout": "own files", "stripe-count": 1}
    assert found["IOR with -t 1m"].words == "calls of 1 MiB in place of calls of 256 KiB"
    assert found["--stripe-count 56"].who is Who.SETTINGS
    assert found["--nodes 1 --ppn 4"].who is Who.SCRIPT


def test_each_change_is_another_job() -> None:
    scenario = job("-a POSIX -w -F -b 1m -t 1m")
    found = changes(scenario)
    made = [change.case.scenario for change in found.values()]
    assert scenario not in made
    assert len({str(one) for one in made}) == len(made)


def test_files_that_nodes_share_are_not_put_on_the_nodes_own_ssds() -> None:
    assert "--target ssd" in changes(job("-a POSIX -w -F -b 1m -t 1m"))
    assert "--target ssd" not in changes(job("-a POSIX -w -b 1m -t 1m"))


def test_two_changes_are_made_together_if_they_turn_different_knobs() -> None:
    scenario = job("-a MPIIO -w -b 1m -t 256k", striping={"count": 4, "size": "1m"})
    maker = JobChanges("", Case(scenario), nature_of(scenario, record_of(simulate(scenario))))
    found = {change.typed: change for change in maker.single()}
    calls, stripes = found["IOR with -c"], found["--stripe-count 8"]
    (both,) = maker.together(calls, stripes)
    assert both.typed == "--stripe-count 8, IOR with -c"
    assert both.turned.keys() == calls.turned.keys() | stripes.turned.keys()
    assert not list(maker.together(stripes, found["--stripe-count 16"]))


def test_a_change_goes_on_with_knobs_that_the_same_people_can_turn() -> None:
    scenario = job("-a MPIIO -w -b 1m -t 256k", striping={"count": 4, "size": "1m"})
    maker = JobChanges("", Case(scenario), nature_of(scenario, record_of(simulate(scenario))))
    assert maker.who == (Who.SETTINGS, Who.PROGRAM)
    stripes = next(one for one in maker.single() if one.typed == "--stripe-count 8")
    near = {one.typed: one for one in maker.further(stripes, Who.SETTINGS, far=False)}
    assert near.keys() == {
        "--stripe-count 16",
        "--stripe-count 8 --stripe-size 2m",
    }  # to 4, as it is now, leads back
    far = {one.typed for one in maker.further(stripes, Who.PROGRAM, far=True)}
    assert {"--stripe-count 56", "--stripe-count 8, IOR with -c"} < far
    assert "--nodes 1 --ppn 4 --stripe-count 8" in far


def test_a_file_for_each_rank_comes_with_one_stripe_whatever_was_turned_before() -> None:
    scenario = job("-a MPIIO -w -b 1m -t 256k", striping={"count": 4, "size": "1m"})
    maker = JobChanges("", Case(scenario), nature_of(scenario, record_of(simulate(scenario))))
    stripes = next(one for one in maker.single() if one.typed == "--stripe-count 8")
    own = [one for one in maker.further(stripes, Who.PROGRAM, far=True) if "layout" in one.turned]
    assert [one.turned for one in own] == [{"layout": "own files", "stripe-count": 1}]


def test_less_to_change_comes_first() -> None:
    found = changes(job("-a MPIIO -w -b 1m -t 256k", striping={"count": 4, "size": "1m"}))
    assert found["--stripe-count 8"].effort < found["--stripe-count 56"].effort
    assert found["--stripe-count 56"].effort < found["IOR with -c"].effort


@pytest.mark.parametrize("words", ["-w -b 1m -t 1m", "-a MPIIO -c -w -b 1m -t 1m"])
def test_a_job_that_has_not_changed_is_asked_for_by_nothing(words: str) -> None:
    assert asked_for(job(words), job(words)) == ""


def test_cheap_changes_are_few_and_of_settings_alone() -> None:
    scenario = job("-a MPIIO -c -w -b 1m -t 256k", striping={"count": 4, "size": "1m"})
    maker = JobChanges("", Case(scenario), nature_of(scenario, record_of(simulate(scenario))))
    cheap, all_of_it = list(maker.cheap()), list(maker.single())
    assert cheap[0].turned == {"stripe-count": 56, "stripe-size": 8 << 20}
    assert {change.who for change in cheap} == {Who.SETTINGS}
    counts = [change.turned.get("stripe-count") for change in cheap[1:]]
    assert [count for count in counts if count] == [56, 1, 16]
    assert {str(change.case.scenario) for change in cheap} <= {
        str(change.case.scenario) for change in all_of_it
    }
