"""The same scenario and seed give the same result, bit for bit, whoever else is running."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from theta_runs import scenario

import xc40io
from xc40io.config.scenario import Scenario
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

SIM = Path(xc40io.__file__).resolve().parent
JOB = scenario("-w -r -e -C -i 2 -b 6m -t 2m", 16, 8, count=8, size="4m")


def fingerprint(result: Result) -> str:
    """Digest of every time of every rank, every counter of every station, and every wait."""
    digest = hashlib.sha256()
    for test in result.outcome.tests:
        for record in test.records:
            for times in (
                *(record.open_start, record.open_end, record.io_start, record.io_end),
                *(record.close_start, record.close_end, record.calls),
            ):
                digest.update(times.tobytes())
    for use in result.stations():
        digest.update(repr(use).encode())
    digest.update(result.waits.tobytes())
    digest.update(f"{result.events} {result.rpcs} {result.simulated!r}".encode())
    return digest.hexdigest()


def simulated_fingerprint(job: Scenario) -> str:
    return fingerprint(simulate(job))


def test_the_same_seed_gives_the_same_result_in_any_process() -> None:
    here = simulated_fingerprint(JOB)
    assert simulated_fingerprint(JOB) == here
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(simulated_fingerprint, [JOB, JOB])) == [here, here]


def test_everything_random_follows_from_the_seed() -> None:
    """Background traffic, unbound ranks, random offsets, shuffled tasks."""
    job = scenario(
        "-w -r -e -F -z -Z -b 4m -t 1m", 6, 6, count=5, bind="none", background="100 GB/s"
    )
    here = simulated_fingerprint(job)
    assert simulated_fingerprint(job) == here
    assert simulated_fingerprint(job.model_copy(update={"seed": 2})) != here


def test_the_result_does_not_depend_on_what_ran_before() -> None:
    first = simulated_fingerprint(JOB)
    simulate(scenario("-w -F -b 4m -t 1m", 5, 3, count=2))
    assert simulated_fingerprint(JOB) == first


def test_no_order_depends_on_the_processor() -> None:
    """NumPy sorts by other instructions on other processors, and equal keys come as they like."""
    unstable = [
        f"{source.relative_to(SIM)}: {line.strip()}"
        for source in SIM.rglob("*.py")
        for line in source.read_text(encoding="utf-8").splitlines()
        if re.search(r"\barg(sort|partition)\(", line) and 'kind="stable"' not in line
    ]
    assert unstable == []
