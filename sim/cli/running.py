"""Running a scenario and printing what comes of it; shared by the commands that run something."""

from __future__ import annotations

from collections.abc import Mapping

import click

from sim.config.errors import InputError
from sim.config.scenario import Scenario, Workload
from sim.results.files import check_writable, write_whole
from sim.results.ior_csv import RANK_TITLES, format_csv, rank_lines
from sim.results.ior_json import format_json
from sim.results.ior_run import ior_report
from sim.results.ior_text import format_text
from sim.results.progress import ProgressBar
from sim.run.result import IorResult, KernelResult, Result
from sim.workloads.ior.options import Access, IorCommand, parse_arguments

_FORMATS = {"default": format_text, "JSON": format_json, "CSV": format_csv}
_DISPLAYS = (
    "MPICH_MPIIO_HINTS_DISPLAY",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY",
    "MPICH_MPIIO_STATS",
    "MPICH_MPIIO_TIMERS",
)
_SUMMARY, _RANKS = "summaryFile", "saveRankPerformanceDetailsCSV"


def run_and_print(
    scenario: Scenario,
    *,
    as_json: bool,
    getstripe: bool,
    lustre_stats: bool,
    mpiio_stats: bool,
) -> None:
    """Run a scenario; write the files that its IOR command names; print the rest.

    As with IOR, ``summaryFile`` takes what would be printed otherwise. What only a simulator knows
    stands below the table; where IOR's output on standard output is JSON or CSV, which must stay
    readable, it goes to standard error, and so does what MPI-IO prints. With `as_json` everything
    is one JSON document. With `mpiio_stats` MPI-IO finds in its environment that it is to print
    all that it can. Where bytes were refused or lost, the exit status is 1.
    """
    if mpiio_stats:
        environment = with_displays(scenario.environment)
        scenario = scenario.model_copy(update={"environment": environment})
    check_files(scenario.workload)
    if getstripe and scenario.target.kind != "lustre":
        raise InputError(
            f"--getstripe with --target {scenario.target.kind}: only files on Lustre have a "
            "striping to print"
        )
    result = _simulate(scenario)
    write_files(result)
    if as_json:
        click.echo(_json(result), nl=False)
    else:
        from sim.results.run_text import format_run

        mixed = print_tables(result, getstripe=getstripe)
        click.echo(format_run(result, lustre_stats=lustre_stats), nl=False, err=not mixed)
    if result.troubles:
        click.get_current_context().exit(1)


def with_displays(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a job's environment in which MPI-IO is asked to print all that it can."""
    return {**environment, **dict.fromkeys(_DISPLAYS, "1")}


def _json(result: Result) -> str:
    if isinstance(result, KernelResult):
        from sim.results.kernel_json import format_kernel_json

        return format_kernel_json(result)
    assert isinstance(result, IorResult)
    from sim.results.run_json import format_run_json

    return format_run_json(result)


def print_tables(result: Result, *, getstripe: bool) -> bool:
    """Print what the workload has to tell; return whether more may follow on standard output.

    It may not where that is JSON or CSV, as an IOR command can ask for.
    """
    if isinstance(result, KernelResult):
        from sim.results.kernel_text import format_kernel, format_kernel_layouts

        click.echo(format_kernel(result))
        if getstripe:
            click.echo(format_kernel_layouts(result))
        return True
    assert isinstance(result, IorResult)
    return _print_ior(result, getstripe=getstripe)


def _simulate(scenario: Scenario) -> Result:
    from sim.run.simulate import simulate

    with ProgressBar() as progress:
        return simulate(scenario, progress=progress)


def check_files(workload: Workload) -> None:
    """Raise InputError if a file that an IOR command is to write cannot be written."""
    if workload.ior is not None:
        for path, option in files_of(parse_arguments(workload.ior)):
            check_writable(path, option)


def files_of(command: IorCommand) -> list[tuple[str, str]]:
    """Return the files that a command writes, each with the option that names it."""
    found = [(command.summary_file, _SUMMARY)]
    found += [(test.rank_details_file, _RANKS) for test in command.tests]
    return [(path, option) for path, option in found if path is not None]


def write_files(result: Result) -> None:
    """Write the files that an IOR command names."""
    if not isinstance(result, IorResult):
        return
    command = result.command
    if command.summary_file is not None:
        text = _FORMATS[command.summary_format](ior_report(result))
        write_whole(command.summary_file, text, _SUMMARY)
    details: dict[str, str] = {}
    for outcome in result.tests:
        path = outcome.test.rank_details_file
        timed = [record for record in outcome.records if record.access is not Access.WRITE_CHECK]
        if path is not None:
            details.setdefault(path, f"{RANK_TITLES}\n")
            details[path] += "".join(rank_lines(record) for record in timed)
    for path, text in details.items():
        write_whole(path, text, _RANKS)


def _print_ior(result: IorResult, *, getstripe: bool) -> bool:
    from sim.results.ior_mpiio import ior_mpiio_text
    from sim.results.run_text import format_layouts

    command = result.command
    mixed = command.summary_format == "default" or command.summary_file is not None
    if command.summary_file is None:
        click.echo(_FORMATS[command.summary_format](ior_report(result)), nl=mixed)
    if printed := ior_mpiio_text(result):
        click.echo(printed, err=not mixed)
    if getstripe:
        click.echo(format_layouts(result), err=not mixed)
    return mixed
