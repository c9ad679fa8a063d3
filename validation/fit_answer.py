"""What came of a fit: an answer, and a machine file that says of each value what it comes from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from xc40io.config.like_file import like_file
from xc40io.telling.answer import CELL, Answer, Column, Columns, Points, Table, Text, To, Values
from xc40io.telling.units import ANY, NUMBER, RATIO, ROWS, WORDS, first_of
from xc40io.topology.text import format_count
from xc40io.validation.fit import NINE_OF_TEN, Fit, Value
from xc40io.validation.free_parameter import DIGITS, rounded, sharing
from xc40io.validation.machine_edit import NewValue
from xc40io.validation.value_prior import RANGE


def _bounds(value: Value) -> tuple[float, float]:
    """Return where a value lies nine times of ten, in base units: where it may lie at all."""
    factor, may = math.exp(NINE_OF_TEN * value.spread), value.parameter
    return max(value.after / factor, may.lower), min(value.after * factor, may.upper)


def _shown(value: Value, number: float) -> str:
    return value.parameter.show(number)


_VALUES: Columns = (
    Column("path", WORDS, lambda one: one.parameter.path, head="value"),
    Column("before", CELL, lambda one: _shown(one, one.parameter.value), to=To.PEOPLE),
    Column("before", ANY, lambda one: one.parameter.value, to=To.JSON, help="In base units."),
    Column("after", CELL, lambda one: _shown(one, one.after), to=To.PEOPLE),
    Column("after", ANY, lambda one: rounded(one.after, DIGITS), to=To.JSON),
    Column(
        "range",
        CELL,
        lambda one: " to ".join(_shown(one, bound) for bound in _bounds(one)),
        head="nine of ten",
        to=To.PEOPLE,
    ),
    Column("low", ANY, lambda one: rounded(_bounds(one)[0], DIGITS), to=To.JSON),
    Column("high", ANY, lambda one: rounded(_bounds(one)[1], DIGITS), to=To.JSON),
    Column("seen_by", first_of(3), help="The numbers that depend on it.", head="seen by"),
)

_NUMBERS: Columns = (
    Column("name", WORDS, lambda one: one.reading.name, head="number"),
    Column("measured", CELL, lambda one: str(one.reading.measured), to=To.PEOPLE),
    Column("measured", ANY, lambda one: one.reading.measured.base, to=To.JSON),
    Column("before", RATIO, help="Simulated over measured, with the machine as it was."),
    Column("after", RATIO, help="The same with the fitted machine."),
    Column("left_out", RATIO, head="left out", help="By what all other numbers say."),
)


def fit_answer(found: Fit) -> Answer:
    """Tell the verdict, the numbers before and after, the values, and what to doubt."""
    return Answer(
        "A machine fitted to measurements",
        "",
        [
            Text(_verdict(found)),
            Table(
                _NUMBERS,
                lambda: found.numbers,
                title="Simulated over measured",
                note="Left out: what the fit says of a number by all the others.",
            ),
            *([Table(_VALUES, lambda: found.values, title="Values")] if found.values else []),
            Points(list(_doubts(found)), title="What to doubt"),
            Text(_rest(found)),
        ],
        values=Values(
            "fit",
            (
                Column("machine", WORDS, lambda of: of.machine.name),
                Column("numbers", ROWS, inner=_NUMBERS),
                Column("values", ROWS, inner=_VALUES),
                Column("unmet", ROWS, lambda of: [one.reading.name for one in of.unmet]),
                Column(
                    "contradicted", ROWS, lambda of: [one.reading.name for one in of.contradicted]
                ),
                Column("unseen", ROWS, lambda of: list(of.unseen)),
                Column("untried", ROWS, lambda of: list(of.untried)),
                Column("runs", NUMBER),
            ),
            found,
        ),
    )


def _median_error(ratios: Sequence[float]) -> float:
    """Return the median factor by which ratios are off, to either side."""
    errors = [abs(math.log(ratio)) for ratio in ratios]
    return math.exp(statistics.median(errors))


def _verdict(found: Fit) -> str:
    before, after, left = (
        _median_error([getattr(one, what) for one in found.numbers])
        for what in ("before", "after", "left_out")
    )
    return (
        f"The middle one of {format_count(len(found.numbers), 'number')} is off by a factor of "
        f"{RATIO.write(after)} after the fit, {RATIO.write(before)} before; each left out in turn "
        f"and told by the others, by {RATIO.write(left)}. What was not measured is known no better "
        "than the last of them."
    )


def _doubts(found: Fit) -> Iterator[str]:
    """Yield what the fit could not mend, and what contradicts."""
    for one in found.unmet:
        yield (
            f"{one.reading.name}: simulated {RATIO.write(one.before)} times what was measured, and "
            f"no value that is plausible changes that by more than a factor of "
            f"{RATIO.write(one.reach)}: the model lacks something, or the run was another one"
        )
    for one in found.contradicted:
        if one not in found.unmet:
            yield (
                f"{one.reading.name}: the other numbers say {RATIO.write(one.left_out)} times what "
                "was measured, which is that far off once in a hundred: measure it again"
            )
    if not found.unmet and not found.contradicted:
        yield "No number contradicts the others by more than chance."


def _rest(found: Fit) -> str:
    told = [f"It took {format_count(found.runs, 'run')}, and {format_count(found.steps, 'step')}."]
    if found.unseen:
        told.append(f"No number depends on {', '.join(found.unseen)}: these are as they were.")
    if found.untried:
        told.append(
            f"Not tried, since the budget did not reach: {', '.join(found.untried)}. A larger "
            "--budget tries them, --free names others."
        )
    return " ".join(told)


def fitted_machine(found: Fit, new: Mapping[str, NewValue], source: str, place: Path) -> str:
    """Return the text of a machine file that is like the one that was fitted.

    Parameters
    ----------
    found
        The fit.
    new
        What was fitted (:func:`new_values`), and values that needed no fit.
    source
        What the measurements stand in.
    place
        Where the file will stand, whose name it has, and from which the path to the old one leads.
    """
    return like_file(
        place,
        found.file,
        title=f"{found.machine.title}, fitted",
        description=f"{found.machine.title}, with values fitted to {source}.",
        leaves={path: asdict(one) | {"value": _as_written(one.value)} for path, one in new.items()},
        measured=list(_measured(found)),
    )


def new_values(found: Fit, source: str, day: date) -> dict[str, NewValue]:
    """Return what was fitted, by path, as it stands in a machine file."""
    new = {}
    for value in found.values:
        if _is_moved(value):
            low, high = (_shown(value, bound) for bound in _bounds(value))
            seen = f"{', '.join(value.seen_by[:3])}{' and others' * (len(value.seen_by) > 3)}"
            told = (
                f"fitted to {source} on {day.isoformat()} ({seen}){RANGE}{low} to {high}; "
                f"{_shown(value, value.parameter.value)} before"
            )
            new[value.parameter.path] = NewValue(_shown(value, value.after), told, "calibrated")
    return new


def shared_values(found: Fit, new: Mapping[str, NewValue]) -> dict[Path, dict[str, NewValue]]:
    """Return new values by the files in which they stand: of the machine, and of those that share.

    Machines with hardware of one kind keep the ratios of their values (``parameters.yaml``).
    """
    changed: dict[Path, dict[str, NewValue]] = {found.file: dict(new)}
    factors = {one.parameter.path: one.moved for one in found.values if one.parameter.path in new}
    for parameter in sharing(found.file):
        path = parameter.path
        if path in factors:
            for name, after in parameter.values(parameter.value * factors[path], DIGITS).items():
                written = parameter.machines[name].with_changes({path: after})
                shown = str(written.values(units=True)[path])
                leaf = changed.setdefault(parameter.files[name], {})
                leaf[path] = replace(new[path], value=shown)
    return changed


def _measured(found: Fit) -> Iterator[dict[str, Any]]:
    """Yield the runs that were measured, each as far off as it is if the others tell it."""
    for one in found.numbers:
        if one.place is not None:
            place = one.place.model_dump(exclude={"machine"}, exclude_none=True)
            yield place | {"error": round(math.log(one.left_out), DIGITS)}


def _as_written(shown: str) -> str | float:
    """Return a value as a machine file has it: one without a unit is a number."""
    with suppress(ValueError):
        return float(shown)
    return shown


def _is_moved(value: Value) -> bool:
    """Tell whether a value has another one than before, with the digits that are written."""
    return rounded(value.after, DIGITS) != rounded(value.parameter.value, DIGITS)
