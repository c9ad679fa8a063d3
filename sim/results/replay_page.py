"""The page of a replay of a Darshan log: what the log says, what strikes, and what each run did."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from xc40io.findings.call_sizes import class_names, simulated_sizes
from xc40io.findings.replay_report import ReplayReport
from xc40io.findings.replay_times import below_mpi, differences, end_line, outcome_of, warnings_of
from xc40io.results.machine_text import machine_parts
from xc40io.results.pictures.album import pictures_of
from xc40io.results.pictures.over_time import over_time
from xc40io.results.replay_answer import alike, replay_answer, time_tables
from xc40io.results.run_page import binding_parts
from xc40io.results.run_text import job_line
from xc40io.results.run_told import (
    findings_parts,
    path_tables,
    run_cards,
    stations_table,
    waits_table,
)
from xc40io.run.result import Result
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Fold,
    Listing,
    Points,
    Section,
    Table,
    Text,
    plain_table,
)
from xc40io.topology.text import format_count


def replay_page(report: ReplayReport) -> Answer:
    """Return the page of a replay: what the log says, then each run."""
    last = report.runs[-1].scenario
    names = ("as recorded", "what-if")[: len(report.runs)]
    runs = [
        section
        for name, run in zip(names, report.runs, strict=True)
        for section in _run_sections(run, name, several=len(names) > 1, command=_tries(report))
    ]
    machine = machine_parts(report.runs[-1].machine, last.changes, last.slow, last.faults)
    return replace(
        replay_answer(report),
        cards=_cards(report),
        blocks=[
            Section("log", "The log and the replay", _log_parts(report)),
            *runs,
            Section("machine", "Machine", machine),
            Section("scenario", "To run it again", _again(report)),
        ],
    )


def _cards(report: ReplayReport) -> list[Card]:
    log = report.log
    cards = [Card("job by the log", f"{log.run_time:,.6g} s", format_count(log.ranks, "rank"))]
    cards += [
        Card(name, f"{outcome_of(run).seconds:,.4g} s", "from the job's start to its last call")
        for name, run in zip(("replay", "what-if"), report.runs, strict=False)
    ]
    return [*cards, *run_cards(report.runs[-1])[-1:]]


def _log_parts(report: ReplayReport) -> list[Block]:
    """Return the contents of the log, the differences from it, and the times of both."""
    parts: list[Block] = []
    if report.log.warnings:
        parts.append(Points(report.log.warnings, alert=True))
    parts.append(plain_table("What was replayed", ["", ""], list(_facts(report)), words=(0, 1)))
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
    all_files, *others = time_tables(report)
    parts.append(replace(all_files, title="Times of the log beside simulated ones"))
    parts += [replace(each, title=each.title or "Calls below MPI-IO") for each in others]
    parts += _sizes(report)
    return [*parts, Fold("How the calls were reconstructed", [_reconstruction(report)])]


def _facts(report: ReplayReport) -> Iterator[list[str]]:
    """Yield what was replayed: what it is about, and what is known."""
    log, files = report.log, report.files
    yield ["log", log.name]
    if log.executable:
        yield ["program", log.executable]
    yield ["job", f"{log.job_id}: {format_count(log.ranks, 'rank')}, {log.run_time:,.6g} s"]
    moved = sum(file.bytes for file in files)
    same = "as far as the log tells" if log.lost else "as recorded"
    if differences(files):
        same = "not as recorded, see below"
    amount = f"{format_count(len(files), 'file')}, {moved / 1e9:,.6g} GB"
    yield ["opens, reads and writes", f"{amount}: {same}"]
    for missing in log.unreplayed:
        through = f"{missing.bytes / 1e9:,.4g} GB of {format_count(missing.files, 'file')}"
        yield ["not replayed", f"{missing.module}: {through}"]
    if log.lost:
        yield ["lost in the log", "; ".join(log.lost)]
    if report.told:
        yield ["known of the run", report.told]
    if log.elsewhere:
        yield ["not on Lustre, but replayed there", "; ".join(log.elsewhere)]
    if report.change:
        yield ["what-if", report.change]
    yield ["end", end_line(report.runs, log.last_call)]


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
    columns = [
        (f"{module} {way}: {who}", calls[module, way])
        for module, way in kinds
        for who, calls in (("log", known), *of_runs.items())
        if calls
    ]
    rows = [
        [name, *(f"{calls[place]:,}" for _, calls in columns)]
        for place, name in enumerate(class_names())
        if any(calls[place] for _, calls in columns)
    ]
    total = ["all", *(f"{sum(calls):,}" for _, calls in columns)]
    return [
        plain_table(
            "Calls by their size",
            ["bytes of a call", *(head for head, _ in columns)],
            [*rows, total],
            total=True,
            note="Darshan's classes. POSIX has what MPI-IO makes of its calls, too.",
        )
    ]


def _reconstruction(report: ReplayReport) -> Table:
    """Return how each file was reconstructed; files that are alike in this, once."""
    rows = [
        [f"{name} and {more:,} alike" if more else name, " ".join(story)]
        for name, more, story in alike(report.reconstructed)
    ]
    return plain_table("File by file", ["file", "its calls"], rows, words=(0, 1))


def _run_sections(run: Result, name: str, *, several: bool, command: str) -> list[Section]:
    """Return what one run did; its name stands in the headings if there are several."""
    place = f"{name.replace(' ', '-')}-" if several else ""
    title = f" ({name})" if several else ""
    pictures = [replace(one, name=f"{place}{one.name}") for one in pictures_of(run)]
    moved = over_time(run, f"{place}over-time-axis")
    axis: list[Block] = [] if moved is None else [moved]
    busiest = stations_table(run)
    time: list[Block] = [waits_table(run), *path_tables(run)]
    time += [] if busiest is None else [busiest]
    return [
        Section(
            f"{place}bound",
            f"What bound it{title}",
            [Text(job_line(run)), *binding_parts(run)],
        ),
        Section(f"{place}strikes", f"What strikes{title}", findings_parts(run, command)),
        Section(f"{place}over-time", f"Over time{title}", axis),
        Section(f"{place}pictures", f"Pictures{title}", pictures),
        Section(f"{place}time", f"Where the time went{title}", time),
    ]


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
    """Return what tries remedies: the same words that told of the log and of the what-if."""
    words = ["xc40io explain", shlex.quote(report.log.path)]
    return " ".join([*words, *(text for text in (report.told, report.change) if text)])
