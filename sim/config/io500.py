"""IO500 as a scenario asks for it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from sim.config.kept import kept
from sim.config.model import Model


def _text(value: object) -> object:
    """Read a number, or true and false, as the text that a file has for it."""
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, int | float) else value


START = "2020.01.01-00.00.00"
"""What IO500 calls its folders when it is started at the begin of the simulated calendar."""

Value = Annotated[str, BeforeValidator(_text)]
"""A value as its file has it."""

STEADY = 2.0
"""Per cent, unless another is asked for."""


@kept
class Io500(Model):
    """IO500.

    Attributes
    ----------
    config
        The values of its file that are set: by section and option.
    steady
        A phase that a stonewall is to end ends once the rates of two spans of time differ by no
        more than so many per cent; 0: each goes on to its stonewall.
    timestamp
        What its folders are called, as in ``2020.01.01-00.00.00``.
    """

    config: dict[str, dict[str, Value]] = Field(default_factory=dict)
    steady: Annotated[float, Field(ge=0, le=50, strict=False)] = STEADY
    timestamp: Annotated[str, Field(pattern=r"^[0-9A-Za-z._-]{1,29}$")] = START
