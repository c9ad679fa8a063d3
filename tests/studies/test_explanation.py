"""What an explanation says is to blame: troubles that were planted are found."""

from __future__ import annotations

from typing import Any

import pytest

from sim.config.scenario import Scenario, load_scenario
from sim.run.simulate import simulate
from sim.studies.explanation import WORTH_SAYING, PhaseExplanation, Tried, explain
from sim.studies.explanation_text import advice, verdict
from sim.studies.remedies import Kind

MDS_A_TENTH = {
    f"lustre.mds.{name}_rate": rate
    for name, rate in [
        *[("open", 9_960), ("create", 5_000), ("close", 10_000), ("directory", 3_400)],
        *[("stat", 50_000), ("sync", 10_000)],
    ]
}


def described(ior: str, count: int, size: int, **more: Any) -> Scenario:
    document = {
        "machine": "theta",
        "nodes": 16,
        "ppn": 4,
        "striping": {"count": count, "size": size << 20},
        "workload": {"ior": ior},
    }
    return Scenario.model_validate(document | more)


def first(scenario: Scenario, access: str = "write") -> PhaseExplanation:
    """Return the explanation of one kind of phase."""
    (phase,) = [one for one in explain(scenario).phases if one.load.access == access]
    return phase


def test_a_slow_ost_is_named():
    phase = first(described("-w -e -F -b 32m -t 8m", 1, 1, nodes=64, slow={"OST 3": 5.0}))
    assert "OST 3" in phase.without[0].words
    assert phase.without[0].helps
    assert "bound by the time that OST 3 takes" in verdict(phase)


def test_a_slow_router_is_named():
    ior = "-w -F -B -b 64m -t 64m"
    free = {"lustre.ost_write_latency": 0.0, "lustre.ost_write_rate": 3e11, "lustre.oss_rate": 6e11}
    slow = {"LNET router 5": 30.0}
    phase = first(described(ior, 8, 8, slow=slow, changes=free))
    assert "LNET router 5" in phase.without[0].words
    assert phase.without[0].helps


def test_an_mds_at_a_tenth_of_its_speed_is_named():
    phase = first(described("-w -F -b 64k -t 64k", 1, 1, nodes=64, ppn=8, changes=MDS_A_TENTH))
    assert "the MDS" in phase.without[0].words
    assert phase.without[0].gain > 3.0


def test_stripes_that_are_too_small_for_64_writers_are_named():
    phase = first(described("-w -e -b 32m -t 32m", 48, 1))
    assert "extent locks" in phase.without[0].words
    best = settings(phase)[0]
    assert "in place of 1 MiB" in best.words
    assert best.gain > 1.5
    assert best.words in advice(phase)


def test_aggregators_that_share_an_ost_without_the_group_lock_are_named():
    hints = {"MPICH_MPIIO_HINTS": "*:cray_cb_nodes_multiplier=2"}
    phase = first(described("-a MPIIO -c -w -b 4m -t 4m", 8, 1, environment=hints))
    by_words = {one.words: one.gain for one in settings(phase)}
    assert by_words["one aggregator a stripe"] > 1.5


def settings(phase: PhaseExplanation) -> list[Tried]:
    return [one for one in phase.changed if one.kind == Kind.SETTING]


def gain(one: Tried) -> float:
    return one.gain


def test_what_is_claimed_is_what_a_run_brings():
    """The change that helps most is made by hand, and brings what was said."""
    scenario = described("-w -e -b 8m -t 8m", 1, 1)
    phase = first(scenario)
    best = phase.changed[0]
    assert best.helps
    again = [one for one in phase.changed if one.typed == "--stripe-count 56 --stripe-size 1m"]
    striping = scenario.striping.__class__(count=56, size=1 << 20)
    result = simulate(scenario.model_copy(update={"striping": striping}))
    assert result.rows[0].seconds == pytest.approx(again[0].seconds)
    assert again[0].gain == pytest.approx(phase.seconds / result.rows[0].seconds)


def test_nothing_helps_where_nothing_does():
    phase = first(described("-w -F -b 64k -t 64k", 1, 1, nodes=64, ppn=8, changes=MDS_A_TENTH))
    assert not phase.changed or not phase.changed[0].helps
    assert advice(phase).startswith(("Nothing that can be changed here helps", "There is nothing"))


def test_the_answer_does_not_depend_on_the_number_of_processes():
    scenario = described("-w -e -b 8m -t 8m", 4, 1, nodes=4)
    one, two = explain(scenario, jobs=1), explain(scenario, jobs=2)
    assert [phase.without for phase in one.phases] == [phase.without for phase in two.phases]
    assert [phase.changed for phase in one.phases] == [phase.changed for phase in two.phases]


def test_every_phase_of_a_shipped_scenario_is_explained():
    explanation = explain(load_scenario("theta-lock-contention"), jobs=2)
    for phase in explanation.phases:
        shares = sum(wait.share for wait in phase.load.waits)
        assert shares == pytest.approx(1.0)
        assert [one.gain for one in phase.changed] == sorted(map(gain, phase.changed), reverse=True)
        if phase.without[0].gain >= WORTH_SAYING:
            assert phase.without[0].words in verdict(phase)


def test_on_theta_everything_that_is_tried_can_be_made():
    explanation = explain(described("-w -B -b 8m -t 8m", 4, 1, nodes=4))
    assert explanation.refused == ()
    (phase,) = explanation.phases
    assert "the OSSs' limit" in {one.words for one in phase.without}
    assert "42 LNET routers for data in place of 28" in {one.words for one in phase.changed}
