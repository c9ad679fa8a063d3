"""Runs that the tests of this folder make pages of."""

from __future__ import annotations

import pytest

from xc40io import JobsResult, Result, Scenario, simulate, simulate_jobs
from xc40io.config.jobs import JobsScenario
from xc40io.results.exports.html_file import page_of
from xc40io.telling.answer import Answer

IOR = {"ior": "-w -r -C -e -b 4m -t 1m -i 2"}
STRIPING = {"count": 4, "size": "1m"}


@pytest.fixture(scope="session")
def run() -> Result:
    """A recorded run that writes to the disks and reads back from there, twice."""
    job = {"nodes": 4, "ppn": 4, "striping": STRIPING, "title": "Write <i>and</i> read & more"}
    changes = {"lustre.ost_spread": 0.0}
    return simulate(Scenario(machine="theta", workload=IOR, changes=changes, **job), record=True)


@pytest.fixture(scope="session")
def page(run: Result) -> Answer:
    """Its page."""
    return page_of(run)


@pytest.fixture(scope="session")
def jobs() -> JobsResult:
    """Two jobs that write at the same time."""
    job = {"nodes": 2, "ppn": 2, "striping": STRIPING, "workload": {"ior": "-w -e -b 4m -t 1m"}}
    listed = [job | {"name": "one"}, job | {"name": "two", "start": 0.001}]
    scenario = JobsScenario.model_validate({"machine": "theta", "jobs": listed})
    return simulate_jobs(scenario)


@pytest.fixture(scope="session")
def jobs_page(jobs: JobsResult) -> Answer:
    """Their page."""
    return page_of(jobs)
