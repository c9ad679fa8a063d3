"""How far runs and studies have come, and what is said before: of each program and study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.config.workload_mix import read_mix
from xc40io.machine import plane
from xc40io.run.foreseen import Foreseen
from xc40io.run.jobs import simulate_jobs
from xc40io.run.simulate import simulate
from xc40io.studies.compare.side import Side, sides_of
from xc40io.studies.compare.side_by_side import run_side_by_side
from xc40io.studies.explain.explanation import explain
from xc40io.studies.plan.plan import plan as make_plan
from xc40io.studies.plan.plan_faults import plan_faults
from xc40io.studies.plan.plan_sensitivity import sensitivity
from xc40io.studies.sweep.sweep import sweep
from xc40io.studies.tune.tuning import tune
from xc40io.workloads.catalogue import PROGRAMS

SMALL = {"machine": "theta", "nodes": 2, "ppn": 2}
IO500 = {
    "debug": {"stonewall-time": "1"},
    "ior-easy": {"blockSize": "64m"},
    "ior-hard": {"segmentCount": "50"},
    "mdtest-easy": {"n": "50"},
    "mdtest-hard": {"n": "50"},
}
WORKLOADS: dict[str, dict[str, Any]] = {
    "ior": {"ior": "-w -r -i 2 -b 4m -t 1m"},
    "ior that stops early": {"ior": "-w -D 1 -b 1g -t 1m"},
    "mdtest": {"mdtest": "-n 50 -i 2"},
    "mdtest with bytes": {"mdtest": "-F -n 50 -w 3901 -e 3901"},
    "mdtest that stops early": {"mdtest": "-F -C -n 2000 -W 1"},
    "kernel": {"kernel": {"name": "hacc-io"}},
    "io500": {"io500": {"config": IO500}},
}
MIX = {
    "machine": "theta",
    "jobs": [{"name": "a", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m -t 1m"}}],
}
OTHER = Scenario.model_validate(SMALL | {"workload": {"ior": "-w -b 4m -t 1m"}})


@pytest.fixture(autouse=True)
def _looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane, "_SLICE", 1 << 10)


class Told:
    """Who is told of what there is to do, before and while it is done."""

    def __init__(self) -> None:
        self.before: list[Foreseen] = []
        self.steps: list[tuple[int, int]] = []

    def foretell(self, runs: Foreseen) -> None:
        self.before.append(runs)

    def __call__(self, done: int, total: int, /) -> None:
        self.steps.append((done, total))

    def check(self, *, foretold: bool = True) -> None:
        totals = [total for _, total in self.steps]
        assert totals == sorted(totals, reverse=True)
        assert min(totals) > 0
        shares = [done / total for done, total in self.steps]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        assert len(self.before) == foretold


def scenario(workload: dict[str, Any]) -> Scenario:
    return Scenario.model_validate(SMALL | {"workload": workload})


def test_each_program_is_there() -> None:
    assert {name.split()[0] for name in WORKLOADS} == set(PROGRAMS)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_run_comes_ever_closer_to_the_total_that_it_began_with(name: str) -> None:
    told = Told()
    simulate(scenario(WORKLOADS[name]), progress=told)
    told.check()
    assert len({total for _, total in told.steps}) == 1


def test_a_phase_of_mdtest_is_shown_while_it_goes_on() -> None:
    told = Told()
    simulate(scenario({"mdtest": "-F -C -n 2000"}), progress=told)
    assert len({done for done, _ in told.steps}) > 2
    assert not told.before[0].moves


def test_jobs_with_and_without_bytes_have_one_total() -> None:
    told = Told()
    jobs = [
        {"name": name.replace(" ", "-"), "nodes": 1, "ppn": 1, "workload": WORKLOADS[name]}
        for name in ("ior", "mdtest")
    ]
    simulate_jobs(JobsScenario.model_validate({"machine": "theta", "jobs": jobs}), progress=told)
    told.check()


STUDIES: dict[str, Callable[[Told, Path], object]] = {
    "sweep": lambda told, store: sweep(
        OTHER, {"ior.b": ["1m", "2m"]}, jobs=1, store=store, progress=told
    ),
    "compare": lambda told, _: run_side_by_side(
        sides_of(Side("as it is", OTHER), ["nodes=1"]), repeat=2, progress=told
    ),
    "plan": lambda told, store: make_plan(
        read_mix(MIX, "mix.yaml"), {"lustre.osts": [14, 28]}, jobs=1, store=store, progress=told
    ),
    "plan --faults": lambda told, store: plan_faults(
        read_mix(MIX, "mix.yaml"), ["OST slow 5"], jobs=1, store=store, progress=told
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_says_what_its_runs_will_be_and_how_far_they_are(name: str, tmp_path: Path) -> None:
    told = Told()
    STUDIES[name](told, tmp_path)
    told.check()
    (before,) = told.before
    assert before.runs == told.steps[0][1]


def test_explain_says_what_its_own_run_will_be_and_counts_the_others() -> None:
    moved, told = Told(), Told()
    explain(OTHER, jobs=1, moved=moved, progress=told, budget=3.0)
    moved.check()
    totals = [total for _, total in told.steps]
    assert totals == sorted(totals, reverse=True)
    assert moved.before[0].recorded


@pytest.mark.parametrize(("budget", "total"), [("6", 6), ("2s", 2)])
def test_what_a_search_may_spend_is_its_total(budget: str, total: int, tmp_path: Path) -> None:
    told = Told()
    over = {"striping.count": [1, 8], "striping.size": ["1m", "2m"]}
    tune(OTHER, allow="", over=over, budget=budget, repeat=1, jobs=1, store=tmp_path, progress=told)
    assert {each for _, each in told.steps} == {total}
    assert [done for done, _ in told.steps] == sorted(done for done, _ in told.steps)
    assert [one.runs for one in told.before] == ([6] if budget == "6" else [])


def test_the_runs_of_a_sensitivity_are_counted_to_the_last(tmp_path: Path) -> None:
    told = Told()
    paths = ["lustre.osts", "lustre.ost_write_rate"]
    sensitivity(read_mix(MIX, "mix.yaml"), paths, runs=6, jobs=1, store=tmp_path, progress=told)
    assert {total for _, total in told.steps} == {7}
    assert told.before[0].runs == 7
