"""Where jobs run: every program of every job has a place of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.run.fabric import fabric_of
from xc40io.run.placement import PlacedJob, cores_of, place_jobs, programs_of
from xc40io.run.submission import Submission
from xc40io.workloads.catalogue import workload_of

MACHINE = load_machine("cori-haswell")
BURST_BUFFER = {"kind": "bb", "capacity": "100 GB"}
KINDS: dict[str, dict[str, Any]] = {
    "ior": {"workload": {"ior": "-w"}},
    "threads": {"workload": {"ior": "-w"}, "cores": {"threads": 3}},
    "helpers": {"workload": {"kernel": {"name": "pread-threads", "pool": 2}}},
    "stagers": {"workload": {"kernel": "staging"}, "target": BURST_BUFFER},
}
PROGRAMS = {"ior": 1, "threads": 4, "helpers": 3, "stagers": 2}
"""Of each rank: itself, its I/O threads if there are several, its helpers."""

jobs = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(1, 4), st.integers(1, 3)),
    min_size=1,
    max_size=4,
)


def placed(drawn: list[tuple[str, int, int]]) -> list[PlacedJob]:
    submissions = []
    for number, (kind, nodes, ppn) in enumerate(drawn):
        described = {"machine": MACHINE, "nodes": nodes, "ppn": ppn} | KINDS[kind]
        scenario = Scenario.model_validate(described)
        submissions.append(Submission(scenario, workload_of(scenario.workload), f"job {number}"))
    return place_jobs(submissions, MACHINE, fabric_of(MACHINE))


@settings(deadline=None)  # the first example builds the network
@given(jobs)
def test_every_program_belongs_to_one_rank_or_service_node(
    drawn: list[tuple[str, int, int]],
) -> None:
    found = placed(drawn)
    owned = [job.stagers.ravel() for job in found]
    for job, (kind, nodes, ppn) in zip(found, drawn, strict=True):
        assert len(job.ranks) == nodes * ppn
        owned += [job.ranks.programs + number for number in range(PROGRAMS[kind])]
    programs = programs_of(found, MACHINE)
    assert np.array_equal(np.sort(np.concatenate(owned)), np.arange(len(programs.program_node)))


@settings(deadline=None)  # the first example builds the network
@given(jobs)
def test_the_ranks_of_a_job_are_on_its_nodes(drawn: list[tuple[str, int, int]]) -> None:
    found = placed(drawn)
    programs = programs_of(found, MACHINE)
    compute = [node for job in found for node in job.nodes.tolist()]
    assert len(set(compute)) == len(compute)
    for job in found:
        node = programs.program_node[job.ranks.programs]
        assert np.array_equal(node, job.node_of_ranks)
        assert set(programs.nodes[node].tolist()) == set(job.nodes.tolist())
        assert np.array_equal(programs.nodes[job.own_nodes], job.nodes)


def test_what_stages_is_on_service_nodes() -> None:
    (job,) = placed([("stagers", 2, 2)])
    programs = programs_of([job], MACHINE)
    assert len(job.stagers) == len(job.servers) > 0
    nodes = programs.nodes[programs.program_node[job.stagers]]
    assert nodes.min() >= MACHINE.nodes.count
    assert len(np.unique(nodes)) == len(nodes)
    assert (nodes == nodes[:, :1]).all()


@pytest.mark.parametrize("kind", ["ior", "helpers"])
def test_only_jobs_with_stagers_have_programs_on_service_nodes(kind: str) -> None:
    (job,) = placed([(kind, 2, 1)])
    assert job.stagers.size == 0


def test_helpers_are_on_the_other_cores_of_their_rank() -> None:
    job = KINDS["helpers"] | {"machine": MACHINE, "nodes": 1, "ppn": 4}
    for depth, helpers in ((1, (0, 0)), (2, (1, 1)), (3, (1, 2)), (8, (1, 2))):
        scenario = Scenario.model_validate(job | {"cores": {"depth": depth}})
        workload = workload_of(scenario.workload)
        submission = Submission.to(MACHINE, scenario, workload)
        core = cores_of(submission, MACHINE).reshape(4, 3)
        assert core[:, 0].tolist() == [0, 8, 16, 24]
        assert (core[:, 1:] - core[:, :1] == helpers).all()
