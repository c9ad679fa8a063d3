"""``xc40io sweep``: a scenario or an IOR command for all combinations of some values."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from xc40io.cli import options
from xc40io.cli.face import typed_command
from xc40io.cli.job_options import describe, described
from xc40io.cli.job_script import refuse_stand_in, scenario_of_job_script, with_typed
from xc40io.cli.options import MOST_RUNS, Whole
from xc40io.cli.study_options import Findings, Study, findings_of, study_options
from xc40io.cli.typed_workload import workload_of_words
from xc40io.cli.written import FOLDER
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, load_scenario
from xc40io.studies.axes import Axis, parse_axes
from xc40io.studies.sweep.sweep import sweep as run_all
from xc40io.studies.sweep.sweep_plot import check_plot
from xc40io.studies.sweep.sweep_tables import check_out, write_sweep
from xc40io.telling.data import json_text
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_script.files import is_job_script

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_OF_A_SCENARIO = {"seed", "hints", "environment"}
_HELP = """\
Run a scenario, a job script, a command line of IOR or mdtest, or a kernel for all combinations of
some values.

\b
  xc40io sweep theta-headline --over striping.count=8,16,...,56 --repeat 5
  xc40io sweep --nodes 64 --over striping.count=1,8,48 --over striping.size=1m..32m \\
      --plot stripes.svg --out stripes -- -a POSIX -w -r -C -e -b 8m -t 8m
  xc40io sweep --ppn 8 --over nodes=1,4,16,64 -- mdtest -n 100 -F -u
  xc40io sweep --over kernel.collective=true,false --over ppn=8:32:8 -- kernel vpic-io --steps 2

PATH is a field of the scenario (nodes, ppn, striping.count, placement, environment.NAME), a value
of the machine (machine.lnet.routers), an option of the IOR command by its letter (ior.b), one of
the mdtest command (mdtest.n), or one of the kernel (kernel.NAME).

\b
VALUES are
  1,8,16           a list
  1m..32m          doubling: 1m, 2m, 4m, 8m, 16m, 32m
  8:56:16          in steps: 8, 24, 40, 56
  1m,2m,...,32m    going on as it began
  ["a,b", c]       a list in YAML

Every run that has finished is kept at once: after an interrupt, or with one more value, the same
command does only what is missing.
"""


@click.command(help=_HELP)
@described
@click.option("--kernel", metavar="NAME|FILE", help="As -- kernel NAME behind all options.")
@click.option(
    "--over",
    multiple=True,
    metavar="PATH=VALUES",
    help="A field and the values that it takes. May be repeated: all combinations are run.",
)
@click.option(
    "--sample",
    type=Whole(min=1, most=MOST_RUNS),
    metavar="N",
    help="N points of a Latin hypercube, drawn by the seed, in place of all combinations.",
)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    help="Also write data.nc (xarray), runs.parquet (pandas), sweep.json.",
)
@study_options(repeat="Seeds to run each with: --seed and those that follow.", store=True)
@options.changes
@options.stand_in
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE|-- COMMAND]")
@click.pass_context
def sweep(
    context: click.Context,
    /,
    *,
    study: Study,
    kernel: str | None,
    over: tuple[str, ...],
    sample: int | None,
    out: str | None,
    assignments: tuple[str, ...],
    stand_in: str | None,
    arguments: tuple[str, ...],
    **job: Any,
) -> Findings:
    """Run all and print the table."""
    axes = parse_axes(over)
    scenario = _scenario(context, kernel, assignments, job, arguments, stand_in)
    return swept(scenario, axes, study, sample=sample, out=out)


def swept(
    scenario: Scenario,
    axes: tuple[Axis, ...],
    study: Study,
    *,
    sample: int | None = None,
    out: str | None = None,
) -> Findings:
    """Run a scenario for all combinations of values, or a sample of them.

    Raises
    ------
    InputError
        If that cannot be, or what is asked for cannot be written: before anything is run.
    """
    from xc40io.studies.sweep.sweep_answer import sweep_answer, title_of

    with suppress(InputError):  # its files are known then; what is wrong with it, each point says
        workload_of(scenario.workload)
    study.check()
    if study.plot is not None:
        check_plot(axes, sampled=sample is not None)
    if out is not None:
        check_out(out)
    made = study.run_kept(
        lambda tell: run_all(
            scenario,
            axes,
            repeat=study.repeat,
            sample=sample,
            progress=tell,
            **study.where,
        )
    )
    done = replace(made, exact=study.exact)
    title = title_of(scenario, [axis.path for axis in axes])
    told = findings_of(sweep_answer(title, done))

    def files() -> Iterable[Path]:

        return write_sweep(done, out, json_text(told.document())) if out else ()

    return told._replace(files=files, page=lambda: sweep_answer(title, done, typed_command()))


def _scenario(
    context: click.Context,
    kernel: str | None,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    arguments: tuple[str, ...],
    stand_in: str | None,
) -> Scenario:
    """Return what is to be varied: a scenario by name, an IOR command line or a kernel."""
    if kernel is not None:
        if arguments:
            raise InputError(f"--kernel {kernel} and {arguments[0]}: right would be one of them")
        return describe(Workload(kernel={"name": kernel}), assignments, job)
    workload = workload_of_words(arguments)
    if workload is not None:
        refuse_stand_in(stand_in, "a command line")
        return describe(workload, assignments, job)
    name, *rest = arguments
    if rest:
        raise InputError(
            f"sweep {name} {' '.join(rest)}: right would be one scenario, or a command line "
            "behind a double dash"
        )
    if is_job_script(name):
        return scenario_of_job_script(context, name, assignments, job, stand_in, as_it_is=False)
    refuse_stand_in(stand_in, name)
    right = "--over, --set, --seed, --hints or --env"
    scenario = with_typed(
        context, name, assignments, job, right=right, load=load_scenario, beside=_OF_A_SCENARIO
    )
    assert isinstance(scenario, Scenario)  # of one job, as load_scenario has it
    return scenario
