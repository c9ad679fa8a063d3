"""What a change of the number of nodes costs."""

from __future__ import annotations

import pytest

from xc40io import Scenario, tune
from xc40io.studies.advice.node_time import NodeTime, node_time
from xc40io.studies.explain.explanation import explain
from xc40io.studies.explain.explanation_answer import explanation_answer
from xc40io.studies.tune.tune_answer import tuning_answer
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (NodeTime(4320.0, 8280.0), "2.30 node-hours of I/O in place of 1.20"),
        (NodeTime(0.302, 0.0765), "0.0765 node-seconds of I/O in place of 0.302"),
        (NodeTime(7.2e6, 3.6e6), "1,000 node-hours of I/O in place of 2,000"),
    ],
)
def test_it_is_told_in_hours_from_an_hour_on(cost: NodeTime, words: str) -> None:
    assert cost.words == words


def test_it_is_nodes_times_seconds_over_all_seeds() -> None:
    assert node_time((2, 4), [10.0, 12.0], [6.0, 8.0]) == NodeTime(22.0, 28.0)
    assert node_time((2, 2), [10.0], [6.0]) is None


DUMP = {"kernel": {"name": "vpic-io", "particles": 100_000, "collective": True}}
JOB = Scenario(machine="theta", nodes=2, ppn=2, workload=DUMP)


def test_explain_tells_it_of_changes_of_nodes_alone() -> None:
    told = explanation_answer(explain(JOB, jobs=1))
    (phase,) = document_of(told)["phases"]
    costs = {one["typed"]: one["node_seconds"] for one in phase["with"]}
    assert costs["--stripe-count 2"] is None
    fewer = costs["--nodes 1 --ppn 4"]
    assert fewer["before"] == pytest.approx(2 * phase["seconds"], rel=0.05)  # its mean of seeds
    assert fewer["after"] < fewer["before"] / 2
    text = " ".join(text_of(told).split())
    assert f"{NodeTime(**fewer).words})" in text
    assert text.count("node-seconds") == text.count("(--nodes")


@pytest.mark.slow
def test_tune_tells_it_if_its_best_has_other_nodes(tmp_path) -> None:
    asked = {"budget": 9, "repeat": 1, "jobs": 1, "store": tmp_path}
    spread = tune(JOB, allow="ranks-per-node", **asked)
    cost = document_of(tuning_answer("", spread))["node_seconds"]
    assert spread.best.scenario.nodes != 2
    assert cost["after"] == spread.best.scenario.nodes * spread.best.mean
    assert f"That is {NodeTime(**cost).words}." in " ".join(
        text_of(tuning_answer("", spread)).split()
    )
    stripes = tune(JOB, allow="stripe-count", **asked)
    assert document_of(tuning_answer("", stripes))["node_seconds"] is None
    assert "node-seconds" not in text_of(tuning_answer("", stripes))
