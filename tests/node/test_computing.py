"""Computing on a core that others use as well."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plane import KIB, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op

EACH = 1e-3
"""Seconds of a call in these tests: far more than a page takes."""


def beside(calls: int, seconds: float, *, shared: bool) -> tuple[SmallPlane, float]:
    """Compute while another program makes calls, on the same core or not; return the seconds."""
    plane = SmallPlane(1, 2, nodes__call_time=EACH, nodes__rpc_thread_rate=1e15)
    (file,) = plane.add_files(1)
    if shared:
        plane.tables.programs.rows.core[1] = plane.tables.programs.rows.core[0]
    write = Step(Op.WRITE, file, length=KIB, stride=KIB, count=calls)
    return plane, float(plane.run([[Step(Op.COMPUTE, seconds=seconds)], [write]])[0])


@given(seconds=st.floats(1e-6, 10.0))
def test_alone_it_takes_its_seconds(seconds: float) -> None:
    _, took = beside(1, seconds, shared=False)
    assert took == pytest.approx(seconds, rel=1e-6)


def test_what_others_do_on_the_core_comes_on_top() -> None:
    plane, took = beside(10, 0.1, shared=True)
    assert took == pytest.approx(0.1 + 10 * EACH, rel=1e-2)
    waits = plane.tables.programs.waits[:, 0]
    assert waits[Cause.THINK] == pytest.approx(0.1)
    assert waits[Cause.CORE] == pytest.approx(took - 0.1)


def test_what_comes_after_it_costs_nothing() -> None:
    _, took = beside(1000, 0.1, shared=True)
    # Nearly all of the core is the other's, which ends after a second.
    assert took == pytest.approx(1.1, rel=2e-2)
    _, took = beside(10, 0.001, shared=True)
    assert took < 0.012
