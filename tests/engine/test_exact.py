"""Exponentials and logarithms against decimal numbers of 40 digits; a run has no others."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import xc40io
from xc40io.engine.exact import exponential, logarithm

SIM = Path(xc40io.__file__).resolve().parent
RUN = ("engine", "libraries", "lustre", "machine", "mpi", "network", "node", "plane", "storage")
_LIBRARY = re.compile(
    r"\b(?:math|np)\.(?:exp|log|pow|sin|cos|tan|tanh|hypot|cbrt|float_power)\w*\("
)


@given(st.lists(st.floats(-700.0, 700.0), min_size=1, max_size=20))
def test_an_exponential_is_the_nearest_number(powers: list[float]) -> None:
    with localcontext() as context:
        context.prec = 40
        right = [float(Decimal(power).exp()) for power in powers]
    assert exponential(np.array(powers)).tolist() == right


@given(st.floats(1e-300, 1e300))
def test_a_logarithm_is_off_by_a_last_bit_at_most(number: float) -> None:
    with localcontext() as context:
        context.prec = 40
        right = float(Decimal(number).ln())
    assert abs(logarithm(number) - right) <= np.spacing(abs(right))


def test_a_run_asks_no_library_for_what_is_rounded_anyhow() -> None:
    sources = [source for part in RUN for source in (SIM / part).rglob("*.py")]
    sources += (SIM / "workloads/kernels").rglob("*.py")
    assert len(sources) > 100
    assert [one.name for one in sources if _LIBRARY.search(one.read_text(encoding="utf-8"))] == []
