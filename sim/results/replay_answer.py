"""What a replay of a Darshan log tells: the log's own times beside the simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

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
    Listing,
    Table,
    Values,
    plain_table,
)
from xc40io.telling.units import ANY, FLAG, NUMBER, RECORD, ROWS, SECONDS, WORDS
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.log import Unreplayed
from xc40io.workloads.darshan.module_counters import Measured

FILES_SHOWN = 8
"""Files that are shown by themselves: those with most bytes."""

_DIFFERENCES_SHOWN = 4

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
)

BELOW = (
    Column("file", WORDS, help="Its name."),
    Column("phase", WORDS, lambda of: str(of.phase), help="Reads or writes."),
    Column("recorded", NUMBER, help="Calls that the log has."),
    Column("simulated", NUMBER, help="Calls made in the replay."),
    Column("complete", FLAG, help="Whether the log has all of them."),
    Column("differ", FLAG, lambda of: of.differs, help="Whether this deserves a warning."),
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
)


def replay_answer(report: ReplayReport, *, explain: bool = False) -> Answer:
    """Return what a replay tells: all files by layer and phase, then the largest files.

    The seconds of all files are summed over all ranks. The seconds of one file are for one rank:
    divided by the ranks that used it in the log. ``explain``: how the calls were reconstructed.
    """
    blocks: list[Block] = [Listing("", "\n".join(_head(report))), *time_tables(report)]
    if explain:
        blocks.append(Listing("", "\n".join(explanation_lines(report.reconstructed))))
    return Answer(
        title=f"Replay of {report.log.name}",
        setup=report.where,
        description=f"What-if: {report.change}" if report.change else "",
        blocks=blocks,
        values=Values("replay", REPLAY, report),
        version=report.runs[-1].version,
    )


def time_tables(report: ReplayReport) -> list[Table]:
    """Return the times of all files, calls below MPI-IO, and the times of the largest files."""
    below = below_mpi(report.files)
    return [
        _all_files(report, together(report.files, "all files")),
        *([_below(below)] if below else []),
        *(_one_file(report, file) for file in _shown(report.files)),
    ]


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
    yield f"Darshan log {log.name}: {ranks}, job {log.job_id}, {log.run_time:,.6g} s"
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
        yield (
            f"Ranks, {format_count(len(files), 'file')}, opens, stats, reads, writes and "
            f"{moved / 1e9:,.6g} GB: {'as far as the log tells' if log.lost else 'as recorded'}."
        )
    for warning in (*log.slow_servers, *log.slow, *warnings_of(below_mpi(files))):
        yield f"Warning: {warning}"
    yield end_line(report.runs, log.last_call)


def _not_replayed(unreplayed: Sequence[Unreplayed], moved: int) -> str:
    """Say what the log counts in modules that are not replayed, and which part of all that is."""
    missing = sum(of.bytes for of in unreplayed)
    parts = ", ".join(
        f"{of.bytes / 1e9:,.4g} GB of {format_count(of.files, 'file')} through {of.module}"
        for of in unreplayed
    )
    return f"Not replayed: {parts}; {100 * missing / max(1, missing + moved):.3g} % of all bytes"


def _below(below: Sequence[BelowMpi]) -> Table:
    """Return the calls below MPI-IO, recorded and simulated: of the files where there are most."""
    rows = []
    for of in sorted(below, key=lambda of: -max(of.recorded, of.simulated))[:FILES_SHOWN]:
        ratio = "" if of.ratio is None else f"{of.ratio:.3f}"
        known = f"{of.recorded:,}" if of.complete else "incomplete"
        rows.append([of.file, f"{of.phase}s", known, f"{of.simulated:,}", ratio])
    return plain_table("", ["calls below MPI-IO", "", "log", "replay", "of log"], rows, (0, 1))


def _all_files(report: ReplayReport, files: FileTimes) -> Table:
    """Return the times of all files: seconds of all ranks together."""
    heads = ["all files", "", "calls", "GB", "log: all ranks", *_run_heads(report, "all ranks")]
    rows = []
    for key in files.keys:
        known, tables = files.recorded.get(key), [table.get(key) for table in files.runs]
        seconds = [None if of is None else of.seconds for of in (known, *tables)]
        rows.append(
            [*map(str, key), *_amount(known, tables), *_cells(seconds, tested=report.known)]
        )
    return plain_table("", heads, rows, (0, 1))


def _one_file(report: ReplayReport, file: FileTimes) -> Table:
    """Return the times of one file: seconds of a rank."""
    heads = ["", "", "calls", "GB", "ranks", "log: span", "log: a rank"]
    rows = []
    for key in file.keys:
        known, tables = file.recorded.get(key), [table.get(key) for table in file.runs]
        ranks = next(of.ranks for of in (known, *tables) if of is not None)
        seconds = [None if of is None else of.seconds / max(1, ranks) for of in (known, *tables)]
        span = "" if known is None or known.span is None else _seconds(known.span)
        cells = [f"{ranks:,}", span, *_cells(seconds, tested=report.known)]
        rows.append([*map(str, key), *_amount(known, tables), *cells])
    return plain_table(file.name, [*heads, *_run_heads(report, "a rank")], rows, (0, 1))


def _run_heads(report: ReplayReport, whose: str) -> list[str]:
    """Return the heads of the columns of the runs; nothing is tested on a stand-in's machine."""
    heads = [f"replay: {whose}", *(["of log"] if report.known else [])]
    return heads + ([f"what-if: {whose}", "of replay"] if len(report.runs) > 1 else [])


def _amount(known: Measured | None, runs: Sequence[Measured | None]) -> list[str]:
    """Return calls and bytes: the log's, or where it has none the first run's."""
    of = known or next((run for run in runs if run is not None), None)
    if of is None:
        return ["", ""]
    return [f"{of.calls:,}", f"{of.bytes / 1e9:,.4g}" if of.bytes else ""]


def _cells(seconds: Sequence[float | None], *, tested: bool) -> list[str]:
    """Return the log's seconds, and each run's with its ratio to the one before.

    That to the log only where it is `tested`.
    """
    cells = [_seconds(seconds[0])]
    for place, (before, value) in enumerate(pairwise(seconds)):
        cells.append(_seconds(value))
        if place or tested:
            cells.append(f"{value / before:.2f}" if value and before else "")
    return cells


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} s" if value >= 10_000 else f"{value:.4g} s"


def _shown(files: Sequence[FileTimes]) -> list[FileTimes]:
    """Return the largest files, and the others as one."""
    shown, rest = list(files[:FILES_SHOWN]), files[FILES_SHOWN:]
    return [*shown, together(rest, f"{len(rest):,} files more")] if rest else shown


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
