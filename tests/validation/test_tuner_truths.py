"""Attempts that are counted against artificial truths."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.validation.tuner_truths import (
    Job,
    Stop,
    at_random,
    attempts_of,
    by_optuna,
    by_ranking,
    by_tuner,
    job_of,
    stop_of,
    stops_told,
    table,
)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return job_of("strided", Simulations(1, Store(tmp_path_factory.mktemp("runs"))))


def test_every_way_comes_to_all_settings_once(job: Job) -> None:
    real = -np.arange(len(job.runs), dtype=float)
    for order in (
        by_tuner(job, real),
        by_ranking(job, real),
        at_random(job, real, 1),
        by_optuna(job, real, 1),
    ):
        assert sorted(order) == list(range(len(job.runs)))


def test_where_the_simulator_is_right_the_first_attempt_is(job: Job) -> None:
    real = job.belief.rates - log(2.0)  # half as fast, all of them
    assert attempts_of(by_tuner(job, real), real) == 1
    assert stop_of(job, real).good


def test_it_learns_where_the_simulator_is_wrong(job: Job) -> None:
    settings = job.space.settings or []
    count = np.array([float(one["stripe-count"]) for one in settings])
    real = job.belief.rates - 2.0 * np.log(count)  # the fewer stripes the better
    assert attempts_of(by_tuner(job, real), real) <= attempts_of(by_ranking(job, real), real)


def test_the_table_has_the_median_and_the_tenth() -> None:
    lines = table({"a way": [1, 1, 1, 1, 1, 1, 1, 1, 1, 9], "another": [2]}).splitlines()
    assert lines[1].split()[-4:] == ["1", "9", "90", "%"]
    told = stops_told([Stop(2, True), Stop(3, False), Stop(3, True)])
    assert told.startswith("it stops 3 times, after 3 attempts at the median, 2 times")


def test_a_count_ends_with_the_first_that_is_near_the_best() -> None:
    real = np.log([1.0, 0.96, 0.5])
    assert attempts_of(iter([2, 1, 0]), real) == 2
