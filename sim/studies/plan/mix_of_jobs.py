"""A workload mix that is made of a table of jobs: its kinds, as often as they come."""

from __future__ import annotations

import yaml

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.workload_mix import MixJob, WorkloadMix
from xc40io.workloads.job_records.coarseness import coarseness_of, rpcs_as_one
from xc40io.workloads.job_records.job_kinds import JobKind, JobKinds
from xc40io.workloads.job_records.stream_jobs import job_fields

_MOST = 200_000
"""Calls of a run, and bulk RPCs of 1 MiB unless several are handled as one: a second or two."""


def mix_of_jobs(kinds: JobKinds, machine: Machine, table: str) -> WorkloadMix:
    """Return a mix of the kinds of a table, each with the number of its jobs as its weight.

    What jobs compute is left out: they read and write one step after the other. Ranks and calls
    stand for several where there are many, as in a stream.

    Parameters
    ----------
    kinds
        The kinds.
    machine
        As it is today.
    table
        What the jobs come from, for the title.

    Raises
    ------
    InputError
        If a kind needs more nodes than the machine has.
    """
    for kind in kinds.kinds:
        if (kind.record.nodes or 1) > machine.nodes.count:
            raise InputError(
                f"{table}: {kind.record.name} has {kind.record.nodes:,} nodes, and {machine.name} "
                f"{machine.nodes.count:,}; right would be a larger machine (--machine)"
            )
    return WorkloadMix(
        title=f"The jobs of {table} on {machine.name}",
        description=f"{len(kinds.kinds)} kinds of {kinds.jobs:,} jobs.",
        machine=machine,
        jobs=tuple(_mix_job(kind, machine) for kind in kinds.kinds),
    )


def _mix_job(kind: JobKind, machine: Machine) -> MixJob:
    fields = job_fields(kind.record, coarseness_of(kind.record, _MOST))
    name = fields.pop("name")
    moved = kind.record.read + kind.record.written
    as_one = rpcs_as_one(moved, _MOST, machine)
    run = Scenario(
        title=name,
        machine=machine,
        rpcs_as_one=as_one,
        **fields,
    )
    habit = None if kind.are_stripes_known else kind.record.stripe_count
    job = MixJob(name=name, weight=float(kind.jobs), run=run, stripes_at_most=habit)
    return job.model_copy(update={"run": job.on(machine)})


def mix_file(mix: WorkloadMix, machine: str) -> str:
    """Return the text of a file that describes a mix of single jobs.

    Parameters
    ----------
    mix
        The mix.
    machine
        How the file names its machine.
    """
    jobs = [
        {
            "name": job.name,
            "weight": job.weight,
            **({"stripes_at_most": job.stripes_at_most} if job.stripes_at_most else {}),
            **job.run.model_dump(
                mode="json", exclude_defaults=True, exclude={"title", "machine", "seed"}
            ),
        }
        for job in mix.jobs
    ]
    said = {"title": mix.title, "description": mix.description, "machine": machine}
    return yaml.safe_dump(
        {**said, "weights": mix.weights, "jobs": jobs},
        sort_keys=False,
        default_flow_style=None,
        width=100,
        allow_unicode=True,
    )
