"""A result as tables of pandas and as a dataset of xarray."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

from xc40io import Result, Scenario, simulate
from xc40io.config.errors import FailureError
from xc40io.plane.causes import Cause
from xc40io.results.frames import TABLES, VARIABLES
from xc40io.telling.answer import To


@cache
def run(ior: str = "-w -r -e -F -b 3m -t 1m", kernel: str = "") -> Result:
    workload = {"kernel": kernel} if kernel else {"ior": ior}
    job = {"machine": "theta", "nodes": 2, "ppn": 2, "placement": "random"}
    striping = {"count": 2, "size": "1m"}
    return simulate(Scenario.model_validate(job | {"striping": striping, "workload": workload}))


@pytest.mark.parametrize("kernel", ["", "adios", "e3sm"])
def test_every_table_has_the_columns_that_are_described(kernel: str):
    frames = run(kernel=kernel).to_pandas()
    assert list(frames) == [table.name for table in TABLES]
    for table in TABLES:
        told = [column.name for column in table.inner if To.PANDAS in column.to]
        assert list(frames[table.name].columns) == told


def test_ranks_have_their_nodes_and_waits():
    result = run()
    ranks = result.to_pandas()["ranks"]
    assert ranks["node"].tolist() == np.repeat(result.allocation.nodes, 2).tolist()
    assert ranks["wait_copy"].tolist() == result.waits[:, Cause.COPY].tolist()


def test_phases_are_the_rows_and_figures_belong_to_them():
    result = run()
    frames = result.to_pandas()
    phases, figures = frames["phases"], frames["figures"]
    assert phases["phase"].tolist() == ["write", "read"]
    assert phases["bandwidth"].tolist() == [row.bandwidth for row in result.rows]
    of_read = figures[figures["row"] == 1].set_index("figure")["value"]
    assert of_read["io"] == result.rows[1].figures["io"].value


def test_files_and_their_objects_are_told_of_as_getstripe_does():
    result = run()
    frames = result.to_pandas()
    ((name, files),) = result.files.items()
    assert name == "testFile.00000000"
    assert frames["files"]["file"].tolist() == [f"testFile.{rank:08d}" for rank in range(4)]
    objects = frames["objects"]
    assert objects["object"].tolist() == [0, 1] * 4
    assert objects["ost"].tolist() == files.osts.ravel().tolist()


def test_stations_and_their_bins_add_up():
    result = run()
    frames = result.to_pandas()
    stations, bins = frames["stations"].set_index("station"), frames["bins"]
    uses = {use.name: use for use in result.stations()}
    assert stations.index.tolist() == list(uses)
    assert stations["utilisation"].tolist() == [use.utilisation for use in uses.values()]
    by_station = bins.groupby("station")[["bytes", "busy"]].sum()
    osts = [name for name in uses if name.startswith("OST")]
    assert osts
    for column in ("bytes", "busy"):
        assert by_station.loc[osts, column].tolist() == pytest.approx(
            stations.loc[osts, column].tolist()
        )
    assert ((bins["end"] - bins["start"]) > 0.0).all()


def test_the_dataset_has_what_is_described():
    pytest.importorskip("xarray")
    result = run()
    found = result.to_xarray()
    described = {column.name.split("(")[0]: column for column in VARIABLES}
    assert set(found.variables) == set(described)
    for name, variable in found.variables.items():
        column = described[str(name)]
        assert variable.attrs.get("units", "") == column.unit.name
        shape = f"{name}({', '.join(map(str, variable.dims))})"
        assert column.name in (shape, name)
    line = result.timeline("OST 3")
    assert found["busy"].sel(station="OST 3").values.tolist() == line.busy.tolist()
    assert found["time"].attrs["width"] == line.width
    waited = found["wait"].sel(cause="copy").values.tolist()
    assert waited == result.waits[:, Cause.COPY].tolist()


def test_without_xarray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(FailureError, match=r"pip install 'xc40io\[tables\]'"):
        run().to_xarray()
