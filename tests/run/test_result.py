"""What a finished run can be asked for."""

from __future__ import annotations

import gc
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest
from theta_runs import run, scenario

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.run.simulate import simulate


def test_stations_are_those_that_served_something() -> None:
    result = simulate(scenario("-w -r -e -b 4m -t 1m"))
    table = result.plane.tables.network.stations
    uses = result.stations()
    assert [use.number for use in uses] == np.flatnonzero(table.requests).tolist()
    names = dict(zip(result.station_table.number.tolist(), result.station_table.names, strict=True))
    for use in uses[:: len(uses) // 50]:
        assert use.name == names[use.number]
        assert use.kind == StationKind(table.kind[use.number])
        assert (use.requests, use.busy) == (table.requests[use.number], table.busy[use.number])
        assert 0.0 <= use.utilisation <= 1.0 + 1e-9


def test_thousands_of_stations_take_no_time() -> None:
    result = run("-w -b 1m -t 1m", 256, 16)
    began = time.perf_counter()
    uses = result.stations()
    assert len(uses) > 10_000
    assert time.perf_counter() - began < 1.0  # a fiftieth of it on an idle machine


def test_a_timeline_is_asked_for_by_name() -> None:
    result = run("-w -e -F -b 4m -t 1m")
    (ost,) = [use for use in result.stations() if use.name == "OST 7"]
    line = result.timeline("OST 7")
    assert line.bytes.sum() == pytest.approx(ost.bytes)
    assert line.busy.sum() == pytest.approx(ost.busy)
    assert line.width > 0


@pytest.mark.parametrize("name", ["OST 56", "core 0 of node 0 (c0-0c0s0)"])
def test_what_is_not_watched_has_no_timeline(name: str) -> None:
    with pytest.raises(KeyError, match="is watched"):
        run("-w -e -F -b 4m -t 1m").timeline(name)


def test_counts_and_waits_go_by_their_names() -> None:
    result = run("-w -e -F -b 4m -t 1m")
    assert result.stats.keys() == set(Stat)
    assert result.stats[Stat.MDS_SYNCS] == 16
    assert result.waiting().keys() == set(Cause)
    assert result.waiting()[Cause.COPY] > 0.0
    assert result.outcome.command.command_line == "ior -w -e -F -b 4m -t 1m"


def test_a_result_without_its_data_plane_keeps_none_of_its_tables() -> None:
    """Who keeps many results keeps a few MB of each, and not the 50 of its tables."""
    result = simulate(scenario("-w -b 1m -t 1m"))
    assert result.plane is not None
    tables = weakref.ref(result.plane.tables)
    kept = replace(result, plane=None)
    del result
    gc.collect()
    assert tables() is None
    assert all(use.name for use in kept.stations())
