"""What it does to claims to handle several RPCs as one."""

from __future__ import annotations

import math

import pytest
from run_records import claim, record

from xc40io.config.errors import InputError
from xc40io.studies.processes import Failure
from xc40io.validation.coarseness import format_coarseness, measure_coarseness

VALUE = {"value": "1 GB/s", "tolerance": "25%"}


class Writing:
    """Runs that write at 1 GB/s, and at another rate where RPCs are handled together."""

    def __init__(self, coarse: float | None) -> None:
        self.coarse = coarse
        self.asked: list[int] = []

    def run(self, scenarios):
        self.asked += [scenario.rpcs_as_one for scenario in scenarios]
        return [self._end(scenario.rpcs_as_one) for scenario in scenarios]

    def _end(self, rpcs):
        if rpcs == 1:
            return record(1e9)
        return Failure("too large") if self.coarse is None else record(self.coarse)


@pytest.mark.parametrize("rate", [0.5e9, 1.25e9])
def test_the_error_is_that_of_the_coarse_run_over_the_fine_one(rate):
    runner = Writing(rate)
    found = measure_coarseness([claim("a", VALUE)], runner, 4)
    (pair,) = found.pairs
    assert pair.ratio == pytest.approx(rate / 1e9)
    assert found.median == pytest.approx(abs(math.log(rate / 1e9)))
    assert sorted(runner.asked) == [1, 4]


def test_what_does_not_change_does_not_make_the_error_smaller():
    found = measure_coarseness([claim("a", VALUE)], Writing(1e9), 4)
    assert len(found.pairs) == 1
    assert found.changed == []
    assert "0 of 1 numbers changed" in format_coarseness(found)


def test_a_claim_that_refuses_is_counted_and_not_compared():
    found = measure_coarseness([claim("a", VALUE)], Writing(None), 16)
    assert found.pairs == ()
    assert found.refused == {"B02": "too large"}
    assert "1 claims refused it" in format_coarseness(found)


def test_a_claim_that_is_coarse_already_is_passed_over():
    one = claim("a", VALUE)
    coarse = {"a": one.runs["a"].model_copy(update={"rpcs_as_one": 8})}
    runner = Writing(2e9)
    found = measure_coarseness([one.model_copy(update={"runs": coarse})], runner, 4)
    assert found.pairs == ()
    assert runner.asked == []


def test_the_worst_come_first():
    rates = iter([1e9, 1e9, 0.9e9, 3e9])

    class Several:
        def run(self, scenarios):
            return [record(next(rates)) for _ in scenarios]

    found = measure_coarseness([claim("ab", {"rises": True})], Several(), 4)
    assert [pair.run for pair in found.changed] == ["b", "a"]
    text = format_coarseness(found)
    assert text.index("3.000") < text.index("0.900")


def test_one_rpc_as_one_is_refused():
    with pytest.raises(InputError, match="right would be 2 or more"):
        measure_coarseness([], Writing(1.0), 1)
