"""What comes with xc40io is explained: every scenario, and logs of real jobs where there are some.

Bytes at the stations are those of the job, and what is said to be to blame is so by a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from xc40io.cli.runs.replay import replay
from xc40io.cli.runs.replayed import scenario_of_log
from xc40io.config.files import shipped
from xc40io.config.job_form import JOB, AskedJob
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.config.scenario import Scenario
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.studies.advice.weighing import LEAST
from xc40io.studies.explain.explanation import Explanation, explain
from xc40io.studies.explain.explanation_answer import advice, explanation_answer, verdict
from xc40io.studies.explain.trials import WORTH_SAYING
from xc40io.telling.text import text_of
from xc40io.workloads.replay.outcome import ReplayOutcome

SMALLER: Mapping[str, dict[str, Any]] = {
    # Some hundred runs of each: those that take more than a tenth of a second have fewer nodes
    # here, and of several jobs there are fewer.
    "theta-adios": {"nodes": 8},
    "theta-buffered": {"nodes": 8},
    "theta-file-per-process": {"nodes": 8},
    "theta-headline": {"nodes": 8},
    "theta-lock-contention": {"nodes": 4},
    "theta-scattered": {"nodes": 4},
    "theta-three-runs": {"nodes": 4},
    "theta-twice-the-osts": {"nodes": 4},
}
LOGS = Path(__file__).parents[4] / "shared/data/darshan"


def smaller(name: str) -> Scenario | JobsScenario:
    """Return a shipped scenario, small enough."""
    scenario = load_jobs(name).model_copy(update=SMALLER.get(name, {}))
    if isinstance(scenario, Scenario):
        return scenario
    jobs = tuple(job.model_copy(update={"nodes": min(job.nodes, 4)}) for job in scenario.jobs)
    mix = scenario.mix and scenario.mix.model_copy(update={"jobs": 4})
    return scenario.model_copy(update={"jobs": jobs, "mix": mix})


def check_bytes(results: Mapping[str, Result], within: float) -> None:
    """What the OSTs served is what the jobs wrote, less what is still dirty, and what they read."""
    first = next(iter(results.values()))
    replays = isinstance(first.outcome, ReplayOutcome)  # whose first row has everything
    rows = [row for result in results.values() for row in result.rows[replays:]]
    reads = sum(row.bytes for row in rows if "read" in row.phase)
    writes = sum(row.bytes for row in rows) - reads
    assert first.plane is not None
    dirty = int(first.plane.tables.osc.clients.dirty.sum())
    stats = first.stats
    read = stats[Stat.MISS_BYTES] + stats[Stat.AHEAD_BYTES]
    by_kind = {
        kind: sum(use.bytes for use in first.stations() if use.kind == kind)
        for kind in (StationKind.LNET, StationKind.IB, StationKind.OSS, StationKind.OST)
    }
    assert set(by_kind.values()) == {first.bulk_bytes}
    assert first.bulk_bytes == pytest.approx(writes - dirty + read, rel=within)


def check_claims(explained: Explanation) -> None:
    """Every phase has shares that add up, and a verdict that a run confirms, or says none does."""
    for phase in explained.phases:
        assert sum(wait.share for wait in phase.load.waits) == pytest.approx(1.0)
        said = verdict(phase)
        best = phase.without[0] if phase.without else None
        if best is not None and said.startswith("It is bound by"):
            assert best.words in said
            assert phase.seconds / best.seconds >= WORTH_SAYING
        else:
            assert "The last rank waited mostly for" in said or phase.of_calls
            assert all(one.gain < WORTH_SAYING for one in phase.without)
        told = advice(phase)
        if told.startswith("What helps most"):
            (named,) = [one for one in phase.changed if f": {one.words}: " in told]
            assert named.helps
            assert named.gain >= LEAST
        else:
            assert not any(one.helps for one in phase.changed)
    for one in explained.advice:
        assert one.weighed is not None
        assert one.weighed.helps
    assert max(map(len, text_of(explanation_answer(explained)).splitlines())) <= 100


QUICK = ("theta-adios", "theta-buffered")
"""Of the shipped scenarios; the others are slow."""


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in shipped("scenarios")
    ],
)
def test_a_shipped_scenario_is_explained(name):
    explained = explain(smaller(name), jobs=1)
    check_bytes(explained.results, within=5e-3 if name == "theta-adios" else 0.0)  # its index
    check_claims(explained)


@pytest.mark.parametrize(
    ("name", "within"),
    [
        pytest.param("sample-goodost", 0.0, marks=pytest.mark.slow),
        pytest.param("mpi-io-test", 0.0, marks=pytest.mark.slow),
        ("ior_hdf5_example", 0.01),
    ],
)
def test_the_log_of_a_real_job_is_explained(name, within):
    path = LOGS / f"{name}.darshan"
    if not path.exists():
        pytest.skip("logs of real jobs are not beside this checkout")
    context = replay.make_context("replay", [str(path)])
    job = AskedJob(**{option: context.params[option] for option in JOB})
    explained = explain(scenario_of_log(str(path), (), job), jobs=1)
    check_bytes(explained.results, within)
    check_claims(explained)
    assert explained.phases[0].phase.name == "replay"
