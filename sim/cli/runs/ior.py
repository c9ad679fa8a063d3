"""``xc40io ior``: an IOR command line on a simulated machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.job import describe, described
from sim.cli.options import Whole
from sim.cli.runs.behind_dash import BehindDash
from sim.cli.what_if import WhatIfs, compared, what_if_options

if TYPE_CHECKING:
    from sim.cli.options import Keep, View


_HELP = """\
Run an IOR command line on a simulated machine and print IOR's answer.

Everything after the double dash goes to IOR as typed: the options of IOR 3.x and 4.x, or -f with
one of IOR's scripts.

\b
  xc40io ior --nodes 64 --stripe-count 8 -- -a POSIX -w -r -b 8m -t 8m
  xc40io ior --nodes 16 -- -f tests.ior
"""


@click.command(cls=BehindDash, help=_HELP, short_help="Run an IOR command line.")
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
    from sim.cli.runs.running import run_and_print
    from sim.config.asked_workload import Workload

    scenario = describe(Workload(ior=arguments), assignments, job, io_threads=io_threads)
    if not compared(scenario, asked, view, keep):
        run_and_print(scenario, view, keep)
