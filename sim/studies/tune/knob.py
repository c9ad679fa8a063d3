"""Knobs: what can be turned of a job, between which values, and what turning does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sim.config.scenario import Scenario

AS_IT_IS = "as it is"
"""How the value of a knob is called that has not been turned."""

Setting = Mapping[str, Any]
"""Values of knobs by their names; a knob that is not there is left as it is."""


class Turner(StrEnum):
    """Who can turn a knob."""

    USER = "the user: lfs setstripe and hints"
    JOB = "the user: the batch script, with other nodes or other files"
    PROGRAM = "who wrote the program"
    ANYBODY = "--over"


@dataclass(frozen=True)
class Knob:
    """Something that can be turned.

    Attributes
    ----------
    name
        As ``--allow`` and the table of results have it: ``stripe-count``.
    words
        What it is.
    turner
        Who can turn it.
    values
        Its choices, in order if they have one.
    change
        Returns a scenario with one of them.
    present
        What it is now, or None where that is none of the choices.
    ordered
        Whether near choices do alike.
    label
        Writes a value for a person.
    idle
        Where it does nothing: values of other knobs, by their names.
    """

    name: str
    words: str
    turner: Turner
    values: tuple[Any, ...]
    change: Callable[[Scenario, Any], Scenario]
    present: Any = None
    ordered: bool = True
    label: Callable[[Any], str] = str
    idle: Mapping[str, frozenset[Any]] = field(default_factory=dict)

    def written(self, setting: Setting) -> str:
        """Return its value in a setting, for a person."""
        value = setting.get(self.name, self.present)
        return AS_IT_IS if value is None else self.label(value)

    def idles(self, setting: Setting) -> bool:
        """Tell whether turning it does nothing beside the other values of a setting."""
        return any(setting.get(name) in values for name, values in self.idle.items())
