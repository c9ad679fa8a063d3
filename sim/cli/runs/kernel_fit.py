"""``xc40io kernel fit``: the skeleton that resembles what a job did."""

from __future__ import annotations

import click

from sim.cli import options

_HELP = """\
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
    "fit", help=_HELP, short_help="Propose the skeleton that resembles a log or a trace."
)
@click.argument("log", metavar="LOG", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    metavar="FILE.yaml",
    type=click.Path(dir_okay=False),
    help="Write the skeleton there; it is printed unless this is given.",
)
@options.recorded
def fit(*, log: str, output: str | None, recorded: tuple[str, ...]) -> None:
    """Print the skeleton that resembles a job, or write it."""
    from sim.archive.whole_files import check_writable, write_whole
    from sim.config.errors import InputError
    from sim.results.fit_text import format_fit, format_skeleton
    from sim.workloads.fitting.proposal import kernel_name, propose
    from sim.workloads.replay.kernel import open_trace

    if output is not None:
        if not output.endswith((".yaml", ".yml")):
            raise InputError(f"--output {output}: right would be a name that ends in .yaml")
        check_writable(output, "--output")
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
