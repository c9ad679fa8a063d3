"""Tuning beside others: their usual load where it is known, the jobs of a mix, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xc40io import InputError, Scenario, tune
from xc40io.config.scenario import Background
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.simulations import Simulations
from xc40io.studies.tune.beside import read_beside, without_others
from xc40io.studies.tune.company import SettingBesideJobs, chosen_of
from xc40io.studies.tune.neighbours import MOST, NeighbourRun, Neighbours, chosen_neighbours
from xc40io.studies.tune.trial import Trial
from xc40io.studies.tune.tune_answer import tuning_answer
from xc40io.studies.tune.tuning import Tuning
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

WRITE = "-a POSIX -w -e -b 4m -t 1m"


def job(machine: str, **fields: Any) -> Scenario:
    described = {"machine": machine, "nodes": 2, "ppn": 2, "workload": {"ior": WRITE}, **fields}
    return Scenario.model_validate(described)


def mix_of(*jobs: dict[str, Any], **fields: Any) -> WorkloadMix:
    usual = {"nodes": 2, "ppn": 2, "workload": {"ior": WRITE}}
    return read_mix({"machine": "theta", "jobs": [usual | one for one in jobs]} | fields, "a mix")


MIX = mix_of(
    {"name": "one-ost", "striping": {"count": 1, "offset": 0}},
    {"name": "own-files", "weight": 3, "workload": {"ior": f"-F {WRITE}"}},
)
SPACE = {"striping.count": [1, 4, 16], "striping.size": ["1m"]}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def usual(store: Path) -> Tuning:
    return tune(job("cori-knl"), allow="", over=SPACE, budget=6, repeat=2, jobs=1, store=store)


@pytest.fixture(scope="module")
def among(store: Path) -> Tuning:
    asked: dict[str, Any] = {"allow": "", "over": SPACE, "budget": 6, "repeat": 2, "jobs": 1}
    return tune(job("theta"), **asked, store=store, beside=MIX)


def test_the_usual_load_is_the_default_where_it_is_known() -> None:
    assert read_beside(None, job("cori-knl")).kind == "typical"
    assert read_beside(None, job("theta")).kind == "nothing"
    assert read_beside(None, job("cori-knl", target="bb")).kind == "nothing"
    assert read_beside(None, job("cori-knl", background={"read": "1 GB/s"})).kind == "nothing"
    assert read_beside("nothing", job("cori-knl")).kind == "nothing"


def test_the_search_runs_beside_the_usual_load_and_the_best_alone_too(usual: Tuning) -> None:
    assert all(trial.scenario.background.typical for trial in usual.trials)
    assert usual.idle is not None
    assert usual.idle_gain is not None
    for trial, seconds in zip((usual.present, usual.best), usual.idle, strict=True):
        seeded = trial.scenario.model_copy(update={"seed": usual.fresh_seeds[0]})
        alone = without_others(seeded)
        assert alone.background == Background()
        (record,) = Simulations().run([alone])
        assert sum(bound.seconds for bound in record.bounds) == seconds[0]  # type: ignore[union-attr]
    text = text_of(tuning_answer("a job", usual))
    assert "Beside the usual load of cori-knl: on average others read 9.7 GB/s" in text
    assert "lfs setstripe" in text
    told = document_of(tuning_answer("a job", usual))["beside"]
    assert told["osts"] == {"now": 1, "best": 16, "of": 248}
    assert len(told["idle"]["best"]) == len(told["beside"]["now"]) == 3
    table = usual.to_pandas()
    assert set(table.beside) == {"typical", "nothing"}


def test_beside_a_mix_the_others_delay_is_told(among: Tuning) -> None:
    company = among.company
    assert company is not None
    assert company.met[0].trial is among.present
    assert among.best is company.chosen
    assert not set(company.seeds) & set(among.seeds)
    assert dict(company.shares).keys() == {"one-ost", "own-files"}
    assert sum(share for _, share in company.shares) == pytest.approx(1.0)
    document = document_of(tuning_answer("a job", among))
    assert document["beside"]["name"] == "the mix"
    assert document["beside"]["best"]["setting"] == document["best"]["setting"]
    page = text_of(tuning_answer("a job", among))
    assert "others take" in page
    others = among.to_pandas().others
    assert others.notna().sum() == len(company.met) + 3 * (1 + (among.best is not among.present))


def test_the_same_again_runs_nothing_and_says_the_same(among: Tuning, store: Path) -> None:
    asked: dict[str, Any] = {"allow": "", "over": SPACE, "budget": 6, "repeat": 2}
    again = tune(job("theta"), **asked, jobs=2, store=store, beside=MIX)
    assert again.simulated == 0
    assert document_of(tuning_answer("", again)) == document_of(tuning_answer("", among))


def test_who_shares_an_ost_delays_each_other() -> None:
    large = {"nodes": 8, "ppn": 4, "workload": {"ior": "-F -w -e -b 16m -t 1m"}}
    other = mix_of({"name": "other", "striping": {"count": 1, "offset": 7}, **large})
    there, elsewhere = (
        job("theta", striping={"count": 1, "offset": ost}, **large) for ost in (7, 40)
    )
    neighbours = Neighbours(other, there, 0, "all", Simulations())
    (same,), (apart,) = neighbours.meet([there, elsewhere], [1])  # type: ignore[misc]
    assert same.others > 1.5
    assert same.seconds > 1.5 * apart.seconds
    assert apart.others == pytest.approx(1.0, abs=0.05)


def test_the_jobs_that_stand_for_most_are_met() -> None:
    many = [{"name": f"job-{n}", "weight": 1 + n} for n in range(MOST + 2)]
    met = chosen_neighbours(mix_of(*many), 100)
    assert [one.name for one in met] == [f"job-{n}" for n in range(2, MOST + 2)]
    few = chosen_neighbours(mix_of({"name": "small"}, {"name": "large", "nodes": 64}), 10)
    assert [one.name for one in few] == ["small"]


def met(name: str, seconds: float, others: float) -> SettingBesideJobs:
    return SettingBesideJobs(Trial({"name": name}, job("theta")), (NeighbourRun(seconds, others),))


def test_of_settings_as_fast_the_one_that_delays_others_least_is_chosen() -> None:
    def effort(trial: Trial) -> tuple[int, ...]:
        return (len(trial.setting["name"]),)

    wide, narrow, slow = met("wide", 1.0, 1.5), met("narrow", 1.02, 1.2), met("slow", 1.2, 1.0)
    assert chosen_of([wide, narrow, slow], effort) is narrow
    like = met("few", 1.01, 1.22)
    assert chosen_of([wide, narrow, like, slow], effort) is like


@pytest.mark.parametrize(
    ("asked", "machine", "fields", "said"),
    [
        ("typical", "theta", {}, "usual day of theta is not known"),
        ("typical", "cori-knl", {"target": "bb"}, "not on Lustre"),
        ("typical", "cori-knl", {"background": {"read": "1 GB/s"}}, "background of its own"),
        ("busy", "theta", {}, "right would be typical, nothing, or a mix"),
        ("theta-mix", "cori-knl", {}, "right would be a mix of cori-knl"),
    ],
)
def test_what_cannot_be_is_said(
    asked: str, machine: str, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_beside(asked, job(machine, **fields))


def test_a_day_that_the_disks_cannot_carry_is_said(store: Path) -> None:
    heavy = job("cori-knl", changes={"lustre.other_writes": "300 GB/s"})
    asked: dict[str, Any] = {"allow": "", "over": SPACE, "budget": 4, "repeat": 2, "jobs": 1}
    with pytest.raises(InputError, match="cannot be run as it is: background: other jobs"):
        tune(heavy, **asked, store=store)


def test_a_mix_without_room_is_refused() -> None:
    whole = mix_of({"name": "whole", "nodes": 4392})
    with pytest.raises(InputError, match="no job of the mix has room"):
        Neighbours(whole, job("theta"), 0, "all", Simulations())
