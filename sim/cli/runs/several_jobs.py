"""``xc40io run`` of a scenario that lists several jobs."""

from __future__ import annotations

from functools import partial

import click

from xc40io.cli.exports import write_exports
from xc40io.cli.options import Keep, View
from xc40io.cli.runs.printing import (
    check_files,
    check_keep,
    in_turn,
    print_tables,
    save_result,
    write_files,
)
from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.results.file_stats import add_file_stats, format_file_stats
from xc40io.results.jobs_answer import job_head, jobs_answer
from xc40io.results.programs.forms import output_of
from xc40io.results.progress import ProgressBar
from xc40io.results.run_text import format_job_part, format_machine_part
from xc40io.run.job_list import seeded_jobs
from xc40io.run.jobs import JobOutcome, JobsResult, simulate_jobs
from xc40io.run.submission import in_job
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
from xc40io.workloads.catalogue import workload_of


def run_jobs_and_print(scenario: JobsScenario, view: View, keep: Keep, *, alone: bool) -> None:
    """Run the jobs of a scenario, write the files that they name, and print what came of them.

    Parameters
    ----------
    scenario
        What to run.
    view
        What to print.
    keep
        Where the result goes besides.
    alone
        Whether to run each job by itself, too.
    """
    check_keep(keep)
    _check_files(scenario)
    with ProgressBar() as progress:
        result = simulate_jobs(
            scenario,
            alone=alone,
            record=keep.recorded,
            progress=progress,
            say=progress.say,
        )
    outputs = [output_of(outcome.result) for outcome in result.jobs]
    in_turn(
        lambda: save_result(result, keep, view),
        *(partial(write_files, output) for output in outputs),
        lambda: print_jobs(result, view),
        lambda: write_exports(result, keep.exports, exact=view.exact),
    )


def print_jobs(result: JobsResult, view: View) -> None:
    """Print what came of several jobs.

    First a row for each job; then what each that is listed would print by itself (of one that was
    drawn the rows must do); then what the machine did.
    """
    if view.as_json:
        document = document_of(jobs_answer(result, exact=view.exact))
        if view.file_stats:
            for job, outcome in zip(document["jobs"], result.jobs, strict=True):
                add_file_stats(job["result"]["xc40io"], outcome.result)
        click.echo(json_text(document), nl=False)
        return
    click.echo(text_of(jobs_answer(result)))
    for outcome in result.jobs:
        if not outcome.drawn:
            _print_job(outcome, view)
    _print_machine(result, view)


def _print_job(outcome: JobOutcome, view: View) -> None:
    click.echo(f"==== {job_head(outcome)} ====")
    print_tables(output_of(outcome.result), getstripe=view.getstripe)
    files = format_file_stats(outcome.result) if view.file_stats else ""
    click.echo(format_job_part(outcome.result, exact=view.exact, verbose=view.verbose) + files)


def _print_machine(result: JobsResult, view: View) -> None:
    click.echo("==== The machine ====")
    text = format_machine_part(
        result.whole,
        simulated=result.simulated,
        wall=result.wall,
        lustre_stats=view.lustre_stats,
        verbose=view.verbose,
    )
    click.echo(text, nl=False)


def _check_files(scenario: JobsScenario) -> None:
    """Raise InputError if a file that a job is to write cannot be, or belongs to another job."""
    owners: dict[str, str] = {}
    for job, _, _ in seeded_jobs(scenario):
        try:
            workload = workload_of(job.workload)
            check_files(workload)
        except InputError as error:
            raise in_job(job.name, error) from error
        for path, option in set(workload.output_files()):
            if owners.setdefault(path, job.name) != job.name:
                raise InputError(
                    f"jobs.{job.name}.workload: {option}={path} is written by job {owners[path]}, "
                    "too; right would be a file of its own"
                )
