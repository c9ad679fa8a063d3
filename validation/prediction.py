"""Which checks are genuine predictions: whose number the simulator has seen in no form.

A check is a claim to which no parameter was fitted. That alone does not make it a prediction: its
number may have gone into the machine file by hand, or its run may be one that was fitted for
another number. The rule is read off the claims and the machine files:

* no other claim of its row is a calibration or an input;
* no value of its machines names its row as a source;
* none of its runs is a run of a calibration or an input.

Only its numbers count: a bound or a trend can hold for many reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from sim.config.machine import load_machine
from sim.config.scenario import Scenario
from validation.claim import Claim

_ROW = re.compile(r"\b[A-K]\d\d\b")
_FITTED = ("calibration", "input")


def predictions(claims: Mapping[str, Claim]) -> frozenset[str]:
    """Return the ids of the checks that are genuine predictions.

    Parameters
    ----------
    claims
        All claims among which fitted ones are looked for, by id.

    Raises
    ------
    InputError
        If there is no such machine.
    """
    known = _Known(claims.values())
    return frozenset(name for name, claim in claims.items() if not known.doubts(claim))


def doubts(claim: Claim, claims: Mapping[str, Claim]) -> list[str]:
    """Return why a claim is no prediction, in words; nothing of one that is."""
    return _Known(claims.values()).doubts(claim)


def shared_readings(claims: Mapping[str, Claim]) -> dict[str, tuple[str, ...]]:
    """Return the checks that read off their runs only what fitted claims read, and those claims.

    They are no checks: what they look at was fitted. A distribution over seeds is more than the
    number that was fitted, and is left out.
    """
    fitted: dict[tuple[str, ...], str] = {}
    for claim in claims.values():
        if claim.role in _FITTED:
            for reading in _readings(claim):
                fitted.setdefault(reading, claim.id)
    found: dict[str, tuple[str, ...]] = {}
    for name, claim in claims.items():
        read = set(_readings(claim)) if claim.role == "check" and _has_number(claim) else set()
        if read and read <= fitted.keys():
            found[name] = tuple(sorted({fitted[reading] for reading in read}))
    return found


class _Known:
    """What has been fitted, or gone into a machine file."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._rows: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        for claim in claims:
            if claim.role in _FITTED:
                self._rows.setdefault(claim.row, claim.id)
                for scenario in _scenarios(claim):
                    self._runs.setdefault(scenario, claim.id)

    def doubts(self, claim: Claim) -> list[str]:
        """Return why a claim is no prediction."""
        if claim.role != "check":
            return [f"its role is {claim.role or 'none'}"]
        found = []
        if claim.row in self._rows:
            found.append(f"{self._rows[claim.row]} is of the same row")
        if not claim.source:  # ids of one's own may happen to be those of rows
            found += [f"{path} names it as a source" for path in sorted(_taken(claim))]
        shared = {self._runs[run] for run in _scenarios(claim) if run in self._runs}
        found += [f"shares a run with {name}" for name in sorted(shared)]
        return found


def _has_number(claim: Claim) -> bool:
    relation = claim.relation
    return relation is not None and relation.has_values and relation.quantiles is None


def needed_runs(claim: Claim) -> tuple[str, ...]:
    """Return the runs that the metric looks at: a claim may name others for a figure."""
    if claim.metric is None:
        return ()
    return tuple(claim.runs) if claim.metric.of_each else claim.metric.runs


def _scenarios(claim: Claim) -> Iterator[str]:
    """Yield what tells the runs of a claim from others, for each seed."""
    for run in needed_runs(claim):
        for scenario in claim.seeded(run) if run in claim.runs else ():
            yield _text(scenario)


def _readings(claim: Claim) -> Iterator[tuple[str, ...]]:
    """Yield each function of the metric with its words and its run, for one of the seeds."""
    for function, (run, *words) in claim.metric.expression.calls() if claim.metric else ():
        for name in (run,) if run in claim.runs else claim.runs:
            yield function, *words, _text(claim.runs[name])


def _text(scenario: Scenario) -> str:
    document = scenario.model_dump(mode="json", exclude={"title", "description"})
    return json.dumps(document, sort_keys=True)


def _taken(claim: Claim) -> set[str]:
    """Return the values of the claim's machines that name its row as a source."""
    machines = [scenario.machine for scenario in claim.runs.values()]
    machines += [claim.machine] if claim.machine is not None else []
    return {
        f"{name}: {path}"
        for machine in machines
        for name, path in _named(machine if isinstance(machine, str) else machine.name)
        .get(claim.row, {})
        .items()
    }


@cache
def _named(machine: str) -> dict[str, dict[str, str]]:
    """Return for each row that a machine file names the values that do so."""
    found: dict[str, dict[str, str]] = {}
    for path, provenance in load_machine(machine).provenance.items():
        for row in _ROW.findall(provenance.source):
            found.setdefault(row, {})[machine] = path
    return found
