"""A sweep on a cluster of Dask: the same numbers, whichever workers there are and die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from distributed import LocalCluster
from run_records import SCENARIO

from xc40io.config.errors import FailureError, InputError
from xc40io.config.scenario import Scenario
from xc40io.studies import cluster as on_cluster
from xc40io.studies.sweep.sweep import sweep

ASKED = Scenario.model_validate(SCENARIO | {"nodes": 2})
OVER = {"ppn": "1:12", "ior.b": "1m,4m"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(done: int, _: int) -> None:
        if done == 3:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    address = cluster.scheduler_address
    there = sweep(ASKED, OVER, scheduler=address, store=tmp_path / "there", progress=kill)
    here = sweep(ASKED, OVER, jobs=1, store=tmp_path / "here")
    assert killed
    assert (there.simulated, list(there.failures())) == (24, [])
    xr.testing.assert_identical(there.to_xarray(), here.to_xarray())


def test_workers_with_other_sources_are_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "code_hash", lambda: "of other sources")
    with pytest.raises(FailureError, match="the same installation everywhere"):
        sweep(ASKED, {"ppn": [1]}, scheduler=cluster.scheduler_address, store=tmp_path)


def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "_PATIENCE", 0.5)
    for scheduler, words in (("tcp://127.0.0.1:9", "no scheduler answers"), ("f.json", "no such")):
        with pytest.raises(InputError, match=words):
            sweep(ASKED, {"ppn": [1]}, scheduler=scheduler, store=tmp_path)
