"""What is known of a machine's values before anything is measured there, and which may be fitted.

How far a value may be off is asked of the machines that come with xc40io: by as much as it differs
among them, less where the machine's own file has it from a firm source (``priors.yaml``).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Container, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.files import read_mapping, shipped
from xc40io.config.machine import Machine, load_machine, shipped_machines
from xc40io.config.model import Model, checked
from xc40io.config.parts.provenance import leaves
from xc40io.validation.free_parameter import FreeParameter, paths_that_move

FILE = Path(__file__).resolve().parent / "priors.yaml"
RANGE = "; nine of ten: "
"""What stands before the interval of a value in its source where a fit has written it."""

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
    machine: Machine, file: Path | None = None, known: Container[str] = ()
) -> dict[FreeParameter, Prior]:
    """Return the values of a machine that measurements may move: rates, times, sizes above zero.

    Parameters
    ----------
    machine, file
        The machine, and where it stands, if that is known.
    known
        Paths of values that need no fit.
    """
    values, own = machine.values(), _own_paths(machine, file)
    found = {}
    for path in _paths():
        value = values.get(path)
        if path not in known and isinstance(value, float) and 0.0 < value < math.inf:
            prior = prior_of(machine, path, own=path in own)
            parameter = FreeParameter(
                path=path,
                machines={machine.name: machine},
                files={machine.name: file} if file is not None else {},
                lower=value * _allowed(machine, path, value, -_REACH * prior.spread),
                upper=value * _allowed(machine, path, value, _REACH * prior.spread),
                reason=prior.why,
            )
            if parameter.lower < parameter.upper:
                found[parameter] = prior
    return found


def _own_paths(machine: Machine, file: Path | None) -> frozenset[str]:
    """Return the paths of the values that a machine's own file has, and not one that it is like."""
    file = file or shipped("machines").get(machine.name)
    if file is not None:
        return frozenset(leaves(read_mapping(file)))
    others = [one.provenance for one in shipped_machines()]
    return frozenset(
        path
        for path, said in machine.provenance.items()
        if all(other.get(path) != said for other in others)
    )


def _allowed(machine: Machine, path: str, value: float, log: float) -> float:
    """Return by what factor a value may be another, at most so far: a share is no more than 1."""
    for part in _PARTS:
        factor = math.exp(part * log)
        with suppress(InputError):
            machine.with_changes({path: value * factor})
            return factor
    return 1.0


def prior_of(machine: Machine, path: str, *, own: bool) -> Prior:
    """Return how far a value may be off before anything was measured.

    ``own``: whether it stands in the machine's file itself, not in one that it is like.
    """
    priors = _priors()
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


def _differs(path: str) -> float:
    """Return the standard deviation of a value's logarithm among machines."""
    spreads = _spreads()
    return spreads[path] if path in spreads else statistics.median(spreads.values())


@cache
def _spreads() -> dict[str, float]:
    """Return the same of all values that some machines have of their own, each number once."""
    logs: dict[str, set[float]] = {path: set() for path in _paths()}
    for file in shipped("machines").values():
        machine = load_machine(file)
        if machine.imagined:
            continue  # nobody's values
        values = machine.values()
        for path in logs.keys() & set(leaves(read_mapping(file))):
            if RANGE in machine.provenance[path].source:
                continue  # its measurements would be asked twice
            if isinstance(value := values.get(path), float) and value > 0.0:
                logs[path].add(math.log(value))
    return {
        path: statistics.stdev(sorted(some)) for path, some in logs.items() if len(some) >= _FEWEST
    }


def _paths() -> tuple[str, ...]:
    """Return what may be fitted in any machine."""
    return tuple(dict.fromkeys([*paths_that_move(), *_priors().besides]))


@cache
def _priors() -> _Priors:
    return checked(_Priors, read_mapping(FILE), str(FILE))
