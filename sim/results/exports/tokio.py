"""Server time series in the HDF5 form of TOKIO, which pytokio reads.

The form is version 1 of pytokio's schema (``tokio.connectors.hdf5.SCHEMA``): a data set is a table
of a time step by a server or target; the names of its columns, its unit and the version are its
attributes; the beginnings of the time steps stand beside it. A missing value would be -0.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.archive.whole_files import replacing
from xc40io.config.extras import need
from xc40io.config.units import KIB
from xc40io.engine.types import Floats
from xc40io.findings.servers import COUNTED, OstSeries, counted_in, ost_series, recording_of, to_mds
from xc40io.lustre.server.disks import fullness_of
from xc40io.results.exports.targets import mds_numbers, mdt_name, ost_name
from xc40io.run.result import Result

_VERSION = "1"
_DATA_SETS = {  # of md_stats; pytokio has no place for the others
    "open": "opens",
    "close": "closes",
    "mknod": "mknods",
    "unlink": "unlinks",
    "mkdir": "mkdirs",
    "setattr": "setattrs",
    "getattr": "getattrs",
}
_STAMPS = "timestamps"
_FEWEST = 2  # time steps: pytokio takes the first two to find how long one is


class _DataSet(NamedTuple):
    """A table of time step by column."""

    name: str  # group and name: ``datatargets/readbytes``
    values: Floats  # float64 (time steps, columns)
    columns: Sequence[str]  # their names
    unit: str  # of the values


def write_tokio(result: Result, path: str, option: str) -> list[str]:
    """Write what the OSTs moved and the MDTs did over time; return the path.

    Time stamps are simulated seconds, so the simulation begins on 1 January 1970, 0:00 UTC.

    Raises
    ------
    InputError
        If the run was not recorded, or the file cannot be written.
    FailureError
        If h5py is not installed.
    """
    need("tokio", option)
    import h5py

    series = ost_series(result, option)
    found = list(_data_sets(result, series, option))
    steps = max(series.read.shape[1], _FEWEST)
    stamps = np.arange(steps) * series.width
    with replacing(path, option) as draft, h5py.File(draft, "w") as file:
        file.attrs.update(version=_VERSION, start=0.0, end=steps * series.width)
        for data_set in found:
            values = np.zeros((steps, len(data_set.columns)))
            values[: len(data_set.values)] = data_set.values
            group = file.require_group(data_set.name.split("/")[0])
            if _STAMPS not in group:
                group.attrs["source"] = f"xc40io {result.version}, simulated"
                group[_STAMPS] = stamps
            written = file.create_dataset(data_set.name, data=values, compression="gzip")
            columns = np.array(data_set.columns, dtype="S")
            written.attrs.update(version=_VERSION, units=data_set.unit, columns=columns)
    return [path]


def _data_sets(result: Result, series: OstSeries, option: str) -> Iterator[_DataSet]:
    """Yield all that is written."""
    machine = result.machine
    osts = [ost_name(machine, ost) for ost in range(machine.lustre.osts)]
    yield _DataSet("datatargets/readbytes", series.read.T, osts, "bytes")
    yield _DataSet("datatargets/writebytes", series.written.T, osts, "bytes")
    yield _DataSet("fullness/bytes", _full(result, series).T, osts, "KiB")
    each = machine.lustre.capacity / machine.lustre.osts / KIB
    yield _DataSet("fullness/bytestotal", np.full_like(series.read.T, each), osts, "KiB")
    mdts = [mdt_name(machine, mdt) for mdt in range(machine.lustre.mds.mdts)]
    for name, counts in _operations(result, series, option).items():
        yield _DataSet(f"mdtargets/{_DATA_SETS[name]}", counts.T, mdts, "ops")


def _full(result: Result, series: OstSeries) -> Floats:
    """Return how full each OST is at the end of each time bin, in KiB: (OSTs, bins).

    At the beginning it is as full as the simulator takes it to be; then what is written is added,
    as if nothing had been there before.
    """
    lustre = result.machine.lustre
    share = np.clip(fullness_of(lustre, result.scenario.seed), 0.0, 1.0)
    before = share * (lustre.capacity / lustre.osts)
    return (before[:, None] + np.cumsum(series.written, axis=1)) / KIB


def _operations(result: Result, series: OstSeries, option: str) -> dict[str, Floats]:
    """Return the operations that MDTs served in each time bin, by name: float64 (MDTs, bins)."""
    requests = to_mds(recording_of(result, option).requests)
    requests = requests[np.isfinite(requests["begun"])]
    numbers = mds_numbers(result.station_table)
    bins = series.read.shape[1]
    mdts = result.machine.lustre.mds.mdts
    found = {name: np.zeros((mdts, bins)) for name in _DATA_SETS}
    mdt = np.array([numbers[station] for station in requests["station"].tolist()], np.int64)
    place = mdt * bins + counted_in(requests["begun"], series.width, bins)
    for operation, names in COUNTED.items():
        counts = np.bincount(place[requests["op"] == operation], minlength=mdts * bins)
        for name in names:
            if name in found:
                found[name] += counts.reshape(mdts, bins)
    return found
