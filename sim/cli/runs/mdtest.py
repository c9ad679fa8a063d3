"""``xc40io mdtest``: an mdtest command line on a simulated machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sim.cli import options
from sim.cli.job import describe, described
from sim.cli.runs.behind_dash import BehindDash
from sim.cli.what_if import WhatIfs, compared, what_if_options

if TYPE_CHECKING:
    from sim.cli.options import Keep, View

_HELP = """\
Run an mdtest command line on a simulated machine and print mdtest's answer.

Everything after the double dash goes to mdtest as typed: the options of mdtest 3.x and 4.x. Files
and directories are created, looked at, read and removed, and counted per second.

\b
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -u
  xc40io mdtest --nodes 16 --ppn 8 -- -n 200 -F -w 3901 -e 3901 -N 1 -i 3
  xc40io mdtest --nodes 64 --set lustre.mds.mdts=4 --mdt-count 4 -- -I 100 -z 1 -b 4 -L
"""


@click.command(cls=BehindDash, help=_HELP, short_help="Run an mdtest command line.")
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
    from sim.cli.runs.running import run_and_print
    from sim.config.asked_workload import Workload

    scenario = describe(Workload(mdtest=arguments), assignments, job)
    if not compared(scenario, asked, view, keep):
        run_and_print(scenario, view, keep)
