"""Server time series, read back by pytokio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_runs import RUNS, recorded

from xc40io import Result, Scenario, simulate
from xc40io.plane.operations import Op
from xc40io.results.exports.tokio import write_tokio

hdf5 = pytest.importorskip("tokio.connectors.hdf5", reason="pytokio is not installed")


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> Result:
    return recorded(request.param)


@pytest.fixture
def written(run: Result, tmp_path: Path) -> Path:
    path = tmp_path / "servers.hdf5"
    assert write_tokio(run, str(path), "--tokio") == [str(path)]
    return path


def test_each_ost_has_the_bytes_of_its_station(run: Result, written: Path):
    with hdf5.Hdf5(written, "r") as file:
        assert file.get_version() == file.get_version("datatargets/readbytes") == "1"
        read = file.to_dataframe("datatargets/readbytes")
        wrote = file.to_dataframe("datatargets/writebytes")
    moved = {use.name: use.bytes for use in run.stations()}
    names = [f"theta-OST{ost:04x}" for ost in range(run.machine.lustre.osts)]
    assert list(read.columns) == list(wrote.columns) == names
    total = (read + wrote).sum()
    for ost, name in enumerate(names):
        assert total[name] == moved.get(f"OST {ost}", 0.0)
    assert not read.isna().any(axis=None)
    assert read.sum().sum() + wrote.sum().sum() <= run.bulk_bytes


def test_each_time_step_has_the_bytes_of_its_bin(run: Result, written: Path):
    with hdf5.Hdf5(written, "r") as file:
        steps = file["datatargets/readbytes"][:] + file["datatargets/writebytes"][:]
        series = file.to_timeseries("datatargets/readbytes")
    used = [use for use in run.stations() if use.name.startswith("OST ")]
    for use in used:
        line = run.timeline(use.name)
        assert series.timestep == line.width
        ost = int(use.name.split()[1])
        assert np.array_equal(steps[:, ost], line.bytes[: len(steps)])
        assert not line.bytes[len(steps) :].any()


def test_pytokio_finds_rates_and_metadata(run: Result, written: Path):
    assert run.recording is not None
    operations = run.recording.calls["op"]
    with hdf5.Hdf5(written, "r") as file:
        rates = file["datatargets/writerates"][:]
        width = file.get_timestep("datatargets/writebytes")
        assert rates == pytest.approx(file["datatargets/writebytes"][:] / width)
        opens = file.to_dataframe("mdtargets/opens")
        creates = file["mdtargets/mknods"][:].sum()
        assert list(opens.columns) == ["theta-MDT0000"]
        full = file["fullness/bytes"][:]
        room = file["fullness/bytestotal"][:]
    # What is open on a node already is opened without the MDT.
    assert creates <= opens.to_numpy().sum() <= np.isin(operations, (Op.OPEN, Op.CREATE)).sum()
    assert creates == (operations == Op.CREATE).sum()
    assert (full > 0).all()
    assert (full <= room * 1.001).all()


def test_other_jobs_traffic_is_there_too(tmp_path: Path):
    scenario = Scenario(
        machine="theta",
        nodes=1,
        ppn=1,
        background={"read": "4 GB/s", "write": "1 GB/s"},
        workload={"ior": "-a POSIX -w -e -b 64m -t 1m"},
    )
    result = simulate(scenario, record=True)
    write_tokio(result, str(tmp_path / "busy.hdf5"), "--tokio")
    with hdf5.Hdf5(tmp_path / "busy.hdf5", "r") as file:
        read = file["datatargets/readbytes"][:].sum()
        wrote = file["datatargets/writebytes"][:].sum()
    moved = sum(use.bytes for use in result.stations() if use.name.startswith("OST "))
    assert read + wrote == pytest.approx(moved, rel=1e-12)
    assert read / (wrote - result.bulk_bytes) == pytest.approx(4.0, rel=1e-6)


def test_a_file_is_the_same_every_time(tmp_path: Path):
    for name in ("one", "two"):
        write_tokio(recorded("own files"), str(tmp_path / name), "--tokio")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
