"""``xc40io fit``: a machine from a dozen measurements."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from xc40io.archive.whole_files import check_writable, write_whole
from xc40io.cli.options import JOBS, JSON, MOST_RUNS, Whole
from xc40io.cli.written import FILE
from xc40io.config.files import find
from xc40io.config.machine import load_machine
from xc40io.engine.processors import processors
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_claims, load_values
from xc40io.validation.claim_trial import simulating
from xc40io.validation.fit import BUDGET
from xc40io.validation.fit import fit as fit_machine
from xc40io.validation.fit_answer import fit_answer, fitted_machine
from xc40io.validation.trial import Simulate


@click.command()
@click.argument("machine", metavar="MACHINE")
@click.option(
    "--from",
    "file",
    required=True,
    metavar="OURS.yaml",
    help="The measurements: claims, as xc40io measured writes them.",
)
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
@JSON
@JOBS
def fit(
    *,
    machine: str,
    file: str,
    paths: tuple[str, ...],
    budget: int,
    fitted: str | None,
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
    known = load_values(Path(file))
    with ProgressBar("runs") as progress:
        simulations = Simulations(jobs or processors(), Store(), progress)

        def simulate(claims: Mapping[str, Claim]) -> Simulate:
            return simulating(claims, simulations)

        found = fit_machine(
            place,
            load_claims([Path(file)]),
            simulate,
            known={path: new.value for path, new in known.items()},
            paths=paths,
            budget=budget,
            told=progress.say,
        )
    answer = fit_answer(found)
    if fitted is not None:
        day = datetime.now(UTC).date()
        target = Path(fitted)
        text = fitted_machine(found, known, target.stem, Path(file).name, day, target)
        write_whole(fitted, text, "--output")
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)
    for note in simulations.notes:
        click.echo(f"xc40io: {note}", err=True)
