"""A part of an h5bench configuration: values by name, each read and judged as it is asked for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NoReturn

from sim.config.errors import InputError
from sim.config.files import nearest

_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0}
_LARGEST = 1 << 62


class Section:
    """An object of the JSON.

    Parameters
    ----------
    place
        What messages call it: file and field.
    values
        What it holds.

    Raises
    ------
    InputError
        If it is no object.
    """

    def __init__(self, place: str, values: object) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{place} = {_shown(values)}: right would be an object, {{...}}")
        self.place = place
        self.values: dict[str, Any] = values

    def only(self, names: Collection[str], why_not: dict[str, str] | None = None) -> None:
        """Raise InputError if something else stands there; ``why_not`` has known names refused."""
        for name in self.values:
            if why_not and name in why_not:
                raise InputError(f"{self.place}.{name}: {why_not[name]}; leave it out")
            if name not in names:
                raise InputError(
                    f"{self.place}.{name}: h5bench has no such field here; right would be one of "
                    f"{', '.join(names)}{nearest(name, names)}"
                )

    def section(self, name: str) -> Section:
        """Return an object in it; an empty one if there is none."""
        return Section(f"{self.place}.{name}", self.values.get(name, {}))

    def text(self, name: str, default: str | None = None) -> str:
        """Return a value as text; a number as it would be typed."""
        value = self.values.get(name, default)
        if value is None:
            raise InputError(f"{self.place}.{name} is missing; right would be a value of it")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self._fail(name, "a text or a number")
        return str(value).strip()

    def number(self, name: str, default: int | None = None, *, least: int = 0) -> int:
        """Return a whole number: ``16777216``, ``16 M`` (of 2^20), ``8K``."""
        text = self.text(name, None if default is None else str(default))
        match = re.fullmatch(r"([0-9]{1,19})\s*([kmgt]?)b?", text.lower())
        number = int(match[1]) << _SHIFTS[match[2]] if match else -1
        if not least <= number <= _LARGEST:
            self._fail(name, f"a whole number of at least {least}, as in 16777216 or 16 M")
        return number

    def choice(self, name: str, known: Collection[str], default: str | None = None) -> str:
        """Return one of some words."""
        text = self.text(name, default)
        if text not in known:
            self._fail(name, f"one of {', '.join(known)}")
        return text

    def switch(self, name: str) -> bool:
        """Return whether it says YES; unless given it says NO."""
        return self.choice(name, ("YES", "NO", "yes", "no", "Y", "N"), "NO")[0] in "Yy"

    def seconds(self, name: str) -> float:
        """Return a time with its unit, in seconds: ``5 s``, ``100 ms``, ``1 min``; 0 unless given.

        As in h5bench the number is whole.
        """
        text = self.text(name, "0 s")
        match = re.fullmatch(r"([0-9]{1,9})\s*(us|ms|sec|s|min)", text.lower())
        if match is None:
            self._fail(name, "a whole number with its unit, us, ms, s or min, as in 5 s")
        return int(match[1]) * _UNITS[match[2]]

    def _fail(self, name: str, right: str) -> NoReturn:
        raise InputError(
            f"{self.place}.{name} = {_shown(self.values.get(name))}: right would be {right}"
        )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
