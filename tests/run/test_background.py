"""What a run begins with: other jobs' traffic, and how coarse RPCs are."""

from __future__ import annotations

import numpy as np
import pytest
from theta_runs import run, scenario

from sim.config.scenario import Background, machine_of
from sim.run.background import background_of
from sim.run.simulate import simulate

TYPICAL = {"lustre__other_reads": "20 GB/s", "lustre__other_writes": "40 GB/s"}


def day(seed: int, spread: float, **given: object) -> tuple[float, float]:
    described = scenario("-w", seed=seed, lustre__other_spread=spread, **TYPICAL)
    described = described.model_copy(update={"background": Background(typical=True, **given)})
    drawn = background_of(described.background, machine_of(described), seed)
    return drawn.read, drawn.write


def test_a_typical_day_is_the_usual_one_where_days_do_not_differ() -> None:
    assert day(1, 0.0) == (20e9, 40e9)
    assert day(1, 0.0, write=1e9) == (20e9, 41e9)


def test_days_differ_by_their_seed_around_the_usual_one() -> None:
    writes = np.array([day(seed, 0.5)[1] for seed in range(400)])
    assert writes.mean() == pytest.approx(40e9, rel=0.1)
    assert np.log(writes).std() == pytest.approx(0.5, rel=0.1)
    assert day(7, 0.5) == day(7, 0.5)


def test_other_jobs_do_nothing_unless_asked_for() -> None:
    quiet = scenario("-w", **TYPICAL)
    assert background_of(quiet.background, machine_of(quiet), 1) == (0.0, 0.0)


def test_four_rpcs_as_one_move_the_same_bytes_in_about_the_same_time() -> None:
    fine = run("-w -r -C -F -e -b 64m -t 4m", 16, 16, count=1, size="4m")
    described = scenario("-w -r -C -F -e -b 64m -t 4m", 16, 16, count=1, size="4m")
    coarse = simulate(described.model_copy(update={"rpcs_as_one": 4}))
    assert coarse.bulk_bytes == fine.bulk_bytes
    assert coarse.rpcs == fine.rpcs / 4
    assert coarse.simulated == pytest.approx(fine.simulated, rel=0.1)
