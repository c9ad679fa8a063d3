"""Errors of ratios: what two runs of one series have in common cancels."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_records import claim

from xc40io.config.scenario import Scenario
from xc40io.validation.claim import load_claims
from xc40io.validation.model_error import errors_of_changes
from xc40io.validation.ratio_error import (
    RatedRatio,
    bounded,
    claimed,
    compared,
    gains_of,
    quotient_of,
)


def job(ior: str = "-a POSIX -w -b 8m -t 1m", **fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 4, "ppn": 16, "workload": {"ior": ior}, **fields}
    return Scenario.model_validate(described)


def rated(name: str, scenario: Scenario, error: float, measured: float = 1.0) -> RatedRatio:
    return RatedRatio("a figure", scenario, "write", name, error, error, measured)


@given(st.floats(-2, 2), st.floats(-0.5, 0.5))
def test_a_common_error_cancels(common: float, more: float) -> None:
    few, many = rated("few", job(), common), rated("many", job(nodes=8), common + more)
    (ratio,) = compared([few, many])
    assert ratio.thing == "nodes"
    assert ratio.crossed == pytest.approx(-more, abs=1e-12)


def test_two_things_make_no_ratio_nor_do_two_machines_or_series() -> None:
    here = rated("here", job(), 0.1)
    assert compared([here, rated("b", job(nodes=8, ppn=8), 0.2)]) == []
    assert compared([here, rated("b", job(nodes=8, machine="cori-knl"), 0.2)]) == []
    assert compared([here, rated("b", job(nodes=8), 0.2)._replace(series="another")]) == []
    assert compared([here, rated("b", job(nodes=8), 0.2)._replace(phase="read")]) == []
    assert compared([here, here._replace(crossed=0.5)]) == [], "the same simulated number"


def test_a_series_of_n_runs_counts_as_n_less_one() -> None:
    ratios = compared(rated(str(n), job(nodes=n), 0.1 * n) for n in (1, 2, 4, 8, 16))
    assert len(ratios) == 10
    assert sum(ratio.weight for ratio in ratios) == pytest.approx(4.0)


def test_the_slower_one_simulated_as_the_faster_is_turned() -> None:
    (right,) = compared([rated("a", job(), 0.0, 2.0), rated("b", job(nodes=8), 0.5, 1.0)])
    (wrong,) = compared([rated("a", job(), 0.0, 2.0), rated("b", job(nodes=8), 0.8, 1.0)])
    assert not right.turned
    assert wrong.turned


def test_claims_that_are_ratios() -> None:
    ratio = claim("ab", {"ratio": 4, "tolerance": "25%"}, metric="write(a) / write(b)")
    assert quotient_of(ratio) == ("a", "b")
    assert claimed(ratio, 0.1, 0.2) is None, "the two runs are one"
    large = {"a": job(), "b": job("-a POSIX -w -b 1m -t 1m")}
    found = claimed(ratio.model_copy(update={"runs": large}), 0.1, 0.2)
    assert found is not None
    assert (found.thing, found.crossed, found.measured) == ("size", 0.2, 4.0)
    assert math.isclose(found.weight, 1.0)
    assert quotient_of(claim("a", {"value": "1 GB/s", "tolerance": "25%"})) is None
    assert quotient_of(load_claims()["B02.ratio"]) == ("large", "small")


def test_gains_are_those_of_one_knob_by_kind_and_way() -> None:
    one, wide = job(), job(striping={"count": 8})
    few, many = rated("few", one, 0.1)._replace(claim="A1"), rated("many", wide, 0.5)
    for pair in ([few, many._replace(claim="A2")], [many._replace(claim="A2"), few]):
        found = errors_of_changes(gains_of(compared(pair)))
        told = found["stripe-count, shared files, write"]
        assert (told["upward"], told["ratios"]) == (pytest.approx(0.4), 1)
        ways = [(one["from"], one["to"], one["at_most"]) for one in told["measured"]]
        assert sorted(ways) == [(1, 8, 1.0), (8, 1, 1.0)], "both were measured at one rate"
    nodes = compared([few, rated("more", job(nodes=8), 0.2)])
    assert not list(gains_of(nodes)), "another job"


def test_a_ratio_of_times_is_turned_round() -> None:
    runs = {"a": job(), "b": job(striping={"count": 8})}
    for metric, log in (("write(b) / write(a)", 0.3), ("time(a) / time(b)", 0.3)):
        ratio = claim("ab", {"ratio": 2, "tolerance": "25%"}, metric=metric)
        found = claimed(ratio.model_copy(update={"runs": runs}), log, log)
        assert found is not None
        assert found.turn is not None
        assert (found.turn.before, found.turn.after) == (1, 8)


@pytest.mark.parametrize(
    ("bound", "simulated", "off"),
    [
        ({"at_most": 1.05}, [1.0, 0.9], 0.0),
        ({"at_most": 1.05}, [1.0, 2.1], math.log(2)),
        ({"at_least": 2}, [1.0, 3.0], 0.0),
        ({"at_least": 2}, [1.0, 1.0], -math.log(2)),
    ],
)
def test_a_bound_that_does_not_hold_is_off_by_what_is_beyond_it(
    bound: dict[str, float], simulated: list[float], off: float
) -> None:
    runs = {"a": job(), "b": job(striping={"count": 8})}
    stated = claim("ab", bound, metric="write(*) / write(a)").model_copy(update={"runs": runs})
    (gain,) = bounded(stated, simulated)
    assert gain.off == pytest.approx(off)
    assert (gain.turn.knob, gain.turn.upward) == ("stripe-count", True)
    assert gain.measured == (bound.get("at_least", 0.0), bound.get("at_most", math.inf))
    (kind,) = errors_of_changes([gain]).values()
    told = [(one["from"], one["to"], one["at_most"]) for one in kind["measured"]]
    assert told == ([(1, 8, 1.05)] if "at_most" in bound else [(8, 1, 0.5)])
    assert not list(bounded(stated, simulated[:1])), "of some runs nothing is kept"
