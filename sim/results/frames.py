"""A result as tables of pandas and as a dataset of xarray.

What the columns are called, in which units they are and what they mean stands here once, for the
tables and for the page that describes them (docs/reference/result-tables.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xc40io.config.extras import need
from xc40io.engine.types import Integers
from xc40io.findings.trigger import FINDING
from xc40io.findings.triggers import triggers
from xc40io.machine.filesystem import FileSet
from xc40io.plane.causes import DOING, FINEST, Cause
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.run.station_table import StationTable
from xc40io.telling.answer import Column, Columns, Table, To, Unit, behind
from xc40io.telling.data import frame
from xc40io.telling.units import (
    BYTES,
    CLOCK,
    MEASURE,
    NUMBER,
    PER_SECOND,
    RATE,
    ROWS,
    SECONDS,
    SHARE,
    WORDS,
)
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness, real_columns
from xc40io.workloads.job_results import Row

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_KINDS = tuple(kind.name.lower() for kind in StationKind)


def wait_column(cause: Cause) -> str:
    """Return the name of the column of a cause: ``wait_ost``."""
    return f"wait_{cause.name.lower()}"


def at_column(cause: Cause) -> str:
    """Return the name of the column of an activity of ranks: ``at_flush``."""
    return f"at_{cause.name.lower()}"


def _ranks(result: Result) -> dict[str, Any]:
    ranks = np.arange(len(result.waits))
    waits = {wait_column(cause): result.waits[:, cause].copy() for cause in FINEST}
    doing = {at_column(cause): result.doing[:, cause].copy() for cause in DOING}
    node = result.allocation.nodes[ranks // result.scenario.ppn]
    return {"rank": ranks, "node": node, **waits, **doing}


def _figures(result: Result) -> dict[str, Any]:
    found = [
        (number, name, float(figure.value), figure.unit)
        for number, row in enumerate(result.rows)
        for name, figure in row.figures.items()
    ]
    columns = zip(*found, strict=True) if found else ((), (), (), ())
    return dict(zip(("row", "figure", "value", "unit"), map(list, columns), strict=True))


def _files(result: Result) -> dict[str, Any]:
    sets = result.files.values()
    each = [len(files.osts) for files in sets]
    return {
        "file": list(_file_names(result.files)),
        "stripe_count": np.repeat([files.stripe_count for files in sets], each),
        "stripe_size": np.repeat([files.stripe_size for files in sets], each),
    }


def _objects(result: Result) -> dict[str, Any]:
    sets = result.files.values()
    width = chain.from_iterable([files.osts.shape[1]] * len(files.osts) for files in sets)
    widths = np.array(list(width), np.int64)
    names = np.array(list(_file_names(result.files)), object)
    return {
        "file": np.repeat(names, widths),
        "object": _joined([np.tile(np.arange(f.osts.shape[1]), len(f.osts)) for f in sets]),
        "ost": _joined([files.osts.ravel() for files in sets]),
    }


def _file_names(files: Mapping[str, FileSet]) -> Iterator[str]:
    """Yield the name of each file."""
    for name, alike in files.items():
        yield from alike.names(name)


def _joined(parts: list[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _stations(result: Result) -> dict[str, Any]:
    table = result.station_table
    served = np.flatnonzero(table.requests)
    names = ("bytes", "requests", "busy", "first", "last", "waiting")
    values: dict[str, Any] = {name: getattr(table, name)[served] for name in names}
    span = values["last"] - values["first"]
    share = np.divide(values["busy"], span, out=np.zeros(len(served)), where=span > 0.0)
    return values | {
        "station": [table.names[position] for position in served.tolist()],
        "kind": [_KINDS[kind] for kind in table.kind[served].tolist()],
        "utilisation": share,
    }


def _bins(result: Result) -> dict[str, Any]:
    table = result.station_table
    positions, rows = _watched(table)
    moved, busy = table.bin_bytes[rows], table.bin_busy[rows]
    station, number = np.nonzero((moved > 0.0) | (busy > 0.0))
    names = np.array([table.names[position] for position in positions.tolist()], object)
    return {
        "station": names[station],
        "start": number * table.bin_width,
        "end": (number + 1) * table.bin_width,
        "bytes": moved[station, number],
        "busy": busy[station, number],
    }


def _watched(table: StationTable) -> tuple[Integers, Integers]:
    """Return where watched stations stand, and their rows in the time bins."""
    positions = np.flatnonzero(table.row >= 0)
    return positions, table.row[positions]


_WATCHED = "LNET routers, OSSs, OSTs, MDSs and the disks of service nodes"
_STATION = Column(
    "station", WORDS, help="What reports call it: `OST 3`, `LNET router 5 to servers`."
)
_SERVED = Column("bytes", BYTES, help="What it served.")
_BUSY = Column("busy", SECONDS, help="Seconds of service.")
_VALUE = Unit("see unit", float)

RANKS = (
    Column("rank", NUMBER, help="Its number, from 0."),
    Column("node", NUMBER, help="The compute node of the machine on which it ran."),
    *(
        Column(wait_column(cause), SECONDS, help=f"What it waited for {cause.name}.")
        for cause in FINEST
    ),
    *(
        Column(at_column(cause), SECONDS, help=f"What it waited while doing {cause.name}.")
        for cause in DOING
    ),
)

PHASES: Columns = (
    Column(
        "part",
        NUMBER,
        head="test",
        to=To.PANDAS,
        help="The part of the workload, from 0: the test of an IOR command.",
    ),
    Column("step", WORDS, help="As the workload calls it; of IOR the repetition."),
    Column("phase", WORDS, help="What was done: `write`."),
    Column("start", CLOCK, help="When the first rank began, since the simulation did."),
    Column("end", CLOCK, to=To.DATA, help="When the last rank ended."),
    Column("seconds", CLOCK, head="time", help="From start to end."),
    Column("longest", CLOCK, help="Of the rank that took longest."),
    Column(
        "bytes",
        BYTES,
        head="data",
        blank=0,
        help="What all ranks read or wrote; 0 where they moved nothing.",
    ),
    Column(
        "bandwidth", RATE, head="rate", help="Bytes over seconds; NaN where there are no bytes."
    ),
    Column(
        "operations",
        PER_SECOND,
        optional=True,
        blank=0,
        help="Calls a second; 0 where the workload does not count them.",
    ),
    Column("figures", MEASURE, spread=True, to=To.PEOPLE | To.JSON, help="What else was measured."),
)
"""Of a :class:`~xc40io.workloads.job_results.Row`, for all forms in which a run is told."""


class _Phase(NamedTuple):
    """A row of a run, and where real ones would lie."""

    row: Row
    real: Interval | None


def _phases(result: Result) -> list[_Phase]:
    sureness = Sureness(result.scenario, result.traits)
    return [_Phase(row, sureness.interval(row.phase, row.bandwidth)) for row in result.rows]


_OF_PHASES = (
    *behind(attrgetter("row"), PHASES),
    *real_columns(attrgetter("real"), RATE),
)

_FIGURES = (
    Column("row", NUMBER, help="Which row of `phases`, from 0."),
    Column("figure", WORDS, help="What the workload calls it."),
    Column("value", _VALUE, help="The number."),
    Column("unit", WORDS, help="`bytes`, `seconds`, `bytes/s`, or nothing for a plain number."),
)

_FILES = (
    Column("file", WORDS, help="Its name."),
    Column("stripe_count", NUMBER, help="Its objects."),
    Column("stripe_size", BYTES, help="Bytes of a stripe."),
)

_OBJECTS = (
    Column("file", WORDS, help="As in `files`."),
    Column("object", NUMBER, help="Its place in the file's layout, from 0."),
    Column("ost", NUMBER, help="The OST or the service node that it lies on; 0 on a local SSD."),
)

STATIONS: Columns = (
    _STATION,
    Column("kind", WORDS, help=f"What it is: {', '.join(f'`{kind}`' for kind in _KINDS)}."),
    _SERVED,
    Column("requests", NUMBER, help="How many it served."),
    _BUSY,
    Column("first", SECONDS, help="When its first service began."),
    Column("last", SECONDS, help="When its last service ended."),
    Column("waiting", SECONDS, help="What messages and requests queued there, summed."),
    Column("utilisation", SHARE, help="The share of first to last in which it was busy."),
)

_BINS = (
    _STATION,
    Column("start", SECONDS, help="When the bin begins."),
    Column("end", SECONDS, help="When it ends."),
    Column("bytes", BYTES, help="What the station served; counted where the service begins."),
    _BUSY,
)

TABLES = (
    Column("findings", ROWS, triggers, inner=FINDING, help="a finding"),
    Column("ranks", ROWS, _ranks, inner=RANKS, help="a rank"),
    Column(
        "phases",
        ROWS,
        lambda result: _phases(result),
        inner=_OF_PHASES,
        help="a phase of a step: a row of what the run printed",
    ),
    Column("figures", ROWS, _figures, inner=_FIGURES, help="one more number of a phase"),
    Column("files", ROWS, _files, inner=_FILES, help="a file that the job made"),
    Column("objects", ROWS, _objects, inner=_OBJECTS, help="an object of a file"),
    Column("stations", ROWS, _stations, inner=STATIONS, help="a station that served anything"),
    Column(
        "bins",
        ROWS,
        _bins,
        inner=_BINS,
        help=f"a time bin in which a watched station did anything. Watched are {_WATCHED}",
    ),
)
"""The tables of :func:`to_pandas` with their columns, and what a row of each is."""

VARIABLES = (
    Column("bytes(station, time)", BYTES, help="What a watched station served in a time bin."),
    Column("busy(station, time)", SECONDS, help="Its seconds of service in the bin."),
    Column("wait(rank, cause)", SECONDS, help="What a rank waited for."),
    Column("at(rank, doing)", SECONDS, help="What it was at meanwhile."),
    Column("station", WORDS, help=f"Names of the watched stations: {_WATCHED}."),
    Column("time", SECONDS, help="When a time bin begins; `width` is its attribute."),
    Column("rank", NUMBER, help="From 0."),
    Column("cause", WORDS, help="As in the names of the columns `wait_CAUSE` of `ranks`."),
    Column("doing", WORDS, help="As in the names of the columns `at_CAUSE` of `ranks`."),
)
"""The variables and coordinates of :func:`to_xarray`."""


def to_pandas(result: Result) -> dict[str, pd.DataFrame]:
    """Return the tables of a result, by the names of :data:`TABLES`."""
    return {each.name: frame(Table(each.inner, partial(each.value, result))) for each in TABLES}


def to_xarray(result: Result) -> xr.Dataset:
    """Return bytes and busy seconds over time, and ranks' seconds of waiting: :data:`VARIABLES`.

    Raises
    ------
    FailureError
        If xarray is not installed.
    """
    need("tables", "to_xarray")
    import xarray as xr

    table = result.station_table
    positions, rows = _watched(table)
    time = np.arange(table.bin_busy.shape[1]) * table.bin_width
    seconds = {"units": "s"}
    return xr.Dataset(
        {
            "bytes": (("station", "time"), table.bin_bytes[rows], {"units": "bytes"}),
            "busy": (("station", "time"), table.bin_busy[rows], seconds),
            "wait": (("rank", "cause"), result.waits[:, FINEST], seconds),
            "at": (("rank", "doing"), result.doing, seconds),
        },
        {
            "station": [table.names[position] for position in positions.tolist()],
            "time": ("time", time, seconds | {"width": table.bin_width}),
            "rank": np.arange(len(result.waits)),
            "cause": [cause.name.lower() for cause in FINEST],
            "doing": [cause.name.lower() for cause in DOING],
        },
    )
