"""A result that was kept is the result."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xc40io
from xc40io import JobsScenario, Result, Scenario, simulate, simulate_jobs
from xc40io.config.errors import InputError
from xc40io.plane.causes import Cause
from xc40io.results.programs.forms import output_of
from xc40io.results.programs.ior_report import ior_rows
from xc40io.results.run_text import format_run
from xc40io.telling.data import json_text

WORKLOADS: list[dict[str, Any]] = [
    {"ior": "-w -r -W -e -b 2m -t 1m -i 2"},
    {"ior": "-a MPIIO -c -w -r -b 2m -t 1m"},
    {"ior": "-F -w -b 4m -t 1m -D 1 -O stoneWallingWearOut=1"},
    {"kernel": {"name": "exerciser"}},
    {"kernel": {"name": "vpic-io"}},
]


@cache
def run(number: int) -> Result:
    job = {"machine": "theta", "nodes": 2, "ppn": 2, "striping": {"count": 3, "size": "1m"}}
    return simulate(Scenario.model_validate(job | {"workload": WORKLOADS[number]}))


def told(result: Result) -> list[str]:
    """Return all that is printed of a result, in every form."""
    output = output_of(result)
    document = json_text(output.document())
    run_text = format_run(result, lustre_stats=True)
    return [str(output.answer), output.mpiio, output.layouts(), document, run_text]


@pytest.mark.parametrize("number", range(len(WORKLOADS)))
def test_what_is_printed_is_the_same_to_the_letter(tmp_path: Path, number: int):
    result = run(number)
    result.save(tmp_path / "kept")
    loaded = xc40io.load(tmp_path / "kept")
    assert told(loaded) == told(result)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "kept").read_bytes()


def test_all_of_it_is_there(tmp_path: Path):
    result = run(0)
    result.save(tmp_path / "kept")
    loaded = xc40io.load(tmp_path / "kept")
    assert (loaded.scenario, loaded.machine) == (result.scenario, result.machine)
    assert loaded.machine.provenance == result.machine.provenance
    assert simulate(loaded.scenario).simulated == result.simulated
    assert loaded.waits.tolist() == result.waits.tolist()
    assert loaded.waiting() == result.waiting()
    assert loaded.stats == result.stats
    assert loaded.stations() == result.stations()
    assert ior_rows(loaded) == ior_rows(result)
    assert loaded.files["testFile"].layout(0) == result.files["testFile"].layout(0)
    line, other = loaded.timeline("OST 3"), result.timeline("OST 3")
    assert (line.width, line.bytes.tolist()) == (other.width, other.bytes.tolist())
    assert np.array_equal(loaded.allocation.nodes, result.allocation.nodes)
    assert loaded.plane is None
    assert loaded.waits.shape == (4, len(Cause))


def test_a_machine_that_was_handed_over_is_kept(tmp_path: Path):
    machine = xc40io.load_machine("theta").with_changes({"lustre.osts": 28})
    workload = {"ior": "-w -b 1m -t 1m"}
    result = simulate(Scenario(machine=machine, nodes=1, ppn=2, workload=workload))
    result.save(tmp_path / "kept")
    loaded = xc40io.load(tmp_path / "kept")
    assert loaded.scenario.machine == machine
    assert loaded.scenario.machine.provenance == machine.provenance
    assert told(loaded) == told(result)


def test_several_jobs_are_kept_with_one_machine(tmp_path: Path):
    several = {"name": "b", "nodes": 1, "ppn": 2, "workload": {"kernel": "hacc-io"}}
    jobs = [several | {"name": "a", "start": "1 ms"}, several]
    result = simulate_jobs(JobsScenario.model_validate({"machine": "theta", "jobs": jobs}))
    result.save(tmp_path / "kept")
    loaded = xc40io.load(tmp_path / "kept")
    assert loaded.scenario == result.scenario
    assert [job.slowdown for job in loaded.jobs] == [job.slowdown for job in result.jobs]
    busy = [job.result.station_table.bin_busy for job in loaded.jobs]
    assert np.shares_memory(busy[0], busy[1])


def test_a_folder_is_no_place_for_a_result(tmp_path: Path):
    with pytest.raises(InputError, match="--save"):
        run(0).save(tmp_path)
