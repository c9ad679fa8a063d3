"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

changes = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a value of the machine, as in lustre.osts=112. May be repeated.",
)


def output(command: Command) -> Command:
    """Add the options that choose what a run prints."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    getstripe = click.option(
        "--getstripe", is_flag=True, help="Also print the striping of the files."
    )
    lustre_stats = click.option(
        "--lustre-stats", is_flag=True, help="Also print what locks and page caches did."
    )
    mpiio_stats = click.option(
        "--mpiio-stats",
        is_flag=True,
        help="Also print MPI-IO's hints, aggregators, access counts and times, as MPICH_MPIIO_"
        "HINTS_DISPLAY, _AGGREGATOR_PLACEMENT_DISPLAY, _STATS and _TIMERS do.",
    )
    return as_json(getstripe(lustre_stats(mpiio_stats(command))))
