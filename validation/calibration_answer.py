"""What came of a calibration: an answer, and new values of machine files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from xc40io.telling.answer import Answer, Text, plain_table
from xc40io.validation.calibrate import Calibration, Fit
from xc40io.validation.free_parameter import DIGITS
from xc40io.validation.machine_edit import NewValue
from xc40io.validation.sensitivity import row_of


def calibration_answer(calibration: Calibration) -> Answer:
    """Tell the parameters before and after, and the claims that they were fitted to.

    The spread of a parameter is the factor by which it may be off if the claims are off by their
    tolerances.
    """
    head = ["parameter", "machines", "before", "after", "spread", "lower", "upper", ""]
    parameters = [_parameter(fit) for fit in calibration.fits]
    of_claims = ["claim", "measured", "before", "ratio", "after", "ratio"]
    seeds = f"{calibration.seeds} seeds" if calibration.seeds > 1 else "one seed"
    return Answer(
        "Calibration",
        "",
        [
            plain_table("", head, parameters, words=(0, 1, 7)),
            plain_table("", of_claims, _claims(calibration)),
            Text(f"{calibration.ended} It took {calibration.runs:,} runs with {seeds} each."),
        ],
    )


def _parameter(fit: Fit) -> list[str]:
    parameter = fit.parameter
    at_bound = f"at its {fit.at_bound} bound" if fit.at_bound else ""
    return [
        parameter.path,
        ", ".join(parameter.machines),
        parameter.show(parameter.value),
        "" if fit.left else parameter.show(fit.after),
        "" if fit.left else f"x {math.exp(fit.spread):.3g}",
        parameter.show(parameter.lower),
        parameter.show(parameter.upper),
        fit.left or at_bound,
    ]


def _claims(calibration: Calibration) -> list[list[str]]:
    rows = []
    for number, reading in enumerate(calibration.readings):
        measured = reading.measured
        assert measured is not None
        numbers = (float(calibration.before[number]), float(calibration.after[number]))
        cells = [
            cell for one in numbers for cell in (measured.show(one), f"{one / measured.base:.2f}")
        ]
        rows.append([reading.name, str(measured), *cells])
    return rows


def new_values(calibration: Calibration, day: date) -> dict[Path, dict[str, NewValue]]:
    """Return what a calibration changes in machine files, by file and dotted path."""
    changes: dict[Path, dict[str, NewValue]] = {}
    for fit in calibration.fitted:
        parameter = fit.parameter
        for name, value in parameter.values(fit.after, DIGITS).items():
            changed = parameter.machines[name].with_changes({parameter.path: value})
            changes.setdefault(parameter.files[name], {})[parameter.path] = NewValue(
                value=str(changed.values(units=True)[parameter.path]),
                source=_source(fit, day),
                firm="calibrated",
            )
    return changes


def _source(fit: Fit, day: date) -> str:
    """Return the provenance of a fitted value: the rows, the day, the bounds and their reason."""
    parameter = fit.parameter
    rows = _listed(list(dict.fromkeys(map(row_of, fit.seen_by))))
    low, high = parameter.show(parameter.lower), parameter.show(parameter.upper)
    return f"fitted to {rows} on {day.isoformat()}, within {low} to {high}: {parameter.reason}"


def _listed(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
