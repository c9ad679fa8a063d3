"""A sweep as a table of pandas, as a dataset of xarray, and as files of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from xc40io.archive.whole_files import check_writable, make_folder, replacing, write_whole
from xc40io.config.extras import need
from xc40io.config.scenario import Scenario
from xc40io.studies.axes import Axis
from xc40io.studies.sweep.points import Point
from xc40io.studies.variation import varied
from xc40io.telling.answer import Column, Table, Unit
from xc40io.telling.data import frame
from xc40io.telling.units import ANY, NUMBER, RATE, SECONDS, WORDS
from xc40io.trust.sureness import Sureness

if TYPE_CHECKING:
    import xarray as xr

_BYTES, _SHARE, _ITEM_RATE = Unit("bytes", float), Unit("", float), Unit("items/s", float)

_TOTALS = (
    Column("bandwidth", RATE),
    Column("seconds", SECONDS),
    Column("bytes", _BYTES),
    Column("item_rate", _ITEM_RATE, help="Files or directories a second (mdtest)."),
    Column("busy", _SHARE, help="Of the time, 0 to 1."),
    Column("station", WORDS),
    Column("wait", WORDS),
)
"""What is told of a phase of a run."""


_NOTHING = {each.name: "" if each.unit.type is str else None for each in _TOTALS}

_SMALL = np.iinfo(np.int32)

FILES = ("data.nc", "runs.parquet", "sweep.json")
"""What :func:`write_sweep` writes."""


class Swept(Protocol):
    """What the tables are made of; :class:`Sweep` describes it all."""

    @property
    def scenario(self) -> Scenario: ...  # noqa: D102
    @property
    def axes(self) -> tuple[Axis, ...]: ...  # noqa: D102
    @property
    def seeds(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def points(self) -> tuple[Point, ...]: ...  # noqa: D102
    @property
    def sampled(self) -> bool: ...  # noqa: D102
    @property
    def phases(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def exact(self) -> bool: ...  # noqa: D102


def table_of(done: Swept) -> Table:
    """Return a table with a row for each phase of each run, and one for each run that failed.

    A column for each axis, with plain numbers where the values are numbers or sizes (in bytes);
    ``seed``, ``phase``, ``bandwidth`` (bytes/s), ``seconds``, ``bytes``, ``item_rate`` (files or
    directories a second, of mdtest), ``busy`` (0 to 1), ``station``, ``wait``, ``real_low`` and
    ``real_high`` (bytes/s: where nine of ten real runs would lie), and ``failure``, which is empty
    where there is none.
    """
    columns = (
        *(Column(axis.path, ANY) for axis in done.axes),
        *(Column("seed", NUMBER), Column("phase", WORDS)),
        *_TOTALS,
        Column("real_low", RATE),
        Column("real_high", RATE),
        Column("failure", WORDS),
    )
    return Table(columns, lambda: list(_rows(done)))


def _rows(done: Swept) -> Iterator[dict[str, Any]]:
    plain = {axis.path: dict(zip(axis.labels, _plain(axis), strict=True)) for axis in done.axes}
    for point in done.points:
        place = {path: plain[path][str(value)] for path, value in point.values.items()}
        sure = any(point.totals) and not done.exact
        sureness = Sureness(varied(done.scenario, point.values)) if sure else None
        for seed, ended, totals in zip(done.seeds, point.ended, point.totals, strict=True):
            for phase, total in totals.items():
                told = {column.name: column.value(total) for column in _TOTALS}
                real = None if sureness is None else sureness.interval(phase, total.bandwidth)
                bounds = {
                    f"real_{name}": None if real is None else getattr(real, name)
                    for name in ("low", "high")
                }
                yield {**place, "seed": seed, "phase": phase, **told, **bounds, "failure": ""}
            if not totals:
                failure = getattr(ended, "reason", "")
                empty = {**_NOTHING, "real_low": None, "real_high": None}
                yield {**place, "seed": seed, "phase": "", **empty, "failure": failure}


def to_xarray(done: Swept) -> xr.Dataset:
    """Return a dataset: a dimension for each axis, or ``point`` of a sample; ``seed``; ``phase``.

    The variables are the columns of :func:`table_of`. The coordinates are plain numbers where the
    values are numbers or sizes; the attribute ``units`` says which.

    Raises
    ------
    FailureError
        If xarray is not installed.
    """
    xarray = _xarray()
    where, coordinates = _place(done)
    shape = (*where.values(), len(done.seeds))
    inner = (*where, "seed")
    dims = (*inner, "phase")
    variables: dict[str, Any] = {}
    for column in _TOTALS:
        attributes = {"units": column.unit.name} if column.unit.name else {}
        variables[column.name] = (dims, _filled(done, column).reshape(*shape, -1), attributes)
    reasons = [getattr(ended, "reason", "") for point in done.points for ended in point.ended]
    variables["failure"] = (inner, np.array(reasons, str).reshape(shape))
    coordinates |= {"seed": list(done.seeds), "phase": list(done.phases)}
    data: xr.Dataset = xarray.Dataset(variables, coordinates)
    return data


def _xarray() -> Any:
    need("tables", "the data set of a sweep")
    import xarray as xr

    return xr


def _place(done: Swept) -> tuple[dict[str, int], dict[str, Any]]:
    """Return the dimensions of the points with their lengths, and the coordinates."""
    if not done.sampled:
        lengths = {axis.path: len(axis.values) for axis in done.axes}
        return lengths, {axis.path: (axis.path, _plain(axis), _units(axis)) for axis in done.axes}
    coordinates = {}
    for axis in done.axes:
        plain = dict(zip(axis.labels, _plain(axis), strict=True))
        drawn = [plain[str(point.values[axis.path])] for point in done.points]
        coordinates[axis.path] = ("point", drawn, _units(axis))
    return {"point": len(done.points)}, coordinates


def _plain(axis: Axis) -> Sequence[Any]:
    """Return the values of an axis: all numbers, or all texts."""
    return list(axis.labels if axis.numbers is None else axis.numbers.values)


def _units(axis: Axis) -> dict[str, str]:
    return {"units": axis.numbers.unit} if axis.numbers is not None and axis.numbers.unit else {}


def _filled(done: Swept, column: Column) -> np.ndarray[Any, Any]:
    """Return the values of each phase, for each seed of each point."""
    told = [
        totals.get(phase)
        for point in done.points
        for totals in point.totals
        for phase in done.phases
    ]
    values = [_NOTHING[column.name] if total is None else column.value(total) for total in told]
    return np.array(values, column.unit.type)  # None is NaN


def check_out(folder: str | Path) -> None:
    """Make the folder for :func:`write_sweep`.

    Raises
    ------
    FailureError
        If xarray is not installed.
    InputError
        If nothing can be written there.
    """
    _xarray()
    make_folder(folder, "--out")
    for name in FILES:
        check_writable(Path(folder) / name, "--out")


def write_sweep(done: Swept, folder: str | Path, document: str) -> list[Path]:
    """Write ``data.nc``, ``runs.parquet`` and ``sweep.json``, each at once; return their paths.

    `document` is the sweep as JSON; :func:`check_out` has made the folder.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    data, runs, told = (Path(folder) / name for name in FILES)
    with replacing(data, "--out") as draft:
        _storable(to_xarray(done)).to_netcdf(draft, engine="scipy", format="NETCDF3_64BIT")
    with replacing(runs, "--out") as draft:
        frame(table_of(done)).to_parquet(draft, index=False)
    write_whole(told, document, "--out")
    return [data, runs, told]


def _storable(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset as the classic NetCDF holds it: whole numbers have 32 bits there.

    Larger ones become float64, which has all sizes and counts exactly.
    """
    large = [
        name
        for name, values in data.variables.items()
        if values.dtype.kind == "i" and values.size and abs(values.values).max() > _SMALL.max
    ]
    return data.assign_coords({name: data[name].astype(np.float64) for name in large})
