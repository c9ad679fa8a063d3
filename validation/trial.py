"""Trials: what claims read when parameters are changed, each simulated once.

A fit and a table of sensitivities ask the same of the simulator: the metrics of some
claims with other values of some parameters. They are averaged over a few seeds, because what a run
says moves a little whenever one event comes before another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.validation.free_parameter import Changes
from xc40io.validation.quantity import Quantity

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """One number that a claim reads off its runs."""

    claim: str  # Id of the claim.
    run: str = ""  # Of which run, for a claim with several numbers; otherwise empty.
    measured: Quantity | None = None  # What was measured; none for a claim that compares its runs.
    tolerance: float = 0.0  # By which part of it the simulated number may differ.

    @property
    def name(self) -> str:
        """The claim and, where it has several numbers, the run."""
        return f"{self.claim} {self.run}".rstrip()


@dataclass(frozen=True)
class Subject:
    """What has to be known of a claim to try it."""

    claim: str  # Its id.
    machines: frozenset[str]  # Names of the machines of its runs.
    # The runs that it takes, by names that are the same for the same run of another claim.
    runs: frozenset[str]
    readings: tuple[Reading, ...]  # What it reads off them, at least one.
    # The parameters that it says were fitted to it, by dotted path.
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """One trial of a claim."""

    claim: str  # Its id.
    changes: Changes  # What is changed of its machines.
    seed: int  # Added to the seeds of its runs.

    @property
    def key(self) -> str:
        """The same for the same trial."""
        return _key(self.claim, self)


def _key(name: str, request: Request) -> str:
    return json.dumps([name, request.changes, request.seed], sort_keys=True)


Simulate = Callable[[Sequence[Request]], Sequence[Mapping[str, float]]]
"""Simulates claims: returns for each request its numbers by run, as :attr:`Reading.run` has it."""


class Trials:
    """The readings of some claims under any changes, each trial simulated once.

    Parameters
    ----------
    subjects
        The claims.
    simulate
        What runs them; it is handed all that is to be simulated at a time.
    seeds
        How many seeds each claim is tried with.
    """

    def __init__(
        self,
        subjects: Sequence[Subject],
        simulate: Simulate,
        *,
        seeds: int = 1,
    ) -> None:
        self.subjects = tuple(subjects)
        self.readings = tuple(reading for subject in subjects for reading in subject.readings)
        self.seeds = seeds
        self._simulate = simulate
        self._known: dict[str, list[float]] = {}
        self._runs: set[str] = set()

    @property
    def runs(self) -> int:
        """Runs asked for so far, with those that the simulator may have found in its cache."""
        return len(self._runs)

    def runs_of(
        self, path: str, seen: Callable[[str, str], bool] = lambda *_: True
    ) -> frozenset[str]:
        """Return the runs of the claims that are tried with another value of a path."""
        some = [one.runs for one in self.subjects if seen(one.claim, path)]
        return frozenset().union(*some)

    def logs(
        self,
        points: Sequence[Changes],
        *,
        seen: Callable[[str, str], bool] = lambda *_: True,
    ) -> Floats:
        """Return the natural logarithms of all readings at some points.

        Parameters
        ----------
        points
            What is changed at each of them.
        seen
            Tells whether a claim, by its id, is tried with another value of a path.

        Returns
        -------
        ndarray of float, (points, seeds, readings)

        Raises
        ------
        InputError
            If a claim reads zero or less, which has no logarithm.
        """
        table = [
            [self._requests(changes, seed, seen) for seed in range(self.seeds)]
            for changes in points
        ]
        wanted = {
            request.key: request
            for seeds in table
            for requests in seeds
            for request in requests
            if request.key not in self._known
        }
        self._do(list(wanted.values()))
        numbers = [
            [
                [number for request in requests for number in self._known[request.key]]
                for requests in seeds
            ]
            for seeds in table
        ]
        return np.log(np.array(numbers, dtype=np.float64))

    def _requests(
        self, changes: Changes, seed: int, seen: Callable[[str, str], bool]
    ) -> list[Request]:
        """Return a trial of each claim, with what is changed of its own machines."""
        return [
            Request(
                subject.claim,
                {
                    name: of_claim
                    for name in sorted(subject.machines & changes.keys())
                    if (of_claim := _seen(changes[name], subject.claim, seen))
                },
                seed,
            )
            for subject in self.subjects
        ]

    def _do(self, requests: Sequence[Request]) -> None:
        """Simulate, and remember what came out."""
        if not requests:
            return
        by_claim = {subject.claim: subject for subject in self.subjects}
        self._runs.update(
            _key(run, request) for request in requests for run in by_claim[request.claim].runs
        )
        for request, read in zip(requests, self._simulate(requests), strict=True):
            readings = by_claim[request.claim].readings
            self._known[request.key] = [_positive(reading, read) for reading in readings]


def _seen(
    values: Mapping[str, object], claim: str, seen: Callable[[str, str], bool]
) -> dict[str, object]:
    return {path: value for path, value in values.items() if seen(claim, path)}


def _positive(reading: Reading, read: Mapping[str, float]) -> float:
    number = read[reading.run]
    if not 0.0 < number < math.inf:
        raise InputError(
            f"claim {reading.name} reads {number:g}; right would be more than zero: only then can "
            "it be said by what part it changes. Leave the claim out"
        )
    return number
