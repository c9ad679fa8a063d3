"""Which of the changes that help are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.studies.advice.changes import Change
from xc40io.studies.advice.knobs import Who
from xc40io.studies.advice.weighing import ChangeEffect
from xc40io.studies.case import Case
from xc40io.studies.explain.trials import TrialRun, worth_telling
from xc40io.studies.ratio import Ratio

CASE = Case(
    Scenario.model_validate(
        {"machine": "theta", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m -t 1m"}}
    )
)


def tried(
    phase: float, whole: float, who: Who = Who.SETTINGS, job: str = "", **turned: Any
) -> TrialRun:
    words = f"{turned}"
    change = Change(words, words, CASE, who, job, turned)
    weighed = ChangeEffect(Ratio(phase), Ratio(whole), 0.9)
    return TrialRun(words, words, 1.0, phase, kind=who, weighed=weighed, change=change)


def told(*some: TrialRun) -> list[TrialRun]:
    return list(worth_telling(some))


def test_other_knobs_are_told_beside_the_best() -> None:
    stripes, calls = tried(4.0, 4.0, count=48), tried(2.0, 2.0, calls="collective")
    assert told(stripes, calls) == [stripes, calls]


def test_a_larger_change_must_bring_more() -> None:
    stripes = tried(4.0, 4.0, count=48)
    assert told(stripes, tried(4.05, 4.05, count=48, size=8)) == [stripes]
    both = tried(5.0, 5.0, count=48, size=8)
    assert told(stripes, both) == [stripes, both]


def test_more_of_one_phase_and_less_of_all_is_not_more() -> None:
    stripes = tried(4.0, 4.0, count=48)
    assert told(stripes, tried(6.0, 2.0, count=48, buffering="off")) == [stripes]


def test_of_two_changes_of_one_size_that_share_a_knob_the_better_is_told() -> None:
    better = tried(4.0, 4.0, nodes=4, count=48)
    assert told(better, tried(3.0, 3.0, nodes=4, size=8)) == [better]


def test_who_can_change_less_is_told_his_own() -> None:
    own = tried(9.0, 9.0, Who.PROGRAM, layout="own files")
    stripes = tried(4.0, 4.0, count=48, size=8)
    small = tried(8.0, 8.0, Who.PROGRAM, layout="own files", count=1)
    assert told(own, small, stripes) == [own, stripes]


def test_each_job_has_changes_of_its_own() -> None:
    one, other = tried(4.0, 4.0, job="a", count=48), tried(2.0, 2.0, job="b", count=48)
    assert told(one, other) == [one, other]


def on_nodes(one: TrialRun, number: int) -> TrialRun:
    assert one.change is not None
    return replace(one, change=one.change._replace(nodes=(4, number)))


def test_more_nodes_must_be_worth_them() -> None:
    own = on_nodes(tried(9.0, 9.0, Who.PROGRAM, layout="own files"), 4)
    wide = {"layout": "own files", "spread": 1}
    dear = on_nodes(tried(14.0, 14.0, Who.PROGRAM, **wide), 8)
    assert told(own, dear) == [own]
    worth = on_nodes(tried(20.0, 20.0, Who.PROGRAM, **wide), 8)
    assert told(own, worth) == [own, worth]
    fewer = on_nodes(tried(9.5, 9.5, Who.PROGRAM, **wide), 2)
    assert told(own, fewer) == [own, fewer]
