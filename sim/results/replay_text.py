"""A replay as text: the log's own times beside the simulated ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sim.results.replay_judgement import BelowMpi, below_mpi, end_line, warnings_of
from sim.results.replay_report import Reconstructed, ReplayReport
from sim.results.replay_times import FileTimes, differences, together
from sim.telling.columns import column_lines
from sim.workloads.darshan.counters import Layer, Measured, Phase
from sim.workloads.darshan.log import Unreplayed
from topology.text import format_count

FILES_SHOWN = 8
"""Files that are shown by themselves: those with most bytes."""

_DIFFERENCES_SHOWN = 4
_WORD_COLUMNS = (0, 1)  # columns; those of numbers follow


def format_replay(report: ReplayReport, *, explain: bool = False) -> str:
    """Print a replay: all files by layer and phase, then the largest files.

    Seconds of all files are those of all ranks together; those of one file are of a rank: divided
    by how many ranks had a part in it by the log. GB = 10^9 bytes.
    """
    files = report.files
    lines = [*_head(report), ""]
    lines += column_lines(_all_rows(report, together(files, "all files")), left=_WORD_COLUMNS)
    lines += _below_lines(below_mpi(files))
    for file in _shown(files):
        lines += ["", file.name, *column_lines(_file_rows(report, file), left=_WORD_COLUMNS)]
    if explain:
        lines += ["", *explanation_lines(report.reconstructed)]
    return "".join(f"{line}\n" for line in lines)


def explanation_lines(files: Iterable[Reconstructed]) -> Iterator[str]:
    """Yield how each file was reconstructed; files that are alike in this, once."""
    yield "How the calls were reconstructed"
    said: dict[tuple[str, ...], list[str]] = {}
    for name, story in files:
        said.setdefault(story, []).append(name)
    for story, names in said.items():
        yield names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} alike"
        yield from (f"  {sentence}" for sentence in story)


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
        yield f"Not on Lustre, and replayed there all the same: {'; '.join(log.elsewhere)}"
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


def _below_lines(below: Sequence[BelowMpi]) -> list[str]:
    """Return the calls below MPI-IO, recorded and simulated: of the files where there are most."""
    if not below:
        return []
    rows = [["calls below MPI-IO", "", "log", "replay", "of log"]]
    for of in sorted(below, key=lambda of: -max(of.recorded, of.simulated))[:FILES_SHOWN]:
        ratio = "" if of.ratio is None else f"{of.ratio:.3f}"
        known = f"{of.recorded:,}" if of.complete else "incomplete"
        rows.append([of.file, f"{of.phase}s", known, f"{of.simulated:,}", ratio])
    return ["", *column_lines(rows, left=_WORD_COLUMNS)]


def _all_rows(report: ReplayReport, files: FileTimes) -> list[list[str]]:
    """Return the rows of all files: seconds of all ranks together."""
    runs = _run_heads(report, "all ranks")
    rows = [["all files", "", "calls", "GB", "log: all ranks", *runs]]
    for key in files.keys:
        known, tables = files.recorded.get(key), [table.get(key) for table in files.runs]
        seconds = [None if of is None else of.seconds for of in (known, *tables)]
        cells = _cells(seconds, tested=report.known)
        rows.append([*_words(key), *_amount(known, tables), *cells])
    return rows


def _file_rows(report: ReplayReport, file: FileTimes) -> list[list[str]]:
    """Return the rows of one file: seconds of a rank."""
    runs = _run_heads(report, "a rank")
    rows = [["", "", "calls", "GB", "ranks", "log: span", "log: a rank", *runs]]
    for key in file.keys:
        known, tables = file.recorded.get(key), [table.get(key) for table in file.runs]
        ranks = next(of.ranks for of in (known, *tables) if of is not None)
        seconds = [None if of is None else of.seconds / max(1, ranks) for of in (known, *tables)]
        span = "" if known is None or known.span is None else _seconds(known.span)
        cells = _cells(seconds, tested=report.known)
        rows.append([*_words(key), *_amount(known, tables), f"{ranks:,}", span, *cells])
    return rows


def _run_heads(report: ReplayReport, whose: str) -> list[str]:
    """Return the heads of the columns of the runs; nothing is tested on a stand-in's machine."""
    heads = [f"replay: {whose}", *(["of log"] if report.known else [])]
    return heads + ([f"what-if: {whose}", "of replay"] if len(report.runs) > 1 else [])


def _words(key: tuple[Layer, Phase]) -> list[str]:
    return [str(key[0]), str(key[1])]


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
