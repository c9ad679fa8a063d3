"""How much each claim depends on each free parameter.

The measure is the elasticity d ln(metric) / d ln(parameter): 1 where the metric goes up by 1 % when
the parameter does. It is taken by central differences over steps of several per cent, since a
simulation is constant in small pieces and jumps between them, with the same seeds on both sides,
and averaged over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.trial import Floats, Reading, Subject, Trials

Booleans = npt.NDArray[np.bool_]

BLIND = 0.05
"""Elasticity below which a claim does not see a parameter."""

STEP = 0.10
"""Relative step to each side."""

_SURE = 2.0  # standard errors that an elasticity is away from zero if it is no accident


@dataclass(frozen=True)
class Sensitivity:
    """Elasticities of readings with respect to parameters."""

    # What was read, and the claims that it belongs to.
    readings: tuple[Reading, ...]
    subjects: tuple[Subject, ...]
    parameters: tuple[FreeParameter, ...]  # What was changed.
    elasticity: Floats  # NaN where the claim runs on no machine that has the parameter.
    error: Floats  # Standard error of the same over the seeds; 0 with one seed.

    @property
    def visible(self) -> Booleans:
        """Where a reading sees a parameter: (readings, parameters)."""
        size = np.nan_to_num(np.abs(self.elasticity))
        return (size >= BLIND) & (size >= _SURE * np.nan_to_num(self.error))

    def seen_by(self, parameter: FreeParameter) -> tuple[str, ...]:
        """Return the ids of the claims that see a parameter, in their order."""
        column = self.visible[:, self.parameters.index(parameter)]
        seeing = [
            reading.claim for reading, sees in zip(self.readings, column, strict=True) if sees
        ]
        return tuple(dict.fromkeys(seeing))

    def rows_seeing(self, parameter: FreeParameter) -> tuple[str, ...]:
        """Return the published rows whose claims see a parameter.

        Several claims of one row (``B02``, ``B02.ratio``) are one measurement.
        """
        return tuple(dict.fromkeys(map(row_of, self.seen_by(parameter))))

    @property
    def lone(self) -> dict[FreeParameter, str]:
        """The parameters that only one row sees, with that row."""
        rows = {parameter: self.rows_seeing(parameter) for parameter in self.parameters}
        return {parameter: seeing[0] for parameter, seeing in rows.items() if len(seeing) == 1}

    @property
    def fitted_alone(self) -> dict[str, tuple[FreeParameter, ...]]:
        """The claims to which a parameter is said to be fitted that no other claim sees."""
        found: dict[str, tuple[FreeParameter, ...]] = {}
        for subject in self.subjects:
            own = tuple(
                parameter
                for parameter, row in self.lone.items()
                if row == row_of(subject.claim) and parameter.path in subject.parameters
            )
            if own:
                found[subject.claim] = own
        return found

    @property
    def fitted_blindly(self) -> dict[str, tuple[FreeParameter, ...]]:
        """The claims to which a parameter is said to be fitted that no claim of their row sees."""
        found: dict[str, tuple[FreeParameter, ...]] = {}
        for subject in self.subjects:
            unseen = tuple(
                parameter
                for parameter in self.parameters
                if parameter.path in subject.parameters
                and not subject.machines.isdisjoint(parameter.moved)
                and row_of(subject.claim) not in self.rows_seeing(parameter)
            )
            if unseen:
                found[subject.claim] = unseen
        return found


def row_of(claim: str) -> str:
    """Return the id of the published row that a claim is about."""
    return claim.partition(".")[0]


def measure_sensitivity(
    trials: Trials,
    parameters: Sequence[FreeParameter],
    *,
    step: float = STEP,
) -> Sensitivity:
    """Return the elasticities of what `trials` reads.

    Parameters
    ----------
    trials
        The claims, and what simulates them.
    parameters
        What to change, one at a time. Steps end at the bounds of a parameter.
    step
        Relative step to each side, more than 0 and less than 1.

    Raises
    ------
    InputError
        As in :meth:`~xc40io.validation.trial.Trials.logs`.
    """
    sides = [_sides(parameter, step) for parameter in parameters]
    logs = trials.logs(
        [
            parameter.changes(side)
            for parameter, pair in zip(parameters, sides, strict=True)
            for side in pair
        ]
    )
    spans = np.array([math.log(high / low) for low, high in sides]).reshape(-1, 1, 1)
    slopes = (logs[1::2] - logs[0::2]) / spans  # (parameters, seeds, readings)
    error = np.zeros(slopes.shape[::2])
    if trials.seeds > 1:
        error = slopes.std(axis=1, ddof=1) / math.sqrt(trials.seeds)
    shared = _shared(trials, parameters)
    return Sensitivity(
        trials.readings,
        trials.subjects,
        tuple(parameters),
        np.where(shared, slopes.mean(axis=1).T, np.nan),
        np.where(shared, error.T, np.nan),
    )


def _sides(parameter: FreeParameter, step: float) -> tuple[float, float]:
    """Return the values on both sides of that in the machine files, within the bounds."""
    value = parameter.value
    return max(value * (1.0 - step), parameter.lower), min(value * (1.0 + step), parameter.upper)


def _shared(trials: Trials, parameters: Sequence[FreeParameter]) -> Booleans:
    """Return whether the claim of each reading runs on a machine of each parameter."""
    machines = {subject.claim: subject.machines for subject in trials.subjects}
    return np.array(
        [
            [not machines[reading.claim].isdisjoint(p.moved) for p in parameters]
            for reading in trials.readings
        ],
        dtype=np.bool_,
    ).reshape(len(trials.readings), len(parameters))
