"""Tuning: good settings in few runs, the same ones every time, and nothing that cannot be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from xc40io import InputError, Scenario, tune
from xc40io.studies.advice.job_knobs import BY_DEFAULT, knobs_of
from xc40io.studies.advice.job_nature import nature_of
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.studies.tune.lines_to_paste import proposal_of
from xc40io.studies.tune.search import Budget
from xc40io.studies.tune.tune_answer import tuning_answer
from xc40io.studies.tune.tuning import GIVEN_UP, Question, Tuner
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

SPACE = {"striping.count": [1, 4, 16, 48, 56], "striping.size": ["1m", "2m", "4m", "8m"]}
JOBS = {
    "shared, written": "-a POSIX -w -e -b 4m -t 4m",
    "own files": "-a POSIX -F -w -e -b 8m -t 8m",
    "read": "-a POSIX -r -E -b 4m -t 2m",
    "collective": "-a MPIIO -c -w -e -b 16m -t 4m",  # of one call, half of all settings do well
}


def job(ior: str, **fields: Any) -> Scenario:
    described = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"ior": ior}, **fields}
    return Scenario.model_validate(described)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize("name", JOBS)
def test_a_fifth_of_the_runs_finds_what_all_of_them_do(name: str, store: Path) -> None:
    asked: dict[str, Any] = {"allow": "", "over": SPACE, "repeat": 1, "jobs": 1, "store": store}
    everything = tune(job(JOBS[name]), budget=100, **asked)
    found = tune(job(JOBS[name]), budget=len(everything.trials) // 5, **asked)
    assert everything.exhaustive
    assert not found.exhaustive
    best = everything.best.mean
    assert found.simulated <= 2 * 3  # all were run before, but for those that confirm the best
    assert found.best.mean <= 1.03 * best
    assert min(trial.mean for trial in found.trials[:5]) <= 1.15 * best


def tuner(folder: Path, stop_after: int | None = None) -> Tuner:
    """A search over a small job, interrupted when so many runs have finished."""
    finished = 0

    def count(done: int, _total: int) -> None:
        nonlocal finished
        finished = max(finished, done)
        if finished == stop_after:
            raise KeyboardInterrupt

    question = Question(
        job("-a POSIX -w -e -b 2m -t 1m", nodes=2, ppn=2),
        allow=BY_DEFAULT,
        at_most=(),
        over=(),
        objective="all",
        budget=Budget(runs=9),
        repeat=2,
        simulations=Simulations(1, Store(folder), count),
    )
    return question.begin()


def test_who_was_interrupted_goes_on_to_the_same_answer(tmp_path: Path) -> None:
    through = tuner(tmp_path / "through").run()
    stopped = tuner(tmp_path / "stopped", stop_after=5)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    so_far = stopped.found()
    assert not so_far.finished
    assert "Interrupted" in text_of(tuning_answer("so far", so_far))
    resumed = tuner(tmp_path / "stopped").run()
    assert resumed.recalled == 5
    assert resumed.simulated + resumed.recalled == through.simulated
    assert through.simulated - 2 * 3 - 2 * len(through.space.knobs) <= 9
    assert document_of(tuning_answer("", resumed)) == document_of(tuning_answer("", through))
    assert resumed.to_pandas().equals(through.to_pandas())


HEADLINE = "-a MPIIO -w -r -C -e -b 8m -t 8m"


@pytest.mark.parametrize(
    ("scenario", "asked"),
    [
        (job(JOBS["shared, written"]), {"allow": "", "over": SPACE, "budget": 14, "repeat": 2}),
        pytest.param("theta-headline", {"budget": 40}, marks=pytest.mark.slow),
        pytest.param(
            job(HEADLINE, nodes=256, ppn=16), {"budget": 40}, marks=pytest.mark.slow
        ),  # from the default layout: one stripe
    ],
)
def test_giving_up_what_cannot_win_leaves_the_answer(
    scenario: Any, asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tune(scenario, **asked, store=tmp_path / "given up")
    again = tune(scenario, **asked, store=tmp_path / "given up")
    monkeypatch.setattr("xc40io.studies.tune.tuning.GIVEN_UP", math.inf)
    whole = tune(scenario, **asked, store=tmp_path / "whole")
    assert again.simulated == 0
    assert document_of(tuning_answer("", again)) == document_of(tuning_answer("", found))
    assert found.best == whole.best
    assert found.gain == whole.gain
    assert found.runners_up[0] == whole.runners_up[0]
    seconds = {found.space.key(one.setting): one.mean for one in whole.trials if one.seconds}
    given_up = [one for one in found.trials if one.given_up]
    assert given_up
    assert not any(one.given_up for one in whole.trials)
    for one in given_up:
        assert one.mean >= GIVEN_UP * found.best.seconds[0]
        assert seconds.get(found.space.key(one.setting), math.inf) > one.mean
    text = text_of(tuning_answer("a job", found))
    assert f"3 times as long as the best until then: {len(given_up)} setting" in text
    assert given_up[0].mean in found.to_pandas().query("given_up").seconds.tolist()


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"budget": 6, "repeat": 1}
    scenario = job("-a POSIX -w -b 1m -t 1m", nodes=1, ppn=2)
    one, two = (tune(scenario, jobs=jobs, store=tmp_path / str(jobs), **asked) for jobs in (1, 2))
    assert document_of(tuning_answer("", one)) == document_of(tuning_answer("", two))


def test_those_near_the_best_get_all_seeds(store: Path) -> None:
    found = tune(job(JOBS["shared, written"]), allow="", over=SPACE, budget=16, jobs=1, store=store)
    assert found.seeds == (1, 2, 3)
    assert len(found.best.seconds) == len(found.present.seconds) == 3
    assert found.gain.clear
    assert found.gain.value > 1.5
    on_top = 2 * 3 + 3 * len(found.space.knobs)  # to confirm the best, and to make it simple
    assert found.simulated + found.recalled <= 16 + on_top
    assert [runner.slower.value for runner in found.runners_up] == sorted(
        runner.slower.value for runner in found.runners_up
    )
    assert sum(found.importance.values()) == pytest.approx(1.0)
    text = text_of(tuning_answer("a job", found))
    assert "lfs setstripe -c " in text
    assert "aprun -n 8 -N 4 ior -a POSIX -w -e -b 4m -t 4m" in text
    assert "shared file, write" in text


def test_the_best_may_be_what_there_is(store: Path) -> None:
    asked: dict[str, Any] = {"allow": "", "over": SPACE, "repeat": 1, "jobs": 1, "store": store}
    best = tune(job(JOBS["shared, written"]), budget=30, **asked).best
    found = tune(best.scenario, budget=4, **asked)
    assert found.already_best
    assert "Change nothing: " in text_of(tuning_answer("a job", found))


def names(scenario: Scenario, allow: str = "all") -> set[str]:
    """The knobs of a job, after a run of it."""
    from xc40io.studies.advice.job_knobs import read_allowed

    (record,) = Simulations().run([scenario])
    nature = nature_of(scenario, record)  # type: ignore[arg-type]
    return {knob.name for knob in knobs_of(nature, read_allowed(allow))}


def test_knobs_follow_from_the_job() -> None:
    small = {"nodes": 2, "ppn": 2}
    posix = names(job("-a POSIX -w -b 1m -t 1m", **small))
    assert posix == {"stripe-count", "stripe-size", "ranks-per-node", "direct", "layout"}
    assert names(job("-a POSIX -F -w -b 4m -t 1m", **small)) == posix | {"target", "call-size"}
    together = names(job("-a MPIIO -c -w -b 1m -t 1m", **small))
    assert together - posix == {
        *("aggregators", "lock-mode", "buffering", "collective", "exchange")
    }
    alone = names(job("-a MPIIO -w -b 1m -t 1m", **small), "aggregators,lock-mode,stripe-count")
    assert alone == {"stripe-count"}
    vpic = Scenario(machine="theta", workload={"kernel": "vpic-io"}, **small)
    assert "layout" not in names(vpic)


@pytest.mark.parametrize(
    ("limit", "holds"),
    [
        ({"osts": 4}, lambda scenario: scenario.striping.count <= 4),
        ({"files": 1}, lambda scenario: "-F" not in scenario.workload.ior),
        ({"nodes": 2}, lambda scenario: scenario.nodes <= 2),
        ({"memory": "2m"}, lambda scenario: scenario.striping.size <= 2 << 20),
    ],
)
def test_limits_are_kept(limit: dict[str, Any], holds: Any, store: Path) -> None:
    found = tune(
        job("-a MPIIO -c -w -b 1m -t 1m", nodes=2, ppn=2, striping={"count": 1, "size": "1m"}),
        allow="stripe-count,stripe-size,layout,ranks-per-node",
        at_most=limit,
        budget=6,
        repeat=1,
        jobs=1,
        store=store,
    )
    assert len(found.trials) >= 6
    assert all(holds(trial.scenario) for trial in found.trials)


def test_settings_are_lines_to_paste(store: Path) -> None:
    found = tune(
        job("-a MPIIO -c -w -b 1m -t 1m -o /scratch/me/out", nodes=2, ppn=2),
        allow="aggregators,lock-mode",
        over={"striping.count": [4], "striping.size": ["1m"]},
        budget=30,
        repeat=1,
        jobs=1,
        store=store,
    )
    space = found.space
    wanted = {"aggregators": 1, "lock-mode": "group", "stripe-count": 4, "stripe-size": 1 << 20}
    trial = next(one for one in found.trials if one.setting == wanted)
    proposal = proposal_of(space, trial)
    assert proposal.setstripe == "lfs setstripe -c 4 -S 1m /scratch/me"
    assert proposal.hints == (
        'export MPICH_MPIIO_HINTS="*:cray_cb_write_lock_mode=1:romio_no_indep_rw=true"'
    )
    assert proposal.start == "aprun -n 4 -N 2 ior -a MPIIO -c -w -b 1m -t 1m -o /scratch/me/out"


def test_the_environment_that_a_setting_needs_is_a_line_to_paste(store: Path) -> None:
    kernel = {"name": "vpic-io", "particles": 4096}
    scenario = job("", nodes=1, ppn=2, workload={"kernel": kernel})
    found = tune(scenario, allow="options", budget=6, repeat=1, jobs=1, store=store)
    lines = {
        (trial.setting.get("subfiling", False), trial.setting.get("concentrators", 1)): proposal_of(
            found.space, trial
        ).lines
        for trial in found.trials
    }
    exported = "export H5FD_SUBFILING_IOC_PER_NODE=2"
    assert exported in lines[True, 2]
    assert not any(line.startswith("export") for line in lines[False, 1])


def test_a_setting_that_loses_bytes_is_none(store: Path) -> None:
    found = tune(
        job("-a POSIX -F -w -e -b 1g -t 1g", nodes=1, ppn=2, changes={"ssd.capacity": "1 GiB"}),
        allow="target",
        budget=4,
        repeat=1,
        jobs=1,
        store=store,
    )
    (lost,) = found.failures
    assert lost.scenario.target.kind == "ssd"
    assert "found no room" in lost.failure
    assert found.best is found.present


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"objective": "fastest"}, "right would be all, write, read"),
        ({"objective": "read"}, "no such phase of I/O; its phases are: write"),
        ({"budget": 1}, "right would be a number of runs, 2 or more"),
        ({"budget": "soon"}, "or of seconds, as in 120s"),
        ({"allow": "aggregators"}, "there is nothing to tune"),
        ({"allow": "stripes"}, "there is no such knob"),
        ({"at_most": {"cores": 4}}, "one of nodes, files, osts, memory"),
        ({"at_most": {"osts": 0}}, "a whole number, 1 or more"),
        ({"over": {"strping.count": [1]}}, "did you mean striping"),
        ({"repeat": 0}, "right would be 1 or more"),
    ],
)
def test_what_cannot_be_is_said(asked: dict[str, Any], said: str, store: Path) -> None:
    with pytest.raises(InputError, match=said):
        tune(job("-w -b 1m -t 1m", nodes=1, ppn=1), jobs=1, store=store, **asked)
