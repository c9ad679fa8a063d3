"""The page of a run of one job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.scenario_text import dump_scenario
from xc40io.findings.bottlenecks import bound_by
from xc40io.findings.lustre_counts import lustre_table
from xc40io.results.machine_text import machine_parts
from xc40io.results.pictures.album import album_of
from xc40io.results.pictures.over_time import over_time
from xc40io.results.programs.forms import output_of
from xc40io.results.programs.kernel_answer import options_text, parts_table
from xc40io.results.run_text import job_line
from xc40io.results.run_told import (
    doing_table,
    files_table,
    findings_in_brief,
    findings_parts,
    path_tables,
    run_cards,
    stations_table,
    waits_table,
)
from xc40io.results.run_values import RUN
from xc40io.run.job_list import complete_jobs_yaml, complete_yaml
from xc40io.run.result import Result
from xc40io.telling.answer import Answer, Block, Fold, Listing, Points, Section, Text, Values

COMMAND = "xc40io run scenario.yaml"
"""How a scenario is run again that was saved from a page."""


def run_page(result: Result, *, explained: bool = False, exact: bool = False) -> Answer:
    """Return the page of a run; ``explained``: what would help stands above it.

    ``exact``: without how sure its rates are.
    """
    scenario = result.scenario
    tries = None if explained else "xc40io explain scenario.yaml"
    return Answer(
        title=scenario.title or result.workload.title,
        setup=job_line(result),
        description=" ".join(scenario.description.split()) or _options(result),
        cards=run_cards(result, exact=exact),
        blocks=[
            *run_sections(result, tries),
            Section("phases", "Phases", phase_parts(result)),
            Section("time", "Where the time went", time_parts(result)),
            Section("files", "Files", list(_present(files_table(result)))),
            *machine_sections_of(result),
        ],
        values=Values("run", RUN, result),
        version=result.version,
    )


def run_sections(
    result: Result, tries: str | None, place: str = "", of: str = "", job: Sequence[Block] = ()
) -> list[Section]:
    """Return the sections of a page on a run: what bound it, the findings in it, its pictures.

    ``tries``: what tries remedies, as it is typed; None where that stands above. Where a page has
    several runs, ``place`` stands before the names of sections and pictures, ``of`` behind their
    titles, and ``job``, where it ran, before all.
    """
    album = album_of(result)
    named = [replace(one, name=f"{place}{one.name}") for one in album.pictures]
    axis = list(_present(over_time(result, f"{place}over-time")))
    told: Sequence[tuple[str, str, Sequence[Block]]] = (
        ("what-bound-it", "What bound it", [*job, *binding_parts(result)]),
        ("strikes", "Findings", findings_parts(result, tries)),
        ("over-time", "Over time", axis),
        ("pictures", "Pictures", album._replace(pictures=named).blocks),
    )
    return [Section(f"{place}{name}", f"{title}{of}", blocks) for name, title, blocks in told]


def run_note(result: Result) -> Answer:
    """Return the answer that a notebook shows: how fast a run was, the findings, what bound it."""
    return Answer(
        title=result.scenario.title or result.workload.title,
        setup=job_line(result),
        cards=run_cards(result),
        blocks=[
            Section("strikes", "Findings", findings_in_brief(result)),
            Section("what-bound-it", "What bound it", binding_parts(result)),
            Section("phases", "Phases", phase_parts(result)),
        ],
        version=result.version,
    )


def _options(result: Result) -> str:
    """Say how a kernel was asked for; of IOR the title tells."""
    if not result.scenario.workload.options:
        return ""
    return f"Options of the kernel: {options_text(result)}"


def machine_sections_of(result: Result) -> list[Section]:
    """Return the last sections: the machine, and the scenario to run again."""
    scenario, machine = result.scenario, result.machine
    return [
        Section(
            "machine",
            "Machine",
            machine_parts(machine, scenario.changes, scenario.slow, scenario.faults),
        ),
        Section("scenario", "Scenario, to run it again", scenario_parts(scenario, machine)),
    ]


def binding_parts(result: Result) -> list[Block]:
    """Return points on what went wrong, on what bound each kind of phase, and notes."""
    parts: list[Block] = []
    if result.troubles:
        parts.append(Points([trouble.text for trouble in result.troubles], alert=True))
    sentences = bound_by(result)
    if sentences:
        parts.append(Points(sentences))
    if result.notes:
        parts += [Text("Notes:"), Points(result.notes)]
    return parts


def phase_parts(result: Result) -> list[Block]:
    """Return the rows of the workload, and what it printed."""
    parts: list[Block] = [parts_table(result.rows)] if result.rows else []
    answer = output_of(result).answer
    if answer:
        parts.append(Fold("What the program printed", [Listing("Standard output", answer)]))
    return parts


def time_parts(result: Result) -> list[Block]:
    """Return where the time of the ranks went, and how busy what was."""
    parts: list[Block] = [waits_table(result), *_present(doing_table(result))]
    parts += [*path_tables(result), *_present(stations_table(result))]
    return [*parts, Fold("Lustre's locks and page caches, counted", [lustre_table(result.stats)])]


def page_tables(result: Result) -> list[Block]:
    """Return all tables of the page of a run: of phases, of where the time went, of files."""
    return [*phase_parts(result), *time_parts(result), *_present(files_table(result))]


def _present(part: Block | None) -> Iterator[Block]:
    """Yield a part if there is one."""
    if part is not None:
        yield part


def scenario_parts(scenario: Scenario, machine: Machine) -> list[Block]:
    """Return a scenario of one job, with how it is run again."""
    asked = Listing("As it was asked for", dump_scenario(scenario))
    return [asked, *complete_parts(scenario, machine)]


def complete_parts(scenario: Scenario, machine: Machine) -> list[Block]:
    """Return the complete scenario of one job, and the command that runs it."""
    return _again(lambda: complete_yaml(scenario, machine), COMMAND)


def jobs_scenario_parts(scenario: JobsScenario, machine: Machine, *, alone: bool) -> list[Block]:
    """Return a scenario of several jobs, with how it is run again.

    ``alone`` is whether each job was run by itself, too.
    """
    command = COMMAND if alone else f"{COMMAND} --no-alone"
    return _again(lambda: complete_jobs_yaml(scenario, machine), command)


def _again(complete: Callable[[], str], command: str) -> list[Block]:
    """Return the complete scenario, and the command that runs it."""
    try:
        text = complete()
    except InputError as error:
        return [Text(f"There is no complete scenario, since a file that it needs is gone: {error}")]
    return [
        Text(
            "The complete scenario below leaves nothing to a default, to chance or to a machine "
            "file: the same version of xc40io gives the same figures, bit for bit. Save it as "
            "scenario.yaml, and type:"
        ),
        Listing("Command", command, typed=True),
        Fold("Complete scenario: scenario.yaml", [Listing("scenario.yaml", text)]),
    ]
