"""What makes errors differ is found from the errors."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.config.parts.measured_run import MeasuredRun
from xc40io.validation.near_weights import near_weights


@pytest.mark.parametrize("what", ["kind", "machine"])
def test_what_errors_hang_on_gets_the_larger_weight(what: str) -> None:
    draw = np.random.default_rng(7)
    runs = []
    for number in range(60):
        values = {"kind": f"{number % 2}", "machine": f"{number // 2 % 2}"}
        center = 1.0 if values[what] == "1" else -1.0
        run = MeasuredRun(
            access="write",
            **values,
            nodes=2 ** (number % 5),
            ranks_a_node=16,
            bytes_a_rank=1 << 20,
            call=None,
            error=center + 0.1 * float(draw.standard_normal()),
        )
        runs.append(run)
    weights = near_weights(runs, [1.0 - np.eye(len(runs))])
    other = {"kind": "machine", "machine": "kind"}[what]
    assert getattr(weights, what) > 3.0
    assert getattr(weights, other) < 1.0
    assert weights.nodes < 0.1
