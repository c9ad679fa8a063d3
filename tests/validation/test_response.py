"""How readings respond to values: logarithms at points, and slopes over where values may lie."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.config.files import find
from xc40io.config.machine import load_machine
from xc40io.validation.quantity import RATE, Quantity
from xc40io.validation.response import Response
from xc40io.validation.trial import Reading, Subject, Trials
from xc40io.validation.value_prior import free_values

COPY, CALL = "nodes.write_copy_rate", "nodes.call_time"


@pytest.fixture(scope="module")
def free():
    file = find("machines", "theta")
    found = free_values(load_machine(file), file)
    return [one for path in (COPY, CALL) for one in found if one.path == path]


def response(free, read, base=None, depends=lambda *_: True):
    """Of one claim of Theta, which reads a function of its two values."""
    reading = Reading("it", "", Quantity(1.0, "B/s", 1.0, RATE))
    subject = Subject("it", frozenset({"theta"}), frozenset({"run"}), (reading,))
    before = {one.path: one.value for one in free}

    def simulate(requests):
        changed = [before | dict(request.changes.get("theta", {})) for request in requests]
        return [{"": read(values[COPY], values[CALL])} for values in changed]

    return Response(Trials([subject], simulate), free, base or {}, depends)


def test_a_power_law_has_its_exponents_as_slopes(free):
    found = response(free, lambda copy, call: copy**0.5 / call**0.2)
    slopes = found.slopes(np.zeros(2), np.array([0.3, 0.3]))
    assert slopes == pytest.approx(np.array([[0.5, -0.2]]), abs=1e-4)


def test_what_hardly_moves_is_blind(free):
    found = response(free, lambda copy, call: copy**0.001 * call)
    assert found.slopes(np.zeros(2), np.array([0.3, 0.3]))[0, 0] == 0.0


def test_logs_are_of_the_values_there_and_of_what_is_changed_in_any_case(free):
    base = {"theta": {CALL: 2.0}}
    found = response(free, lambda copy, call: copy * call, base)
    before = free[0].value
    logs = found.logs([np.zeros(2), np.array([0.5, 0.0])])[:, 0]
    assert logs == pytest.approx(np.log(before * 2.0) + np.array([0.0, 0.5]), abs=1e-5)


def test_slopes_end_where_values_may_lie(free):
    found = response(free, lambda copy, _: copy)
    far = found.slopes(found.upper, np.array([1.0, 1.0]))
    assert far[0] == pytest.approx([1.0, 0.0], abs=1e-4)


def test_what_a_claim_cannot_see_is_not_tried_with_it(free):
    asked = []

    def read(copy, call):
        asked.append((copy, call))
        return copy * call

    found = response(free, read, depends=lambda _, path: path == COPY)
    assert found.slopes(np.zeros(2), np.array([0.3, 0.3]))[0] == pytest.approx([1.0, 0.0], abs=1e-4)
    assert len({call for _, call in asked}) == 1
    assert found.logs([np.array([0.0, 0.5])])[0, 0] != found.logs([np.zeros(2)])[0, 0]
