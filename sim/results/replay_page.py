"""The page of a replay of a Darshan log: what the log says, its findings, and what each run did."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter

from xc40io.findings.call_sizes import class_names, simulated_sizes
from xc40io.findings.log_explained import phases_of_log, verdict
from xc40io.findings.replay_report import ReplayReport
from xc40io.findings.replay_times import below_mpi, differences, end_line, outcome_of, warnings_of
from xc40io.results.machine_text import machine_parts, pairs_table
from xc40io.results.replay_answer import alike, replay_answer, time_tables
from xc40io.results.run_page import run_sections, time_parts
from xc40io.results.run_text import job_line
from xc40io.results.run_told import rpcs_card
from xc40io.run.result import Result
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Column,
    Fold,
    Listing,
    Points,
    Section,
    Table,
    Text,
)
from xc40io.telling.units import GIGABYTE, NUMBER, PLAIN, WORDS, figure
from xc40io.topology.text import format_count


def replay_page(report: ReplayReport, *, exact: bool = False) -> Answer:
    """Return the page of a replay: what the log says, then each run; see :func:`replay_answer`."""
    last = report.runs[-1].scenario
    names = ("as recorded", "what-if")[: len(report.runs)]
    runs = [
        section
        for name, run in zip(names, report.runs, strict=True)
        for section in _run_sections(run, name, several=len(names) > 1, command=_tries(report))
    ]
    machine = machine_parts(report.runs[-1].machine, last.changes, last.slow, last.faults)
    return replace(
        replay_answer(report, exact=exact),
        title=last.title or f"Replay of {report.log.name}",
        cards=_cards(report),
        blocks=[
            Section("log", "The log and the replay", _log_parts(report, exact=exact)),
            *runs,
            Section("machine", "Machine", machine),
            Section("scenario", "To run it again", _again(report)),
        ],
    )


def _cards(report: ReplayReport) -> list[Card]:
    log = report.log
    cards = [Card("job by the log", PLAIN.write(log.run_time), format_count(log.ranks, "rank"))]
    cards += [
        Card(
            name, f"{figure(outcome_of(run).seconds, 4)} s", "from the job's start to its last call"
        )
        for name, run in zip(("replay", "what-if"), report.runs, strict=False)
    ]
    return [*cards, rpcs_card(report.runs[-1])]


def _log_parts(report: ReplayReport, *, exact: bool) -> list[Block]:
    """Return the contents of the log, the differences from it, and the times of both."""
    parts: list[Block] = []
    if report.log.warnings:
        parts.append(Points(report.log.warnings, alert=True))
    parts.append(pairs_table("What was replayed", "", "", list(_facts(report))))
    wrong = differences(report.files)
    if wrong:
        parts.append(Points(wrong, title="Not as recorded"))
    warnings = (
        *report.log.slow_servers,
        *report.log.slow,
        *warnings_of(below_mpi(report.files)),
    )
    if warnings:
        parts.append(Points(warnings, title="Mind"))
    explained, all_files, *others = time_tables(report, exact=exact)
    parts.append(explained)
    if not exact and (says := verdict(report, phases_of_log(report))):
        parts.append(Points((says,), alert=True))
    parts.append(replace(all_files, title="Times of the log beside simulated ones"))
    parts += [replace(each, title=each.title or "Calls below MPI-IO") for each in others]
    parts += _sizes(report)
    return [*parts, Fold("How the calls were reconstructed", [_reconstruction(report)])]


def _facts(report: ReplayReport) -> Iterator[tuple[str, str]]:
    """Yield what was replayed: what it is about, and what is known."""
    log, files = report.log, report.files
    yield "log", log.name
    if log.executable:
        yield "program", log.executable
    yield "job", f"{log.job_id}: {format_count(log.ranks, 'rank')}, {PLAIN.write(log.run_time)}"
    moved = sum(file.bytes for file in files)
    same = "as far as the log tells" if log.lost else "as recorded"
    if differences(files):
        same = "not as recorded, see below"
    amount = f"{format_count(len(files), 'file')}, {figure(moved / 1e9, 6)} GB"
    yield "opens, reads and writes", f"{amount}: {same}"
    for missing in log.unreplayed:
        through = f"{GIGABYTE.write(missing.bytes)} of {format_count(missing.files, 'file')}"
        yield "not replayed", f"{missing.module}: {through}"
    if log.lost:
        yield "lost in the log", "; ".join(log.lost)
    if report.told:
        yield "known of the run", report.told
    for sentence in log.heat:
        yield "when", sentence
    if log.elsewhere:
        yield "not on Lustre, but replayed there", "; ".join(log.elsewhere)
    if report.change:
        yield "what-if", report.change
    yield "end", end_line(report.runs, log.last_call)


def _sizes(report: ReplayReport) -> list[Block]:
    """Return how many calls of each size there are, in the log and in each run."""
    of_runs = {
        name: {(of.module, of.way): of.calls for of in simulated_sizes(run)}
        for name, run in zip(("replay", "what-if"), report.runs, strict=False)
    }
    known = {(of.module, of.way): of.calls for of in report.log.sizes}
    kinds = [kind for kind, calls in known.items() if any(calls)]
    if not kinds:
        return []
    told = [
        (f"{module} {way}: {who}", calls[module, way])
        for module, way in kinds
        for who, calls in (("log", known), *of_runs.items())
        if calls
    ]
    rows = [
        (name, *(calls[place] for _, calls in told))
        for place, name in enumerate(class_names())
        if any(calls[place] for _, calls in told)
    ]
    rows.append(("all", *(sum(calls) for _, calls in told)))
    return [
        Table(
            (
                Column("size", WORDS, itemgetter(0), head="bytes of a call"),
                *(Column(head, NUMBER, itemgetter(at)) for at, (head, _) in enumerate(told, 1)),
            ),
            lambda: rows,
            title="Calls by their size",
            total=True,
            note="Darshan's classes. POSIX has what MPI-IO makes of its calls, too.",
        )
    ]


def _reconstruction(report: ReplayReport) -> Table:
    """Return how each file was reconstructed; files that are alike in this, once."""
    rows = [
        (f"{name} and {more:,} alike" if more else name, " ".join(story))
        for name, more, story in alike(report.reconstructed)
    ]
    return pairs_table("File by file", "file", "its calls", rows)


def _run_sections(run: Result, name: str, *, several: bool, command: str) -> list[Section]:
    """Return the sections on one run; its name stands in the headings if there are several."""
    place = f"{name.replace(' ', '-')}-" if several else ""
    title = f" ({name})" if several else ""
    time = Section(f"{place}time", f"Where the time went{title}", time_parts(run))
    return [*run_sections(run, command, place, title, [Text(job_line(run))]), time]


def _again(report: ReplayReport) -> list[Block]:
    """Return the command that makes this replay anew."""
    timing = report.runs[0].workload.options.get("timing", "think")
    words = ["xc40io", "replay", shlex.quote(report.log.path)]
    words += ["--timing", str(timing)] if timing != "think" else []
    words += [text for text in (report.told, report.change) if text]
    command = " ".join(words)
    seed = report.runs[0].scenario.seed
    return [
        Text("The log holds the job; with it, this command gives the same figures:"),
        Listing("Command", f"{command} --seed {seed}", typed=True),
    ]


def _tries(report: ReplayReport) -> str:
    """Return the command that tries remedies: with the words that gave the log and the what-if."""
    words = ["xc40io explain", shlex.quote(report.log.path)]
    return " ".join([*words, *(text for text in (report.told, report.change) if text)])
