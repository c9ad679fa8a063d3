"""The pictures of a plan: cost and throughput, gains, sensitivities, failed parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xc40io.config.units import GB
from xc40io.studies.plan.mix_runs import job_ratio, mix_title
from xc40io.studies.plan.plan import Configuration, Plan
from xc40io.studies.plan.plan_faults import MixFaults
from xc40io.studies.plan.plan_sensitivity import MixSensitivity
from xc40io.telling.answer import Picture
from xc40io.telling.sheet import (
    INK,
    PALETTE,
    SMALL,
    WIDE,
    Heading,
    legend,
    name_axes,
    name_rows,
    room_for,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.26  # inches of a row of bars
_LONGEST = 20  # values whose effects are drawn
_NAMED = 16  # configurations that have room for their names
_UNITS = "GB = 10^9 bytes."


def plan_pictures(plan: Plan) -> Iterator[Picture]:
    """Yield the pictures of a plan with their names."""
    if plan.is_priced and any(each.cost for each in plan.configurations):
        yield Picture("cost", partial(cost_figure, plan))
    if any(each.rate is not None for each in plan.alone):
        yield Picture("gains", partial(gains_figure, plan))


def cost_figure(plan: Plan) -> Figure:
    """Draw throughput over cost, with the front that no configuration beats in both."""
    currency = plan.mix.currency or "units"
    front = sorted(
        (each for each in plan.configurations if each.efficient), key=lambda each: each.cost or 0.0
    )
    others = [
        each
        for each in plan.configurations
        if each.rate is not None and each.cost is not None and not each.efficient
    ]
    scale, word = _scale(plan)
    shown = [*front, *others]
    captions = [_UNITS, "Cost beyond the machine as it is."]
    if any(one.ratio is not None and one.ratio.low is not None for one in shown):
        captions.append("Bars: the gain or loss by the seeds, 95 %.")
    if len(front) > 1:
        captions.append("Line: each is certain to be faster than what costs less.")
    heading = Heading("Cost and throughput of the mix", mix_title(plan.mix), " ".join(captions))
    figure, (axes,) = sheet(heading, width=WIDE, height=4.0, rows=1)
    for group, colour, label in ((others, SMALL, "beaten"), (front, PALETTE[0], "on the front")):
        axes.plot(
            [(each.cost or 0.0) / scale for each in group],
            [(each.rate or 0.0) / GB for each in group],
            color=colour,
            label=label,
            marker="o",
            linestyle="-" if group is front else "none",
            linewidth=1.4,
        )
    _draw_seeds(axes, plan, shown, scale)
    _name_points(axes, shown, scale)
    name_axes(axes, f"cost ({word}{currency})", "mix (GB/s)")
    costs = [(each.cost or 0.0) / scale for each in shown]
    least, most = min(costs), max(costs)
    axes.set_xlim(least, most + 0.25 * ((most - least) or 1.0))  # names stand to the right
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0.0)
    legend(axes, columns=2)
    return figure


def _draw_seeds(axes: Axes, plan: Plan, shown: Sequence[Configuration], scale: float) -> None:
    """Draw how far the gain of each is known by the seeds, on the throughput as it is."""
    now = plan.present.rate or 0.0
    for each in shown:
        if each.ratio is not None and each.ratio.low is not None and each.ratio.high is not None:
            bounds = [now * each.ratio.low / GB, now * each.ratio.high / GB]
            axes.plot([(each.cost or 0.0) / scale] * 2, bounds, color=INK, linewidth=0.8)


def _scale(plan: Plan) -> tuple[float, str]:
    """Return the divisor of costs, and the word for it."""
    most = max(abs(each.cost or 0.0) for each in plan.configurations)
    for scale, word in ((1e6, "million "), (1e3, "thousand ")):
        if most >= scale:
            return scale, word
    return 1.0, ""


def _name_points(axes: Axes, shown: Sequence[Configuration], scale: float) -> None:
    """Write beside the first points what they are."""
    for each in shown[:_NAMED]:
        axes.annotate(
            "\n".join(each.word(name).removeprefix("lustre.") for name in each.values)
            or "as it is",
            ((each.cost or 0.0) / scale, (each.rate or 0.0) / GB),
            xytext=(7, -3),
            textcoords="offset points",
            size=8,
            color=INK,
            va="top",
        )


def gains_figure(plan: Plan) -> Figure:
    """Draw how many times as fast each job and the mix are with each change alone."""
    shown = [each for each in plan.alone if each.rate is not None and each.ratio is not None]
    series = ["mix", *(job.name for job in plan.mix.jobs)][: len(PALETTE)]
    names = [each.words for each in shown]
    heading = Heading(
        "Each change alone: times as fast as the machine as it is",
        mix_title(plan.mix),
        "Bars of the mix and of its jobs; the line at 1 is the machine as it is.",
    )
    height = _ROW * 0.62 * len(series) * len(shown) + 0.3
    figure, (axes,) = sheet(heading, width=WIDE, height=height, rows=1, left=room_for(names))
    wide = 0.84 / len(series)
    for number, name in enumerate(series):
        places = [row - 0.42 + wide * (number + 0.5) for row in range(len(shown))]
        values = [_times(plan, each, number) for each in shown]
        axes.barh(places, [value - 1.0 for value in values], wide, 1.0, color=PALETTE[number],
                  label=name)  # fmt: skip
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.grid(axis="x", color=INK, alpha=0.18, linewidth=0.6)
    axes.grid(axis="y", visible=False)
    name_rows(axes, names)
    name_axes(axes, "times as fast", "")
    legend(axes, columns=len(series))
    return figure


def _times(plan: Plan, each: Configuration, number: int) -> float:
    """Return how many times as fast the mix is, or one of its jobs."""
    if number == 0:
        assert each.ratio is not None
        return each.ratio.value
    return job_ratio(plan.present.runs[number - 1], each.runs[number - 1]).value


def sensitivity_figure(found: MixSensitivity) -> Figure:
    """Draw the effects of values on the mix, the largest first."""
    shown = found.effects[:_LONGEST]
    names = [effect.range.path for effect in shown]
    shares = {share.path: share for share in found.shares}
    caption = (
        f"{_UNITS} Morris' mu* over the range of each value, {found.trajectories} trajectories; "
        "lines: 95 % intervals."
    )
    if shares:
        caption += " Right: Sobol's total index, and the part that a value has by itself."
    heading = Heading(
        "What the throughput of the mix depends on", mix_title(found.mix),
        caption,
    )  # fmt: skip
    figure, panels = sheet(
        heading,
        width=WIDE,
        height=_ROW * len(shown) + 0.3,
        rows=1,
        left=room_for(names),
        panels=2 if shares else 1,
    )
    axes = panels[0]
    colours = [PALETTE[0] if effect.mean >= 0.0 else PALETTE[5] for effect in shown]
    axes.barh(
        range(len(shown)),
        [effect.size / GB for effect in shown],
        0.7,
        color=colours,
        xerr=[effect.error / GB for effect in shown],
        ecolor=INK,
    )
    for mean, colour, label in (
        (1, PALETTE[0], "more is faster"),
        (-1, PALETTE[5], "more is slower"),
    ):
        if any((effect.mean >= 0.0) == (mean > 0) for effect in shown):
            axes.barh([0], [0.0], color=colour, label=label)
    _rows(axes, names, "effect on the mix (GB/s)")
    legend(axes, columns=2)
    if shares:
        _draw_shares(panels[1], found, names)
    return figure


def _rows(axes: Axes, names: Sequence[str], words: str) -> None:
    """Name the rows of bars; lines of the grid stand upright."""
    axes.set_xlim(left=0.0)
    axes.grid(axis="x", color=INK, alpha=0.18, linewidth=0.6)
    axes.grid(axis="y", visible=False)
    name_rows(axes, names)
    name_axes(axes, words, "")


def _draw_shares(axes: Axes, found: MixSensitivity, names: Sequence[str]) -> None:
    """Draw the shares of the variance in the rows of their values."""
    for share in found.shares:
        row = names.index(share.path)
        axes.barh(row, max(share.total, 0.0), 0.7, color=PALETTE[4], label="with others")
        axes.barh(row, max(share.first, 0.0), 0.35, color=PALETTE[0], label="by itself")
    _rows(axes, [""] * len(names), "share of the variance")
    handles, labels = axes.get_legend_handles_labels()
    legend(axes, columns=2, handles=handles[:2], labels=labels[:2])


def faults_figure(found: MixFaults) -> Figure:
    """Draw the throughput of the mix against failed parts, a line a kind of fault."""
    heading = Heading(
        "Throughput of the mix with failed parts",
        mix_title(found.mix),
        f"{_UNITS} Parts that fail lie as far apart as they can.",
    )
    figure, (axes,) = sheet(heading, width=WIDE, height=3.4, rows=len(found.curves))
    for curve, colour in zip(found.curves, PALETTE * len(found.curves), strict=False):
        points = [point for point in curve.points if point.rate is not None]
        axes.plot(
            [point.number for point in points],
            [(point.rate or 0.0) / GB for point in points],
            label=curve.fault,
            color=colour,
            marker="o",
            linewidth=1.6,
        )
    axes.set_xticks(sorted({point.number for curve in found.curves for point in curve.points}))
    axes.set_ylim(bottom=0.0)
    name_axes(axes, "failed parts", "mix (GB/s)")
    legend(axes)
    return figure
