"""What the tools answer: a summary, and columns of the studies, under the names that these have.

Rates are payload: bytes of the program by seconds. Nothing here depends on the computer that the
simulation ran on, so the same question has the same answer, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any

from xc40io.config.machine import Machine
from xc40io.findings.replay_report import ReplayReport
from xc40io.findings.replay_times import outcome_of, together
from xc40io.results.machine_text import machine_sections
from xc40io.run.fabric import fabric_of
from xc40io.studies.compare.side_by_side import PHASES as SIDE_PHASES
from xc40io.studies.compare.side_by_side import SIDES
from xc40io.studies.compare.side_by_side_answer import SIDE_BY_SIDE
from xc40io.studies.explain.explanation import TRIED
from xc40io.studies.explain.explanation_answer import EXPLANATION, EXPLANATION_PHASES
from xc40io.studies.logs.diagnosis_answer import DIAGNOSIS
from xc40io.studies.run_answer import RUN, RUN_PHASES
from xc40io.studies.sweep.points import Point
from xc40io.studies.sweep.sweep import Sweep
from xc40io.studies.sweep.sweep_answer import SWEEP
from xc40io.studies.tune.lines_to_paste import proposal_of
from xc40io.studies.tune.tune_answer import TUNING
from xc40io.studies.tune.tuning import Tuning
from xc40io.telling.answer import Answer, Column, Columns, To
from xc40io.telling.data import record
from xc40io.telling.schema import schema_of
from xc40io.telling.text import text_of
from xc40io.telling.units import ANY, FACTOR, FLAG, RATE, RECORD, ROWS, SECONDS, SHARE, WORDS
from xc40io.workloads.darshan.module_counters import Measured

_MOST = 8
"""Runs that are told of a kind of phase, waits, and parts of its critical path."""

_WORTH_TELLING = 0.005  # share of the time of a wait
_BY_SEED = "Simulated seconds, one for each seed."


SUMMARY = Column("summary", WORDS, help="The answer in sentences and tables, for a person.")
"""What all answers begin with."""


def told(tool: str, answer: Answer) -> dict[str, Any]:
    """Return what a tool tells of an answer of a study."""
    assert answer.values is not None
    return {SUMMARY.name: text_of(answer), **record(ANSWERS[tool], answer.values.of)}


def schema(tool: str, title: str) -> dict[str, Any]:
    """Return the schema of what a tool tells."""
    return schema_of((SUMMARY, *ANSWERS[tool]), title)


def _taken(columns: Columns, *names: str, of: To = To.JSON, **changes: Column) -> Columns:
    """Return columns that are told in a form; ``changes``: what stands in place of some."""
    found = {column.name: replace(column, to=To.JSON) for column in columns if of in column.to}
    found |= changes
    return tuple(found[name] for name in names or found)


def _first(
    column: Column, inner: Columns, name: str = "", keep: Callable[[Any], bool] = lambda _: True
) -> Column:
    """Return a column of rows, of which no more are told than an assistant reads."""
    return replace(
        column,
        name=name or column.name,
        of=lambda row: [one for one in column.value(row)[:_MOST] if keep(one)],
        inner=inner,
    )


def _column(columns: Columns, name: str) -> Column:
    return next(column for column in columns if column.name == name)


_WAITS = (
    Column("cause", WORDS, help="Its short name."),
    Column("words", WORDS, help="What it is."),
    Column("share", SHARE, help="Of the time of the phase, averaged over the ranks."),
)
_WAITED = _first(
    _column(RUN_PHASES, "waits"), _WAITS, keep=lambda wait: wait.share >= _WORTH_TELLING
)

SIMULATE = _taken(
    RUN, phases=replace(_column(RUN, "phases"), inner=_taken(RUN_PHASES, waits=_WAITED))
)
"""A simulated run."""

_ON_PATH = (
    Column("what", WORDS, help="What was done."),
    Column("where", WORDS, help="Where most of its seconds passed."),
    Column("share", SHARE, help="Of the path."),
)
_TRIED = (
    *_taken(TRIED, "words", "typed", "seconds", "gain", "helps"),
    *_taken(TRIED, "who", of=To.PANDAS),
)
_EXPLAINED = (
    *_taken(EXPLANATION_PHASES, "job", "part", "phase", "seconds", "verdict", "advice", "beside"),
    _first(_column(EXPLANATION_PHASES, "critical_path"), _ON_PATH),
    _first(_column(EXPLANATION_PHASES, "without"), _TRIED),
    _first(_column(EXPLANATION_PHASES, "with"), _TRIED, "changed"),
)
EXPLAIN = (
    *_taken(EXPLANATION, "runs"),
    replace(_column(EXPLANATION, "phases"), inner=_EXPLAINED),
    Column(
        "refused",
        ROWS,
        lambda found: [": ".join(each) for each in found.refused],
        help="Changes that could not be tried, with the reason.",
    ),
)
"""Why a run takes its time, and what would help: each answer is a run that was made."""


def _phases(done: Sweep) -> Iterator[dict[str, Any]]:
    """Yield what came of the kinds of phases of all points."""
    for point in done.points:
        names = dict.fromkeys(name for totals in point.totals for name in totals)
        yield from (_phase(point, name) for name in names)


def _phase(point: Point, name: str) -> dict[str, Any]:
    """Return what came of a kind of phase of a point: figures of seeds that could be run."""
    first = next(totals[name] for totals in point.totals if name in totals)
    return {
        "values": dict(point.values),
        "phase": name,
        "bandwidth": point.measured(name, lambda total: total.bandwidth),
        "seconds": point.measured(name, lambda total: total.seconds),
        **{each: getattr(first, each) for each in ("station", "busy", "wait")},
    }


_POINT = (
    Column("values", RECORD, help="By path."),
    Column("phase", WORDS, help="What was done: write, read, or a phase of a kernel."),
    Column("bandwidth", ROWS, help="In bytes/s, one for each seed; may be empty."),
    Column("seconds", ROWS, help=_BY_SEED),
    Column("station", WORDS, help="What bound it, or was busiest, with the first seed."),
    Column("busy", SHARE, help="How busy that was."),
    Column("wait", WORDS, help="What ranks waited for longest, with the first seed."),
)
SWEPT = (
    *_taken(SWEEP, "seeds"),
    Column("points", ROWS, lambda done: list(_phases(done)), inner=_POINT, help="By phase."),
    *_taken(SWEEP, "failures"),
)
"""A run with all combinations of some values."""

_SIDES = (
    *_taken(SIDES, "side", "seconds", "bytes", "said"),
    *_taken(SIDES, "times_as_fast", "low", "high", of=To.PANDAS),
)
COMPARE = (
    *_taken(SIDE_BY_SIDE, "method", "troubles"),
    replace(
        _column(SIDE_BY_SIDE, "phases"),
        inner=(
            *_taken(SIDE_PHASES, "job", "part", "phase", of=To.PANDAS),
            replace(_column(SIDE_PHASES, "sides"), inner=_SIDES),
        ),
    ),
)
"""Runs side by side, with the same seeds."""


def _line(name: str) -> Callable[[Tuning], Any]:
    """Return a getter of a line to paste for the best setting."""
    return lambda found: getattr(proposal_of(found.space, found.best), name)


_SETTING = (
    Column("setting", RECORD, help="The value of each knob, by its name."),
    Column("seconds", ROWS, help=_BY_SEED),
)
TUNE = (
    *_taken(TUNING, "already_best", "chance", "importance"),
    Column("gain", FACTOR, lambda of: of.gain.value, help="Times as fast as now, all I/O."),
    Column("low", FACTOR, lambda of: of.gain.low, help="Bound of the 95 % interval, from 2 seeds."),
    Column("high", FACTOR, lambda of: of.gain.high, help="The upper one."),
    Column("setstripe", WORDS, _line("setstripe"), help="Line to paste; may be empty."),
    Column("hints", WORDS, _line("hints"), help="Line to paste; may be empty."),
    Column("start", WORDS, _line("start"), help="Line to paste: how the job is started."),
    Column("remarks", ROWS, _line("remarks"), help="What the lines leave open."),
    replace(_column(TUNING, "best"), unit=RECORD, inner=_SETTING),
    replace(_column(TUNING, "present"), unit=RECORD, inner=_SETTING),
    replace(_column(TUNING, "runners_up"), unit=ROWS, inner=_SETTING),
)
"""The settings with which a job's I/O takes the least time."""


DIAGNOSE = _taken(DIAGNOSIS)
"""Findings in the I/O of a logged job, and what would have helped."""


def _rates(report: ReplayReport) -> list[tuple[str, str, list[Measured | None]]]:
    """Return the phases of all files: their layer, and what the log and the replay say of them."""
    files = together(report.files, "all files")
    return [
        (str(layer), str(phase), [files.recorded.get(key), files.runs[0].get(key)])
        for key in files.keys
        for layer, phase in (key,)
    ]


def _rate(place: int) -> Callable[[Any], float | None]:
    """Return a getter of bytes/s: of all ranks, each as fast as on average."""

    def rate(row: tuple[str, str, list[Measured | None]]) -> float | None:
        of = row[2][place]
        return of.bytes * of.ranks / of.seconds if of and of.bytes and of.seconds else None

    return rate


def _seconds(place: int) -> Callable[[Any], float | None]:
    return lambda row: row[2][place] and row[2][place].seconds


_REPLAYED = (
    Column("layer", WORDS, itemgetter(0), help="MPI-IO, POSIX below it, or POSIX."),
    Column("phase", WORDS, itemgetter(1), help="open/meta, read or write."),
    Column("log_seconds", SECONDS, _seconds(0), help="Of all ranks together, by the log."),
    Column("seconds", SECONDS, _seconds(1), help="Likewise, simulated."),
    Column("log_rate", RATE, _rate(0), help="Bytes/s of all ranks, in such calls, by the log."),
    Column("rate", RATE, _rate(1), help="Likewise, simulated."),
)
REPLAY = (
    Column("log", WORDS, lambda report: report.log.path, help="Its path."),
    Column("where", WORDS, help="On which machine and nodes it was replayed, and why there."),
    Column("known", FLAG, help="Whether it ran there; else its times are no test."),
    Column("log_end", SECONDS, lambda of: of.log.last_call, help="Of the last call, by the log."),
    Column("end", SECONDS, lambda of: outcome_of(of.runs[0]).seconds, help="Likewise, simulated."),
    Column("phases", ROWS, _rates, inner=_REPLAYED, help="Of all files together."),
    Column("warnings", ROWS, lambda of: list(of.log.warnings), help="What is wrong with the log."),
)
"""A logged job, by its log and simulated."""


def _facts(machine: Machine) -> list[tuple[str, str, str]]:
    sections = machine_sections(machine, fabric_of(machine)).items()
    return [(section, what, value) for section, rows in sections for what, value in rows]


def _values(machine: Machine) -> Iterator[tuple[str, Any, str, str]]:
    """Yield every value of a machine with its source."""
    for path, value in machine.values(units=True).items():
        origin = machine.provenance.get(path)
        firm, source = ("", "") if origin is None else (origin.firm, origin.source)
        yield path, value, firm, source


def _rows(**helps: str) -> Columns:
    """Return columns of words, by their places in a row."""
    return tuple(
        Column(name, WORDS, itemgetter(place), help=helps[name]) for place, name in enumerate(helps)
    )


_FACT = _rows(
    section="Of what: the network, compute nodes, LNET, Lustre...",
    what="What it is.",
    value="With its unit; GB = 10^9 bytes, GiB = 2^30 bytes.",
)
_VALUE = _rows(
    path="As changes and --what-if take it.",
    value="With its unit, where it has one.",
    firm="verified, measured, derived, inferred, calibrated or assumed.",
    source="Where it comes from.",
)
MACHINE = (
    Column("name", WORDS, help="As the other tools take it."),
    Column("title", WORDS, help="In a line."),
    Column("description", WORDS, help="In a paragraph."),
    Column("facts", ROWS, _facts, inner=_FACT, help="From the network to the metadata servers."),
    Column(
        "values",
        ROWS,
        lambda machine: list(_values(machine)),
        inner=tuple(replace(each, unit=ANY) if each.name == "value" else each for each in _VALUE),
        help="Every value; empty unless asked for.",
    ),
)
"""What a machine consists of."""

ANSWERS = {
    "simulate": SIMULATE,
    "explain": EXPLAIN,
    "sweep": SWEPT,
    "compare": COMPARE,
    "tune": TUNE,
    "diagnose": DIAGNOSE,
    "replay": REPLAY,
    "machine": MACHINE,
}
"""What each tool tells, by its name."""
