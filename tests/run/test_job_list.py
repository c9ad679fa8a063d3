"""Jobs drawn from a mix."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.run.job_list import all_jobs, seeded_jobs

KINDS = [
    {"name": "often", "weight": 3, "nodes": [1, 2, 4], "ppn": 4, "workload": {"ior": "-w"}},
    {"name": "seldom", "nodes": 8, "ppn": 2, "workload": {"kernel": "adios"}},
]


def several(jobs: int, seed: int = 1, **mix: Any) -> JobsScenario:
    drawn = {"jobs": jobs, "interval": 5, "kinds": KINDS} | mix
    return JobsScenario.model_validate({"machine": "theta", "mix": drawn, "seed": seed})


def test_kinds_come_by_their_weights_and_starts_like_independent_arrivals() -> None:
    jobs = all_jobs(several(1000, start="20 s"))
    kinds = Counter(job.name.partition("-")[0] for job in jobs)
    assert kinds["often"] == pytest.approx(750, abs=50)
    starts = np.array([job.start for job in jobs])
    gaps = np.diff(starts, prepend=20.0)
    assert (gaps > 0.0).all()
    assert gaps.mean() == pytest.approx(5.0, rel=0.1)
    assert gaps.std() == pytest.approx(5.0, rel=0.1)
    assert {job.nodes for job in jobs if job.name.startswith("often")} == {1, 2, 4}
    assert {job.ppn for job in jobs if job.name.startswith("seldom")} == {2}


def test_one_seed_is_one_day() -> None:
    assert all_jobs(several(20)) == all_jobs(several(20))
    assert all_jobs(several(20)) != all_jobs(several(20, seed=2))


def test_another_interval_leaves_kinds_and_nodes_as_they_were() -> None:
    slow, fast = all_jobs(several(20)), all_jobs(several(20, interval=1))
    assert [(job.name, job.nodes) for job in slow] == [(job.name, job.nodes) for job in fast]
    assert [job.start for job in slow] == pytest.approx([5 * job.start for job in fast])


def test_every_job_has_a_seed_of_its_own_that_others_do_not_change() -> None:
    few, many = seeded_jobs(several(3)), seeded_jobs(several(6))
    assert len({entry.seed for entry in many}) == 6
    assert [entry.seed for entry in few] == [entry.seed for entry in many[:3]]


def test_a_drawn_job_may_not_take_the_name_of_a_listed_one() -> None:
    listed = {"name": "seldom-1", "nodes": 1, "ppn": 1, "workload": {"ior": "-w"}}
    document = several(1, kinds=KINDS[1:]).model_dump() | {"jobs": [listed]}
    with pytest.raises(InputError, match="mix: 2 jobs are called 'seldom-1'"):
        all_jobs(JobsScenario.model_validate(document))
