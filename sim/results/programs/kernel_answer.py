"""What the run of a kernel tells: its rows, their totals, and what only a simulator knows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from xc40io.findings.real_rates import PhaseRows, added
from xc40io.results.frames import PHASES
from xc40io.results.mpiio.mpiio_report import mpiio_data
from xc40io.results.run_values import simulator_document
from xc40io.run.result import Result
from xc40io.telling.answer import Answer, Block, Column, Listing, Table, To, Values, changed
from xc40io.telling.units import ANY, BYTES, CLOCK, NUMBER, RATE, ROWS, WORDS
from xc40io.workloads.job_results import Row

ALL = "all"
"""What the total of all phases is called."""


def totals(result: Result) -> list[PhaseRows]:
    """Return the total of each kind of phase, in the order in which they first came, and of all.

    There is none of a workload with an outcome of its own: the rows of a replay are totals already,
    of kinds of calls.
    """
    if not result.rows or result.outcome is not None:
        return []
    kinds: dict[str, list[Row]] = {}
    for row in result.rows:
        kinds.setdefault(row.phase, []).append(row)
    found = [added(rows, 0, phase, phase) for phase, rows in kinds.items()]
    return [*found, added(result.rows, 0, ALL, ALL)]


TOTALS = (
    Column("phase", WORDS, head="total", help="The kind of phase; `all` for all together."),
    Column("rows", NUMBER, lambda of: len(of.rows), help="How many rows there are."),
    Column("seconds", CLOCK, head="time", help="In which any rank was in such a phase."),
    Column("bytes", BYTES, head="data", blank=0, help="Read or written."),
    Column(
        "bandwidth",
        RATE,
        lambda of: of.rate or None,
        head="rate",
        help="Bytes over seconds; none without bytes.",
    ),
)

RUN = (
    Column("kernel", WORDS, lambda result: result.workload.name, help="Its name."),
    Column("options", ANY, lambda result: result.workload.options, help="All, with units."),
    Column("records", ROWS, lambda result: result.rows, inner=PHASES, help="The rows."),
    Column("totals", ROWS, totals, inner=TOTALS, help="Of each kind of phase, and of all."),
    Column("files", ANY, lambda result: _files(result), help="Their striping, by name."),
    Column("xc40io", ANY, lambda result: _simulator(result), help="What a simulator knows."),
)


def kernel_answer(result: Result, *, exact: bool = False) -> Answer:
    """Return the answer on the run of a kernel: its rows, and their totals.

    ``start`` is when the first rank began, ``time`` from then to the end of the last one, and
    ``longest`` what the slowest rank took. Below stand the totals: of each kind of phase if one of
    them has several rows, and of all; ``time`` is then the time in which any rank was at it.
    ``exact``: without how sure its rates are.
    """
    columns = changed(RUN, "xc40io", of=partial(_simulator, exact=exact))
    values = Values("kernel", columns, result)
    head = f"Kernel {result.workload.name}: {options_text(result)}"
    blocks: list[Block] = [Listing("", head), rows_table(result.rows)]
    if len(result.rows) > 1 and (found := totals(result)):
        blocks.append(values.table("totals", rows=_shown(found)))
    return Answer(
        title=result.scenario.title or result.workload.title,
        setup=result.machine.name,
        blocks=blocks,
        values=values,
        version=result.version,
    )


def options_text(result: Result) -> str:
    """Return the options of a kernel that are set, as ``NAME=VALUE``; defaults are left out."""
    options = result.workload.given
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "all defaults"


def rows_table(rows: Sequence[Row]) -> Table:
    """Return some rows as a table, all of them, with a column for each figure that one has."""
    return Table(PHASES, lambda: rows, most=len(rows))


def parts_table(rows: Sequence[Row]) -> Table:
    """Return rows as a table of a page, with their part of the workload where there are several."""
    several = len({row.part for row in rows}) > 1
    return Table(
        changed(PHASES, "part", to=To.ALL) if several else PHASES,
        lambda: rows,
        title="Phases, in the order in which they began",
        note="Time: from the start of the first rank to the end of the last one.",
    )


def _shown(found: Sequence[PhaseRows]) -> Sequence[PhaseRows]:
    """Return the totals that say more than the rows: the last, where no phase has several."""
    return found if any(len(total.rows) > 1 for total in found[:-1]) else found[-1:]


def _files(result: Result) -> dict[str, Any]:
    return {
        name: {
            "stripe_count": files.stripe_count,
            "stripe_size": files.stripe_size,
            "osts": files.osts.tolist(),
        }
        for name, files in result.files.items()
    }


def _simulator(result: Result, *, exact: bool = False) -> dict[str, Any]:
    """Return a document of what no real kernel tells, and of what MPI-IO tells of each file."""
    told = [(step, mpiio_data(record)) for step, record in result.mpi_records]
    mpiio = [{"step": step, "phase": data["access"]} | data for step, data in told]
    return simulator_document(result, exact=exact) | {"mpiio": mpiio}
