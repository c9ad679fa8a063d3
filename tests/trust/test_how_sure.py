"""How sure a figure is: intervals of rates, and chances that one run is faster."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.scenario import Scenario
from xc40io.trust.how_sure import (
    LIKELY,
    ExpectedError,
    chance_better,
    chance_within,
    expected,
    interval,
    ratio_spread,
    real_interval,
    together,
)
from xc40io.trust.model_error import Spread, model_errors
from xc40io.trust.run_kind import run_kind
from xc40io.workloads.catalogue import traits_of

VALUES = st.floats(1e-6, 1e15)
RATIOS = st.floats(0.01, 100.0)
SPREADS = st.builds(
    lambda median, more: Spread(median=median, nine_of_ten=median + more),
    st.floats(0.01, 1.0),
    st.floats(0.01, 2.0),
)
THINGS = sorted(model_errors().ratios)
NEVER = "no run of this kind was ever measured"


def job(ior: str = "-a POSIX -F -w -b 64m -t 4m", **fields: Any) -> Scenario:
    described = {"machine": "theta", "nodes": 64, "ppn": 16, "workload": {"ior": ior}, **fields}
    return Scenario.model_validate(described)


OFF = st.builds(ExpectedError, st.floats(-1.0, 1.0), st.floats(0.01, 2.0))


@given(VALUES, OFF)
def test_the_middle_of_an_interval_is_the_value_less_what_runs_near_it_were_off(
    value: float, off: ExpectedError
) -> None:
    low, high, *_ = interval(value, off)
    assert low < high
    assert math.sqrt(low) * math.sqrt(high) == pytest.approx(value / math.exp(off.center))


@given(VALUES, OFF, st.floats(0.0, 1.0))
def test_the_larger_the_errors_the_wider_the_interval(
    value: float, off: ExpectedError, more: float
) -> None:
    larger = off._replace(nine_of_ten=off.nine_of_ten + more)
    assert interval(value, larger).low <= interval(value, off).low
    assert interval(value, larger).high >= interval(value, off).high


def test_a_run_as_measured_says_no_why_and_lies_between_its_bounds() -> None:
    found = real_interval(job(), traits_of(job()), "write", 1e10)
    assert (found.measured, found.why) == (True, "")
    assert found.low < 1e10 < found.high


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (job(target="home"), NEVER),
        (job(machine="theta", changes={"lustre.osts": 112}), "with such values of the machine"),
        (job(nodes=2000), f"{NEVER} on more than 960 nodes"),
        (job(nodes=900, ppn=64), f"{NEVER} with more than 8,192 ranks"),
        (job("-a POSIX -F -w -b 256g -t 4m"), f"{NEVER} with more than 150 GiB a rank"),
        (job("-a POSIX -F -w -b 64m -t 4k"), f"{NEVER} in calls of less than 256 KiB"),
        (job("-a MPIIO -c -w -b 16m -t 16m", machine="cori-knl"), f"{NEVER} on cori-knl"),
        (job(faults=["OST 3 slow 5 from 0.2 s to 1 s"]), "with faults"),
    ],
)
def test_beyond_what_was_measured_it_says_why(scenario: Scenario, why: str) -> None:
    traits = traits_of(scenario)
    assert expected(scenario, traits, "write").why.endswith(why)
    assert not real_interval(scenario, traits, "write", 1.0).measured


@pytest.mark.parametrize(
    "changed", [{"changes": {"lustre.osts": 112}}, {"faults": ["OST 3 slow 5 from 0.2 s to 1 s"]}]
)
def test_a_machine_with_other_values_or_with_faults_is_less_sure(changed: dict[str, Any]) -> None:
    known, other = (
        expected(one, traits_of(one), "write").nine_of_ten for one in (job(), job(**changed))
    )
    assert other > known


def test_the_measured_runs_are_no_strangers() -> None:
    many = job(nodes=256)
    assert run_kind(traits_of(many), "write") in model_errors().kinds
    assert expected(many, traits_of(many), "write").why == ""


@given(SPREADS)
def test_nothing_is_known_of_two_runs_simulated_alike(spread: Spread) -> None:
    assert chance_within(1.0, spread) == 0.5


@given(RATIOS, SPREADS)
def test_one_is_faster_or_the_other(ratio: float, spread: Spread) -> None:
    chance = chance_within(ratio, spread)
    assert 0.0 <= chance <= 1.0
    assert chance + chance_within(1.0 / ratio, spread) == pytest.approx(1.0)


@given(RATIOS, RATIOS, SPREADS)
def test_the_faster_it_was_simulated_the_surer(one: float, other: float, spread: Spread) -> None:
    low, high = sorted((one, other))
    assert chance_within(low, spread) <= chance_within(high, spread)


@given(st.floats(1.0, 100.0), SPREADS, st.floats(1.0, 3.0))
def test_the_larger_the_errors_the_less_sure(ratio: float, spread: Spread, times: float) -> None:
    larger = Spread(median=times * spread.median, nine_of_ten=times * spread.nine_of_ten)
    assert chance_within(ratio, larger) <= chance_within(ratio, spread) + 1e-12


@given(SPREADS)
def test_the_two_known_quantiles_come_out(spread: Spread) -> None:
    assert chance_within(math.exp(spread.median), spread) == pytest.approx(LIKELY)
    assert chance_within(math.exp(spread.nine_of_ten), spread) == pytest.approx(0.95)


@given(st.floats(1.0, 100.0), st.sets(st.sampled_from(THINGS), min_size=1), st.sampled_from(THINGS))
def test_more_differences_make_it_less_sure(ratio: float, things: set[str], more: str) -> None:
    assert chance_better(ratio, {*things, more}) <= chance_better(ratio, things) + 0.01


def test_what_was_never_tried_has_the_errors_of_all_ratios() -> None:
    assert "direct I/O" not in model_errors().ratios
    assert ratio_spread(["direct I/O"]) == together([model_errors().any_ratio])
    assert ratio_spread([]) == ratio_spread(["direct I/O"])
