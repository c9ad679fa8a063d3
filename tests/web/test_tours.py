"""The guided tours: that they are whole, and that what they say of runs is so."""

from __future__ import annotations

import re

import pytest

from xc40io.config.scenario import machine_of
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.validation.published import published_points
from xc40io.web.published import comparable
from xc40io.web.runs import Outcome, run
from xc40io.web.settings import FIRST, Settings
from xc40io.web.tours import filled, tours
from xc40io.web.translation import scenario_of
from xc40io.workloads.ior.checks import check
from xc40io.workloads.ior.options import parse_arguments

LIMITS = Limits(rpcs=300_000, ranks=16_384)

FASTER = {
    ("writers", 0): 1.2,
    ("writers", 1): 2.0,
    ("writers", 2): 1.5,
    ("writers", 3): 3.0,
    ("own-files", 0): 1.2,
    ("own-files", 1): 1 / 0.3,
    ("stripes", 0): 10.0,
    ("stripes", 1): 1.2,
    ("ssd", 0): 1 / 0.5,
}
SLOWER = {("own-files", 1), ("ssd", 0)}
"""By which factor B is faster, or slower, than A at least, as the texts have it."""


def outcome(settings: Settings) -> Outcome:
    desk = Desk(LIMITS, 1, lambda _done, _total: None)
    return Outcome.model_validate(run(settings.model_dump(), desk))


def test_there_are_six_in_the_order_in_which_they_are_offered():
    assert [tour.title for tour in tours().values()] == [
        "Why 8 MB stripes",
        "Two writers, one stripe",
        "The client cache",
        "Aggregators",
        "Own files and the MDS",
        "SSD or Lustre",
    ]


@pytest.mark.parametrize("name", tours())
def test_each_step_can_be_run_and_compares_two_settings(name: str):
    for step in tours()[name].steps:
        assert step.state.b is not None
        assert step.state.a != step.state.b
        for settings in step.state[:2]:
            scenario = scenario_of(settings)
            check(parse_arguments(scenario.workload.ior).tests, scenario, machine_of(scenario))


@pytest.mark.parametrize("name", tours())
def test_figures_in_texts_are_computed(name: str):
    for step in tours()[name].steps:
        told = re.sub(r"\{[^}]*\}", "", step.look)
        assert not re.search(r"\d (GB/s|times)", told)
        assert filled(step.look, None, None) is None  # each look has a figure


@pytest.mark.parametrize(("name", "step"), FASTER)
def test_what_a_step_says_of_its_runs_is_so(name: str, step: int):
    found = tours()[name].steps[step]
    a, b = outcome(found.state.a), outcome(found.state.b)
    ratio = b.phases[0].bandwidth / a.phases[0].bandwidth
    slower = (name, step) in SLOWER
    assert (1 / ratio if slower else ratio) > FASTER[name, step]
    told = filled(found.look, a, b)
    assert told is not None
    assert "{" not in told


def test_the_first_page_and_two_tours_begin_at_published_runs():
    points = published_points()
    stripes, ssd = (tours()[name].steps[0].state.b for name in ("stripes", "ssd"))
    for settings, identity in ((FIRST, "B02"), (stripes, "B02"), (ssd, "A35")):
        first, *_ = comparable(points, settings, "write")
        assert (first.point.id, first.differences) == (identity, [])


def test_two_nodes_that_take_turns_are_slower_than_one_alone():
    first, second = tours()["writers"].steps[:2]
    alone, turns = (outcome(step.state.a).phases[0].bandwidth for step in (first, second))
    assert turns < 0.7 * alone


@pytest.mark.parametrize("name", tours())
def test_a_step_changes_one_thing(name: str):
    for step in tours()[name].steps:
        changed = {one.name for one in step.state.a.differences(step.state.b)}
        # Who has a file of its own does not take turns in it; as many bytes are shared by more.
        apart = {"pattern"} if "files" in changed else set()
        apart |= (
            {"stripe_count", "stripe_size"} if "files" in changed or "target" in changed else set()
        )
        apart |= {"block"} if "nodes" in changed else set()
        assert len(changed - apart) == 1, (step.title, changed)
