"""Guided tours: steps that set the controls and say what to look at."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from sim.config.files import read_mapping
from sim.config.model import Model
from sim.web.copies import State, checked
from sim.web.outcome import Outcome

_FOLDER = Path(__file__).resolve().parent / "guided"
_FIGURE = re.compile(r"\{(?P<side>[ab]|ratio)\.(?P<phase>write|read)\}")
_GB = 1e9


class _Step(Model):
    """A step as its file has it.

    Attributes
    ----------
    title
        In a few words.
    text
        What is set, and why.
    look
        What to look at when the runs have ended. ``{a.write}`` stands for the bandwidth of that
        phase of A, ``{ratio.write}`` for how many times that of A the bandwidth of B is.
    a, b
        In what the two settings differ from those of the tour; without b only A is run.
    """

    title: str
    text: str
    look: str
    a: dict[str, Any] = Field(default_factory=dict)
    b: dict[str, Any] | None = None


class _TourFile(Model):
    """A tour as its file has it: its question, settings that all steps share, the steps."""

    title: str
    question: str
    settings: dict[str, Any] = Field(default_factory=dict)
    steps: list[_Step]


class Step(NamedTuple):
    """A step of a tour: what is told, and what is set."""

    title: str
    text: str
    look: str
    state: State


class Tour(NamedTuple):
    """A tour.

    Attributes
    ----------
    name
        Of its file.
    title
        What it is called.
    question
        What it answers.
    steps
        In order.
    """

    name: str
    title: str
    question: str
    steps: tuple[Step, ...]


@cache
def tours() -> dict[str, Tour]:
    """Return the tours that there are, by name, in the order in which they are offered.

    Raises
    ------
    InputError
        If a file is not of its form.
    """
    return {path.stem.partition("-")[2]: _tour(path) for path in sorted(_FOLDER.glob("*.yaml"))}


def _tour(path: Path) -> Tour:
    read = _TourFile.model_validate(read_mapping(path))
    steps = tuple(_step(step, read.settings) for step in read.steps)
    return Tour(path.stem.partition("-")[2], read.title, read.question, steps)


def _step(step: _Step, shared: dict[str, Any]) -> Step:
    a = checked({**shared, **step.a})
    b = None if step.b is None else checked({**shared, **step.a, **step.b})
    return Step(step.title, _flowing(step.text), _flowing(step.look), State(a, b))


def _flowing(text: str) -> str:
    return " ".join(text.split())


def filled(text: str, a: Outcome | None, b: Outcome | None) -> str | None:
    """Return a text with the figures of runs in it; None while a figure is not known."""
    rates = {
        (side, phase.name): phase.bandwidth
        for side, outcome in (("a", a), ("b", b))
        if outcome is not None
        for phase in outcome.phases
    }
    missing = False

    def figure(match: re.Match[str]) -> str:
        nonlocal missing
        side, phase = match["side"], match["phase"]
        if side != "ratio":
            missing |= (side, phase) not in rates
            return f"{rates.get((side, phase), 0.0) / _GB:,.3g} GB/s"
        if ("a", phase) not in rates or ("b", phase) not in rates:
            missing = True
            return ""
        return f"{rates['b', phase] / rates['a', phase]:,.2g}"

    found = _FIGURE.sub(figure, text)
    return None if missing else found
