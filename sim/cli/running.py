"""Running a scenario and printing what comes of it; shared by the commands that run something."""

from __future__ import annotations

from collections.abc import Mapping

import click

from sim.archive.files import check_writable, write_whole
from sim.config.errors import InputError
from sim.config.scenario import Scenario
from sim.results.json_text import json_text
from sim.results.output import Output
from sim.results.outputs import output_of
from sim.results.progress import ProgressBar
from sim.results.run_text import format_run
from sim.run.simulate import simulate
from sim.workloads.catalogue import workload_of
from sim.workloads.workload import Workload

_DISPLAYS = (
    "MPICH_MPIIO_HINTS_DISPLAY",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY",
    "MPICH_MPIIO_STATS",
    "MPICH_MPIIO_TIMERS",
)


def run_and_print(
    scenario: Scenario,
    *,
    as_json: bool,
    getstripe: bool,
    lustre_stats: bool,
    mpiio_stats: bool,
) -> None:
    """Run a scenario; write the files that its workload names; print the rest.

    As with IOR, ``summaryFile`` takes what would be printed otherwise. What only a simulator knows
    stands below the table; where IOR's output on standard output is JSON or CSV, which must stay
    readable, it goes to standard error, and so does what MPI-IO prints. With `as_json` everything
    is one JSON document. With `mpiio_stats` MPI-IO finds in its environment that it is to print
    all that it can. Where bytes were refused or lost, the exit status is 1.
    """
    if mpiio_stats:
        environment = with_displays(scenario.environment)
        scenario = scenario.model_copy(update={"environment": environment})
    workload = workload_of(scenario.workload)
    check_files(workload)
    if getstripe and scenario.target.kind != "lustre":
        raise InputError(
            f"--getstripe with --target {scenario.target.kind}: only files on Lustre have a "
            "striping to print"
        )
    with ProgressBar() as progress:
        result = simulate(scenario, progress=progress, workload=workload)
    output = output_of(result)
    write_files(output)
    if as_json:
        click.echo(json_text(output.document()), nl=False)
    else:
        print_tables(output, getstripe=getstripe)
        text = format_run(result, lustre_stats=lustre_stats)
        click.echo(text, nl=False, err=output.machine_readable)
    if result.troubles:
        click.get_current_context().exit(1)


def with_displays(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a job's environment in which MPI-IO is asked to print all that it can."""
    return {**environment, **dict.fromkeys(_DISPLAYS, "1")}


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
    """Write the files that a workload names."""
    for path, option, text in output.files():
        write_whole(path, text, option)
