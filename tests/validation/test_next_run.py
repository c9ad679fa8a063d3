"""Which measurement narrows most what is asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from xc40io.config.machine import load_machine
from xc40io.validation.next_run import FILE, _busy_nodes, _jobs, expected_loss
from xc40io.validation.posterior import Evidence, posterior

SLOPES = st.floats(-1.0, 1.0)


def after(slopes, errors, prior):
    """Return the covariance of values after numbers that show what was expected."""
    readings = len(slopes)
    told = Evidence(np.zeros(readings), slopes, prior, errors, np.zeros(readings))
    return posterior(told).covariance


@given(
    arrays(float, (3, 4), elements=SLOPES),
    arrays(float, (2, 4), elements=SLOPES),
    arrays(float, 4, elements=st.floats(0.1, 1.0)),
)
def test_what_is_expected_is_what_a_fit_with_the_run_finds(measured, more, prior):
    errors, own, targets = 0.02 * np.eye(3), 0.01 * np.eye(2), np.eye(4)
    before = after(measured, errors, prior)
    both = np.block([[errors, np.zeros((3, 2))], [np.zeros((2, 3)), own]])
    whole = after(np.vstack([measured, more]), both, prior)
    loss = expected_loss(before, more, own, targets)
    assert loss == pytest.approx(np.diag(before) - np.diag(whole), abs=1e-9)


@given(arrays(float, (2, 3), elements=SLOPES), arrays(float, (1, 3), elements=SLOPES))
def test_no_run_takes_more_than_there_is_and_none_adds(slopes, target):
    covariance = np.diag([0.5, 0.2, 0.1])
    (loss,) = expected_loss(covariance, slopes, 0.01 * np.eye(2), target)
    assert -1e-12 <= loss <= float((target @ covariance @ target.T).item()) + 1e-12


def test_a_number_is_worth_less_where_the_model_is_less_sure_of_it():
    covariance, slopes, target = 0.25 * np.eye(1), np.ones((1, 1)), np.ones((1, 1))
    losses = [
        expected_loss(covariance, slopes, np.array([[error**2]]), target)[0]
        for error in (0.01, 0.5, 5.0)
    ]
    assert losses == pytest.approx([0.25 * 0.25 / (0.25 + error**2) for error in (0.01, 0.5, 5.0)])


@pytest.mark.parametrize("name", ["theta", "titan", "dell-lustre-2016"])
def test_the_runs_of_the_table_fit_on_machines(name):
    machine = load_machine(name)
    jobs = list(_jobs(machine))
    assert len(jobs) >= 6, FILE
    assert all(job.scenario.nodes <= machine.nodes.count for job in jobs)
    assert {len(job.rates) for job in jobs} >= {1, 2, 3}
    assert 2 <= _busy_nodes(machine) <= min(128, machine.nodes.count)
