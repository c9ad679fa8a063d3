"""What many replayed logs tell: where a change would have saved most."""

from __future__ import annotations

from collections.abc import Iterator

from xc40io.studies.logs.log_gains import GAINS, GAINS_OF_DATA, LogGains
from xc40io.studies.logs.log_table_answer import BAD, bad_blocks
from xc40io.telling.answer import Answer, Block, Column, Points, Section, Table, Text, Values
from xc40io.telling.units import LONG, NUMBER, ROWS
from xc40io.topology.text import format_count

_MOST = 100
"""Logs that people are told of; programs get all."""

LOG_GAINS = (
    Column("asked", NUMBER, help="Logs."),
    Column("logs", ROWS, inner=GAINS_OF_DATA, help="That with most seconds saved first."),
    Column("bad", ROWS, inner=BAD, help="Logs that could not be read, or not be replayed."),
)


def log_gains_answer(found: LogGains) -> Answer:
    """Return the answer on many logs."""
    title = f"{format_count(len(found.logs), 'log')} replayed by their counters"
    helped = [log for log in found.logs if log.best is not None]
    rows = Table(
        GAINS,
        lambda: found.logs,
        title="By the seconds that a change would have saved",
        note="The seconds are the log's own, of the rank that was longest in I/O; times as fast is "
        "simulated, with one seed: xc40io explain LOG tries more changes, with more seeds.",
        most=_MOST,
    )
    seconds = sum(log.seconds for log in helped)
    hours = sum(log.node_hours for log in helped)
    said = (
        f"A change would have helped {len(helped):,} of {format_count(len(found.logs), 'log')}: "
        f"{LONG.write(seconds)} of their jobs, {hours:,.3g} node-hours."
    )
    notes = list(_notes(found))
    blocks: list[Block] = [
        Section("", "", [Text(title)], on="text"),
        *bad_blocks(found.bad),
        rows,
        Text(said),
        *([Points(notes)] if notes else []),
    ]
    return Answer(
        title=title,
        setup="Each as recorded, then with changes of what who submits the job can set.",
        blocks=blocks,
        values=Values("logs", LOG_GAINS, found),
        table=found.table,
    )


def _notes(found: LogGains) -> Iterator[str]:
    """Yield what to mind of all logs."""
    strange = [log for log in found.logs if not log.known]
    if strange:
        machines = ", ".join(dict.fromkeys(log.machine for log in strange))
        yield (
            f"Of {format_count(len(strange), 'log')} the machine is unknown: replayed on "
            f"{machines} as a stand-in."
        )
    fewer = [log for log in found.logs if log.tried < log.possible]
    if fewer:
        yield (
            f"With {format_count(len(fewer), 'log')} of many calls not all changes were tried: "
            f"{', '.join(log.name for log in fewer[:4])}{' ...' if len(fewer) > 4 else ''}."
        )
    coarse = [log for log in found.logs if log.rpcs_as_one > 1]
    if coarse:
        yield (
            f"With {format_count(len(coarse), 'log')} of many bytes several RPCs were handled as "
            "one."
        )
