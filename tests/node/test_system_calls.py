"""What calls cost their core, whatever their size."""

from __future__ import annotations

import pytest
from small_plane import KIB, RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op

EACH = 1e-3
"""Seconds of a call in these tests: far more than a page takes."""


def took(kind: Op, calls: int, *, direct: bool = False, each: float = EACH) -> float:
    """Return the seconds in which one rank moves an RPC's worth in so many calls."""
    plane = SmallPlane(1, 1, nodes__call_time=each)
    (file,) = plane.add_files(1, direct=direct)
    size = RPC // calls
    step = Step(kind, file, length=size, stride=size, count=calls)
    if kind is Op.READ:
        plane.run([[Step(Op.WRITE, file, length=RPC, stride=RPC, count=1)]])
    return float(plane.run([[step]])[0])


@pytest.mark.parametrize("kind", [Op.WRITE, Op.READ])
def test_each_call_costs_its_core_the_same_whatever_its_size(kind: Op) -> None:
    for calls in (1, 4, 16):
        more = took(kind, calls) - took(kind, calls, each=0.0)
        assert more == pytest.approx(calls * EACH, rel=0.01)


def test_who_shares_a_core_waits_for_the_calls_of_the_other() -> None:
    plane = SmallPlane(1, 2, nodes__call_time=EACH)
    first, second = plane.add_files(2)
    plane.tables.programs.rows.core[1] = plane.tables.programs.rows.core[0]
    calls = {"length": 4 * KIB, "stride": 4 * KIB, "count": 10}
    spent = plane.run([[Step(Op.WRITE, first, **calls)], [Step(Op.WRITE, second, **calls)]])
    assert spent.min() > 19 * EACH


def test_the_cost_of_calls_is_charged_to_them() -> None:
    plane = SmallPlane(1, 1, nodes__call_time=EACH)
    (file,) = plane.add_files(1)
    plane.run([[Step(Op.WRITE, file, length=KIB, stride=KIB, count=7)]])
    assert plane.tables.programs.waits[Cause.CALL, 0] == pytest.approx(7 * EACH)
