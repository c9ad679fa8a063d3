"""Claims as the subjects of trials: run on changed machines and with other seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, load_machine
from xc40io.config.scenario import Scenario
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import scenario_hash
from xc40io.validation.claim import Claim
from xc40io.validation.free_parameter import Changes
from xc40io.validation.quantity import Quantity
from xc40io.validation.relation import Relation
from xc40io.validation.trial import Reading, Request, Simulate, Subject
from xc40io.validation.verdict import Outcome, judge


def subject_of(claim: Claim) -> Subject:
    """Return what has to be known of a claim that runs something, or reads a machine's MPI.

    Raises
    ------
    InputError
        If there is no such machine, or it cannot run a scenario of the claim.
    """
    scenarios = [scenario for run in _needed(claim) for scenario in claim.seeded(run)]
    return Subject(
        claim=claim.id,
        machines=machines_of(claim),
        runs=frozenset(scenario_hash(scenario) for scenario in scenarios),
        readings=tuple(_readings(claim)),
        parameters=claim.parameters,
    )


def machines_of(claim: Claim) -> frozenset[str]:
    """Return the machines that a claim looks at, by the names in their files."""
    runs = _needed(claim) if claim.runs else ()
    machines: list[str | Machine] = [claim.runs[run].machine for run in runs]
    machines += [claim.machine] if claim.machine is not None else []
    return frozenset(map(_machine_name, machines))


def _readings(claim: Claim) -> list[Reading]:
    """Return what is compared with a measurement; if nothing is, the metric itself."""
    relation, metric = claim.relation, claim.metric
    assert relation is not None
    assert metric is not None
    measured = _measured(relation)
    if measured:
        tolerance = relation.quantiles.tolerance if relation.quantiles else relation.tolerance
        return [Reading(claim.id, run, one, tolerance or 0.0) for run, one in measured.items()]
    return [Reading(claim.id, run) for run in (claim.runs if metric.of_each else [""])]


def _measured(relation: Relation) -> dict[str, Quantity]:
    """Return the measured numbers that count in medians, as :func:`judge` names their points."""
    single = relation.value or relation.ratio
    if single is not None:
        return {"": single}
    if relation.quantiles is not None:
        return {"p50": relation.quantiles.p50} if relation.quantiles.p50 else {}
    return dict(relation.values or {})


def simulating(claims: Mapping[str, Claim], simulations: Simulations) -> Simulate:
    """Return what simulates claims by their ids.

    What it returns raises InputError if a run does not end, or if the metric asks it for what it
    does not have.
    """

    def simulate(requests: Sequence[Request]) -> list[dict[str, float]]:
        runs = [_runs(claims[request.claim], request) for request in requests]
        scenarios = [scenario for named in runs for seeded in named.values() for scenario in seeded]
        ended = iter(simulations.run(scenarios))
        return [
            _numbers(
                judge(
                    claims[request.claim],
                    {run: [next(ended) for _ in seeded] for run, seeded in named.items()},
                    request.changes,
                ),
                request,
            )
            for request, named in zip(requests, runs, strict=True)
        ]

    return simulate


def _runs(claim: Claim, request: Request) -> dict[str, list[Scenario]]:
    """Return the scenarios of a trial by the names of the runs, one for each seed."""
    return {
        run: [_changed(scenario, request, claim.seeds) for scenario in claim.seeded(run)]
        for run in _needed(claim)
    }


def _needed(claim: Claim) -> tuple[str, ...]:
    """Return the runs that the metric looks at: a claim may name others for a figure."""
    assert claim.metric is not None
    return tuple(claim.runs) if claim.metric.of_each else claim.metric.runs


def _changed(scenario: Scenario, request: Request, seeds: int) -> Scenario:
    """Return a scenario of a trial; what it changes itself of its machine stays so."""
    changes = _of_machine(request.changes, scenario.machine)
    return scenario.model_copy(
        update={
            "changes": dict(changes) | scenario.changes,
            "seed": scenario.seed + request.seed * seeds,
        }
    )


def _of_machine(changes: Changes, machine: str | Machine) -> Mapping[str, object]:
    return changes.get(_machine_name(machine), {}) if changes else {}


def _machine_name(machine: str | Machine) -> str:
    """Return the name that a machine has in its file."""
    return machine.name if isinstance(machine, Machine) else _name_in_file(machine)


@cache
def _name_in_file(name_or_path: str) -> str:
    return load_machine(name_or_path).name


def _numbers(outcome: Outcome, request: Request) -> dict[str, float]:
    """Return what a claim reads, by run or quantile."""
    if not outcome.numbers:
        changed = {
            f"{m}: {path}": v for m, some in request.changes.items() for path, v in some.items()
        }
        what = ", ".join(f"{path} = {value:g}" for path, value in changed.items()) or "no changes"
        raise InputError(f"claim {request.claim} with {what}: {'; '.join(outcome.complaints)}")
    if outcome.points:
        return {point.name: point.simulated for point in outcome.points}
    return dict(outcome.numbers)
