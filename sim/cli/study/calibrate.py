"""``xc40io calibrate`` and ``xc40io sensitivity``: free parameters held against the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import check_writable, write_whole
from xc40io.cli.exports import Command
from xc40io.cli.options import JOBS, MOST_RUNS, MOST_SEEDS, Whole
from xc40io.cli.written import FILE as WRITTEN
from xc40io.config.errors import InputError, nearest
from xc40io.config.extras import need
from xc40io.config.files_in_use import note_edited
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import csv_text
from xc40io.telling.text import text_of
from xc40io.validation.calibrate import Options
from xc40io.validation.calibrate import calibrate as fit
from xc40io.validation.calibration_answer import calibration_answer, new_values
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.claim_trial import simulating, subject_of
from xc40io.validation.free_parameter import FILE, FreeParameter, load_free_parameters
from xc40io.validation.machine_edit import NewValue, edited_machine
from xc40io.validation.quantity import parse_fraction
from xc40io.validation.sensitivity import measure_sensitivity, row_of
from xc40io.validation.sensitivity_answer import sensitivity_answer
from xc40io.validation.trial import Simulate, Trials

if TYPE_CHECKING:
    from pathlib import Path

_Choose = Callable[["Claim"], bool]


def _shared(*, seeds: int, step: str) -> Callable[[Command], Command]:
    """Add the options that both commands have."""
    options = (
        click.option(
            "--claim",
            "ids",
            multiple=True,
            metavar="ID",
            help="Only this claim, or the claims of this row. May be repeated.",
        ),
        click.option(
            "--parameter",
            "paths",
            multiple=True,
            metavar="PATH",
            help="Only this parameter, as in nodes.write_copy_rate. May be repeated.",
        ),
        click.option(
            "--parameters",
            "file",
            metavar="FILE.yaml",
            help="Other free parameters than those that come with xc40io.",
        ),
        click.option(
            "--seeds",
            type=Whole(min=1, most=MOST_SEEDS),
            default=seeds,
            show_default=True,
            help="Seeds that each number is averaged over.",
        ),
        click.option(
            "--step",
            default=step,
            show_default=True,
            metavar="PART",
            help="By how much a parameter is moved to each side to see what that does.",
        ),
        click.option("--full", is_flag=True, help="Also claims that take long."),
        JOBS,
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command()
@_shared(seeds=3, step="7%")
@click.option(
    "--budget",
    type=Whole(min=1, most=MOST_RUNS),
    default=2000,
    show_default=True,
    help="Most runs; those that are remembered count too.",
)
@click.option("--write", is_flag=True, help="Write what was fitted into the machine files.")
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="The date that --write puts into the provenance.",
)
def calibrate(
    *,
    ids: tuple[str, ...],
    paths: tuple[str, ...],
    file: str | None,
    seeds: int,
    step: str,
    full: bool,
    jobs: int | None,
    budget: int,
    write: bool,
    day: datetime | None,
) -> None:
    """Fit free parameters to the claims with the role calibration, by least squares.

    Parameters that no claim sees are left alone, and so are those that only one row sees, unless
    --parameter names them. Runs that have finished are remembered: after an interrupt, the same
    command goes on where it was.
    """
    need("fit", "calibrate")
    if write != (day is not None):
        raise click.UsageError("--write and --date belong together: --write --date 2026-01-31")
    claims = _claims(ids, full=full, wanted=_is_to_be_fitted)
    parameters = _parameters(paths, file)
    if write:
        _check_writable(path for parameter in parameters for path in parameter.files.values())
    options = Options(seeds=seeds, step=_step(step), budget=budget, lone_too=bool(paths))
    with _simulator(claims, jobs) as (simulate, say):
        subjects = [subject_of(claim) for claim in claims]
        found = fit(parameters, subjects, simulate, options, told=say)
    click.echo(text_of(calibration_answer(found)), nl=False)
    if day is not None:
        _write(new_values(found, day.date()))


@click.command()
@_shared(seeds=2, step="10%")
@click.option("--group", metavar="GROUP", help="Only claims of this group.")
@click.option("--fast", is_flag=True, help="Only the claims of the fast subset.")
@click.option("--trends", is_flag=True, help="Also claims without a measured number.")
@click.option(
    "--csv", "table", type=WRITTEN, metavar="FILE", help="Write all numbers to this file as well."
)
def sensitivity(
    *,
    ids: tuple[str, ...],
    paths: tuple[str, ...],
    file: str | None,
    seeds: int,
    step: str,
    full: bool,
    jobs: int | None,
    group: str | None,
    fast: bool,
    trends: bool,
    table: str | None,
) -> None:
    """Print the elasticity of each claim with respect to each free parameter.

    It shows which parameters the measurements cannot see, and which ones only one of them sees:
    neither should be fitted to them. Runs that have finished are remembered.
    """

    def wanted(claim: Claim) -> bool:
        return (
            (not fast or claim.fast)
            and (group is None or claim.family == group)
            and (trends or bool(ids) or bool(claim.relation and claim.relation.has_values))
        )

    claims, parameters = _claims(ids, full=full, wanted=wanted), _parameters(paths, file)
    with _simulator(claims, jobs) as (simulate, say):
        say(f"{len(claims)} claims, {len(parameters)} parameters")
        trials = Trials([subject_of(claim) for claim in claims], simulate, seeds=seeds)
        found = measure_sensitivity(trials, parameters, step=_step(step))
    answer = sensitivity_answer(found)
    if table is not None and answer.table is not None:
        write_whole(table, csv_text(answer.table), "--csv")
    click.echo(text_of(answer), nl=False)


def _is_to_be_fitted(claim: Claim) -> bool:
    return claim.role == "calibration" and claim.relation is not None and claim.relation.has_values


def _claims(ids: Iterable[str], *, full: bool, wanted: _Choose) -> list[Claim]:
    """Return the claims that run something and were asked for."""
    claims = {name: claim for name, claim in load_claims().items() if claim.runs}
    asked = set(ids)
    for name in asked - claims.keys() - set(map(row_of, claims)):
        raise InputError(
            f"--claim {name}: no claim of this id runs anything{nearest(name, claims)}"
        )
    chosen = [
        claim
        for name, claim in claims.items()
        if (not asked or {name, row_of(name)} & asked)
        and (full or name in asked or not claim.full)
        and wanted(claim)
    ]
    if not chosen:
        raise InputError("no claim fits all of these options; right would be fewer of them")
    return chosen


def _parameters(paths: Iterable[str], file: str | None) -> list[FreeParameter]:
    """Return the parameters that were asked for, by path or by path and machine."""
    parameters = list(load_free_parameters(file or FILE).values())
    asked = set(paths)
    names = {name for parameter in parameters for name in (parameter.path, parameter.name)}
    for path in asked - names:
        raise InputError(f"--parameter {path}: it is not a free parameter{nearest(path, names)}")
    return [p for p in parameters if not asked or {p.path, p.name} & asked]


def _step(text: str) -> float:

    step = parse_fraction(text)
    if not 0.0 < step < 1.0:
        raise InputError(f"--step {text}: right would be a part of the value, as in 7%")
    return step


@contextmanager
def _simulator(
    claims: Iterable[Claim], jobs: int | None
) -> Iterator[tuple[Simulate, Callable[[str], None]]]:
    """Give what simulates claims, and what tells a person on a terminal why."""
    with ProgressBar("runs") as progress:
        simulations = Simulations.of_study(jobs, progress=progress)
        yield simulating({claim.id: claim for claim in claims}, simulations), progress.say
    for note in simulations.notes:
        click.echo(f"xc40io: {note}", err=True)


def _check_writable(paths: Iterable[Path]) -> None:

    for path in sorted(set(paths)):
        note_edited(path)
        check_writable(path, "--write")


def _write(values: dict[Path, dict[str, NewValue]]) -> None:
    """Write machine files; none of them unless all can be."""
    texts = {path: edited_machine(path, changed) for path, changed in values.items()}
    for path, text in texts.items():
        write_whole(path, text, "--write")
        click.echo(f"wrote {', '.join(values[path])} to {path}")
    if not texts:
        click.echo("nothing to write: no value changed")
