"""``xc40io measured``: outputs of benchmarks and of Lustre as a file of claims."""

from __future__ import annotations

import click

from xc40io.cli.options import Whole
from xc40io.config.machine import load_machine
from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files

_HELP = """\
Read what was measured, and print it as a file of claims.

FILE is what IOR, mdtest, h5bench, obdfilter-survey, OSU's or Intel's MPI benchmarks, lfs getstripe
or lctl get_param have printed, a Darshan log, or a folder of IO500. Several outputs of one command
are repetitions of one measurement. What is read and cannot be heeded is said.

\b
  xc40io measured run1.out run2.out > ours.yaml
  xc40io measured --machine mine.yaml ior.out > ours.yaml
  xc40io validate --claims ours.yaml
"""


@click.command(help=_HELP, short_help="Turn outputs of benchmarks into a file of claims.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--machine",
    metavar="MACHINE",
    help="Where it was measured: a name, or a YAML file.  [default: mine.yaml, to be replaced]",
)
@click.option("--nodes", type=Whole(min=1), help="Nodes of the runs that do not say how many.")
@click.option("--ppn", type=Whole(min=1), help="Ranks on each node, where an output does not say.")
def measured(
    *, files: tuple[str, ...], machine: str | None, nodes: int | None, ppn: int | None
) -> None:
    """Print the claims, and what could not be heeded."""
    if machine is not None:
        load_machine(machine)
    text, unheeded = claims_text(read_files(files), Asked(machine, nodes, ppn))
    click.echo(text, nl=False)
    for sentence in unheeded:
        click.echo(f"xc40io: not heeded: {sentence}", err=True)
