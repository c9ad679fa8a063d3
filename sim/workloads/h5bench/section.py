"""A part of an h5bench configuration: values by name, each read by its row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from xc40io.config.errors import InputError, nearest
from xc40io.config.units import H5BENCH_SIZES, H5BENCH_TIMES, MOST_BYTES
from xc40io.workloads.option_table import Option, Reader


class Section:
    """An object of the JSON: each value is read by its row, and judged as it is asked for.

    ``place`` is what messages call it, file and field; ``rows`` say what may stand there, which is
    anything without them. InputError is raised if it is no object, or something else stands there.
    """

    def __init__(
        self, place: str, values: object, rows: Mapping[str, Option] | None = None
    ) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{place} = {_shown(values)}: right would be an object, {{...}}")
        self.place = place
        self.values: dict[str, Any] = values
        self._rows = rows
        if rows is not None:
            self._check_names(rows)

    def _check_names(self, rows: Mapping[str, Option]) -> None:
        known = [name for name, one in rows.items() if not one.refused]
        for name in self.values:
            if name not in rows:
                raise InputError(
                    f"{self.place}.{name}: h5bench has no such field here; right would be one of "
                    f"{', '.join(known)}{nearest(name, known)}"
                )
            if rows[name].refused:
                raise InputError(f"{self.place}.{name}: {rows[name].refused}; leave it out")

    def section(self, name: str, rows: Mapping[str, Option] | None = None) -> Section:
        """Return an object in it; an empty one if there is none."""
        return Section(f"{self.place}.{name}", self.values.get(name, {}), rows)

    def text(self, name: str) -> str:
        """Return a value, or its default, as text; a number as it would be typed."""
        value = self.values.get(name, self._rows[name].default if self._rows else None)
        if value is None:
            raise InputError(f"{self.place}.{name} is missing; right would be to give it a value")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self._fail(name, "a text or a number")
        return str(value).strip()

    def __getitem__(self, name: str) -> Any:
        assert self._rows is not None
        text = self.text(name)
        try:
            return self._rows[name].read(text)
        except ValueError as error:
            self._fail(name, str(error))

    def _fail(self, name: str, right: str) -> NoReturn:
        raise InputError(
            f"{self.place}.{name} = {_shown(self.values.get(name))}: right would be {right}"
        )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(least: int = 0) -> Reader:
    """Return a reader of whole numbers: ``16777216``, ``16 M`` (of 2^20), ``8K``."""

    def read(typed: str) -> int:
        found = H5BENCH_SIZES.read(typed)
        if found is None or not least <= found <= MOST_BYTES:
            raise ValueError(f"a whole number of at least {least}, as in 16777216 or 16 M")
        return found

    return read


def one_of(*known: str) -> Reader:
    """Return a reader of one of some words."""

    def read(typed: str) -> str:
        if typed not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return typed

    return read


def switch(typed: str) -> bool:
    """Read whether it says YES."""
    answer: str = one_of("YES", "NO", "yes", "no", "Y", "N")(typed)
    return answer[0] in "Yy"


def seconds(typed: str) -> float:
    """Read a time with its unit; as in h5bench the number is whole."""
    found = H5BENCH_TIMES.read(typed)
    if found is None:
        raise ValueError("a whole number with its unit, us, ms, s or min, as in 5 s")
    return found
