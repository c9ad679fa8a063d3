"""Cross-validation: numbers predicted without the measurements that were taken with them.

For each series of measurements, or each study (:mod:`xc40io.validation.fold`), the parameters that
its rows helped to fix are fitted again to the rows of all others (:mod:`xc40io.validation.refit`),
and its numbers, fitted ones and checks, are predicted with what comes out: by their elasticities,
or by a run where one is kept. All other parameters stay: nothing that they stand on was left out.
So do whole numbers and words.

``python -m xc40io.validation.cross`` prints it and makes what it needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.claim_trial import machines_of
from xc40io.validation.fold import FOLDS, By, fitted_through
from xc40io.validation.free_parameter import FreeParameter, load_free_parameters, merged
from xc40io.validation.kept import Result, load_kept
from xc40io.validation.kept_cross import KeptCross, SimulatedChange, load_cross, run_key, set_up
from xc40io.validation.number import number_key
from xc40io.validation.quantity import Quantity
from xc40io.validation.refit import Evidence, refit
from xc40io.validation.sensitivity import BLIND, row_of
from xc40io.validation.sensitivity_page import SeenClaims, load_seen, parameter_name

How = Literal["as it was", "by elasticities", "by a run", "as it was, for want of elasticities"]
"""How a number was predicted; as it was where no parameter that it sees was fitted again."""

_ROLES = ("calibration", "check")  # whose numbers are predicted: inputs agree by their nature


@dataclass(frozen=True)
class CrossNumber:
    """A measured number, predicted without those that were measured with it."""

    # Whose it is.
    claim: str
    point: str
    fold: str  # What was left out.
    # Which simulated number it is, as :func:`~xc40io.validation.number.number_key` has it.
    number: str
    # ``ln(simulated / measured)`` with the values of the machine files, and with those that were
    # fitted without the fold.
    fitted: float
    crossed: float
    how: How  # How it was predicted.


@dataclass(frozen=True)
class LeftOut:
    """What leaving out a fold does to the parameters."""

    fold: str  # Which.
    # The logarithm of ``value / present value`` of each parameter that was fitted again, by name.
    moved: Mapping[str, float]
    # Those that lost all rows, and are in the middle of their bounds, each with the claims that it
    # was fitted to, too, but whose elasticity nobody tried.
    ignorant: Mapping[str, tuple[str, ...]]


class CrossValidation:
    """A cross-validation from kept results and elasticities.

    Parameters
    ----------
    claims
        All of them.
    results
        What came of those that were run.
    parameters
        The free parameters by name.
    kept
        Elasticities and runs.
    seen
        Further elasticities, those of the page of sensitivities.
    by
        What is left out at a time.
    """

    def __init__(
        self,
        claims: Mapping[str, Claim],
        results: Mapping[str, Result],
        parameters: Mapping[str, FreeParameter],
        kept: KeptCross,
        seen: Mapping[str, SeenClaims] | None = None,
        by: By = "series",
    ) -> None:
        named = fitted_through(claims, parameters)
        self.parameters = {name: parameters[name] for name in named}
        self.claims = {
            name: claim for name, claim in claims.items() if claim.names and _logs(claim, results)
        }
        self._named = named
        self._results = results
        self._kept = kept
        self._seen = seen or {}
        self.by: By = by
        self._fold = FOLDS[by]
        self._known = {
            (claim.id, name): self._elasticities(claim, parameter)
            for claim in self.claims.values()
            for name, parameter in self.parameters.items()
        }

    @cached_property
    def folds(self) -> dict[str, list[Claim]]:
        """The claims with numbers by fold, in the order in which the folds first come."""
        folds: dict[str, list[Claim]] = {}
        for claim in self.claims.values():
            folds.setdefault(self._fold(claim), []).append(claim)
        return folds

    @cached_property
    def left_out(self) -> dict[str, LeftOut]:
        """What leaving out each fold does."""
        return {fold: self._left_out(fold) for fold in self.folds}

    @cached_property
    def numbers(self) -> tuple[CrossNumber, ...]:
        """The numbers of calibrations and checks, in the order of the claims."""
        return tuple(
            number
            for claim in self.claims.values()
            if claim.role in _ROLES
            for number in self._numbers(claim)
        )

    @cached_property
    def fixing(self) -> dict[str, tuple[str, ...]]:
        """The claims that fix each parameter, by its name.

        Those to which it was fitted and which see it, or were not tried, and other calibrations
        that see it.
        """
        return {name: self._fixing(name, self.claims.values()) for name in self.parameters}

    @property
    def lone(self) -> dict[str, str]:
        """The parameters that one published row alone fixes, with that row."""
        rows = {name: set(map(row_of, fixing)) for name, fixing in self.fixing.items()}
        return {name: row for name, some in rows.items() if len(some) == 1 for row in some}

    @cached_property
    def untried(self) -> dict[str, tuple[str, ...]]:
        """The claims that are asked for elasticities which are not known, with the parameters."""
        found = {
            claim.id: tuple(
                one.name for one in self.asked_of(claim) if self._of(claim, one.name) is None
            )
            for claim in self.claims.values()
        }
        return {claim: names for claim, names in found.items() if names}

    def changes(self, claim: Claim) -> dict[str, dict[str, object]]:
        """Return the values with which a claim is predicted, of its own machines."""
        moved = self.left_out[self._fold(claim)].moved
        changes = merged(
            self.parameters[name].changes(self.parameters[name].value * math.exp(log))
            for name, log in moved.items()
        )
        return {machine: changes[machine] for machine in sorted(machines_of(claim) & set(changes))}

    def sees_a_move(self, claim: Claim) -> bool:
        """Tell whether a claim sees a parameter that is fitted again without its fold, or may."""
        moved = self.left_out[self._fold(claim)].moved
        return bool(self.changes(claim)) and any(
            known is None or bool((np.abs(known) >= BLIND).any())
            for known in (self._of(claim, name) for name, log in moved.items() if log)
        )

    def asked_of(self, claim: Claim) -> list[FreeParameter]:
        """Return the parameters whose elasticities a claim is asked for, of its own machines.

        Those that were fitted to it, and those that are fitted again when its fold is left out.
        What else a calibration sees is known of the claims of the page of sensitivities.
        """
        machines = machines_of(claim)
        moved = self.left_out[self._fold(claim)].moved
        return [
            parameter
            for name, parameter in self.parameters.items()
            if not machines.isdisjoint(parameter.machines)
            and not _is_elsewhere(claim, parameter)
            and (name in moved or claim.id in self._named[name])
        ]

    def run_of(self, claim: Claim) -> SimulatedChange | None:
        """Return the kept run of a claim with the values of now, if there is one."""
        run = self._kept.simulated.get(run_key(claim, self.by))
        if run is None or run.changes != self.changes(claim) or run.digest != set_up(claim):
            return None
        return run

    def _left_out(self, fold: str) -> LeftOut:
        """Fit the parameters that a fold helped to fix again to all other rows."""
        lost = [n for n in self.parameters if self._fixing(n, self.folds[fold])]
        rest = [claim for claim in self.claims.values() if self._fold(claim) != fold]
        fixing = {name: self._fixing(name, rest) for name in lost}
        rows = [claim for claim in rest if any(claim.id in some for some in fixing.values())]
        found = refit([self.parameters[name] for name in lost], self._evidence(rows, lost))
        return LeftOut(
            fold,
            dict(zip(lost, map(float, found), strict=True)),
            {
                name: some
                for name, some in fixing.items()
                if all(self._known[claim, name] is None for claim in some)
            },
        )

    def _fixing(self, name: str, claims: Iterable[Claim]) -> tuple[str, ...]:
        """Return those of some claims that fix a parameter, by their ids."""
        return tuple(claim.id for claim in claims if self._fixes(claim, name))

    def _fixes(self, claim: Claim, name: str) -> bool:
        """Tell whether a parameter is fixed by a claim; who was never tried is believed."""
        known = self._of(claim, name)
        named = claim.id in self._named[name]
        if known is None:
            return named
        sees = bool((np.abs(known) >= BLIND).any())
        return sees and (named or claim.role == "calibration")

    def _evidence(self, rows: Sequence[Claim], names: Sequence[str]) -> Evidence:
        off, slopes, weights = [], [], []
        for claim in rows:
            logs = _logs(claim, self._results)
            columns = [
                (self._of(claim, name) if self._fixes(claim, name) else None) or (0.0,) * len(logs)
                for name in names
            ]
            off += logs
            slopes += list(zip(*columns, strict=True))
            weights += [1.0 / (_tolerance(claim) * math.sqrt(len(logs)))] * len(logs)
        return Evidence(
            np.array(off),
            np.array(slopes, dtype=np.float64).reshape(len(off), len(names)),
            np.array(weights),
        )

    def _of(self, claim: Claim, name: str) -> tuple[float, ...] | None:
        """Return the elasticities of a claim's numbers; None where nobody tried."""
        return self._known[claim.id, name]

    def _elasticities(self, claim: Claim, parameter: FreeParameter) -> tuple[float, ...] | None:
        """Look up the elasticities of a claim's numbers: as kept, or on the page."""
        count = len(_logs(claim, self._results))
        if machines_of(claim).isdisjoint(parameter.machines) or _is_elsewhere(claim, parameter):
            return (0.0,) * count
        tried = self._kept.tried.get(claim.id)
        if tried is not None and parameter.name in tried.by and tried.digest == set_up(claim):
            return tried.by[parameter.name]
        seen = self._seen.get(parameter_name(parameter.path, parameter.machines))
        found = dict(seen.best).get(claim.id) if seen is not None else None
        return None if found is None else (found,) * count

    def _numbers(self, claim: Claim) -> Iterator[CrossNumber]:
        logs, (how, crossed) = _logs(claim, self._results), self._crossed(claim)
        for point, fitted, log in zip(counted(claim), logs, crossed, strict=False):
            number = number_key(claim, point)
            yield CrossNumber(claim.id, point, self._fold(claim), number, fitted, log, how)

    def _crossed(self, claim: Claim) -> tuple[How, list[float]]:
        """Predict a claim's numbers without its fold."""
        logs = _logs(claim, self._results)
        if not self.sees_a_move(claim):
            return "as it was", logs
        run = self.run_of(claim)
        if run is not None:
            return "by a run", [log + math.log(t) for log, t in zip(logs, run.times, strict=True)]
        moved = np.zeros(len(logs))
        known = [
            (log, np.array(found))
            for name, log in self.left_out[self._fold(claim)].moved.items()
            if (found := self._of(claim, name)) is not None
        ]
        for log, elasticities in known:
            moved += log * elasticities
        sees = any((np.abs(elasticities) >= BLIND).any() for _, elasticities in known)
        how: How = "by elasticities" if sees else "as it was, for want of elasticities"
        return how, [log + float(more) for log, more in zip(logs, moved, strict=True)]


def _is_elsewhere(claim: Claim, parameter: FreeParameter) -> bool:
    """Tell whether a parameter is of a burst buffer which no run of a claim uses."""
    used = {scenario.target.kind for scenario in claim.runs.values()}
    return parameter.path.startswith("burst_buffer.") and "bb" not in used


def kept_cross_validation(
    claims: Mapping[str, Claim] | None = None,
    results: Mapping[str, Result] | None = None,
    by: By = "series",
) -> CrossValidation:
    """Return the cross-validation of the claims that come with xc40io, from what is kept."""
    return CrossValidation(
        claims if claims is not None else load_claims(),
        results if results is not None else load_kept(),
        load_free_parameters(),
        load_cross(),
        load_seen(),
        by,
    )


def counted(claim: Claim) -> dict[str, Quantity]:
    """Return the measured numbers of a claim that count, by their points, of an input too."""
    measured = claim.relation.measured() if claim.relation is not None else {}
    return {point: quantity for point, quantity in measured.items() if claim.counts(point)}


def _logs(claim: Claim, results: Mapping[str, Result]) -> list[float]:
    """Return ``ln(simulated / measured)`` of the numbers of a claim that count."""
    result = results.get(claim.id)
    if result is None or not counted(claim):
        return []
    return [math.log(number.ratio) for number in result.numbers if number.counts and number.ratio]


def _tolerance(claim: Claim) -> float:
    relation = claim.relation
    assert relation is not None
    quantiles = relation.quantiles.tolerance if relation.quantiles else None
    return quantiles or relation.tolerance or 1.0
