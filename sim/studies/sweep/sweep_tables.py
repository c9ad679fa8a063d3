"""A sweep as a table of pandas, as a dataset of xarray, and as files of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sim.archive.files import make_folder, replacing, write_whole
from sim.config.errors import FailureError
from sim.studies.axes import Axis
from sim.studies.sweep.phase_totals import PhaseTotal
from sim.studies.sweep.point import Point

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_NUMBERS: Mapping[str, tuple[Callable[[PhaseTotal], float | None], str]] = {
    "bandwidth": (lambda total: total.bandwidth, "bytes/s"),
    "seconds": (lambda total: total.seconds, "s"),
    "bytes": (lambda total: float(total.bytes), "bytes"),
    "busy": (lambda total: total.busy, ""),
}
_WORDS: Mapping[str, Callable[[PhaseTotal], str]] = {
    "station": lambda total: total.station,
    "wait": lambda total: total.wait,
}
_SMALL = np.iinfo(np.int32)

FILES = ("data.nc", "runs.parquet", "sweep.json")
"""What :func:`write_sweep` writes."""


class Swept(Protocol):
    """What the tables are made of; :class:`Sweep` describes it all."""

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


def to_pandas(done: Swept) -> pd.DataFrame:
    """Return a table with a row for each phase of each run, and one for each run that failed.

    A column for each axis, with plain numbers where the values are numbers or sizes (in bytes);
    ``seed``, ``phase``, ``bandwidth`` (bytes/s), ``seconds``, ``bytes``, ``busy`` (0 to 1),
    ``station``, ``wait``, and ``failure``, which is empty where there is none.
    """
    import pandas as pd

    columns = ["seed", "phase", *_NUMBERS, *_WORDS, "failure"]
    values = {axis.path: dict(zip(axis.labels, _plain(axis), strict=True)) for axis in done.axes}
    rows = []
    for point in done.points:
        place = [values[path][str(value)] for path, value in point.values.items()]
        for seed, ended, totals in zip(done.seeds, point.ended, point.totals, strict=True):
            for phase, total in totals.items():
                numbers = [measure(total) for measure, _ in _NUMBERS.values()]
                words = [word(total) for word in _WORDS.values()]
                rows.append([*place, seed, phase, *numbers, *words, ""])
            if not totals:
                reason = getattr(ended, "reason", "")
                blank: list[Any] = [None] * len(_NUMBERS) + [""] * len(_WORDS)
                rows.append([*place, seed, "", *blank, reason])
    frame = pd.DataFrame(rows, columns=[*values, *columns])
    return frame.astype(dict.fromkeys(_NUMBERS, "float64"))


def to_xarray(done: Swept) -> xr.Dataset:
    """Return a dataset: a dimension for each axis, or ``point`` of a sample; ``seed``; ``phase``.

    The variables are the columns of :func:`to_pandas`. The coordinates are plain numbers where the
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
    for name, (measure, unit) in _NUMBERS.items():
        numbers = _filled(done, measure, np.nan, np.float64).reshape(*shape, -1)
        variables[name] = (dims, numbers, {"units": unit} if unit else {})
    for name, word in _WORDS.items():
        variables[name] = (dims, _filled(done, word, "", object).astype(str).reshape(*shape, -1))
    reasons = [getattr(ended, "reason", "") for point in done.points for ended in point.ended]
    variables["failure"] = (inner, np.array(reasons, str).reshape(shape))
    coordinates |= {"seed": list(done.seeds), "phase": list(done.phases)}
    data: xr.Dataset = xarray.Dataset(variables, coordinates)
    return data


def _xarray() -> Any:
    try:
        import xarray as xr
    except ImportError as error:
        raise FailureError(
            "the data set of a sweep: xarray is not installed; right would be: "
            "pip install 'xc40io[results]'"
        ) from error
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


def _filled(
    done: Swept, measure: Callable[[PhaseTotal], Any], missing: Any, kind: Any
) -> np.ndarray[Any, Any]:
    """Return what is measured of each phase of each run, in an array (points, seeds, phases)."""
    values = np.full((len(done.points), len(done.seeds), len(done.phases)), missing, kind)
    for row, point in enumerate(done.points):
        for seed, totals in enumerate(point.totals):
            for phase, name in enumerate(done.phases):
                found = measure(totals[name]) if name in totals else None
                values[row, seed, phase] = missing if found is None else found
    return values


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


def write_sweep(done: Swept, folder: str | Path, document: str) -> list[Path]:
    """Write ``data.nc``, ``runs.parquet`` and ``sweep.json``, each at once; return their paths.

    Parameters
    ----------
    done
        The sweep.
    folder
        That :func:`check_out` has made.
    document
        Of the sweep in JSON.

    Raises
    ------
    InputError
        If they cannot be written.
    """
    data, runs, told = (Path(folder) / name for name in FILES)
    with replacing(data, "--out") as draft:
        _storable(to_xarray(done)).to_netcdf(draft, engine="scipy", format="NETCDF3_64BIT")
    with replacing(runs, "--out") as draft:
        to_pandas(done).to_parquet(draft, index=False)
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
