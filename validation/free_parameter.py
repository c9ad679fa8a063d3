"""Free parameters: what may be fitted, within which bounds, and which machines share it.

They stand in ``validation/parameters.yaml``, a list below the word parameters::

      - path: nodes.write_copy_rate
        machines: {theta: 1, cori-knl: 1.06}
        bounds: [100 MB/s, 320 MB/s]
        reason: one Xeon Phi core; what slow and fast single streams reach

A parameter that several machines share is fitted as one: their values keep their ratios. A machine
whose file is ``like`` that of one of them, and does not give the value itself, follows. The number
behind a machine's name is its value in proportion to the others': 1 for hardware of the same kind,
another one where a measurement says how the two differ (a clock, a kind of core). A machine file
whose value disagrees is refused. The bounds hold for the first machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from xc40io.config.errors import InputError, nearest
from xc40io.config.files import find, read_mapping, shipped
from xc40io.config.machine import Machine, load_machine
from xc40io.config.model import Model, checked
from xc40io.config.parts.provenance import Files, file_of_value, files_of
from xc40io.config.reading import reads

FILE = Path(__file__).resolve().parent / "parameters.yaml"
"""The free parameters that come with xc40io."""

Changes = Mapping[str, Mapping[str, object]]
"""New values by the names of machines and, for each, by dotted path."""

DIGITS = 3
"""Significant digits of a fitted value in a machine file: there is nothing behind them."""

_PATH_DIGITS = 6  # of a value on the way: what differs less is the same run
_DISAGREEMENT = 0.02  # of a machine's value with its number in proportion to the others'


class _Entry(Model):
    """A free parameter as the file holds it."""

    path: str
    machines: Annotated[
        dict[str, Annotated[float, Field(gt=0)]],
        BeforeValidator(lambda names: dict.fromkeys(names, 1.0) if _is_list(names) else names),
        Field(min_length=1),
    ]
    bounds: Annotated[
        tuple[str | float, str | float],
        BeforeValidator(lambda pair: tuple(pair) if _is_list(pair) else pair),
    ]
    reason: Annotated[str, Field(min_length=1)]


class _WholeEntry(Model):
    """A value that is moved as a whole or not, as the file holds it."""

    path: str
    machines: Annotated[list[str], Field(min_length=1)]
    reason: Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, eq=False)
class FreeParameter:
    """A parameter that may be fitted; its value is that on the first of its machines."""

    path: str  # Where it stands in a machine file: ``nodes.write_copy_rate``.
    machines: Mapping[str, Machine]  # The machines that share it, by name, the first one first.
    files: Mapping[str, Path]  # Their files.
    # Its physical bounds, in its base unit.
    lower: float
    upper: float
    reason: str  # Why these bounds.
    # Machines that take the value from the file of one of these, each with its name.
    followers: Mapping[str, str] = field(default_factory=dict)

    @property
    def first(self) -> Machine:
        """The machine whose value stands for all."""
        return next(iter(self.machines.values()))

    @cached_property
    def _now(self) -> Mapping[str, float]:
        return {name: machine.values()[self.path] for name, machine in self.machines.items()}

    @property
    def value(self) -> float:
        """What the machine file says."""
        return self._now[self.first.name]

    @property
    def name(self) -> str:
        """The path with the first machine: another kind of core has another one."""
        return f"{self.path} ({self.first.name})"

    @property
    def moved(self) -> frozenset[str]:
        """The names of all machines that have another value when the parameter has."""
        return frozenset(self.machines) | frozenset(self.followers)

    def values(self, value: float, digits: int = _PATH_DIGITS) -> dict[str, float]:
        """Return what each machine has when the first has `value`, to so many digits."""
        factor = value / self.value
        return {name: rounded(factor * now, digits) for name, now in self._now.items()}

    def changes(self, value: float) -> dict[str, dict[str, object]]:
        """Return the changes that give the first machine `value`; none if it has it already."""
        if rounded(value, _PATH_DIGITS) == rounded(self.value, _PATH_DIGITS):
            return {}
        changed = self.values(value)
        changed |= {name: changed[other] for name, other in self.followers.items()}
        return {name: {self.path: one} for name, one in changed.items()}

    def show(self, value: float, digits: int = DIGITS) -> str:
        """Write a value with its unit and so many significant digits."""
        changed = self.first.with_changes({self.path: rounded(value, digits)})
        return str(changed.values(units=True)[self.path])


def rounded(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}")


def merged(changes: Iterable[Changes]) -> dict[str, dict[str, object]]:
    """Return several changes as one."""
    both: dict[str, dict[str, object]] = {}
    for some in changes:
        for name, values in some.items():
            both.setdefault(name, {}).update(values)
    return both


@reads("a table of parameters")
def load_free_parameters(file: str | Path = FILE) -> dict[str, FreeParameter]:
    """Read and check free parameters.

    Returns
    -------
    dict
        The parameters by name, in the order of the file.

    Raises
    ------
    InputError
        If an entry is wrong, names no such machine or value, has bounds that its value is not
        within, or if the machines that share a value do not agree on it.
    """
    entries = _lists(file)[0]
    parameters: dict[str, FreeParameter] = {}
    load = cache(load_machine)
    ships = {name: files_of(path) for name, path in shipped("machines").items()}
    for number, content in enumerate(entries, start=1):
        place = f"{file}: parameter {number}"
        entry = checked(_Entry, content, place)
        machines = [load(name) for name in entry.machines]
        parameter = _parameter(entry, machines, ships, f"{place}, {entry.path}")
        _refuse_second(parameter, parameters.values(), place)
        parameters[parameter.name] = parameter
    return parameters


def sharing(file: Path) -> list[FreeParameter]:
    """Return those of the parameters that come with xc40io whose value stands in a file."""
    return [one for one in load_free_parameters(FILE).values() if file in one.files.values()]


@cache
def paths_that_move() -> tuple[str, ...]:
    """Return the paths of the parameters that come with xc40io, whatever their machines."""
    return tuple(dict.fromkeys(entry["path"] for entry in _lists(FILE)[0]))


@dataclass(frozen=True)
class WholeParameter:
    """A value, chosen or fitted, of which there is no tenth: a count, a word, nothing."""

    path: str  # Where it stands in a machine file.
    machines: Mapping[str, str]  # The values by the machines that have it, with their units.
    reason: str  # How it was chosen.


@reads("a table of parameters")
def load_whole_parameters(file: str | Path = FILE) -> list[WholeParameter]:
    """Read the values that were chosen, or fitted, and that no table of elasticities can move.

    Raises
    ------
    InputError
        If an entry is wrong, or names no such machine or value.
    """
    found = []
    for number, content in enumerate(_lists(file)[1], start=1):
        place = f"{file}: whole {number}"
        entry = checked(_WholeEntry, content, place)
        machines = [load_machine(name) for name in entry.machines]
        for machine in machines:
            if entry.path not in (values := machine.values()):
                raise InputError(
                    f"{place}: {machine.name} has no such value{nearest(entry.path, values)}"
                )
        shown = {one.name: str(one.values(units=True)[entry.path]) for one in machines}
        found.append(WholeParameter(entry.path, shown, entry.reason))
    return found


def _lists(file: str | Path) -> tuple[list[Any], list[Any]]:
    """Return the two lists of a file: parameters, and those that are moved as a whole or not."""
    document = read_mapping(Path(file))
    moved, whole = document.get("parameters"), document.get("whole", [])
    known = not document.keys() - {"parameters", "whole"}
    if not known or not isinstance(moved, list) or not isinstance(whole, list):
        raise InputError(
            f"{file}: right would be parameters: and a list of them, whole: and another at most"
        )
    return moved, whole


def _parameter(
    entry: _Entry, machines: Sequence[Machine], ships: Mapping[str, Files], place: str
) -> FreeParameter:
    """Return a parameter; its numbers are read as values of its machines."""
    first = machines[0]
    value = _number(first, entry.path, None, place)
    lower, upper = (_number(first, entry.path, bound, place) for bound in entry.bounds)
    if not 0 < lower <= value <= upper or lower == upper:
        written = first.values(units=True)[entry.path]
        raise InputError(
            f"{place}: bounds {entry.bounds[0]} to {entry.bounds[1]} with {written} in the file of "
            f"{first.name}; right would be 0 < lower <= value <= upper"
        )
    ratios = list(entry.machines.values())
    for machine, ratio in zip(machines, ratios, strict=True):
        _check_agreement(machine, entry.path, value * ratio / ratios[0], place)
    names = [machine.name for machine in machines]
    files = dict(zip(names, (find("machines", name) for name in entry.machines), strict=True))
    return FreeParameter(
        path=entry.path,
        machines=dict(zip(names, machines, strict=True)),
        files=files,
        lower=lower,
        upper=upper,
        reason=entry.reason,
        followers=_followers(entry.path, files, ships),
    )


def _followers(path: str, files: Mapping[str, Path], ships: Mapping[str, Files]) -> dict[str, str]:
    """Return the machines that come with xc40io and take a value from one of some files."""
    named = {file: name for name, file in files.items()}
    stands = {name: file_of_value(behind, path) for name, behind in ships.items()}
    return {
        name: named[file]
        for name, file in stands.items()
        if name not in files and file is not None and file in named
    }


def _number(machine: Machine, path: str, written: Any, place: str) -> float:
    """Return the value of a parameter, or what it would be if this were written for it."""
    values = machine.values()
    if path not in values:
        raise InputError(f"{place}: {machine.name} has no such value{nearest(path, values)}")
    if written is not None:
        try:
            values = machine.with_changes({path: written}).values()
        except InputError as error:
            raise InputError(f"{place}: {error}") from error
    if not isinstance(values[path], float):
        raise InputError(
            f"{place}: {path} = {values[path]!r} is not a rate, time or other number that can be "
            "changed by a few per cent"
        )
    return float(values[path])


def _check_agreement(machine: Machine, path: str, wanted: float, place: str) -> None:
    """Raise InputError if a machine does not have the value that it is said to share."""
    found = _number(machine, path, None, place)
    if not found > 0 or abs(math.log(found / wanted)) > _DISAGREEMENT:
        raise InputError(
            f"{place}: {machine.name} has {machine.values(units=True)[path]}; in proportion to "
            f"the first machine it would be {wanted:.6g} in base units"
        )


def _refuse_second(parameter: FreeParameter, others: Iterable[FreeParameter], place: str) -> None:
    """Raise InputError if a machine's value is fitted twice."""
    for other in others:
        common = parameter.machines.keys() & other.machines.keys()
        if parameter.path == other.path and common:
            raise InputError(f"{place}: {parameter.path} of {min(common)} is given twice")


def _is_list(value: object) -> bool:
    return isinstance(value, list)
