"""Advice is followed on jobs that are the same each time, and what came of it is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.scenario import Scenario
from xc40io.validation.closed_loop.jobs import drawn_jobs
from xc40io.validation.closed_loop.report import keep, kept, summary, table
from xc40io.validation.closed_loop.trials import JobTrial, JudgedTrial, Subject, try_advice


def test_there_are_sixty_jobs_and_always_the_same() -> None:
    jobs = drawn_jobs()
    assert len(jobs) >= 60
    assert jobs == drawn_jobs()
    assert jobs != drawn_jobs(seed=33)
    assert {str(job.machine) for job in jobs.values()} == {
        *("theta", "cori-knl", "cori-haswell", "titan")
    }


def judged(gain: float) -> JudgedTrial:
    return JudgedTrial("stripes", 2.0, gain)


TRIALS = {
    "ior 01, own files": JobTrial(
        "ior 01, own files", (judged(2.0), judged(1.0), judged(0.5)), None, 2.6
    ),
    "kernel 01, s3d": JobTrial("kernel 01, s3d", (), judged(1.5), 1.5),
}


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    keep(TRIALS, tmp_path / "kept.json")
    assert kept(tmp_path / "kept.json") == TRIALS


def test_helped_harmed_and_missed_are_counted() -> None:
    last = table(TRIALS.values()).splitlines()[-1]
    assert [cell.strip() for cell in last.strip("|").split("|")] == [
        *("all", "2", "3", "1", "1", "1", "1", "1", "0", "0", "1")
    ]
    said = summary(TRIALS.values())
    assert "Of 3 remedies that explain printed 1 helped and 1 harmed" in said
    assert "for 1 jobs it said to change nothing" in said
    assert "0.62 times what had been said at the median, and 0.25 times at the least" in said
    assert "For 1 of 2 jobs a search" in said


@pytest.mark.slow
def test_a_job_with_one_stripe_is_helped_by_more() -> None:
    scenario = Scenario.model_validate(
        {
            "machine": "theta",
            "nodes": 4,
            "ppn": 4,
            "striping": {"count": 1, "size": "1m"},
            "workload": {"ior": "-a MPIIO -c -w -b 16m -t 16m"},
        }
    )
    found = try_advice(Subject("one stripe", scenario))
    assert found.explained[0].verdict == "helped"
    assert found.tuned is not None
    assert found.tuned.verdict == "helped"
    assert found.missed < 1.25
