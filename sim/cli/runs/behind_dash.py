"""``xc40io ior`` and ``mdtest``: the command line of another program, behind a double dash."""

from __future__ import annotations

from typing import Any

import click

from xc40io.cli import options
from xc40io.cli.job_options import describe, described
from xc40io.cli.options import Keep, View, Whole
from xc40io.cli.runs.what_ifs import WhatIfs, run_or_compare, what_if_options
from xc40io.config.asked_workload import Workload

_PROGRAMS = {"ior": ("IOR", "-a POSIX -b 8m -t 1m"), "mdtest": ("mdtest", "-n 1000 -F -u")}
"""What a person calls the program of each command, and an example of its options."""


class _BehindDash(click.Command):
    """A command that knows where a lost ``--`` belongs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command, or say that the double dash is missing."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in args:
                raise
            program, example = _PROGRAMS[str(self.name)]
            raise click.UsageError(
                f"{error.option_name} is not an option of xc40io {self.name}; {program}'s own "
                f"options go after a double dash, as in: xc40io {self.name} --nodes 4 -- {example}",
                ctx,
            ) from error


_IOR_HELP = """\
Run an IOR command line on a simulated machine and print IOR's answer.

Everything after the double dash goes to IOR as typed: the options of IOR 3.x and 4.x, or -f with
one of IOR's scripts.

\b
  xc40io ior --nodes 64 --stripe-count 8 -- -a POSIX -w -r -b 8m -t 8m
  xc40io ior --nodes 16 -- -f tests.ior
"""


@click.command(cls=_BehindDash, help=_IOR_HELP)
@described
@click.option(
    "--io-threads",
    type=Whole(min=1),
    default=1,
    show_default=True,
    help="Threads of each rank that its reads and writes are dealt to.",
)
@options.changes
@what_if_options
@options.output
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- IOR ARGUMENTS]")
def ior(
    *,
    io_threads: int,
    assignments: tuple[str, ...],
    asked: WhatIfs,
    view: View,
    keep: Keep,
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run the command with the options as click has read them."""
    scenario = describe(Workload(ior=arguments), assignments, job, io_threads=io_threads)
    run_or_compare(scenario, asked, view, keep)


_MDTEST_HELP = """\
Run an mdtest command line on a simulated machine and print mdtest's answer.

Everything after the double dash goes to mdtest as typed: the options of mdtest 3.x and 4.x. Files
and directories are created, looked at, read and removed, and counted per second.

\b
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -u
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -w 3901 -e 3901 -N 1 -i 3
  xc40io mdtest --nodes 64 --set lustre.mds.mdts=4 --mdt-count 4 -- -I 100 -z 1 -b 4 -L
"""


@click.command(cls=_BehindDash, help=_MDTEST_HELP)
@described
@options.changes
@what_if_options
@options.output
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- MDTEST ARGUMENTS]")
def mdtest(
    *,
    assignments: tuple[str, ...],
    asked: WhatIfs,
    view: View,
    keep: Keep,
    arguments: tuple[str, ...],
    **job: Any,
) -> None:
    """Run the command with the options as click has read them."""
    scenario = describe(Workload(mdtest=arguments), assignments, job)
    run_or_compare(scenario, asked, view, keep)
