"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from sim.cli.exports import EXPORTS, export_options, exports_of
from sim.cli.keep import Keep
from sim.cli.view import View
from sim.config.fault_forms import KINDS

Command = TypeVar("Command", bound=Callable[..., Any])

changes = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a value of the machine, as in lustre.osts=112. May be repeated.",
)

faults = click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="SENTENCE",
    help=f"What happens to a part of the machine, and when: '{KINDS['slow']}', also "
    f"{', '.join(kind for kind in KINDS if kind != 'slow')} (docs/faults.md). May be repeated.",
)

recorded = click.option(
    "--recorded",
    multiple=True,
    metavar="KEY=VALUE",
    help="What you know of the recorded run and its Darshan log does not say: machine, nodes, ppn, "
    "striping.count, striping.size, striping.offset, hints, or ost.N.rate and oss.N.rate, of an "
    "OST or OSS that was slow: a rate, or 'fitted' to the log. May be repeated.",
)
"""The facts of :mod:`sim.workloads.darshan.facts`, for each command that takes a log."""

_SHOWN = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    click.option("--getstripe", is_flag=True, help="Also print the striping of the files."),
    click.option("--lustre-stats", is_flag=True, help="Also print what locks and page caches did."),
    click.option(
        "--file-stats",
        is_flag=True,
        help="Also print how much of each file was read and written, and how fast.",
    ),
    click.option(
        "--mpiio-stats",
        is_flag=True,
        help="Also print MPI-IO's hints, aggregators, access counts and times, as MPICH_MPIIO_"
        "HINTS_DISPLAY, _AGGREGATOR_PLACEMENT_DISPLAY, _STATS and _TIMERS do.",
    ),
    click.option(
        "--save", metavar="FILE", help="Also keep the result; xc40io show prints it again."
    ),
    click.option(
        "--record",
        is_flag=True,
        help="Record every call, RPC, lock and wait: tells the critical path, is kept by --save.",
    ),
    export_options,
)

NAMES = frozenset(
    ("json", "getstripe", "lustre_stats", "file_stats", "mpiio_stats", "save", "record")
).union(export.name for export in EXPORTS)
"""Names of the options that say what becomes of a result."""


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what becomes of a result.

    The command gets them as ``view``, a :class:`~sim.cli.view.View`, and ``keep``, a
    :class:`~sim.cli.keep.Keep`.
    """

    @wraps(command)
    def viewed(
        *,
        as_json: bool,
        getstripe: bool,
        lustre_stats: bool,
        file_stats: bool,
        mpiio_stats: bool,
        save: str | None,
        record: bool,
        **others: Any,
    ) -> Any:
        view = View(as_json, getstripe, lustre_stats, mpiio_stats, file_stats=file_stats)
        keep = Keep(save, record, exports_of(others), file_stats)
        return command(view=view, keep=keep, **others)

    decorated: Callable[..., Any] = viewed
    for option in reversed(_SHOWN):
        decorated = option(decorated)
    return decorated
