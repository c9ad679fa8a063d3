"""``xc40io validate``: published measurements beside simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import make_folder
from xc40io.cli.options import JOBS, JSON
from xc40io.cli.written import FILE, FOLDER
from xc40io.config.errors import InputError
from xc40io.engine.processors import processors
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.telling.data import document_of, json_text
from xc40io.telling.html import write_page
from xc40io.telling.text import text_of
from xc40io.validation.checked_claims import check_claims
from xc40io.validation.claim import is_direction, load_claims
from xc40io.validation.comparison import compare
from xc40io.validation.earlier import earlier_results
from xc40io.validation.figures.gallery import all_charts, charts_known, draw_all
from xc40io.validation.report import Report, select
from xc40io.validation.report import validate as validate_claims
from xc40io.validation.report_answer import report_answer
from xc40io.validation.report_figures import figure_blocks
from xc40io.validation.score import counting, score_of
from xc40io.validation.score_answer import score_answer, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xc40io.telling.answer import Answer
    from xc40io.validation.kept import Result

_FAILED = 1


@click.command()
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only this group of claims.")
@click.option(
    "--claim", "ids", multiple=True, metavar="ID", help="Only this claim, as B02. May be repeated."
)
@click.option(
    "--claims",
    "file",
    metavar="FILE.yaml",
    help="Your own measurements in place of the published ones (docs/your-own-measurements.md).",
)
@click.option("--fast", is_flag=True, help="Only the fast claims: less than a minute.")
@click.option("--full", is_flag=True, help="Also claims that take long: an hour at most.")
@click.option("--all", "everything", is_flag=True, help="Also list what has no verdict, and why.")
@click.option(
    "--score",
    "as_score",
    is_flag=True,
    help="Print how far the numbers are off, in place of verdicts; with --all each of them.",
)
@click.option(
    "--against",
    metavar="COMMIT",
    help="With --score: what moved since that commit kept its results, or since a file of --json.",
)
@click.option(
    "--figures",
    type=FOLDER,
    metavar="DIR",
    help="Draw all published curves into this folder: minutes; with --fast those whose runs are "
    "there.",
)
@click.option(
    "--html",
    type=FILE,
    metavar="FILE",
    help="Write a page with the report and the figures of its claims.",
)
@JSON
@JOBS
@click.option(
    "--no-cache", is_flag=True, help="Simulate what is known from before too, and keep nothing."
)
def validate(
    *,
    groups: tuple[str, ...],
    ids: tuple[str, ...],
    file: str | None,
    fast: bool,
    full: bool,
    everything: bool,
    as_score: bool,
    against: str | None,
    figures: str | None,
    html: str | None,
    as_json: bool,
    jobs: int | None,
    no_cache: bool,
) -> int:
    """Run what was published of the machines, and print measured beside simulated.

    Each claim stands for a published measurement or trend. The exit status is 1 if one of them
    does not hold; with --score it is 0. What has been simulated is kept for the next time, until
    the code changes; after an interrupt the same command goes on where it stopped.
    """
    if fast and full:
        raise InputError("--fast and --full: right would be one of them, or none")
    _check_score(figures, html, against, as_score=as_score)
    if figures is not None:
        make_folder(figures, "--figures")
    known = load_claims() if file is None else load_claims([Path(file)])
    chosen = select(known, groups=groups, ids=ids, fast=fast)
    if file is not None:
        check_claims(chosen, file)
    earlier = _earlier(against)
    if as_score:
        chosen = [*counting(chosen), *filter(is_direction, chosen)]
    with ProgressBar("runs") as progress:
        simulations = Simulations(jobs or processors(), None if no_cache else Store(), progress)
        report = validate_claims(chosen, simulations, full=full or bool(ids), known=known)
        progress.say("simulated for figures")
        _draw(report, figures, fast=fast, full=full)
        curves = [] if html is None else figure_blocks(report, fast=fast)
    if as_score:
        _print_score(report, against, earlier, as_json=as_json, everything=everything)
    else:
        answer = report_answer(report, everything=everything, figures=curves)
        if html is not None:
            write_page(answer, html, "--html")
        _print(answer, as_json=as_json)
    for note in simulations.notes:
        click.echo(f"xc40io: {note}", err=True)
    if report.wrong:
        raise InputError("; ".join(report.wrong))
    return _FAILED if report.failed and not as_score else 0


def _check_score(
    figures: str | None, html: str | None, against: str | None, *, as_score: bool
) -> None:
    """Raise InputError if options are given that do not go together with a score, or need one."""
    if against is not None and not as_score:
        raise InputError(
            f"--against {against}: right would be --score as well, whose numbers it compares"
        )
    for option, given in (("--figures", figures), ("--html", html)):
        if as_score and given is not None:
            raise InputError(
                f"{option} and --score: right would be one of them; a score is a table"
            )


def _earlier(against: str | None) -> dict[str, Result]:
    """Return the results to compare with: looked for before a long run."""
    return {} if against is None else earlier_results(against)


def _draw(report: Report, figures: str | None, *, fast: bool, full: bool) -> None:
    if figures is not None:
        charts = charts_known(all_charts(), report.simulations) if fast else None
        draw_all(figures, simulations=report.simulations, charts=charts, full=full)


def _print(answer: Answer, *, as_json: bool) -> None:
    click.echo(json_text(document_of(answer)) if as_json else text_of(answer), nl=False)


def _print_score(
    report: Report,
    against: str | None,
    earlier: Mapping[str, Result],
    *,
    as_json: bool,
    everything: bool,
) -> None:
    """Print the score, beside an earlier one if asked for; warn if it was better."""
    claims = {outcome.claim.id: outcome.claim for outcome in report.outcomes}
    score, since = score_of(report), against or ""
    compared = None if against is None else compare(score, claims, earlier)
    _print(score_answer(score, compared, since=since, everything=everything), as_json=as_json)
    if compared is not None and compared.is_worse:
        click.echo(f"xc40io: warning: {verdict(compared, since)}", err=True)
