"""Options that several commands share, and what they come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import click

from xc40io.cli.exports import EXPORTS, export_options, exports_of, needs_recording
from xc40io.cli.rare import Rare
from xc40io.cli.written import FILE

_MOST_DIGITS = 18  # fits 64 bits
_DIGITS = re.compile(r"\s*[+-]?[0-9]+\s*")
_COUNTED = (1 << 31) - 1

MOST_PROCESSES = 1024
MOST_SEEDS = 1000
"""Repetitions, each of which runs everything once more."""

MOST_RUNS = 100_000
"""Runs of a study: some weeks of them."""


class Whole(click.IntRange):
    """A whole number in the digits 0 to 9, within limits if there are any.

    Python itself reads digits of other scripts, and ``1_0``; people who typed these meant something
    else. ``most`` is a limit that help does not show: nobody comes near it but by a slip.
    """

    def __init__(self, *, most: int = _COUNTED, **limits: Any) -> None:
        super().__init__(**limits)
        self._most = most if self.max is None else int(self.max)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that was typed."""
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"{_shown(value)} is not a whole number{self._limits()}", param, ctx)
        if isinstance(value, str) and (
            len(value.strip()) > _MOST_DIGITS or (self.max is None and int(value) > self._most)
        ):
            right = f"right would be at most {self._most:,}"
            self.fail(f"{_shown(value)} is too large; {right}", param, ctx)
        number: Any = value
        return int(super().convert(number, param, ctx))

    def _limits(self) -> str:
        limits = self._describe_range()
        return f" in the range {limits}" if limits else ""

    def _describe_range(self) -> str:
        """Return the limits as help shows them; nothing where there are none."""
        return "" if self.min is None and self.max is None else super()._describe_range()


JOBS = click.option(
    "--jobs", type=Whole(min=1, most=MOST_PROCESSES), help="Processes.  [default: one a processor]"
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


COMPLETED = click.option(
    "--completed",
    is_flag=True,
    help="Leave out jobs of the table that failed, timed out, were cancelled or still run.",
)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 80 else f"{text[:80]!r}... ({len(text):,} characters)"


class View(NamedTuple):
    """What is printed of a result: the options that choose it."""

    as_json: bool = False  # everything, as one JSON document, in place of text
    getstripe: bool = False
    lustre_stats: bool = False
    mpiio_stats: bool = False
    explain: bool = False  # of a replay: how the calls were reconstructed
    file_stats: bool = False  # as a recording tells
    exact: bool = False  # without how sure figures are
    verbose: bool = False  # with the busiest stations and what ranks waited for


class Keep(NamedTuple):
    """Where a result goes: the options that choose it."""

    save: str | None
    record: bool
    exports: Mapping[str, str]  # paths of the other forms, by name (xc40io.cli.exports)
    file_stats: bool = False  # whether what is printed tells of files, as only a recording can

    @property
    def recorded(self) -> bool:
        """Whether the run is to be recorded."""
        return self.record or self.file_stats or needs_recording(self.exports)


changes = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a value of the machine, as in lustre.osts=112. May be repeated.",
)

recorded = click.option(
    "--recorded",
    multiple=True,
    metavar="KEY=VALUE",
    help="What you know of the recorded run and its Darshan log does not say: machine, nodes, ppn, "
    "striping.count, striping.size, striping.offset, hints, or ost.N.rate and oss.N.rate, of an "
    "OST or OSS that was slow: a rate, or 'fitted' to the log. May be repeated.",
)
"""The facts of :mod:`xc40io.workloads.darshan.facts`, for each command that takes a log."""


every = click.option(
    "--every",
    metavar="TIME",
    help="How often the job writes so, as in '20 min': prints which share of its time that is, its "
    "node-hours a day, and what the advice saves of them.",
)

stand_in = click.option(
    "--as",
    "stand_in",
    metavar="'PROGRAM OPTIONS'",
    help="What the program of a job script does that is not known here, as in 'ior -a MPIIO -c -w "
    "-b 64m -t 64m' or 'kernel vpic-io'; nodes, ranks, stripes and hints are the script's.",
)


exact_option = click.option(
    "--exact",
    is_flag=True,
    help="Leave out how far real runs may be from what was simulated.",
)
TABLES = (".csv", ".parquet")
"""What the names of trace tables end in."""

_SHOWN = (
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Also print the busiest stations, and what the ranks waited for.",
    ),
    JSON,
    click.option(
        "--getstripe", cls=Rare, is_flag=True, help="Also print the striping of the files."
    ),
    exact_option,
    click.option(
        "--lustre-stats", cls=Rare, is_flag=True, help="Also print what locks and page caches did."
    ),
    click.option(
        "--file-stats",
        cls=Rare,
        is_flag=True,
        help="Also print how much of each file was read and written, and how fast.",
    ),
    click.option(
        "--mpiio-stats",
        cls=Rare,
        is_flag=True,
        help="Also print MPI-IO's hints, aggregators, access counts and times, as MPICH_MPIIO_"
        "HINTS_DISPLAY, _AGGREGATOR_PLACEMENT_DISPLAY, _STATS and _TIMERS do.",
    ),
    click.option(
        "--save",
        type=FILE,
        metavar="FILE",
        help="Also keep the result; xc40io show prints it again.",
    ),
    click.option(
        "--record",
        cls=Rare,
        is_flag=True,
        help="Record every call, RPC, lock and wait: tells the critical path, is kept by --save.",
    ),
    export_options,
)

NAMES = frozenset(
    (
        *("json", "getstripe", "lustre_stats", "file_stats", "mpiio_stats"),
        *("exact", "save", "record", "verbose"),
    )
).union(export.name for export in EXPORTS)
"""Names of the options that say what becomes of a result."""


def output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what becomes of a result.

    The command gets them as ``view``, a :class:`View`, and ``keep``, a :class:`Keep`.
    """

    @wraps(command)
    def viewed(
        *,
        as_json: bool,
        getstripe: bool,
        lustre_stats: bool,
        file_stats: bool,
        mpiio_stats: bool,
        exact: bool,
        verbose: bool,
        save: str | None,
        record: bool,
        **others: Any,
    ) -> Any:
        view = View(
            as_json,
            getstripe,
            lustre_stats,
            mpiio_stats,
            file_stats=file_stats,
            exact=exact,
            verbose=verbose,
        )
        keep = Keep(save, record, exports_of(others), file_stats)
        return command(view=view, keep=keep, **others)

    decorated: Callable[..., Any] = viewed
    for option in reversed(_SHOWN):
        decorated = option(decorated)
    return decorated
