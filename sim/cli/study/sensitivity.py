"""``xc40io sensitivity``: free parameters held against the claims."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import write_whole
from xc40io.cli.options import JOBS, MOST_SEEDS, Whole
from xc40io.cli.study.asked_claims import CLAIM, asked_claims
from xc40io.cli.written import FILE as WRITTEN
from xc40io.config.errors import InputError, nearest
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import csv_text
from xc40io.telling.text import text_of
from xc40io.validation.claim_trial import simulating, subject_of
from xc40io.validation.free_parameter import FILE, FreeParameter, load_free_parameters
from xc40io.validation.quantity import parse_fraction
from xc40io.validation.sensitivity import measure_sensitivity
from xc40io.validation.sensitivity_answer import sensitivity_answer
from xc40io.validation.trial import Trials

if TYPE_CHECKING:
    from xc40io.validation.claim import Claim


@click.command()
@CLAIM
@click.option(
    "--parameter",
    "paths",
    multiple=True,
    metavar="PATH",
    help="Only this parameter, as in nodes.write_copy_rate. May be repeated.",
)
@click.option(
    "--parameters",
    "file",
    metavar="FILE.yaml",
    help="Other free parameters than those that come with xc40io.",
)
@click.option(
    "--seeds",
    type=Whole(min=1, most=MOST_SEEDS),
    default=2,
    show_default=True,
    help="Seeds that each number is averaged over.",
)
@click.option(
    "--step",
    default="10%",
    show_default=True,
    metavar="PART",
    help="By how much a parameter is moved to each side to see what that does.",
)
@click.option("--full", is_flag=True, help="Also claims that take long.")
@JOBS
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

    claims = asked_claims(ids, full=full, wanted=wanted)
    parameters = _parameters(paths, file)
    with ProgressBar("runs") as progress:
        simulations = Simulations.of_study(jobs, progress=progress)
        progress.say(f"{len(claims)} claims, {len(parameters)} parameters")
        subjects = [subject_of(claim) for claim in claims.values()]
        trials = Trials(subjects, simulating(claims, simulations), seeds=seeds)
        found = measure_sensitivity(trials, parameters, step=_step(step))
    for note in simulations.notes:
        click.echo(f"xc40io: {note}", err=True)
    answer = sensitivity_answer(found)
    if table is not None and answer.table is not None:
        write_whole(table, csv_text(answer.table), "--csv")
    click.echo(text_of(answer), nl=False)


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
