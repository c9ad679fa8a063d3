"""What is told of checkpoints: how often and where first, then what each way costs, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal

from xc40io.config.units import format_bytes, format_rate, format_seconds
from xc40io.results.pictures.scene import setup_of
from xc40io.studies.advice.knobs import AS_IT_IS
from xc40io.studies.checkpoint.checkpoint import (
    LIVES,
    POINT,
    Checkpoint,
    Point,
    WayFound,
)
from xc40io.studies.output_period import HOUR, MINUTE, clock
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Listing,
    Picture,
    Points,
    Section,
    Text,
    To,
    Unit,
    Values,
    behind,
)
from xc40io.telling.sheet import INK, PALETTE, WIDE, Heading, legend, name_axes, sheet
from xc40io.telling.units import ANY, BYTES, LONG, NUMBER, PART, ROWS, SECONDS, WORDS, figure
from xc40io.trust.sureness import plain, span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"lustre": "All OSTs", "ssd": "All SSDs", "bb": "All service nodes"}
_MISLED = 1.1  # times what is lost at best: then a formula misleads
_TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 240, 480)
_TOP = 4.0  # times the least of all: more is cut off above a picture


_OF_TWENTY = "Of 20 runs, one."


def _bound(one: WayFound, which: Literal["low", "high"]) -> float | None:
    return None if one.write.real is None else getattr(one.write.real, which)


_REAL = Unit("s", object, lambda real: span(real, plain))

WAYS = (
    Column("way", WORDS, lambda one: one.way.name, help="How and where it is written."),
    Column("write", SECONDS, lambda one: one.write.seconds, head="write (s)", help="Waited for."),
    Column("real", _REAL, lambda one: one.write.real, head="real (s)", to=To.PEOPLE),
    Column("write_low", SECONDS, lambda one: _bound(one, "low"), to=To.JSON, help=_OF_TWENTY),
    Column("write_high", SECONDS, lambda one: _bound(one, "high"), to=To.JSON, help=_OF_TWENTY),
    Column("drain", SECONDS, lambda one: one.drain.seconds, head="drain (s)", blank=0.0),
    Column("beside", SECONDS, to=To.JSON, help="A write while the one before is drained."),
    Column("behind", PART, lambda one: one.slowed, to=To.JSON, help="Computing, beside a drain."),
    Column("read", SECONDS, lambda one: one.read.seconds, head="read (s)", help="By a restart."),
    *behind(lambda one: one.best, POINT[:1]),
    Column("share", PART, lambda one: one.best.share, head="lost", to=To.PEOPLE),
    Column(
        "nine",
        WORDS,
        lambda one: f"{figure(100 * one.best.low, 2)} to {figure(100 * one.best.high, 2)} %",
        head="9 of 10 jobs",
        to=To.PEOPLE,
    ),
    Column("writes", PART, lambda one: one.best.writes, to=To.PEOPLE),
    Column("waits", PART, lambda one: one.best.waits, to=To.PEOPLE, blank=0.0),
    Column("slowed", PART, lambda one: one.best.slowed, to=To.PEOPLE, blank=0.0),
    Column("again", PART, lambda one: one.best.again, head="computed again", to=To.PEOPLE),
    Column("restarts", PART, lambda one: one.best.restarts, to=To.PEOPLE),
    Column("young", LONG, lambda one: one.formulas[0], head="Young", help="At the peak rate."),
    Column("daly", LONG, lambda one: one.formulas[1], to=To.JSON, help="At the peak rate."),
    Column("young_share", PART, lambda one: one.by_young.share, head="it loses"),
    Column("points", ROWS, to=To.JSON, inner=POINT, help="Of each interval."),
)
CHECKPOINT = (
    Column("scenario", ANY, lambda told: told.scenario.model_dump(mode="json", exclude_none=True)),
    Column("mtbf", SECONDS, lambda told: told.question.mtbf),
    Column("work", SECONDS, lambda told: told.question.work),
    Column("restart", SECONDS, lambda told: told.question.restart),
    Column("bytes", BYTES, lambda told: told.best.bytes, help="Of a checkpoint."),
    Column("lives", NUMBER, lambda _: LIVES),
    Column("ways", ROWS, inner=WAYS, help="The one that loses least comes first."),
    Column(
        "refused",
        ROWS,
        inner=(
            Column("way", WORDS, lambda one: one[0]),
            Column("reason", WORDS, lambda one: one[1]),
        ),
    ),
)


def checkpoint_answer(found: Checkpoint, command: str = "") -> Answer:
    """Return the answer on how often and where; ``command`` as it was typed."""
    values = Values("checkpoint", CHECKPOINT, found)
    refused = [Points([": ".join(each) for each in found.refused], "What cannot be:")]
    blocks: list[Block] = [
        Text("\n".join(_verdict(found))),
        values.table("ways", title="Each way at its best interval"),
        Text("\n".join(_formulas(found))),
        Picture("intervals", partial(_figure, found)),
        *(refused if found.refused else ()),
        Text(_method(found)),
        Section("again", "To run it again", [Listing("Command", command, True)], on="page"),
    ]
    return Answer(
        title="How often to write a checkpoint, and where",
        setup=setup_of(found.best.way.write),
        blocks=[Section("answer", "The answer", blocks[:1]), *blocks[1:]],
        values=values,
        table=found.table,
    )


def _verdict(found: Checkpoint) -> Iterator[str]:
    best, point = found.best, found.best.best
    low, high = best.as_good
    where = "as it is written now" if best.way.name == AS_IT_IS else f"to {_to(best)}"
    yield f"Write a checkpoint every {clock(point.every)} {where}: {_lost(point)}."
    if found.now is not None:
        way, now = found.now
        yield f"Now, every {clock(now.every)}, {_as_now(way)}: {_lost(now)}."
        saved = found.scenario.nodes * (now.seconds - point.seconds) / HOUR
        if saved > 0.0:
            yield (
                f"That saves {plain(saved)} of the "
                f"{found.scenario.nodes * now.seconds / HOUR:,.0f} node-hours that the job takes."
            )
    if low < high:
        yield f"Any interval from {clock(low)} to {clock(high)} is as good within 0.1 %."


def _to(one: WayFound) -> str:
    return one.way.name if one.way.name[:6] == "Lustre" else f"the {one.way.name}"


def _as_now(one: WayFound) -> str:
    return AS_IT_IS if one.way.name == AS_IT_IS else f"to {_to(one)}"


def _lost(point: Point) -> str:
    share = figure(100 * point.share, 2)
    low, high = (figure(100 * each, 2) for each in (point.low, point.high))
    return f"{share} % of the job's time is lost (9 of 10 jobs: {low} to {high} %)"


def _formulas(found: Checkpoint) -> Iterator[str]:
    """Say what the formulas say of each target, and which ways they mislead about."""
    for target in dict.fromkeys(one.way.target for one in found.ways):
        ways = [one for one in found.ways if one.way.target == target]
        young, daly = ways[0].formulas
        rate = ways[0].way.peak()
        yield (
            f"{_NAMES[target]} at peak rate ({format_rate(rate, 3)}) take "
            f"{format_seconds(ways[0].bytes / rate, 2)} for a checkpoint: Young's formula then "
            f"says every {clock(young)}, Daly's every {clock(daly)}."
        )
        for one in ways:
            if one.by_young.share > _MISLED * one.best.share:
                times = one.write.seconds * rate / one.bytes
                yield (
                    f"  That misleads for {one.way.name}: a write takes {figure(times, 2)} times "
                    f"as long, and {figure(100 * one.by_young.share, 2)} % is lost in place of "
                    f"{figure(100 * one.best.share, 2)} %."
                )


def _method(found: Checkpoint) -> str:
    question = found.question
    return (
        f"A checkpoint is {format_bytes(found.best.bytes, 3)}. The job computes for "
        f"{clock(question.work)}; a failure comes every {clock(question.mtbf)} on average, and "
        f"the job runs again {clock(question.restart)} later, plus the read. Writes, drains and "
        f"reads are simulated; {LIVES:,} lives of the job were followed for each interval, in "
        f"each of which the model is off as it was off measured runs.{_beside(found)}"
    )


def _beside(found: Checkpoint) -> str:
    """Say how much slower computing is while a checkpoint is drained."""
    staged = [one for one in found.ways if one.way.staged]
    told = ", ".join(f"{figure(100 * one.slowed, 2)} % ({one.way.name})" for one in staged)
    return f" While a checkpoint is drained, computing falls behind by {told}." if staged else ""


def _figure(found: Checkpoint) -> Figure:
    """Draw what is lost by the interval, a line for each way."""
    from matplotlib.ticker import FixedLocator

    caption = "Bands: 9 of 10 jobs, of the best way. Diamonds: Young's interval at the peak rate."
    title = "Time lost to checkpoints and failures"
    drawn, (axes,) = sheet(
        Heading(title, setup_of(found.best.way.write), caption), width=WIDE, rows=1
    )
    least = found.best.best.share
    for one, colour in zip(found.ways, PALETTE, strict=False):
        minutes = [point.every / MINUTE for point in one.points]
        lost = [100 * point.share for point in one.points]
        axes.plot(minutes, lost, color=colour, marker=".", label=one.way.name)
        axes.plot(one.formulas[0] / MINUTE, 100 * one.by_young.share, "D", color=colour, ms=5)
    first = found.best.points
    axes.fill_between(
        [point.every / MINUTE for point in first],
        [100 * point.low for point in first],
        [100 * point.high for point in first],
        color=PALETTE[0],
        alpha=0.15,
        linewidth=0,
    )
    if found.now is not None:
        now = found.now[1]
        axes.plot(
            now.every / MINUTE, 100 * now.share, "s", color=INK, ms=7, fillstyle="none", label="now"
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 100 * max(_TOP * least, *(1.3 * one.best.share for one in found.ways)))
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_major_formatter("{x:g}")
    name_axes(axes, "minutes of computing between two checkpoints", "% of the job's time lost")
    legend(axes, 3)
    return drawn
