"""What a plan may cost and what it is to reach: a budget, a goal, and what is bought for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from xc40io.config.errors import InputError, nearest, shown
from xc40io.config.machine import Machine
from xc40io.config.workload_mix import WorkloadMix
from xc40io.studies.axes import Axis
from xc40io.studies.plan.hardware import FIRST, can_be, hardware_of, scaled, written

_SIGNS = {"$": "USD", "\N{EURO SIGN}": "EUR", "\N{POUND SIGN}": "GBP"}
"""Signs of currencies, which stand before a sum or behind it."""

_SIGN = f"[{''.join(_SIGNS)}]"
_MONEY = re.compile(
    rf"(?P<before>{_SIGN}?) ?(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?) ?(?P<scale>[kMG]?)"
    rf" ?(?P<currency>[A-Za-z]{{3}}|{_SIGN}|)"
)
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}

_GOAL = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?% more(?: for (\S.*))?")
_WHOLE = ("", "mix", "the mix")

_STEPS = 3
"""Counts of each kind of hardware that are tried beside the one there is."""

_FOURFOLD = 4.0
"""The most of each kind of hardware: what is four times as large is another machine."""


class Goal(NamedTuple):
    """What a plan is to reach."""

    factor: float  # how many times as fast
    job: str  # its name; empty: the mix as a whole

    @property
    def words(self) -> str:
        """The goal as it is typed."""
        return f"{100.0 * (self.factor - 1.0):g} % more for {self.job or 'the mix'}"


def read_budget(text: str, mix: WorkloadMix) -> float:
    """Read a sum of money: ``1 MUSD``, ``250k``, ``400000 EUR``, ``1.5M$``.

    Raises
    ------
    InputError
        If it is none, or in another currency than the mix's own.
    """
    found = _MONEY.fullmatch(text.strip())
    if found is None or (found["before"] and found["currency"]):
        raise InputError(f"--budget {shown(text)}: right would be a sum, as in 400000 or 1 MUSD")
    typed = found["before"] or found["currency"]
    currency = _SIGNS.get(typed, typed)
    if currency and mix.currency and currency != mix.currency:
        raise InputError(
            f"--budget {shown(text)}: the costs of the mix are in {mix.currency}; right would be "
            "a sum of that"
        )
    return float(found["number"].replace(",", "").replace("_", "")) * _SCALES[found["scale"]]


def read_goal(text: str, mix: WorkloadMix) -> Goal:
    """Read a goal: ``20 % more``, ``20 % more for checkpoint``.

    Raises
    ------
    InputError
        If it is none, or about a job that the mix has not.
    """
    found = _GOAL.fullmatch(" ".join(text.split()))
    if found is None or float(found[1]) <= 0.0:
        raise InputError(
            f"--goal {shown(text)}: right would be '20 % more', or '20 % more for JOB'"
        )
    names = [job.name for job in mix.jobs]
    job = found[2] or ""
    if job not in (*_WHOLE, *names):
        hint = nearest(job, names) or f"; there are {', '.join(names)}"
        raise InputError(f"--goal {shown(text)}: the mix has no job {job}{hint}")
    return Goal(1.0 + float(found[1]) / 100.0, "" if job in _WHOLE else job)


def bought(mix: WorkloadMix, costs: Mapping[str, float], budget: float | None) -> tuple[Axis, ...]:
    """Return the axes of a plan with a budget or a goal: up to three larger counts of each.

    Of each kind of hardware that has a cost and that a plan doubles by itself: a third, two thirds
    and all of what the budget alone buys of it, or of twice as many where there is no budget; four
    times as many at most.

    Raises
    ------
    InputError
        If nothing has a cost, or the budget buys nothing.
    """
    priced = {path: cost for path, cost in costs.items() if cost > 0.0 and path in FIRST}
    if not priced:
        raise InputError(
            "nothing has a cost of what is bought; right would be --cost lustre.osts=60000, costs: "
            "in the mix, or --over"
        )
    axes = []
    for path, cost in priced.items():
        values = _more(path, cost, budget, mix.machine)
        if values:
            axes.append(Axis(path, tuple(written(path, value, mix.machine) for value in values)))
    if not axes:
        prices = [_least(path, cost, mix.machine) for path, cost in priced.items()]
        least = min((price for price in prices if price is not None), default=None)
        right = "more" if least is None else f"{least:,.12g} or more"
        raise InputError(
            f"a budget of {budget:,.12g} buys nothing of {', '.join(priced)}; right would be "
            f"{right}"
        )
    return tuple(axes)


def _least(path: str, cost: float, machine: Machine) -> float | None:
    """Return the cost of the least addition to a count; None if it is no count, or at its most."""
    now = machine.value(path)
    if not isinstance(now, int):
        return None
    counts = (scaled(path, count / now, machine) for count in range(now + 1, 2 * now + 1))
    more = (count for count in counts if count > now and can_be(path, count, machine))
    return next((cost * (count - now) for count in more), None)


def _more(path: str, cost: float, budget: float | None, machine: Machine) -> list[float]:
    """Return larger values of one kind of hardware that a machine can have, ascending."""
    now = machine.value(path)
    if not now:
        return []
    most = 2.0
    if budget is not None:
        most = min(1.0 + budget / cost * hardware_of(path, machine).scale / now, _FOURFOLD)
    tried = [scaled(path, 1.0 + (most - 1.0) * n / _STEPS, machine) for n in range(1, _STEPS + 1)]
    if budget is not None:  # the nearest count that can be may cost more than there is
        tried = [value for value in tried if value <= now * most]
    return [value for value in dict.fromkeys(tried) if value > now and can_be(path, value, machine)]
