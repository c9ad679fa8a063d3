"""Which job did what on a machine that several share."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_runs import recorded

from xc40io import Scenario, simulate
from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.plane.operations import Op
from xc40io.results.exports.machine_view import MachineView, view_of
from xc40io.run.jobs import simulate_jobs


@pytest.fixture(scope="module")
def two() -> MachineView:
    jobs = [
        {"name": "own", "nodes": 2, "ppn": 2, "workload": {"ior": "-w -F -b 1m"}},
        {"name": "shared", "nodes": 3, "ppn": 1, "workload": {"ior": "-w -b 1m"}},
    ]
    scenario = JobsScenario.model_validate({"machine": "theta", "jobs": jobs})
    return view_of(simulate_jobs(scenario, alone=False, record=True), "--perfetto")


def test_files_and_programs_have_their_jobs(two: MachineView):
    assert two.names == ("own", "shared")
    assert np.bincount(two.job_of_file).tolist() == [4, 1]
    assert np.bincount(two.job_of_program).tolist() == [4, 3]
    assert sorted(two.file_names)[-1].startswith("shared: ")
    assert len(set(two.file_names)) == 5


def test_ranks_are_on_the_nodes_of_their_job(two: MachineView):
    for number, job in enumerate(two.jobs):
        own = two.job_of_program == number
        rank = two.rank[own]
        assert rank.tolist() == list(range(job.scenario.nodes * job.scenario.ppn))
        assert np.array_equal(two.node[own], job.allocation.nodes[rank // job.scenario.ppn])


def test_calls_of_all_jobs_are_there(two: MachineView):
    calls = two.of_jobs(two.recording.calls)
    written = calls[calls["op"] == Op.WRITE]
    assert written["bytes"].sum() == 7 << 20
    assert np.array_equal(two.job_of_file[written["file"]], two.job_of_program[written["program"]])


def test_a_file_without_a_name_has_its_number_and_its_job():
    scenario = Scenario(
        machine="theta", nodes=2, ppn=2, workload={"kernel": {"name": "adios", "size": "1m"}}
    )
    view = view_of(simulate(scenario, record=True), "--perfetto")
    assert all(view.file_names)
    assert len(set(view.file_names)) == len(view.file_names)
    assert set(view.job_of_file.tolist()) == {0}


def test_a_run_alone_has_no_name():
    view = view_of(recorded("own files"), "--perfetto")
    assert view.names == ("",)
    assert view.file_names[0] == "testFile.00000000"


def test_all_jobs_must_have_been_recorded():
    scenario = Scenario(machine="theta", nodes=1, ppn=1, workload={"ior": "-w"})
    with pytest.raises(InputError, match="--proc: this run was not recorded"):
        view_of(simulate(scenario), "--proc")
