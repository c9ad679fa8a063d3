"""A replayed trace among other jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.config.scenario import Scenario
from xc40io.run.jobs import simulate_jobs
from xc40io.run.simulate import simulate

FILES = 20
TRACE = "rank,op,file,offset,length,think\n" + "".join(
    f"{rank},open,f{file},0,0,0.001\n"
    f"{rank},write,f{file},{rank * 65536},65536,0.001\n"
    f"{rank},read,f{file},{rank * 65536},65536,0\n"
    f"{rank},close,f{file},0,0,0\n"
    for file in range(FILES)
    for rank in range(2)
)
JOBS = """\
machine: theta
jobs:
  - {name: ior, nodes: 1, ppn: 4, workload: {ior: -a MPIIO -c -w -r -b 16m -t 4m}}
  - name: first
    start: 5 ms
    nodes: 1
    ppn: 2
    workload: {kernel: {name: replay, trace: many.csv}}
  - name: second
    start: 10 ms
    nodes: 1
    ppn: 2
    workload: {kernel: {name: replay, trace: many.csv}}
"""


def test_traces_with_many_files_are_replayed_beside_mpi_io(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text(TRACE)
    (tmp_path / "jobs.yaml").write_text(JOBS)
    scenario = load_jobs(tmp_path / "jobs.yaml")
    assert isinstance(scenario, JobsScenario)
    ior, first, second = simulate_jobs(scenario).jobs
    for record in ior.result.outcome.tests[0].records:
        assert record.mpi is not None
        assert record.mpi.timers.sum() > 0.0
    for replayed in (first, second):
        phases = {phase.name: phase for phase in replayed.phases}
        assert phases["posix write"].bytes == phases["posix read"].bytes == FILES * 2 * 65536
        assert phases["compute"].seconds == pytest.approx(FILES * 2e-3, rel=1e-6)
        assert replayed.slowdown == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("nodes", [1, 2])
def test_files_of_a_trace_lie_on_the_ssd_of_the_node_that_uses_them(
    tmp_path: Path, nodes: int
) -> None:
    """Each has dirty pages of its own; where both ranks use one file, they are on one node."""
    rows = ["rank,op,file,offset,length", "1,write,a,0,100", "1,fsync,a,,"]
    rows += ["0,write,b,0,100", "0,write,b,1,1048576", "1,write,a,0,70000", "1,fsync,a,,"]
    rows += ["0,fsync,b,,", "0,read,a,0,100"]
    trace = tmp_path / "job.csv"
    trace.write_text("\n".join(rows) + "\n")
    workload = {"kernel": {"name": "replay", "trace": str(trace)}}
    job = {"machine": "theta", "nodes": nodes, "ppn": 2 // nodes, "workload": workload}
    scenario = Scenario.model_validate(job | {"target": "ssd"})
    if nodes == 2:
        with pytest.raises(InputError, match="SSD of a node"):
            simulate(scenario)
    else:
        assert simulate(scenario).simulated < 1.0
