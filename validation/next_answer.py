"""What to measure next, as part of an answer."""

from __future__ import annotations

from dataclasses import replace

from xc40io.telling.answer import CELL, Answer, Column, Columns, Section, Table, Text, To
from xc40io.telling.units import NUMBER, PERCENT, RATIO, ROWS, WORDS, first_of
from xc40io.topology.text import format_count
from xc40io.validation.next_run import Advice

_NEXT: Columns = (
    Column("command", WORDS, head="run"),
    Column("stripes", CELL, lambda one: _stripes(one.stripes), to=To.PEOPLE),
    Column("stripes", NUMBER, to=To.JSON, help="OSTs of a file: -1 all, 0 the default."),
    Column("nodes", NUMBER),
    Column("minutes", RATIO),
    Column("node_hours", RATIO, head="node-hours"),
    Column("narrowed", PERCENT, head="narrows by"),
    Column("most", first_of(2), help="The values that it tells most of.", head="tells most of"),
)


def _stripes(count: int) -> str:
    return {0: "", -1: "all"}.get(count, str(count))


def with_advice(answer: Answer, advice: Advice) -> Answer:
    """Return an answer that tells at its end what to measure next."""
    values = answer.values
    if values is not None:
        runs = Column("next", ROWS, lambda _: advice.runs, inner=_NEXT)
        values = replace(values, columns=(*values.columns, runs))
    told = Section("next", "", [_next(advice)])
    return replace(answer, blocks=[*answer.blocks, told], values=values)


def _next(advice: Advice) -> Table | Text:
    if advice.missing:
        return Text(
            f"What to measure next is not told: that takes {advice.missing} runs more than the "
            "--budget has."
        )
    if not advice.runs:
        return Text(
            "What to measure next: no run that takes so few node-hours would narrow "
            f"{advice.asked}."
        )
    return Table(
        _NEXT,
        lambda: advice.runs,
        title="What to measure next",
        note=f"What is not known of values leaves {advice.asked} within a factor of "
        f"{RATIO.write(advice.factor)}, nine times of ten. Narrows by: the part of that variance "
        "which the run is expected to take away, whatever it shows. "
        f"{format_count(advice.simulated, 'run')} more told it.",
    )
