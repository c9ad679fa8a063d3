"""What would help a setting: each control that has other choices is turned by itself, and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from xc40io.config.errors import InputError
from xc40io.config.units import SHORT_SIZES
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.serving.question_limits import Limits, bulk_rpcs
from xc40io.serving.worker import Desk
from xc40io.studies.advice.job_knobs import (
    CALLS,
    LAYOUT,
    OWN_FILES,
    TARGET,
    TOGETHER,
    knobs_of,
)
from xc40io.studies.advice.job_nature import nature_of, phase_seconds
from xc40io.studies.advice.knobs import COUNT, SIZE
from xc40io.studies.case import Case
from xc40io.studies.record import record_of
from xc40io.trust.sureness import chance_faster
from xc40io.web.runs import Kind
from xc40io.web.settings import MOST_AS_ONE, Settings
from xc40io.web.translation import State, query_of, scenario_of

_CONTROLS: dict[str, Callable[[Any], dict[str, Any]]] = {
    COUNT: lambda value: {"stripe_count": value},
    SIZE: lambda value: {"stripe_size": SHORT_SIZES.write(value)},
    LAYOUT: lambda value: {"files": "own" if value == OWN_FILES else "shared"},
    CALLS: lambda value: {"collective": value == TOGETHER},
    TARGET: lambda value: {"target": value},
}
"""The fields of a setting that a choice of a knob of ``tune`` stands for, by the knob's name."""


class Gain(BaseModel):
    """What a change brings a phase."""

    phase: str
    ratio: float  # times as fast
    chance: float  # that it really is faster


class Try(BaseModel):
    """A setting that was tried."""

    words: str  # in what it differs: ``stripe count: 8 (now 48)``
    query: str  # of a link that shows it as B beside the setting
    ratio: float  # times as fast, all phases of I/O together
    gains: list[Gain]


class Tries(BaseModel):
    """What came of turning each control."""

    tried: list[Try]  # the fastest first
    as_one: int  # RPCs handled as one


TRIED = Kind(f"{__name__}:turn_each", Tries, kept=32, small=False)


def turn_each(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Run a setting, and each that differs from it in one control; return all as JSON has it.

    The desk is told how many runs are done. Where the runs together are more than one question may
    ask for, several RPCs are handled as one in all of them.

    Raises
    ------
    InputError
        If the setting cannot be run, or is too large.
    """
    settings = Settings.model_validate(asked)
    desk.limits.check_size(Case(scenario_of(settings)))
    found = simulate(scenario_of(settings))
    others = list(_others(settings, found))
    coarse = _coarse_enough(settings, 1 + len(others), desk.limits)
    if coarse != settings.rpcs_as_one:
        found = simulate(scenario_of(settings.model_copy(update={"rpcs_as_one": coarse})))
    now = _seconds(found)
    tried = []
    for done, other in enumerate(others, start=1):
        with suppress(InputError):  # more stripes than calls for, an SSD that is too small
            made = simulate(scenario_of(other.model_copy(update={"rpcs_as_one": coarse})))
            tried.append(_try(settings, other, now, _seconds(made)))
        desk.tell(done, len(others))
    tried.sort(key=lambda one: -one.ratio)
    return Tries(tried=tried, as_one=coarse).model_dump(mode="json")


def _others(settings: Settings, found: Result) -> Iterator[Settings]:
    """Yield the settings with another choice of one control."""
    nature = nature_of(found.scenario, record_of(found))
    for knob in knobs_of(nature, _CONTROLS):
        for value in knob.values:
            other = settings.model_copy(update=_CONTROLS[knob.name](value))
            if value != knob.present and any(settings.differences(other)):
                yield other


def _coarse_enough(settings: Settings, runs: int, limits: Limits) -> int:
    """Return how many RPCs are to be handled as one, so that all runs take no more than one may."""
    one = settings
    while one.rpcs_as_one < MOST_AS_ONE and runs * bulk_rpcs(Case(scenario_of(one))) > limits.rpcs:
        one = one.model_copy(update={"rpcs_as_one": 2 * one.rpcs_as_one})
    return one.rpcs_as_one


def _seconds(result: Result) -> dict[str, float]:
    return phase_seconds(record_of(result), replay=False)


def _try(now: Settings, other: Settings, before: dict[str, float], after: dict[str, float]) -> Try:
    a, b = scenario_of(now), scenario_of(other)
    ratios = {phase: before[phase] / after[phase] for phase in before if after.get(phase)}
    return Try(
        words="; ".join(
            f"{one.noun}: {one.others} (now {one.mine})" for one in now.differences(other)
        ),
        query=query_of(State(now, other, run=True)),
        ratio=sum(before.values()) / sum(after.values()),
        gains=[
            Gain(phase=phase, ratio=ratio, chance=chance_faster(ratio, a, b, phase))
            for phase, ratio in ratios.items()
        ],
    )
