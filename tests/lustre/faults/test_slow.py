"""Parts of a machine that are slow: found by their names, felt by those who use them."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.run.simulate import simulate


def written(slow: dict[str, float], **more: Any) -> Result:
    """Write a file for each of 16 ranks past the page cache."""
    document = {
        "machine": "theta",
        "nodes": 4,
        "ppn": 4,
        "striping": {"count": 1, "size": 1 << 20},
        "workload": {"ior": "-w -F -B -b 8m -t 4m"},
        "slow": slow,
    }
    return simulate(Scenario.model_validate(document | more))


def busy(result: Result, kind: StationKind) -> dict[str, float]:
    return {use.name: use.busy for use in result.stations() if use.kind == kind}


def test_an_ost_takes_so_many_times_as_long():
    usual = written({})
    name = next(iter(busy(usual, StationKind.OST)))
    slow = written({name: 5.0})
    before, after = busy(usual, StationKind.OST), busy(slow, StationKind.OST)
    assert after.pop(name) == pytest.approx(5.0 * before.pop(name))
    assert after == pytest.approx(before)
    assert slow.rows[0].seconds > 1.05 * usual.rows[0].seconds


def test_heads_of_a_slow_ost_move_as_much_slower():
    """One reader of single RPCs waits for little else."""
    one = {"nodes": 1, "ppn": 1, "workload": {"ior": "-r -z -B -b 64m -t 1m"}}
    usual = written({}, **one)
    name = next(iter(busy(usual, StationKind.OST)))
    slow = written({name: 5.0}, **one)
    assert slow.rows[0].seconds == pytest.approx(5.0 * usual.rows[0].seconds, rel=0.15)


def test_a_router_is_slow_in_all_its_parts():
    usual = written({})
    name = next(iter(busy(usual, StationKind.LNET))).removesuffix(" from Aries")
    slow = written({name: 50.0})
    for kind in (StationKind.LNET, StationKind.IB):
        # Who sends chooses the router by its queue: a slow one gets less to do.
        before, after = (
            {
                part: (use.busy / use.bytes)
                for use in result.stations()
                if use.kind == kind
                for part in [use.name]
                if use.bytes
            }
            for result in (usual, slow)
        )
        for part in before.keys() & after.keys():
            factor = 50.0 if f"{part} ".startswith(f"{name} ") else 1.0
            assert after[part] == pytest.approx(factor * before[part])


def test_one_means_as_usual():
    usual, same = written({}), written({"OST 3": 1.0, "LNET router": 1.0, "MDS 0": 1.0})
    assert usual.rows[0].seconds == same.rows[0].seconds
    assert usual.events == same.events


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("OST 56", "slow: OST 56: the machine has no such part; did you mean OST "),
        ("warp core", "the machine has no such part; right would be, for instance, OST 3"),
        ("MDS 0", "slow: MDS 0: the time of MDS 0 does not depend on bytes; right would be an OST"),
    ],
)
def test_what_cannot_be_slow_is_refused(name: str, sentence: str):
    with pytest.raises(InputError, match=sentence):
        written({name: 2.0})


def test_a_factor_is_more_than_zero():
    with pytest.raises(ValueError, match="greater than 0"):
        written({"OST 3": 0.0})


def test_an_oss_is_slow_in_what_goes_by_bytes():
    usual, slow = written({}), written({"OSS": 5.0})
    for kind, factor in ((StationKind.OSS, 5.0), (StationKind.SERVICE, 1.0)):
        before, after = (
            sum(use.busy for use in result.stations() if use.kind == kind)
            for result in (usual, slow)
        )
        assert after == pytest.approx(factor * before)
