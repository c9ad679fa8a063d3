"""The tables of sensitivities and of faults, for text and for a page; the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.config.machine import Machine
from sim.config.units import format_bytes, format_per_second, format_rate, format_seconds
from sim.studies.plan.hardware import is_count
from sim.studies.plan.plan_faults import MixFaults
from sim.studies.plan.plan_sensitivity import MixSensitivity, Range
from sim.telling.answer import Table, plain_table

_GB = 1e9


def sensitivity_tables(found: MixSensitivity) -> list[Table]:
    """Return the effects of all values, and the shares of the few that matter."""
    rows = [
        [
            effect.range.path,
            *_bounds(found, effect.range),
            *(
                f"{value / _GB:,.3f}"
                for value in (effect.size, effect.error, effect.mean, effect.spread)
            ),
        ]
        for effect in found.effects
    ]
    heads = ["value", "from", "to", "effect", "+-", "with its sign", "spread"]
    note = (
        f"Morris' elementary effects over the range, {found.trajectories} trajectories: mean of "
        "their sizes (mu*) with its 95 % interval, mean (mu), standard deviation (sigma). "
        "A spread as large as the effect: it depends on other values."
    )
    tables = [plain_table("Effect of each value on the mix (GB/s)", heads, rows, note=note)]
    if found.shares:
        shares = [
            [share.path, *(f"{100 * value:.0f}" for value in share[1:])] for share in found.shares
        ]
        tables.append(
            plain_table(
                "Share of the variance (%)",
                ["value", "by itself", "+-", "with others", "+-"],
                shares,
                note=f"Sobol's first-order and total indices, {found.samples} samples, "
                "95 % intervals.",
            )
        )
    return tables


def _bounds(found: MixSensitivity, one: Range) -> list[str]:
    """Write the bounds of a range with their units."""
    return [_with_unit(one.path, bound, found.mix.machine) for bound in (one.low, one.high)]


def _with_unit(path: str, value: float, machine: Machine) -> str:
    """Write a value of a machine with the unit that its field has."""
    if is_count(path, machine):
        return f"{value:g}"
    written = str(machine.values(units=True)[path])
    if written.endswith("op/s"):
        return format_per_second(value, 3)
    if written.endswith("B/s"):
        return format_rate(value, 3)
    if written.endswith("B"):
        return format_bytes(round(value), 3)
    return format_seconds(value, 3) if written.endswith("s") else f"{value:.3g}"


def sensitivity_words(found: MixSensitivity) -> Iterator[str]:
    """Say what the mix depends on."""
    first, *others = found.effects
    matter = [one for one in others if one.size >= 0.25 * first.size]
    more = "more" if first.mean > 0.0 else "less"
    yield (
        f"The mix, {found.rate / _GB:.4g} GB/s as it is, depends most on {first.range.path}: over "
        f"its range that changes it by {first.size / _GB:.3g} GB/s, and {more} is faster."
    )
    if matter:
        named = ", ".join(f"{one.range.path} ({one.size / _GB:.3g})" for one in matter)
        yield f"A quarter of that or more have {named}."
    idle = [one.range.path for one in found.effects if one.size < 0.02 * first.size]
    if idle:
        yield f"Less than a fiftieth of it: {', '.join(idle)}."


def sensitivity_document(found: MixSensitivity) -> dict[str, Any]:
    """Arrange sensitivities for JSON; bytes/s, and parts of the variance."""
    return {
        "bandwidth": found.rate,
        "trajectories": found.trajectories,
        "samples": found.samples,
        "effects": [
            effect._asdict() | {"range": effect.range._asdict()} for effect in found.effects
        ],
        "shares": [share._asdict() for share in found.shares],
    }


def faults_table(found: MixFaults) -> Table:
    """Return the throughput of the mix and of each job by failed parts."""
    rows = []
    for curve in found.curves:
        whole = curve.points[0].rate
        for point in curve.points:
            if point.rate is None:
                continue
            share = f"{100 * point.rate / whole:.0f}" if whole else ""
            rates = (f"{runs.rate / _GB:,.4g}" for runs in point.runs)
            row = [curve.fault, f"{point.number}", f"{point.rate / _GB:,.4g}", share, *rates]
            rows.append(row)
    heads = ["fault", "parts", "mix", "% of it", *(job.name for job in found.mix.jobs)]
    note = "GB/s: 10^9 bytes a second. Each job begins at 0 s, and meets the faults from then on."
    return plain_table("Throughput with failed parts (GB/s)", heads, rows, note=note)


def faults_missing(found: MixFaults) -> Iterator[str]:
    """Say what could not be run."""
    for curve in found.curves:
        for point in curve.points:
            if point.reason:
                yield f"{curve.fault}, {point.number} parts: {point.reason}"


def faults_document(found: MixFaults) -> list[dict[str, Any]]:
    """Arrange faults for JSON; bytes/s."""
    return [
        {
            "fault": curve.fault,
            "points": [
                {
                    "failed": point.number,
                    "bandwidth": point.rate,
                    "jobs": {
                        job.name: runs.rate
                        for job, runs in zip(found.mix.jobs, point.runs, strict=False)
                    },
                    "failure": point.reason or None,
                }
                for point in curve.points
            ],
        }
        for curve in found.curves
    ]
