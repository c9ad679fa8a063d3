"""Ranks that compute longer than usual, by what a scenario says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.plane.causes import Cause
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

ADIOS = {"name": "adios", "method": "POSIX", "steps": 2, "size": "1 MB", "compute": "1 s"}


SKELETON = "summary: Computing.\nfiles: {out: {per: job}}\nphases: [{compute: 2 s}, barrier]\n"


@pytest.fixture
def skeleton(tmp_path):
    path = tmp_path / "steps.yaml"
    path.write_text(SKELETON, encoding="utf-8")
    return {"kernel": {"name": str(path)}}


def computed(slow: dict[str, float], workload: dict[str, Any]) -> Result:
    return simulate(Scenario(machine="theta", nodes=2, ppn=2, slow=slow, workload=workload))


def test_one_rank_or_all_compute_longer(skeleton):
    seconds = computed({"computing of rank 2": 3.0}, skeleton).waits[:, Cause.THINK]
    np.testing.assert_allclose(seconds, [2.0, 2.0, 6.0, 2.0])
    seconds = computed({"computing": 0.5, "computing of rank 0": 4.0}, skeleton).waits
    np.testing.assert_allclose(seconds[:, Cause.THINK], [4.0, 1.0, 1.0, 1.0])


def test_computing_between_the_steps_of_adios_is_no_part_of_its_phases():
    usual, quick = (computed(slow, {"kernel": ADIOS}) for slow in ({}, {"computing": 0.01}))
    assert quick.simulated == pytest.approx(usual.simulated - 0.99, abs=0.05)
    for result in (usual, quick):
        assert all(
            stretch.waits[Cause.THINK] == pytest.approx(0.0, abs=1e-9)
            for stretch in result.activities[0].stretches
        )


def test_what_a_trace_waits_for_a_recorded_start_is_computing(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text("rank,op,file,offset,length,start\n0,create,/a,,,0.5\n0,write,/a,0,4096,2\n")
    kernel = {"kernel": {"name": "replay", "trace": str(path), "timing": "start"}}
    took = [
        simulate(Scenario(machine="theta", nodes=1, ppn=1, slow=slow, workload=kernel)).simulated
        for slow in ({}, {"computing": 0.001})
    ]
    assert took[0] >= 2.0
    assert took[1] < 0.1


def test_of_several_jobs_one_can_be_named(skeleton):
    jobs = [{"name": name, "nodes": 1, "ppn": 1, "workload": skeleton} for name in ("a", "b")]
    slow = {"computing of rank 0 of job b": 2.0}
    result = simulate_jobs(JobsScenario(machine="theta", jobs=jobs, slow=slow))
    a, b = result.jobs
    assert b.result.simulated == pytest.approx(2.0 * a.result.simulated, rel=0.01)
    assert a.alone is not None
    assert a.alone.seconds == pytest.approx(a.result.simulated, rel=0.01)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("computing of rank 4", "the job has 4 ranks; right would be 0 to 3"),
        ("computing of rank x", "right would be computing, computing of rank 7"),
        ("computing of job other", "there is no job other"),
    ],
)
def test_what_is_refused(skeleton, name, right):
    with pytest.raises(InputError, match=right):
        computed({name: 2.0}, skeleton)
