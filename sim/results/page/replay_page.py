"""The page of a replayed Darshan log: the log's times beside the simulated ones."""

from __future__ import annotations

import shlex
from dataclasses import replace

from sim.results.page.machine_tables import machine_parts
from sim.results.page.run_page import binding_parts
from sim.results.page.run_tables import path_tables, run_cards, stations_table, waits_table
from sim.results.pictures.album import pictures_of
from sim.results.replay_report import ReplayReport
from sim.results.replay_text import explanation_lines, format_replay
from sim.results.replay_times import differences, outcome_of
from sim.results.run_text import job_line
from sim.run.result import Result
from sim.telling.answer import Answer, Block, Card, Fold, Listing, Points, Section, Text
from topology.text import format_count


def replay_page(report: ReplayReport) -> Answer:
    """Return the page of a replay: what the log says, then each run."""
    log, last = report.log, report.runs[-1]
    names = ("as recorded", "what-if")[: len(report.runs)]
    sections = [
        section
        for name, run in zip(names, report.runs, strict=True)
        for section in _run_sections(run, name, several=len(names) > 1)
    ]
    return Answer(
        title=f"Replay of {log.name}",
        setup=report.where,
        description=f"What-if: {report.change}" if report.change else "",
        cards=_cards(report),
        blocks=[
            Section("log", "The log and the replay", _log_parts(report)),
            *sections,
            Section(
                "machine",
                "Machine",
                machine_parts(
                    last.machine, last.scenario.changes, last.scenario.slow, last.scenario.faults
                ),
            ),
            Section("scenario", "To run it again", _again(report)),
        ],
        version=last.version,
    )


def _cards(report: ReplayReport) -> list[Card]:
    log = report.log
    cards = [Card("job by the log", f"{log.run_time:,.6g} s", format_count(log.ranks, "rank"))]
    cards += [
        Card(name, f"{outcome_of(run).seconds:,.4g} s", "from the job's begin to its last call")
        for name, run in zip(("replay", "what-if"), report.runs, strict=False)
    ]
    return [*cards, *run_cards(report.runs[-1])[-1:]]


def _log_parts(report: ReplayReport) -> list[Block]:
    """Return what the log says, what is not as it says, and the times of both."""
    parts: list[Block] = []
    if report.log.warnings:
        parts.append(Points(report.log.warnings, alert=True))
    wrong = differences(report.files)
    if wrong:
        parts += [Text("Not as recorded:"), Points(wrong)]
    parts.append(Listing("Times of the log beside simulated ones", format_replay(report)))
    story = "\n".join(explanation_lines(report.reconstructed))
    return [*parts, Fold("How the calls were reconstructed", [Listing("File by file", story)])]


def _run_sections(run: Result, name: str, *, several: bool) -> list[Section]:
    """Return what one run did; its name stands in the headings if there are several."""
    place = f"{name.replace(' ', '-')}-" if several else ""
    title = f" ({name})" if several else ""
    pictures = [replace(one, name=f"{place}{one.name}") for one in pictures_of(run)]
    busiest = stations_table(run)
    time: list[Block] = [waits_table(run), *path_tables(run)]
    time += [] if busiest is None else [busiest]
    return [
        Section(
            f"{place}bound",
            f"What bound it{title}",
            [Text(job_line(run)), *binding_parts(run)],
        ),
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
