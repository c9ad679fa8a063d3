"""``xc40io kernel``: a workload that is no IOR command, on a simulated machine."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import click

from xc40io.archive.whole_files import write_whole
from xc40io.cli import options
from xc40io.cli.job_options import described
from xc40io.cli.kernel_options import kernel_document, kernel_options
from xc40io.cli.rare import with_help_all
from xc40io.cli.runs.what_ifs import NAMES as WHAT_IFS
from xc40io.cli.runs.what_ifs import running
from xc40io.cli.written import FILE
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.job_form import JOB
from xc40io.results.fit_text import format_fit, format_skeleton
from xc40io.workloads.known_kernels import KERNELS

_FIT_HELP = """\
Propose the skeleton that resembles a job: a kernel to publish in place of an application.

LOG is a Darshan log (.darshan) or a table of calls (.csv, .parquet). Pattern, calls and steps
are found out; the sizes that ranks read and write are fitted by a normal, an exponential, a
uniform and a lognormal distribution, by maximum likelihood, and the best is taken. What was
found, and how good it is, stands above the skeleton as comments.

\b
  xc40io kernel fit job.darshan -o like-job.yaml
  xc40io kernel ./like-job.yaml --nodes 64
"""


@click.command(
    "fit", help=_FIT_HELP, short_help="Propose the skeleton that resembles a log or a trace."
)
@click.argument("log", metavar="LOG", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    metavar="FILE.yaml",
    type=FILE,
    help="Write the skeleton there; it is printed unless this is given.",
)
@options.recorded
def fit(*, log: str, output: str | None, recorded: tuple[str, ...]) -> None:
    """Print the skeleton that resembles a job, or write it."""
    need("fit", "kernel fit")
    from xc40io.workloads.fitting.proposal import kernel_name, propose
    from xc40io.workloads.replay.kernel import open_trace

    if output is not None and not output.endswith((".yaml", ".yml")):
        raise InputError(f"--output {output}: right would be a name that ends in .yaml")
    trace = open_trace(log, recorded=recorded)
    for warning in trace.warnings:
        click.echo(f"warning: {warning}", err=True)
    proposal = propose(trace, kernel_name(log))
    if output is None:
        click.echo(format_skeleton(proposal), nl=False)
        return
    write_whole(output, format_skeleton(proposal), "--output")
    click.echo(format_fit(proposal), nl=False)
    click.echo(f"\nWritten to {output}.")


_RESERVED = {*JOB, *options.NAMES, *WHAT_IFS, "set", "help", "env"}
"""Names of options that all kernels have, and so of none that a skeleton may have."""

_HELP = """\
Run a kernel on a simulated machine and print its table.

A kernel does the I/O of a library or of an application; each has options of its own. A skeleton, a
short YAML file of phases, makes a kernel of yours.

\b
  xc40io kernel adios --nodes 64 --ppn 2 --num-aggregators 48 --no-threading
  xc40io kernel adios --help
  xc40io kernel ./mine.yaml --nodes 16
"""


class _Kernels(click.Group):
    """The kernels as subcommands: each is imported when somebody asks for it by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(KERNELS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name == fit.name:
            return fit
        return _command(cmd_name) if cmd_name in KERNELS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] != fit.name and args[0] not in KERNELS:
            raise click.UsageError(
                f"{args[0]!r} is not a kernel; there are {', '.join(sorted(KERNELS))}; a skeleton "
                "of your own is given by its path, which ends in .yaml",
                ctx,
            )
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Kernels"):
            formatter.write_dl([(name, KERNELS[name].summary) for name in sorted(KERNELS)])
        with formatter.section("Commands"):
            formatter.write_dl([(str(fit.name), fit.get_short_help_str(80))])


@click.group(
    cls=_Kernels,
    help=_HELP,
    short_help="Run a kernel: HDF5, ADIOS, VPIC-IO... or a skeleton of your own.",
    invoke_without_command=True,
    subcommand_metavar="KERNEL [OPTIONS]",
)
@click.pass_context
def kernel(context: click.Context) -> None:
    """Show what kernels there are, unless one is asked for."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _command(name: str) -> click.Command:
    """Make the command of a kernel: the options of a job, and those of the kernel."""
    entry = KERNELS[name]
    model, summary = entry.load(), entry.summary

    def make(_: object, **values: Any) -> Workload:
        return Workload(kernel=kernel_document(name, values))

    for field in _RESERVED & model.model_fields.keys():
        raise click.UsageError(
            f"{name}: parameters.{field}: --{field} is an option of every kernel; right would be "
            "another name"
        )
    decorated = described(kernel_options(model)(running(make)))
    text = f"{summary}\n\n{cleandoc(model.__doc__ or '')}"
    return with_help_all(click.command(name, help=text, short_help=summary)(decorated))
