"""Sweeps: every combination, once, the same however it is run, and nothing finished is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from run_records import SCENARIO

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate
from xc40io.studies.store import Store
from xc40io.studies.sweep.sweep import Sweep, sweep
from xc40io.studies.sweep.sweep_answer import sweep_answer, title_of
from xc40io.studies.sweep.sweep_plot import sweep_figure
from xc40io.studies.sweep.sweep_tables import check_out, write_sweep
from xc40io.telling.text import text_of

OVER = {"striping.count": [1, 4], "ior.b": ["1m", "2m"]}


def scenario(**changes: Any) -> Scenario:
    return Scenario.model_validate(SCENARIO | {"nodes": 2} | changes)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return sweep(scenario(), OVER, repeat=2, jobs=1, store=tmp_path_factory.mktemp("store"))


def test_a_title_names_no_value_that_is_varied() -> None:
    whole = title_of(scenario())
    assert whole.endswith(f" on theta, 2 nodes x {scenario().ppn} ranks")
    assert title_of(scenario(), ["nodes"]).endswith(f" on theta, {scenario().ppn} ranks a node")
    assert title_of(scenario(), ["ppn", "striping.count"]).endswith(" on theta, 2 nodes")
    assert "theta" not in title_of(scenario(), ["machine", "nodes", "ppn"])


def test_each_point_is_what_a_run_of_its_own_gives(done: Sweep) -> None:
    data = done.to_xarray()
    for count, block, size in ((1, 1 << 20, "1m"), (4, 2 << 20, "2m")):
        asked = scenario(
            striping={"count": count},
            workload={"ior": f"-a POSIX -w -b {size} -t 1m"},
            seed=2,
        )
        (row,) = simulate(asked).rows
        place = {"striping.count": count, "ior.b": block, "seed": 2, "phase": "write"}
        assert float(data.bandwidth.sel(place)) == row.bandwidth
        assert float(data.seconds.sel(place)) == row.seconds


def test_the_same_in_several_processes_and_from_the_store(done: Sweep, tmp_path: Path) -> None:
    for simulated in (8, 0):
        again = sweep(scenario(), OVER, repeat=2, jobs=2, store=tmp_path)
        assert (again.simulated, again.recalled) == (simulated, 8 - simulated)
        xr.testing.assert_identical(again.to_xarray(), done.to_xarray())


def test_one_more_value_costs_only_its_own_runs(tmp_path: Path) -> None:
    sweep(scenario(), {"ior.b": "1m,2m"}, jobs=1, store=tmp_path)
    more = sweep(scenario(), {"ior.b": "1m..4m"}, jobs=1, store=tmp_path)
    assert (more.simulated, more.recalled) == (1, 2)


def test_files_hold_the_same_data(done: Sweep, tmp_path: Path) -> None:
    import pandas as pd

    folder = tmp_path / "out"
    check_out(folder)
    data, runs, _ = write_sweep(done, folder, "{}")
    with xr.open_dataset(data) as read:
        expected = done.to_xarray()
        assert read.bandwidth.dims == ("striping.count", "ior.b", "seed", "phase")
        np.testing.assert_array_equal(read.bandwidth, expected.bandwidth)
        np.testing.assert_array_equal(read["ior.b"], [1 << 20, 2 << 20])
        assert read["ior.b"].attrs["units"] == "bytes"
    pd.testing.assert_frame_equal(pd.read_parquet(runs), done.to_pandas())
    before = data.read_bytes()
    write_sweep(done, folder, "{}")
    assert data.read_bytes() == before


def test_sizes_beyond_32_bits_are_exact_in_the_file(tmp_path: Path) -> None:
    large = sweep(scenario(), {"machine.nodes.memory": ["192 GiB"]}, jobs=1, store=tmp_path)
    check_out(tmp_path / "out")
    data, *_ = write_sweep(large, tmp_path / "out", "{}")
    with xr.open_dataset(data) as read:
        assert read["machine.nodes.memory"].values.tolist() == [192 << 30]


def test_a_sample_takes_each_value_equally_often(tmp_path: Path) -> None:
    over = {"striping.count": [1, 2, 4], "ior.b": "1m..4m"}
    drawn = sweep(scenario(), over, sample=6, jobs=1, store=tmp_path)
    for path in over:
        assert set(Counter(point.values[path] for point in drawn.points).values()) == {2}
    again = sweep(scenario(), over, sample=6, jobs=1, store=tmp_path)
    assert [point.values for point in again.points] == [point.values for point in drawn.points]
    assert drawn.to_xarray().bandwidth.dims == ("point", "seed", "phase")


def test_what_cannot_be_is_left_empty_unless_a_value_never_can(tmp_path: Path) -> None:
    over = {"ior.b": ["1m", "4m"], "ior.t": ["1m", "4m"]}
    done = sweep(scenario(), over, jobs=1, store=tmp_path)
    ((values, seed, reason),) = done.failures()
    assert (values, seed) == ({"ior.b": "1m", "ior.t": "4m"}, 1)
    assert "is smaller than" in reason
    assert np.isnan(done.to_xarray().bandwidth.sel({"ior.b": 1 << 20, "ior.t": 4 << 20})).all()
    assert "NOT RUN (ior.b=1m, ior.t=4m)" in text_of(sweep_answer("title", done))
    with pytest.raises(InputError, match=r"striping.count=57: stripe count 57 is more than the 56"):
        sweep(scenario(), {"striping.count": [1, 57]}, store=tmp_path)


def test_a_sweep_needs_an_axis(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--over is missing"):
        sweep(scenario(), {}, store=tmp_path)


def drawn(over: dict[str, Any], folder: Path) -> Any:
    return sweep_figure("title", sweep(scenario(), over, repeat=2, jobs=1, store=folder))


def test_numbers_are_lines_with_ticks_where_runs_are(tmp_path: Path) -> None:
    (axes,) = drawn({"ior.b": "1m,2m,8m"}, tmp_path).axes
    assert axes.get_xticks().tolist() == [1 << 20, 1 << 21, 1 << 23]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1m", "2m", "8m"]
    assert len(axes.lines) == len(axes.collections) == 1  # a line and its band


def test_words_are_bars_and_two_axes_of_numbers_are_a_map(tmp_path: Path) -> None:
    (bars,) = drawn({"placement": ["contiguous", "random"]}, tmp_path).axes
    assert len(bars.patches) == 2
    (cells,) = drawn(OVER, tmp_path).axes
    assert len(cells.texts) == 4
    (family,) = drawn({"ior.a": ["POSIX", "MPIIO"], "ior.b": "1m..4m"}, tmp_path).axes
    assert [line.get_label() for line in family.lines] == ["ior.a=POSIX", "ior.a=MPIIO"]


def test_three_axes_have_no_plot(tmp_path: Path) -> None:
    three = sweep(scenario(), OVER | {"ppn": [1, 2]}, jobs=1, store=tmp_path)
    with pytest.raises(InputError, match="right would be one axis or two"):
        sweep_figure("title", three)


PROGRAM = """
import sys
from xc40io.config.scenario import Scenario
from xc40io.studies.sweep.sweep import sweep

if __name__ == "__main__":
    scenario = Scenario.model_validate_json(sys.argv[2])
    done = sweep(scenario, {"ppn": "1:8", "ior.b": "1m..8m"}, jobs=2, store=sys.argv[1])
    print(done.simulated, done.recalled)
    print(done.to_pandas().to_csv())
"""
RUNS = 32


def started(folder: Path, store: Path) -> subprocess.Popen[str]:
    """Start the program, kept in a folder, with a store."""
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(program), str(store), scenario().model_dump_json()],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Let two sweeps that share a store run to their end; return it and their tables."""
    folder = tmp_path_factory.mktemp("undisturbed")
    both = [started(folder, folder / "store") for _ in range(2)]
    told = [process.communicate(timeout=120)[0] for process in both]
    return folder / "store", [table.split("\n", 1)[1] for table in told]


def killed_at_random(tmp_path: Path, expected: str, kills: int, latest: float = 3.5) -> None:
    """Kill a sweep so many times, look at its store each time, let it end, and print the counts."""
    moments, store = random.Random(19), tmp_path / "store"
    finished: set[str] = set()
    lost = damaged = 0
    for _ in range(kills):
        process = started(tmp_path, store)
        time.sleep(moments.uniform(1.0, latest))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        now = {path.stem for path in store.glob("*/*.json")}
        lost += len(finished - now)
        damaged += sum(Store(store).get(key) is None for key in now)
        finished = now
    output, _ = started(tmp_path, store).communicate(timeout=120)
    counts, table = output.split("\n", 1)
    made, found = map(int, counts.split())
    doubled = made + found - RUNS
    print(
        f"\n{kills} kills, {RUNS} runs: {len(finished)} had finished before the last start; "
        f"{lost} lost, {damaged} damaged, {doubled} made twice"
    )
    assert (lost, damaged, doubled, found) == (0, 0, 0, len(finished))
    assert table == expected


@pytest.mark.slow
def test_who_is_killed_at_any_moment_loses_nothing_that_had_finished(
    undisturbed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    killed_at_random(tmp_path, undisturbed[1][0], kills=3)


@pytest.mark.benchmark
def test_who_is_killed_twenty_times_loses_nothing_that_had_finished(
    undisturbed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    killed_at_random(tmp_path, undisturbed[1][0], kills=20, latest=7.0)


def test_two_sweeps_share_a_store(undisturbed: tuple[Path, list[str]]) -> None:
    store, tables = undisturbed
    assert tables[0] == tables[1]
    assert len(Store(store)) == RUNS
    assert {path.suffix for path in store.glob("*/*")} == {".json"}
