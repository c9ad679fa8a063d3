"""What a replay of a Darshan log tells: the log's own times beside the simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from xc40io.findings.log_explained import PhaseOfLog, phases_of_log, verdict
from xc40io.findings.replay_report import Reconstructed, ReplayReport
from xc40io.findings.replay_times import (
    BelowMpi,
    FileTimes,
    below_mpi,
    computing_share,
    differences,
    end_line,
    outcome_of,
    together,
    warnings_of,
)
from xc40io.results.run_values import simulator_document
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Columns,
    Listing,
    Table,
    To,
    Unit,
    Values,
    changed,
)
from xc40io.telling.units import (
    ANY,
    CELL,
    FACTOR,
    FLAG,
    GIGABYTE,
    IN_GIGABYTES,
    LONG,
    NUMBER,
    PART,
    PLAIN,
    RATE,
    RATIO,
    RECORD,
    ROWS,
    SECONDS,
    WORDS,
    figure,
)
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN
from xc40io.trust.sureness import plain, rate, simulated, span
from xc40io.workloads.darshan.log import Unreplayed
from xc40io.workloads.darshan.module_counters import Measured

FILES_SHOWN = 8
"""Files that are shown by themselves: those with most bytes."""

_DIFFERENCES_SHOWN = 4

_EXPLAINS = Unit("", bool, lambda flag: "yes" if flag else "no")

LOG = (
    Column("path", WORDS, help="Where it was."),
    Column("version", WORDS, help="Of the log's format."),
    Column("job_id", NUMBER, help="Of the job."),
    Column("ranks", NUMBER, help="Of the job."),
    Column("run_time", SECONDS, help="Of the job."),
    Column("executable", WORDS, help="The command line."),
    Column("warnings", ANY, help="What is wrong with the log: a sentence each."),
    Column("lost", ANY, help="What it should contain and does not: a few words each."),
    Column("unreplayed", ANY, help="What moved through modules that are not replayed."),
    Column("elsewhere", ANY, help="Its file systems that are not Lustre, and what lay there."),
    Column("last_call", SECONDS, help="When it ended, since the job began; 0 if unknown."),
    Column("slow_osts", ANY, lambda log: log.slow, help="Which OSTs were slow: a sentence each."),
    Column("slow_servers", ANY, help="Which OSSs were, with all their OSTs: a sentence each."),
    Column("heat", ANY, help="When bytes were moved, by its heat maps: a sentence each."),
)

_PLURAL = Unit("", str, lambda word: f"{word}s", left=True)

BELOW = (
    Column("file", WORDS, head="calls below MPI-IO", help="Its name."),
    Column("phase", _PLURAL, lambda of: str(of.phase), head="", help="Reads or writes."),
    Column("recorded", NUMBER, to=To.DATA, help="Calls that the log has."),
    Column("log", NUMBER, lambda of: _complete(of), to=To.PEOPLE, empty="incomplete"),
    Column("simulated", NUMBER, head="replay", help="Calls made in the replay."),
    Column("complete", FLAG, to=To.DATA, help="Whether the log has all of them."),
    Column("differ", FLAG, lambda of: of.differs, to=To.DATA, help="If it deserves a warning."),
    Column("ratio", FACTOR, to=To.PEOPLE, head="of log"),
)

FILE = (
    Column("name", WORDS, lambda file: file[0].name, help="Of the file."),
    Column("bytes", NUMBER, lambda file: file[0].bytes, help="Read and written."),
    Column(
        "phases",
        ANY,
        lambda file: _phases(file[0]),
        help="By layer and phase of the log and of each run calls, bytes, the seconds of all ranks "
        "together, how many ranks these are, and for the log the span in seconds.",
    ),
    Column("story", ANY, lambda file: file[1], help="How its calls were reconstructed."),
)

RUN_OF_LOG = (
    Column(
        "seconds",
        SECONDS,
        lambda run: outcome_of(run).seconds,
        help="From the job's start to its last call.",
    ),
    Column(
        "computing",
        ANY,
        computing_share,
        help="Share of the ranks' time in which they computed, as recorded.",
    ),
    Column("xc40io", ANY, simulator_document, help="What a simulator knows."),
)

_REAL = Unit("s", object, lambda real: span(real, plain))


def _rate_words(of: PhaseOfLog) -> str:
    """Write the replay's rate with the digits that the interval of its seconds allows."""
    real = of.real and of.real.inverse
    return simulated(of.replay_rate, real, rate) if of.replay_rate else ""


EXPLAINED = (
    Column("phase", WORDS, lambda of: str(of.phase), head="", help="Reads, writes or metadata."),
    Column("calls", NUMBER, help="Of the application, by the log."),
    Column("bytes", IN_GIGABYTES, head="GB", blank=0, help="Moved by them."),
    Column("log", LONG, head="log: all ranks", help="Seconds of all ranks together."),
    Column("log_rate", RATE, head="log: a rank", blank=0.0, help="Of a rank in such calls."),
    Column("replay", LONG, head="replay: all ranks", help="Seconds in the replay."),
    Column("replay_rate", RATE, to=To.DATA, blank=0.0, help="In the replay."),
    Column("replay_rate", CELL, _rate_words, head="replay: a rank", to=To.PEOPLE),
    Column("ratio", RATIO, head="of log", help="Seconds of the replay by those of the log."),
    Column(
        "real",
        _REAL,
        head=f"real: {NINE_OF_TEN} (s)",
        help="Seconds of nine of ten real runs, by the replay's.",
    ),
    Column("explained", _EXPLAINS, head="explained", help="Whether the log's are among them."),
)

VERDICT = (
    Column("phases", ROWS, lambda of: of[0], inner=EXPLAINED, help="Of the application."),
    Column("says", WORDS, lambda of: of[1], help="Where it does not explain the log, and why."),
)

REPLAY = (
    Column("log", RECORD, inner=LOG, help="What was replayed."),
    Column("where", WORDS, help="On which machine and nodes, and why there: a sentence."),
    Column("known", FLAG, help="Whether the job ran on that machine."),
    Column("told", WORDS, help="What is known of the recorded run."),
    Column("change", WORDS, help="What the what-if changes."),
    Column(
        "differences",
        ANY,
        lambda report: differences(report.files),
        help="Where the counts differ from the log.",
    ),
    Column(
        "below_mpi",
        ROWS,
        lambda report: below_mpi(report.files),
        inner=BELOW,
        help="Calls below MPI-IO, by file and phase.",
    ),
    Column("files", ROWS, lambda report: _stories(report), inner=FILE, help="File by file."),
    Column("runs", ROWS, inner=RUN_OF_LOG, help="Of the replay, and of the what-if."),
    Column(
        "explains",
        RECORD,
        lambda report: _verdict(report),
        inner=VERDICT,
        help="The log's own seconds and rates beside the replay's.",
    ),
)


def replay_answer(report: ReplayReport, *, explain: bool = False, exact: bool = False) -> Answer:
    """Return the answer on a replay: all files by layer and phase, then the largest files.

    The seconds of all files are summed over all ranks. The seconds of one file are for one rank:
    divided by the ranks that used it in the log. ``explain``: how the calls were reconstructed.
    ``exact``: without how sure the rates of the runs are.
    """
    run = changed(RUN_OF_LOG, "xc40io", of=partial(simulator_document, exact=exact))
    says = "" if exact else verdict(report, phases_of_log(report))
    head = [*_head(report), *([says] if says else [])]
    blocks: list[Block] = [Listing("", "\n".join(head)), *time_tables(report, exact=exact)]
    columns = changed(REPLAY, "runs", inner=run)
    if exact:
        columns = tuple(of for of in columns if of.name != "explains")
    if explain:
        blocks.append(Listing("", "\n".join(explanation_lines(report.reconstructed))))
    return Answer(
        title=f"Replay of {report.log.name}",
        setup=report.where,
        description=f"What-if: {report.change}" if report.change else "",
        blocks=blocks,
        values=Values("replay", columns, report),
        version=report.runs[-1].version,
    )


def time_tables(report: ReplayReport, *, exact: bool = False) -> list[Table]:
    """Return the times of all files, calls below MPI-IO, and the times of the largest files."""
    below = below_mpi(report.files)
    return [
        _explained(report, exact=exact),
        _all_files(report, together(report.files, "all files")),
        *([_below(below)] if below else []),
        *(_one_file(report, file) for file in _shown(report.files)),
    ]


def _verdict(report: ReplayReport) -> tuple[list[PhaseOfLog], str]:
    phases = phases_of_log(report)
    return phases, verdict(report, phases)


def _explained(report: ReplayReport, *, exact: bool) -> Table:
    """Return the log's own seconds and rates beside the replay's; ratios where they are a test."""
    left = () if report.known else ("ratio", "real", "explained")
    left = (*left, "real", "explained") if exact else left
    columns = [of for of in EXPLAINED if of.name not in left]
    return Table(tuple(columns), lambda: phases_of_log(report), title="The log beside the replay")


def explanation_lines(files: Iterable[Reconstructed]) -> Iterator[str]:
    """Yield how each file was reconstructed; files that are alike in this, once."""
    yield "How the calls were reconstructed"
    for name, more, story in alike(files):
        yield f"{name} and {more:,} alike" if more else name
        yield from (f"  {sentence}" for sentence in story)


def alike(files: Iterable[Reconstructed]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield the first of files that were reconstructed alike, how many more, and how."""
    said: dict[tuple[str, ...], list[str]] = {}
    for name, story in files:
        said.setdefault(story, []).append(name)
    for story, names in said.items():
        yield names[0], len(names) - 1, story


def _head(report: ReplayReport) -> Iterator[str]:
    """Yield what was replayed, and whether the counts are right."""
    log, files = report.log, report.files
    ranks = format_count(log.ranks, "rank")
    yield f"Darshan log {log.name}: {ranks}, job {log.job_id}, {PLAIN.write(log.run_time)}"
    yield report.where
    if log.lost:
        yield f"Lost in the log: {'; '.join(log.lost)}"
    if report.told:
        yield f"Known of the recorded run: {report.told}"
    if log.elsewhere:
        yield f"Not on Lustre when recorded, but replayed on Lustre: {'; '.join(log.elsewhere)}"
    if report.change:
        yield f"What-if: {report.change}"
    wrong = differences(files)
    moved = sum(file.bytes for file in files)
    if log.unreplayed:
        yield _not_replayed(log.unreplayed, moved)
    if wrong:
        yield f"Not as recorded ({len(wrong):,} differences):"
        yield from wrong[:_DIFFERENCES_SHOWN]
    else:
        same = "as far as the log tells" if log.lost else "as recorded"
        files_said = f"{format_count(len(files), 'file')}, opens, stats, reads, writes"
        yield f"Ranks, {files_said} and {figure(moved / 1e9, 6)} GB: {same}."
    yield from log.heat
    for warning in (*log.slow_servers, *log.slow, *warnings_of(below_mpi(files))):
        yield f"Warning: {warning}"
    yield end_line(report.runs, log.last_call)


def _not_replayed(unreplayed: Sequence[Unreplayed], moved: int) -> str:
    """Say what the log counts in modules that are not replayed, and which part of all that is."""
    missing = sum(of.bytes for of in unreplayed)
    parts = ", ".join(
        f"{GIGABYTE.write(of.bytes)} of {format_count(of.files, 'file')} through {of.module}"
        f"{_taking(of)}"
        for of in unreplayed
    )
    return f"Not replayed: {parts}; {PART.write(missing / max(1, missing + moved))} of all bytes"


def _taking(of: Unreplayed) -> str:
    """Say how long calls took that are not replayed, if the log tells."""
    return f", which took all ranks {LONG.write(of.seconds)}" if of.seconds else ""


def _complete(of: BelowMpi) -> int | None:
    return of.recorded if of.complete else None


def _below(below: Sequence[BelowMpi]) -> Table:
    """Return the calls below MPI-IO, recorded and simulated: of the files where there are most."""
    most = sorted(below, key=lambda of: -max(of.recorded, of.simulated))[:FILES_SHOWN]
    return Table(BELOW, lambda: most)


class _Times(NamedTuple):
    """The times of a layer and a phase of some files."""

    key: tuple[Any, Any]  # the layer, and the phase
    of: Measured | None  # the log's, or where it has none the first run's
    span: float | None  # by the log
    seconds: Sequence[float | None]  # of the log, then of each run
    ranks: int  # whose seconds these are

    def later(self, run: int) -> float | None:
        """Return the seconds of a run by those of the run before, or of the log."""
        before, value = self.seconds[run : run + 2]
        return value / before if value and before else None


def _times(file: FileTimes, *, of_a_rank: bool) -> Iterator[_Times]:
    """Yield the times of files; ``of_a_rank``: divided by the ranks that used them."""
    for key in file.keys:
        known = file.recorded.get(key)
        all_of_it = [known, *(table.get(key) for table in file.runs)]
        first = next((of for of in all_of_it if of is not None), None)
        ranks = max(1, first.ranks) if first is not None and of_a_rank else 1
        seconds = [None if of is None else of.seconds / ranks for of in all_of_it]
        yield _Times(key, first, None if known is None else known.span, seconds, ranks)


_MEASURED: Columns = (
    Column("calls", NUMBER, lambda row: row.of and row.of.calls),
    Column("GB", IN_GIGABYTES, lambda row: row.of and row.of.bytes, blank=0),
)
_RANKS: Columns = (
    Column("ranks", NUMBER, lambda row: row.of.ranks),
    Column("log: span", LONG, lambda row: row.span),
)


def _all_files(report: ReplayReport, files: FileTimes) -> Table:
    """Return the times of all files: seconds of all ranks together."""
    columns = (*_keys("all files"), *_MEASURED, *_of_runs(report, "all ranks"))
    return Table(columns, lambda: list(_times(files, of_a_rank=False)))


def _one_file(report: ReplayReport, file: FileTimes) -> Table:
    """Return the times of one file: seconds of a rank."""
    columns = (*_keys(""), *_MEASURED, *_RANKS, *_of_runs(report, "a rank"))
    return Table(columns, lambda: list(_times(file, of_a_rank=True)), title=file.name)


def _keys(head: str) -> Columns:
    layer = Column("layer", WORDS, lambda row: str(row.key[0]), head=head)
    return layer, Column("phase", WORDS, lambda row: str(row.key[1]), head="")


def _of_runs(report: ReplayReport, whose: str) -> Iterator[Column]:
    """Yield the seconds of the log and of each run, and the ratio of each to the one before.

    That to the log only where it is a test: not on the machine of a stand-in.
    """
    yield Column("log", LONG, lambda row: row.seconds[0], head=f"log: {whose}")
    yield Column("replay", LONG, lambda row: row.seconds[1], head=f"replay: {whose}")
    if report.known:
        yield Column("of log", RATIO, lambda row: row.later(0))
    if len(report.runs) > 1:
        yield Column("what-if", LONG, lambda row: row.seconds[2], head=f"what-if: {whose}")
        yield Column("of replay", RATIO, lambda row: row.later(1))


def _shown(files: Sequence[FileTimes]) -> list[FileTimes]:
    """Return the largest files, and the others as one."""
    shown, rest = list(files[:FILES_SHOWN]), files[FILES_SHOWN:]
    return [*shown, together(rest, f"{NUMBER.write(len(rest))} files more")] if rest else shown


def _stories(report: ReplayReport) -> list[tuple[FileTimes, tuple[str, ...]]]:
    """Return each file, and how its calls were reconstructed."""
    stories = {file.name: file.story for file in report.reconstructed}
    return [(file, stories[file.name]) for file in report.files]


def _phases(file: FileTimes) -> list[dict[str, Any]]:
    return [
        {
            "layer": str(layer),
            "phase": str(phase),
            "log": file.recorded.get((layer, phase)),
            "runs": [table.get((layer, phase)) for table in file.runs],
        }
        for layer, phase in file.keys
    ]
