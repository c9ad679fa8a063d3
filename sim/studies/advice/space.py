"""All settings of a job: combinations of the values of its knobs that can be, each once.

A limit keeps out those that take more than a user has: nodes, files, OSTs of a file, memory for
collective buffers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from xc40io.config.errors import InputError, nearest
from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.units import is_count, parse_bytes
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.advice.knobs import (
    AGGREGATORS,
    Knob,
    Setting,
    aggregators_of,
    stripe_count_of,
    stripe_size_of,
)
from xc40io.workloads.catalogue import traits_of, workload_of
from xc40io.workloads.traits import OWN

LIMITS: Mapping[str, str] = {
    "nodes": "compute nodes of the job",
    "files": "files of the job",
    "osts": "OSTs of a file",
    "memory": "bytes of a node that the collective buffers of its aggregators take",
}
"""What can be limited, and what each is."""

_COUNTED = 20_000
"""Most combinations that are looked at one by one; larger spaces are not counted exactly."""

Places = tuple[int, ...]
"""The place of each knob's value among its choices."""


@dataclass(frozen=True)
class Limit:
    """The most of something that a setting may take."""

    name: str  # one of LIMITS
    most: int  # a number, or bytes

    def allows(self, nature: JobNature, setting: Setting, scenario: Scenario) -> bool:
        """Tell whether a setting, and the scenario with it, keeps to it."""
        return _TAKEN[self.name](nature, setting, scenario) <= self.most


def parse_limits(texts: Iterable[str]) -> tuple[Limit, ...]:
    """Read limits as they are typed, ``NAME=MOST``: ``nodes=512``, ``memory=2GiB``.

    Raises
    ------
    InputError
        If one is not of this form, is given twice, or there is no such thing to limit.
    """
    limits: dict[str, Limit] = {}
    for text in texts:
        name, equals, most = (part.strip() for part in text.partition("="))
        if not equals or name not in LIMITS:
            raise InputError(
                f"--at-most {text}: right would be NAME=MOST with one of {', '.join(LIMITS)}"
                f"{nearest(name, LIMITS)}"
            )
        if name in limits:
            raise InputError(f"--at-most {name}: given twice; once is right")
        limits[name] = Limit(name, _number(name, most))
    return tuple(limits.values())


def _number(name: str, text: str) -> int:
    if name == "memory":
        try:
            return parse_bytes(text)
        except InputError as error:
            raise InputError(f"--at-most {name}={text}: {error}") from error
    if not is_count(text) or int(text) < 1:
        raise InputError(f"--at-most {name}={text}: right would be a whole number, 1 or more")
    return int(text)


def _nodes(_nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    return scenario.nodes


def _files(_nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    """Return how many files there are in a phase; 1 for a workload that does not tell."""
    own = any(one.sharing == OWN for one in traits_of(scenario).phases)
    return scenario.nodes * scenario.ppn if own else 1


def _osts(nature: JobNature, _setting: Setting, scenario: Scenario) -> int:
    count = scenario.striping.count or stripe_count_of(nature) or 0
    count = min(count, nature.machine.lustre.osts)  # an overstriped file has no more of them
    return nature.machine.lustre.osts if count == -1 else count


def _memory(nature: JobNature, setting: Setting, scenario: Scenario) -> int:
    """Return the bytes of the collective buffers on the node that has most of them."""
    if not nature.collective:
        return 0
    buffer = scenario.striping.size or stripe_size_of(nature) or 0
    if nature.machine.mpi.library == "romio":
        buffer = int(nature.hints.get("cb_buffer_size", 0)) or _ROMIO_BUFFER
    aggregators = aggregators_of(nature, scenario, setting.get(AGGREGATORS))
    return -(-aggregators // scenario.nodes) * buffer


_ROMIO_BUFFER = 16 << 20
"""ROMIO's default of ``cb_buffer_size``."""

_TAKEN: Mapping[str, Callable[[JobNature, Setting, Scenario], int]] = {
    "nodes": _nodes,
    "files": _files,
    "osts": _osts,
    "memory": _memory,
}


@dataclass(frozen=True)
class Space:
    """The settings of a job."""

    nature: JobNature  # what the job is
    knobs: tuple[Knob, ...]  # what is turned
    limits: tuple[Limit, ...] = ()  # what settings may take

    @property
    def shape(self) -> tuple[int, ...]:
        """How many choices each knob has."""
        return tuple(len(knob.values) for knob in self.knobs)

    @property
    def combinations(self) -> int:
        """How many combinations there are, also those that do alike or cannot be."""
        return math.prod(self.shape)

    @cached_property
    def settings(self) -> list[Setting] | None:
        """All settings that differ and can be; None where they are too many to be counted."""
        if self.combinations > _COUNTED:
            return None
        found: dict[tuple[Any, ...], Setting] = {}
        for places in product(*map(range, self.shape)):
            setting = self.at(places)
            if self.key(setting) not in found and self.scenario(setting) is not None:
                found[self.key(setting)] = setting
        return list(found.values())

    @property
    def present(self) -> Setting:
        """The setting as it is now."""
        return {knob.name: knob.present for knob in self.knobs if knob.present is not None}

    def at(self, places: Places) -> Setting:
        """Return a setting by the places of its values; idle knobs stay as they are."""
        chosen = {
            knob.name: knob.values[place] for knob, place in zip(self.knobs, places, strict=True)
        }
        return self.plain(chosen)

    def plain(self, chosen: Setting) -> Setting:
        """Return a setting in which idle knobs, and those not chosen, stay as they are."""
        present, chosen = self.present, dict(chosen)
        for knob in self.knobs:
            if knob.idles({**present, **chosen}):
                chosen.pop(knob.name, None)
        return {**present, **chosen}

    def places(self, setting: Setting) -> Places:
        """Return the places of a setting's values; the nearest place for other values."""
        return tuple(_place(knob, setting.get(knob.name)) for knob in self.knobs)

    def key(self, setting: Setting) -> tuple[Any, ...]:
        """Return a key that is equal for two settings that do the same."""
        return tuple(setting.get(knob.name) for knob in self.knobs)

    def turned(self, setting: Setting) -> list[Knob]:
        """Return the knobs that are not as they are now, and do something."""
        return [
            knob
            for knob in self.knobs
            if setting.get(knob.name, knob.present) != knob.present and not knob.idles(setting)
        ]

    def effort(self, setting: Setting) -> tuple[int, ...]:
        """Return how much there is to change: who must do it, how much of it, nodes, OSTs."""
        turned = self.turned(setting)
        who = max((knob.who.place for knob in turned), default=-1)
        scenario = self.scenario(setting) or self.nature.scenario
        return who, len(turned), scenario.nodes, _osts(self.nature, setting, scenario)

    def simpler(self, setting: Setting) -> Iterator[Setting]:
        """Yield the settings with one knob less turned."""
        for knob in self.turned(setting):
            left = {name: value for name, value in setting.items() if name != knob.name}
            yield left if knob.present is None else {**left, knob.name: knob.present}

    def scenario(self, setting: Setting) -> Scenario | None:
        """Return the job with a setting; None where it cannot be, or is beyond a limit."""
        scenario = self.nature.scenario
        try:
            for knob in self.knobs:
                value = setting.get(knob.name, knob.present)
                if value != knob.present and not knob.idles(setting):
                    scenario = knob.change(scenario, value)
            if not self._possible(setting, scenario):
                return None
            machine_of(scenario)
            workload_of(scenario.workload)
        except InputError:
            return None
        return scenario

    def _possible(self, setting: Setting, scenario: Scenario) -> bool:
        """Tell whether there are ranks and stripes enough for it, and it keeps to the limits."""
        each = setting.get(AGGREGATORS)
        if isinstance(each, int | float) and each != 1:
            count = aggregators_of(self.nature, scenario, 1)
            if count * each < 1 or count * each > self.nature.ranks:
                return False
        return all(limit.allows(self.nature, setting, scenario) for limit in self.limits)

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """Yield the settings that are one step away, knob by knob; of words, all others."""
        here = self.places(setting)
        for number, knob in enumerate(self.knobs):
            steps = (1, -1) if knob.ordered else range(1, len(knob.values))
            for step in steps:
                place = here[number] + step
                if not knob.ordered:
                    place %= len(knob.values)
                if 0 <= place < len(knob.values):
                    yield self.at((*here[:number], place, *here[number + 1 :]))

    def near(self, wanted: Mapping[str, Any]) -> Setting:
        """Return the setting with the choices nearest to some values; the others as they are."""
        return self.at(self.places({**self.present, **wanted}))


def _place(knob: Knob, value: Any) -> int:
    """Return the place of a value among the choices of a knob, or of the nearest one."""
    if value in knob.values:
        return knob.values.index(value)
    if not knob.ordered or not isinstance(value, int | float):
        return 0
    numbers: Sequence[float] = [
        choice if isinstance(choice, int | float) else math.inf for choice in knob.values
    ]
    return min(range(len(numbers)), key=lambda place: abs(numbers[place] - value))
