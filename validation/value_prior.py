"""What is known of a machine's values before anything is measured there, and which may be fitted.

How far a value may be off is asked of the machines that come with xc40io: by as much as it differs
among them, less where the machine's own file has it from a firm source (``priors.yaml``).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.files import read_mapping, shipped
from xc40io.config.machine import Machine, load_machine
from xc40io.config.model import Model, checked
from xc40io.config.parts.provenance import leaves
from xc40io.validation.free_parameter import FreeParameter, paths_that_move

FILE = Path(__file__).resolve().parent / "priors.yaml"
_FEWEST = 3  # values of other machines, with which a spread says something
_REACH = 3.0  # standard deviations to each side that a search may go
_PARTS = (1.0, 0.5, 0.25, 0.1, 0.05)  # of that, where the machine would not be one


class _Priors(Model):
    """What the file holds."""

    firm: Mapping[str, float]
    like: float
    together: float
    structure: float
    least: float
    besides: list[str]


class Prior(NamedTuple):
    """How far a value may be off."""

    spread: float  # standard deviation of its logarithm
    why: str


def free_values(
    machine: Machine, file: Path, known: Container[str] = ()
) -> dict[FreeParameter, Prior]:
    """Return the values of a machine that measurements may move: rates, times, sizes above zero.

    Parameters
    ----------
    machine, file
        The machine, and where it stands.
    known
        Paths of values that need no fit.
    """
    values = machine.values()
    paths = dict.fromkeys([*paths_that_move(), *_priors().besides])
    found = {}
    for path in paths:
        value = values.get(path)
        if path not in known and isinstance(value, float) and 0.0 < value < math.inf:
            prior = prior_of(machine, file, path)
            parameter = FreeParameter(
                path=path,
                machines={machine.name: machine},
                files={machine.name: file},
                lower=value * _allowed(machine, path, -_REACH * prior.spread),
                upper=value * _allowed(machine, path, _REACH * prior.spread),
                reason=prior.why,
            )
            if parameter.lower < parameter.upper:
                found[parameter] = prior
    return found


def _allowed(machine: Machine, path: str, log: float) -> float:
    """Return by what factor a value may be another, at most so far: a share is no more than 1."""
    for part in _PARTS:
        factor = math.exp(part * log)
        with suppress(InputError):
            machine.with_changes({path: machine.values()[path] * factor})
            return factor
    return 1.0


def prior_of(machine: Machine, file: Path, path: str) -> Prior:
    """Return how far a value may be off before anything was measured."""
    priors, own = _priors(), path in _own(file)
    firm = machine.provenance[path].firm
    share = priors.firm[firm] if own else priors.like
    spread = max(share * _differs(path), priors.least)
    whose = f"{firm} here" if own else "another machine's"
    return Prior(spread, f"{whose}; a factor of {math.exp(spread):.2g} either way")


def together() -> float:
    """Return how much the errors of two runs of one kind are alike: their correlation."""
    return _priors().together


def structure() -> float:
    """Return the standard deviation of the error that remains where all values are right."""
    return _priors().structure


@cache
def _differs(path: str) -> float:
    """Return the standard deviation of a value's logarithm among machines."""
    logs = _logs(path)
    return statistics.stdev(logs) if len(logs) >= _FEWEST else _usual()


@cache
def _usual() -> float:
    """Return the median of that of all values that several machines have of their own."""
    known = [_logs(path) for path in (*paths_that_move(), *_priors().besides)]
    return statistics.median(statistics.stdev(logs) for logs in known if len(logs) >= _FEWEST)


@cache
def _logs(path: str) -> tuple[float, ...]:
    """Return the logarithms of what different machines have, each value of a file once."""
    return tuple(sorted({math.log(value) for value in _values_of_files(path)}))


def _values_of_files(path: str) -> Iterator[float]:
    for file in shipped("machines").values():
        if path in _own(file):
            value = _machine(file).values().get(path)
            if isinstance(value, float) and value > 0.0:
                yield value


@cache
def _own(file: Path) -> frozenset[str]:
    """Return the values that stand in a machine file itself, by their paths."""
    return frozenset(leaves(read_mapping(file)))


@cache
def _machine(file: Path) -> Machine:
    return load_machine(file)


@cache
def _priors() -> _Priors:
    return checked(_Priors, read_mapping(FILE), str(FILE))
