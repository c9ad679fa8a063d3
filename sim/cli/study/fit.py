"""``xc40io fit``: a machine from a dozen measurements."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from xc40io.archive.whole_files import check_writable, write_whole
from xc40io.cli.options import JOBS, JSON, MOST_RUNS, Whole
from xc40io.cli.study.asked_claims import CLAIM, asked_claims
from xc40io.cli.study_options import say
from xc40io.cli.written import FILE
from xc40io.config.files import find, shipped
from xc40io.config.files_in_use import note_edited
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario, load_scenario
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_values
from xc40io.validation.claim_trial import simulating
from xc40io.validation.fit import BUDGET, Fit
from xc40io.validation.fit import fit as fit_machine
from xc40io.validation.fit_answer import fit_answer, fitted_machine, new_values, shared_values
from xc40io.validation.free_parameter import sharing
from xc40io.validation.machine_edit import edited_machine
from xc40io.validation.next_answer import with_advice
from xc40io.validation.next_run import NODE_HOURS, Advice, Run, advise, time_of
from xc40io.validation.trial import Simulate
from xc40io.workloads.job_script.files import is_job_script, load_job_script
from xc40io.workloads.job_script.script import CallerFacts, read_job_script


@click.command()
@click.argument("machine", metavar="MACHINE")
@click.option(
    "--from",
    "file",
    metavar="OURS.yaml",
    help="The measurements: claims, as xc40io measured writes them.  "
    "[default: those published of MACHINE that are there to be fitted to]",
)
@CLAIM
@click.option(
    "--free",
    "paths",
    multiple=True,
    metavar="PATH",
    help="Only this value, as nodes.write_copy_rate. May be repeated.",
)
@click.option(
    "--budget",
    type=Whole(min=1, most=MOST_RUNS),
    default=BUDGET,
    show_default=True,
    help="Most runs; those that are remembered count too.",
)
@click.option(
    "--output",
    "fitted",
    type=FILE,
    metavar="FITTED.yaml",
    help="Write a machine file that is like MACHINE, with what was fitted.",
)
@click.option(
    "--write",
    is_flag=True,
    help="Write what was fitted into the file of MACHINE, and of machines that share the values.",
)
@click.option(
    "--next",
    "is_next",
    is_flag=True,
    help="Also name the run that would narrow most what is not known: a line, minutes, node-hours.",
)
@click.option(
    "--ask",
    metavar="WHAT",
    help="The same for what you ask: a value as lustre.ost_read_rate, a scenario, a job script, or "
    "a line as 'aprun -n 64 -N 8 ior -w'. Of a job it is the time.",
)
@click.option(
    "--node-hours",
    type=click.FloatRange(min=0.0, min_open=True),
    default=NODE_HOURS,
    show_default=True,
    help="Of your machine, that such a run may take.",
)
@JSON
@JOBS
def fit(
    *,
    machine: str,
    file: str | None,
    ids: tuple[str, ...],
    paths: tuple[str, ...],
    budget: int,
    fitted: str | None,
    write: bool,
    is_next: bool,
    ask: str | None,
    node_hours: float,
    as_json: bool,
    jobs: int | None,
) -> None:
    """Fit a machine to measurements of it: what runs there, and what IOR and mdtest said.

    MACHINE is the name of a machine or a file: one that is "like" another and gives a few values is
    enough. All claims are run on it. Values move as far as their sources allow, and a number is met
    no better than the model meets others of its kind; what no value can meet is said. Runs that
    have finished are remembered: after an interrupt the same command goes on where it was.
    """
    if fitted is not None:
        check_writable(Path(fitted), "--output")
    place = find("machines", machine)
    load_machine(place)  # what is wrong with it is said before anything is read for it
    if write:
        _check_writable(place)
    known = {} if file is None else load_values(Path(file))
    claims = _measurements(file, ids, place)
    asked = None if ask is None else _asked(ask, place)
    with ProgressBar("runs") as progress:
        simulations = Simulations.of_study(jobs, progress=progress)
        simulations.expect(budget)

        def simulate(claims: Mapping[str, Claim]) -> Simulate:
            return simulating(claims, simulations)

        found = fit_machine(
            place,
            claims,
            simulate,
            known={path: new.value for path, new in known.items()},
            paths=paths,
            budget=budget,
            told=progress.say,
        )
        answer = fit_answer(found)
        if is_next or asked is not None:
            told = _advice(found, simulations.run, asked, budget - found.runs, node_hours)
            answer = with_advice(answer, told)
    source = Path(file).name if file else "the claims"
    new = known | new_values(found, source, datetime.now(UTC).date())
    texts = {}
    if fitted is not None:
        texts[Path(fitted)] = fitted_machine(found, new, source, Path(fitted))
    if write and new:
        texts |= {path: edited_machine(path, of) for path, of in shared_values(found, new).items()}
    for path, text in texts.items():
        write_whole(path, text, "--output" if str(path) == fitted else "--write")
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)
    for note in simulations.notes:
        say(note)
    if write:
        say(f"wrote {', '.join(new) or 'nothing'} to {', '.join(map(str, texts)) or place}")


def _measurements(file: str | None, ids: tuple[str, ...], machine: Path) -> dict[str, Claim]:
    """Return the claims of a file, or those that come with xc40io for fits of a machine."""
    if file is not None:
        return asked_claims(ids, full=True, file=file)
    return asked_claims(
        ids,
        right=f"--from with measurements of {machine.stem}",
        wanted=lambda claim: (
            claim.role == "calibration"
            and {find("machines", str(run.machine)) for run in claim.runs.values()} == {machine}
        ),
    )


def _advice(
    found: Fit, run: Run, asked: str | Scenario | None, budget: int, node_hours: float
) -> Advice:
    """Return what to measure next, out of the runs that are left."""
    machine = found.machine.with_changes(found.known)
    target = time_of(asked, machine, run) if isinstance(asked, Scenario) else asked
    return advise(machine, found.belief, run, budget=budget, asked=target, node_hours=node_hours)


def _asked(text: str, machine: Path) -> str | Scenario:
    """Return what is asked: the path of a value, or a job."""
    if is_job_script(text):
        return load_job_script(text, machine=str(machine)).scenario()
    if text in shipped("scenarios") or text.endswith((".yaml", ".yml")):
        return load_scenario(text)
    if " " in text:
        script = f"#!/bin/sh\n{text}\n"
        return read_job_script(script, "--ask", CallerFacts(machine=str(machine))).scenario()
    return text


def _check_writable(file: Path) -> None:
    """Raise InputError unless a machine's file can be written, and those that share with it."""
    for path in {file, *(path for one in sharing(file) for path in one.files.values())}:
        note_edited(path)
        check_writable(path, "--write")
