"""Scenarios as YAML files have them: as they are, or complete, nothing left to a default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from xc40io.config.jobs import OF_A_JOB, Job, JobsScenario
from xc40io.config.machine import Machine
from xc40io.config.scenario import Placement, Scenario
from xc40io.config.striping import StripeRequest


def dump_scenario(scenario: Scenario) -> str:
    """Return a scenario as the text of a YAML file; :func:`load_scenario` reads it back."""
    document = scenario.model_dump(mode="json", exclude={"machine", "workload"}, exclude_none=True)
    document["workload"] = scenario.workload.document()
    ordered = {
        name: document[name] for name in Scenario.model_fields if document.get(name) not in EMPTY
    }
    return scenario_text(scenario.machine, ordered)


EMPTY: tuple[object, ...] = (None, "", {}, [])
"""What need not be written."""


def scenario_text(machine: str | Machine, document: dict[str, Any]) -> str:
    """Return the text of a scenario file; a machine that is there in full stands at the end."""
    if isinstance(machine, Machine):
        document = document | {"machine": machine.document()}
    else:
        document = {"machine": machine} | document
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def resolved_yaml(scenario: Scenario, machine: Machine) -> str:
    """Return the complete scenario as YAML: nothing left to a default or to a machine file.

    Parameters
    ----------
    scenario : Scenario
        As loaded.
    machine : Machine
        What :func:`machine_of` returned for it; it is written out in full, with its sources.
    """
    complete = {
        "machine": machine,
        "changes": {},
        "striping": resolved_striping(scenario.striping, machine),
        "placement": resolved_placement(scenario.placement, scenario.seed),
    }
    return dump_scenario(scenario.model_copy(update=complete))


def resolved_striping(striping: StripeRequest, machine: Machine) -> StripeRequest:
    """Return a striping with the machine's defaults filled in."""
    if striping.setstripe is not None:
        return striping
    default = machine.lustre.default_striping
    return replace(
        striping, count=striping.count or default.count, size=striping.size or default.size
    )


def resolved_placement(placement: Placement, seed: int) -> Placement:
    """Return a placement with the seed that it would take otherwise."""
    if placement.policy == "random" and placement.seed is None:
        return placement.model_copy(update={"seed": seed})
    return placement


class _Dumper(yaml.SafeDumper):
    """Writes a value with its source on a line of its own, as a machine file does."""


def _represent_mapping(dumper: _Dumper, mapping: dict[str, Any]) -> yaml.Node:
    flow = "firm" in mapping
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=flow)


_Dumper.add_representer(dict, _represent_mapping)


def resolved_jobs_yaml(
    scenario: JobsScenario, machine: Machine, jobs: tuple[tuple[Job, int], ...]
) -> str:
    """Return a complete scenario as YAML: nothing left to a default, a machine file or chance.

    Parameters
    ----------
    scenario
        As loaded.
    machine
        Its machine, with the scenario's changes made; written out in full, with its sources.
    jobs
        All jobs, those of the mix among them, each with its seed.
    """
    outer = scenario.model_dump(
        mode="json", exclude={"machine", "jobs", "mix", "changes"}, exclude_none=True
    )
    document = {name: value for name, value in outer.items() if value not in EMPTY}
    document["jobs"] = [_job_document(job, machine, seed) for job, seed in jobs]
    return scenario_text(machine, document)


def _job_document(job: Job, machine: Machine, seed: int) -> dict[str, Any]:
    """Return a job as a scenario file has it, complete."""
    complete = {
        "striping": resolved_striping(job.striping, machine),
        "placement": resolved_placement(job.placement, seed),
        "seed": seed,
    }
    document = job.model_copy(update=complete).model_dump(mode="json", exclude_none=True)
    document["workload"] = job.workload.document()
    order = ("name", "start", *OF_A_JOB, "seed")
    return {name: document[name] for name in order if document.get(name) not in EMPTY}
