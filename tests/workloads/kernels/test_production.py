"""The kernel of a job that is known by its totals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.kernels.production import LONGEST_CALL, Production

MIB = 1 << 20


def run(ppn: int = 2, **options: Any) -> Result:
    kernel = {"name": "production"} | options
    document = {"machine": "theta", "nodes": 2, "ppn": ppn, "workload": {"kernel": kernel}}
    return simulate(Scenario.model_validate(document))


@pytest.mark.parametrize("layout", ["rank", "job"])
def test_all_bytes_are_moved_in_equal_steps(layout: str) -> None:
    result = run(
        **{"read": 8 * MIB, "written": 24 * MIB, "steps": 3, "files": 2, "compute": 6.0},
        **{"read_layout": layout, "write_layout": layout, "write_call": 65536},
    )
    rows = [(row.step, row.phase, row.bytes) for row in result.rows]
    assert rows == [("-", "read", 8 * MIB), *((str(n), "write", 8 * MIB) for n in range(3))]
    starts = [row.start for row in result.rows[1:]]
    assert all(late - early >= 2.0 for early, late in pairwise(starts))
    assert result.simulated >= 6.0


def test_only_some_ranks_read_and_write() -> None:
    result = run(4, written=8 * MIB, io_ranks=2)
    assert len(result.files["write"].osts) == 2
    assert result.outcome.write > 0.0
    assert result.outcome.read == 0.0


def test_more_opens_and_stats_take_more_time() -> None:
    one, many = (run(read=4 * MIB, opens=n, stats=n).outcome.metadata for n in (1, 20))
    assert many > 5 * one


def test_a_call_for_several_keeps_what_they_cost_the_core() -> None:
    fine, coarse = (
        run(1, written=64 * MIB, write_call=4096, most_calls=most).outcome.write for most in (0, 4)
    )
    assert coarse == pytest.approx(fine, rel=0.5)


def test_calls_for_several_are_multiples_and_not_too_long() -> None:
    kernel = Production(most_calls=4)
    assert kernel.call(4096, 16384) == 4096
    assert kernel.call(4096, 16385) == 8192
    assert kernel.call(4096, 1 << 40) == LONGEST_CALL
    assert kernel.call(1 << 30, 1 << 40) == 1 << 30


def test_more_than_can_be_held_is_refused() -> None:
    with pytest.raises(InputError, match="4 ranks with 40,000,000 opens, closes and stats each"):
        run(read=1, files=1_000_000, opens=20)
