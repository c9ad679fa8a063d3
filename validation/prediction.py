"""Which checks are genuine predictions: whose number the simulator was never shown.

A check is a claim to which no parameter was fitted. That alone does not make it a prediction: its
number may have gone into the machine file by hand, or its run may be one that was fitted for
another number. The rule is read off the claims and the machine files:

* no other claim of its row is a calibration or an input;
* no value of its machines names its row as a source, or has its number in the words of one;
* none of its runs is a run of a calibration or an input;
* where each process has a file of its own, it does not read the same of another number of nodes,
  which is the same rate once more.

Only its numbers count: a bound or a trend can hold for many reasons. Numbers in words are bytes,
rates and times with three digits or more, in whatever unit (``752 GB/s`` is 716,886 MiB/s): others
are alike by chance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim
from xc40io.validation.number_words import Printed, numbers_in
from xc40io.validation.quantity import Quantity
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import OWN

_ROW = re.compile(r"\b[A-KMNP]\d{2,3}\b")
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
        self._apart: dict[tuple[str, ...], str] = {}
        for claim in claims:
            if claim.role in _FITTED:
                self._rows.setdefault(claim.row, claim.id)
                for scenario in _scenarios(claim):
                    self._runs.setdefault(scenario, claim.id)
                for reading in _readings(claim, apart=True):
                    self._apart.setdefault(reading, claim.id)

    def doubts(self, claim: Claim) -> list[str]:
        """Return why a claim is no prediction."""
        if claim.role != "check":
            return [f"its role is {claim.role or 'none'}"]
        found = []
        if claim.row in self._rows:
            found.append(f"{self._rows[claim.row]} is of the same row")
        if not claim.source:  # ids of one's own may happen to be those of rows
            found += [f"{path} names it as a source" for path in sorted(_taken(claim))]
        found += [f"{path} says {words} in its source" for path, words in sorted(_said(claim))]
        shared = {self._runs[run] for run in _scenarios(claim) if run in self._runs}
        found += [f"shares a run with {name}" for name in sorted(shared)]
        alike = {self._apart[one] for one in _readings(claim, apart=True) if one in self._apart}
        found += [f"is {name} with another number of nodes" for name in sorted(alike - shared)]
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


def _readings(claim: Claim, *, apart: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield each function of the metric with its words and its run, for one of the seeds.

    With `apart` only of runs in which each process has a file of its own, whatever their nodes.
    """
    for function, (run, *words) in claim.metric.expression.calls if claim.metric else ():
        for name in (run,) if run in claim.runs else claim.runs:
            scenario = claim.runs[name]
            if not apart:
                yield function, *words, _text(scenario)
            elif traits_of(scenario).sharing == OWN:
                yield function, *words, _text(scenario, "nodes")


def _text(scenario: Scenario, *left_out: str) -> str:
    document = scenario.model_dump(mode="json", exclude={"title", "description", *left_out})
    return json.dumps(document, sort_keys=True)


def _taken(claim: Claim) -> set[str]:
    """Return the values of the claim's machines that name its row as a source."""
    return {
        f"{name}: {path}"
        for name in _machines(claim)
        for path in _sources(name).rows.get(claim.row, ())
    }


def _said(claim: Claim) -> set[tuple[str, str]]:
    """Return the values of the claim's machines whose sources have a number of it in words."""
    return {
        (f"{name}: {path}", printed.words)
        for name in _machines(claim)
        for path, printed in _sources(name).numbers
        for measured in _measured(claim)
        if printed.is_of(measured)
    }


def _measured(claim: Claim) -> Iterator[Quantity]:
    """Yield the numbers that were measured: bounds are not."""
    relation = claim.relation
    if relation is not None:
        yield from [relation.value] if relation.value is not None else ()
        yield from (relation.values or {}).values()
        yield from relation.quantiles.measured().values() if relation.quantiles else ()


def _machines(claim: Claim) -> set[str]:
    """Return the names of the machines that a claim is about, or the paths of their files."""
    machines = [scenario.machine for scenario in claim.runs.values()]
    machines += [claim.machine] if claim.machine is not None else []
    return {machine if isinstance(machine, str) else machine.name for machine in machines}


class _Sources(NamedTuple):
    """What the sources of a machine's values name."""

    rows: dict[str, list[str]]  # The values by the ids of published rows.
    # Values, each with a number that stands in the words of its source.
    numbers: list[tuple[str, Printed]]


@cache
def _sources(machine: str) -> _Sources:
    """Return what the sources of a machine's values name."""
    found = _Sources({}, [])
    for path, provenance in load_machine(machine).provenance.items():
        for row in _ROW.findall(provenance.source):
            found.rows.setdefault(row, []).append(path)
        numbers = (one for one in numbers_in(provenance.source) if one.tells)
        found.numbers.extend((path, printed) for printed in numbers)
    return found
