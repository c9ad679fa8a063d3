"""What a sweep varies: the path of a field, and the values that it takes.

Values are typed as a list, ``1,8,16``. Each may be of the form that the field has (``8m``,
``5.5 us``, ``random``) or stand for several:

=================  ==========================================  =================
typed              means                                       is
=================  ==========================================  =================
``1m..8m``         doubling from the first to the last         1m, 2m, 4m, 8m
``8:56:16``        from the first to the last in equal steps   8, 24, 40, 56
``1:4``            the same in steps of one                    1, 2, 3, 4
``1m,2m,...,8m``   going on as the two before, to exactly the  1m, 2m, 4m, 8m
                   last: doubling, or in equal steps
``[a, "b,c"]``     a list in YAML, for values with commas      a; b,c
=================  ==========================================  =================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, cast

from xc40io.config.errors import InputError, shown
from xc40io.config.parts.releases import RELEASE, release_name
from xc40io.config.text.yaml_text import parse_yaml
from xc40io.config.units import parse_bytes

_NUMBER = re.compile(r"\s*(\d{1,18}\.?\d*|\.\d+)\s*([^\s\d.:,][^\s\d.:,]*)?\s*", re.ASCII)
_ON = "..."
_MOST = 10_000
"""Values of an axis: more are a slip of the hand."""

_FORMS = "right would be values as in 1,8,16, a range as in 1:56:5 or 1m..32m, or a YAML list"


class Numbers(NamedTuple):
    """The values of an axis as plain numbers."""

    values: tuple[float, ...]  # in their order
    unit: str  # ``bytes``, nothing for plain numbers, or the unit that all were typed with

    @property
    def ascending(self) -> bool:
        """Whether each is larger than the one before."""
        return all(before < after for before, after in pairwise(self.values))


@dataclass(frozen=True)
class Axis:
    """A field and the values that it takes."""

    path: str  # of the field: ``striping.count``, ``machine.lnet.routers``, ``ior.b``
    values: tuple[Any, ...]  # as a scenario file would have them: numbers, or texts such as ``8m``

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as they are printed."""
        return tuple(map(str, self.values))

    @property
    def numbers(self) -> Numbers | None:
        """The values as plain numbers; None if one of them is none."""
        read = [_read(str(value)) for value in self.values if not isinstance(value, bool)]
        found = [number for number in read if number is not None]
        if len(found) < len(self.values):
            return None
        units = {unit for _, unit in found}
        if units == {""}:
            return Numbers(tuple(_written(number, "") for number, _ in found), "")
        try:
            return Numbers(tuple(_bytes(str(value)) for value in self.values), "bytes")
        except InputError:
            if len(units) > 1:
                return None
            return Numbers(tuple(float(number) for number, _ in found), units.pop())


def parse_axes(texts: Iterable[str]) -> tuple[Axis, ...]:
    """Read axes as they are typed, ``PATH=VALUES`` each.

    Raises
    ------
    InputError
        If one has no values, or not of these forms, or two are of one path.
    """
    axes: dict[str, Axis] = {}
    for text in texts:
        path, equals, values = text.partition("=")
        path = path.strip()
        if not equals or not path:
            raise InputError(
                f"--over {text!r}: right would be PATH=VALUES, as in striping.count=1,8,16"
            )
        if path in axes:
            raise InputError(f"--over {path}: given twice; right would be all its values in one")
        axes[path] = axis_of(path, parse_values(values, f"--over {path}"))
    return tuple(axes.values())


Over: TypeAlias = Mapping[str, str | Sequence[Any]] | Iterable[Axis]
"""Axes, or values by path: a list of them, or a text as it is typed."""


def axes_of(over: Over) -> tuple[Axis, ...]:
    """Return axes; raise InputError if one has no values, or not of these forms."""
    if not isinstance(over, Mapping):
        return tuple(over)
    named = cast("Mapping[str, str | Sequence[Any]]", over)
    return tuple(
        axis_of(path, parse_values(given, f"--over {path}") if isinstance(given, str) else given)
        for path, given in named.items()
    )


def axis_of(path: str, values: Sequence[Any]) -> Axis:
    """Return an axis; raise InputError if it has no values, or one of them twice."""
    if path.endswith(RELEASE):
        values = [release_name(value) for value in values]
    labels = list(map(str, values))
    if not labels:
        raise InputError(f"--over {path}: there are no values; {_FORMS}")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"--over {path}: {twice} is there twice; right would be each value once")
    return Axis(path, tuple(values))


def parse_values(text: str, place: str) -> list[Any]:
    """Read the values of an axis; see the head of this module.

    Parameters
    ----------
    text
        As typed.
    place
        For the messages.

    Raises
    ------
    InputError
        If they are not of one of the forms.
    """
    if text.lstrip().startswith("["):
        return _listed(text, place)
    values: list[Any] = []
    words = [word.strip() for word in text.split(",")]
    for position, word in enumerate(words):
        if word == _ON:
            if not 2 <= position == len(words) - 2:
                raise InputError(
                    f"{place}: {text!r}: right would be two values before the dots and the last "
                    "one behind them, as in 1m,2m,...,32m"
                )
            first, second = words[position - 2 : position]
            values += _continued(first, second, words[-1], place)[2:-1]
        else:
            values += _expanded(word, place)
    return values


def _listed(text: str, place: str) -> list[Any]:
    try:
        values = parse_yaml(text, place)
    except InputError as error:
        raise InputError(f"{place}: {shown(text)} is not a list in YAML; {_FORMS}") from error
    if not isinstance(values, list):
        raise InputError(f"{place}: {text!r} is not a list in YAML; {_FORMS}")
    return values


def _expanded(word: str, place: str) -> list[Any]:
    """Return the values that one word of a list stands for."""
    if not word:
        raise InputError(f"{place}: there is an empty value; {_FORMS}")
    first, dots, last = word.partition("..")
    if dots and _read(first) and _read(last):
        return _doubling(first, last, place)
    parts = word.split(":")
    if 2 <= len(parts) <= 3 and all(map(_read, parts)):
        return _stepping(parts[0], parts[1], parts[2] if len(parts) == 3 else "1", place)
    return [_scalar(word)]


def _continued(first: str, second: str, last: str, place: str) -> list[Any]:
    """Return the values of ``first,second,...,last``: each twice the one before, or in steps."""
    (begin, unit), (after, _), (end, _) = _in_one_unit((first, second, last), place)
    values: list[Any] = []
    if after == 2 * begin:
        values = _doubling(first, last, place)
    if not values or _exact(values[-1], unit) != end:
        values = _steps(begin, end, after - begin, unit, place)
    if len(values) < 3 or _exact(values[-1], unit) != end:
        raise InputError(
            f"{place}: {first},{second},... does not reach {last}; right would be a last value "
            "that it reaches"
        )
    return values


def _doubling(first: str, last: str, place: str) -> list[Any]:
    (begin, unit), (end, _) = _in_one_unit((first, last), place)
    if not 0 < begin <= end:
        raise InputError(f"{place}: {first}..{last}: right would be a range from small to large")
    values = []
    while begin <= end:
        values.append(_written(begin, unit))
        begin *= 2
    return values


def _stepping(first: str, last: str, step: str, place: str) -> list[Any]:
    if len({unit for _, unit in map(_surely, (first, last))}) == 1 and _surely(step)[1] == "":
        step += _surely(first)[1]
    (begin, unit), (end, _), (width, _) = _in_one_unit((first, last, step), place)
    return _steps(begin, end, width, unit, place)


def _steps(begin: Decimal, end: Decimal, width: Decimal, unit: str, place: str) -> list[Any]:
    if width <= 0 or begin > end or (end - begin) / width > _MOST:
        raise InputError(
            f"{place}: from {_written(begin, unit)} to {_written(end, unit)} in steps of "
            f"{_written(width, unit)}: right would be FIRST:LAST:STEP, as in 8:56:16, of "
            f"{_MOST:,} values at most"
        )
    count = int((end - begin) / width) + 1
    return [_written(begin + number * width, unit) for number in range(count)]


def _in_one_unit(words: Sequence[str], place: str) -> list[tuple[Decimal, str]]:
    """Return numbers in the unit that all of them have, else in bytes."""
    read = [_surely(word) for word in words]
    if len({unit for _, unit in read}) == 1:
        return read
    try:
        return [(Decimal(_bytes(word)), "B") for word in words]
    except InputError as error:
        raise InputError(f"{place}: {' and '.join(words)} are not in one unit") from error


def _bytes(word: str) -> int:

    return parse_bytes(word)


def _written(number: Decimal, unit: str) -> Any:
    """Return a value of a range as it would be typed: a number, or a text with its unit."""
    if unit == "B":
        for letter, scale in (("t", 1 << 40), ("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)):
            if number % scale == 0:
                return f"{int(number) // scale}{letter}"
        return int(number)
    plain: Any = int(number) if number == number.to_integral_value() else float(number)
    return plain if not unit else f"{plain}{'' if len(unit) == 1 else ' '}{unit}"


def _exact(value: Any, unit: str) -> Decimal:
    """Return a value that :func:`_written` wrote in the unit of a range."""
    return Decimal(_bytes(str(value))) if unit == "B" else _surely(str(value))[0]


def _read(word: str) -> tuple[Decimal, str] | None:
    """Return a number and its unit; None if it is none."""
    found = _NUMBER.fullmatch(word)
    return None if found is None else (Decimal(found[1]), found[2] or "")


def _surely(word: str) -> tuple[Decimal, str]:
    """Return a number and its unit, of a word that is known to be one."""
    found = _read(word)
    if found is None:
        raise InputError(f"{word!r} is not a number; {_FORMS}")
    return found


def _scalar(word: str) -> Any:
    """Read one value as a scenario file would have it."""
    try:
        value = parse_yaml(word, word)
    except InputError:
        return word
    return value if isinstance(value, int | float | str | bool) else word
