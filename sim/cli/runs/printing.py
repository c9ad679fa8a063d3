"""Running a scenario and printing what comes of it; shared by the commands that run something."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from xc40io.archive.whole_files import check_writable, make_folder, write_whole
from xc40io.cli.exports import check_exports, write_exports
from xc40io.cli.job_options import displaying
from xc40io.cli.options import Keep, View
from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.scenario import Scenario
from xc40io.results.file_stats import add_file_stats, format_file_stats
from xc40io.results.programs.forms import output_of
from xc40io.results.programs.output import Output
from xc40io.results.progress import ProgressBar
from xc40io.results.run_text import format_run
from xc40io.run.result import Result, save
from xc40io.run.simulate import simulate
from xc40io.telling.data import json_text
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.workload import Workload


def run_and_print(scenario: Scenario, view: View, keep: Keep) -> None:
    """Run a scenario; write the files that its workload names; print the rest.

    With ``mpiio_stats`` MPI-IO finds in its environment that it is to print all that it can. Where
    bytes were refused or lost, the exit status is 1.

    Parameters
    ----------
    scenario
        What to run.
    view
        What to print.
    keep
        Where the result goes besides.
    """
    if view.mpiio_stats:
        scenario = with_displays(scenario)
    check_keep(keep)
    workload = workload_of(scenario.workload)
    check_files(workload)
    check_view(view, scenario)
    with ProgressBar() as progress:
        result = simulate(scenario, progress=progress, workload=workload, record=keep.recorded)
    tell_result(result, view, keep)


def tell_result(result: Result, view: View, keep: Keep) -> None:
    """Keep a result, write the files that its workload names, print and export it.

    Where bytes were refused or lost, the exit status is 1.
    """
    in_turn(
        lambda: save_result(result, keep, view),
        lambda: write_files(output_of(result)),
        lambda: print_result(result, view),
        lambda: write_exports(result, keep.exports, exact=view.exact),
    )
    if result.troubles:
        click.get_current_context().exit(1)


def in_turn(*steps: Callable[[], None]) -> None:
    """Take all of some steps that a result goes through, whatever becomes of those before.

    A file that cannot be written, on a full disk for instance, must not cost the result.

    Raises
    ------
    InputError
        What any of them raised, when all have been taken.
    """
    refused = []
    for step in steps:
        try:
            step()
        except InputError as error:
            refused.append(str(error))
    if refused:
        raise InputError("; ".join(refused))


def print_result(result: Result, view: View) -> None:
    """Print a result.

    As with IOR, ``summaryFile`` takes what would be printed otherwise. What only a simulator knows
    stands below the table; where IOR's output on standard output is JSON or CSV, which must stay
    readable, it goes to standard error, and so does what MPI-IO prints. As JSON, everything is one
    document.
    """
    output = output_of(result)
    if view.as_json:
        document = output.document(exact=view.exact)
        if view.file_stats:
            add_file_stats(document["xc40io"], result)
        click.echo(json_text(document), nl=False)
        return
    print_tables(output, getstripe=view.getstripe)
    text = format_run(
        result, lustre_stats=view.lustre_stats, exact=view.exact, verbose=view.verbose
    )
    if view.file_stats:
        text += format_file_stats(result)
    click.echo(text, nl=False, err=output.machine_readable)


def check_view(view: View, scenario: Scenario) -> None:
    """Raise InputError if something is to be printed that there is not."""
    if view.getstripe and scenario.target.kind != "lustre":
        raise InputError(
            f"--getstripe with --target {scenario.target.kind}: only files on Lustre have a "
            "striping to print"
        )


def check_keep(keep: Keep) -> None:
    """Raise InputError if a result cannot go where it is to."""
    if keep.save is not None:
        need("tables", "--save")
    check_exports(keep.exports)


def save_result(content: object, keep: Keep, view: View) -> None:
    """Keep a result, and how it is printed, if that was asked for; ``exact`` is typed anew."""
    if keep.save is not None:
        shown = view._asdict()
        del shown["exact"]
        save(content, keep.save, shown)


def with_displays(scenario: Scenario) -> Scenario:
    """Return a scenario in whose environment MPI-IO is asked to print all that it can."""
    return scenario.model_copy(update={"environment": displaying(scenario.environment)})


def print_tables(output: Output, *, getstripe: bool) -> None:
    """Print what the workload has to tell.

    Where its answer is JSON or CSV, as an IOR command can ask for, the rest goes to standard error.
    """
    aside = output.machine_readable
    if output.answer is not None:
        click.echo(output.answer, nl=not aside)
    if output.mpiio:
        click.echo(output.mpiio, err=aside)
    if getstripe:
        click.echo(output.layouts(), err=aside)


def check_files(workload: Workload) -> None:
    """Raise InputError if a file that a workload is to write cannot be written."""
    for path, option in workload.output_files():
        check_writable(path, option)


def write_files(output: Output) -> None:
    """Write the files that a workload names, in folders that are made if need be.

    What is to be in one that cannot be written is printed.
    """
    for path, option, text in output.files():
        try:
            make_folder(Path(path).parent, option)
            write_whole(path, text, option)
        except InputError:
            click.echo(text, nl=False)
            raise
