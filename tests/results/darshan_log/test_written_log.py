"""Darshan logs of runs: Darshan's own tools and a replay find in them what the run did."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from xc40io.cli.app import cli
from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.plane import recorder
from xc40io.plane.operations import Op
from xc40io.results.darshan_log.write import BEGIN, write
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.studies.record import record_of
from xc40io.workloads.darshan.call_rows import Sessions, make_rows
from xc40io.workloads.darshan.dxt import between_pauses
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.module_counters import SHARED
from xc40io.workloads.trace import TraceOp

MIB = 2**20

CASES: dict[str, dict[str, Any]] = {
    "own-files": {"workload": {"ior": "-a POSIX -F -w -r -b 8m -t 1m -e"}},
    "shared-file": {
        "workload": {"ior": "-a POSIX -w -r -b 8m -t 1m -e"},
        "striping": {"count": 8},
    },
    "independent": {
        "workload": {"ior": "-a MPIIO -w -r -b 16m -t 4m -e"},
        "striping": {"count": 8, "size": "16m"},
    },
    "collective": {
        "workload": {"ior": "-a MPIIO -c -w -r -b 8m -t 1m"},
        "striping": {"count": 8},
        "environment": {"MPICH_MPIIO_HINTS": "*:cb_nodes=4"},
    },
    "kernel": {"workload": {"kernel": {"name": "hacc-io"}}},
}


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate({"machine": "theta", "nodes": 4, "ppn": 4, **fields})


class Logged:
    """A run, its log, and what the reader of replays finds in it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.result = simulate(scenario(**CASES[name]), record=True)
        self.path = folder / f"{name}.darshan"
        assert write(self.result, str(self.path), "--darshan") == [str(self.path)]
        self.log = read_log(self.path)

    def moved(self, way: Op) -> int:
        """Return the bytes of all calls to the file systems."""
        assert self.result.recording is not None
        calls = self.result.recording.calls
        return int(calls["bytes"][calls["op"] == way].sum())


@pytest.fixture(scope="module", params=CASES)
def logged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Logged:
    return Logged(request.param, tmp_path_factory.mktemp("logs"))


def test_darshans_report_has_the_ranks_files_and_bytes_of_the_run(logged: Logged) -> None:
    import darshan

    report = darshan.DarshanReport(str(logged.path), read_all=True)
    job = report.metadata["job"]
    assert job["nprocs"] == len(logged.result.waits)
    assert job["run_time"] == pytest.approx(logged.result.simulated, abs=1e-6)
    assert job["start_time_sec"] == BEGIN
    names = set(report.name_records.values())
    assert len(names) == sum(len(files.osts) for files in logged.result.files.values())
    assert all(name.startswith("/lus/theta/") for name in names)
    counters = report.records["POSIX"].to_df()["counters"]
    assert counters["POSIX_BYTES_READ"].sum() == logged.moved(Op.READ)
    assert counters["POSIX_BYTES_WRITTEN"].sum() == logged.moved(Op.WRITE)
    assert ("MPI-IO" in report.records) == ("MPIIO" in str(CASES[logged.name]))


def test_the_application_layer_counts_what_the_phases_moved(logged: Logged) -> None:
    above = logged.log.mpiio if len(logged.log.mpiio) else logged.log.posix
    moved = sum(row.bytes for row in logged.result.rows)
    assert above.total("BYTES_READ") + above.total("BYTES_WRITTEN") == moved


def test_mpiio_and_what_it_made_of_its_calls_are_as_mpi_counts_them(logged: Logged) -> None:
    above, below = logged.log.mpiio, logged.log.posix
    counts = [record.counts for _, record in logged.result.mpi_records]
    if not counts:
        assert not len(above)
        return
    for name, ways in (
        ("WRITES", [one.writes for one in counts]),
        ("READS", [one.reads for one in counts]),
    ):
        assert above.total(f"COLL_{name}") == sum(way.collective for way in ways)
        assert above.total(f"INDEP_{name}") == sum(way.independent for way in ways)
        assert below.total(name) == sum(way.system for way in ways)
    assert above.total("COLL_OPENS") == len(counts) * len(logged.result.waits)


@pytest.mark.parametrize("api", ["MPIIO -c", "MPIIO", "HDF5 -c"])
def test_a_record_of_a_run_has_the_rate_by_the_slowest_rank(tmp_path: Path, api: str) -> None:
    result = simulate(
        scenario(workload={"ior": f"-a {api} -w -b 4m -t 1m -e"}, striping={"count": 8}),
        record=True,
    )
    write(result, str(tmp_path / "x.darshan"), "--darshan")
    posix = read_log(tmp_path / "x.darshan").posix
    (told,) = record_of(result).library
    calls = sum(row.bytes for row in result.rows) / told.slowest_rate
    slowest = float(posix["F_SLOWEST_RANK_TIME"].max())
    assert calls <= slowest * (1 + 1e-6) <= calls + float(posix["F_META_TIME"].sum()) + 1e-3


def test_files_that_all_ranks_opened_have_one_record(logged: Logged) -> None:
    for module in (logged.log.posix, logged.log.mpiio):
        assert len(np.unique(module.number)) == len(module)
        alone = logged.name in ("own-files", "kernel")
        assert ((module.rank == SHARED) == (not alone)).all()


def test_layouts_are_those_of_the_files(logged: Logged) -> None:
    known = {
        (files.stripe_size, tuple(osts.tolist()))
        for files in logged.result.files.values()
        for osts in files.osts
    }
    found = {(one.size, tuple(one.osts.tolist())) for one in logged.log.layouts.values()}
    assert found == known


def test_dxt_has_every_call_on_its_node(logged: Logged) -> None:
    log, result = logged.log, logged.result
    assert result.recording is not None
    calls = result.recording.calls
    moves = calls[(calls["op"] == Op.READ) | (calls["op"] == Op.WRITE)]
    assert len(log.dxt_posix.segments) == len(moves)
    assert log.dxt_posix.segments["length"].sum() == moves["bytes"].sum()
    np.testing.assert_array_equal(np.sort(log.dxt_posix.segments["start"]), np.sort(moves["start"]))
    ppn = result.scenario.ppn
    expected = {rank: f"nid{result.allocation.nodes[rank // ppn]:05d}" for rank in log.hosts}
    assert dict(log.hosts) == expected
    if len(log.mpiio):
        asked = sum(log.mpiio.total(f"{kind}_{way}") for kind in ("COLL", "INDEP") for way in WAYS)
        assert len(log.dxt_mpiio.segments) == asked


WAYS = ("READS", "WRITES")


def test_a_replay_gives_back_the_runs_time_and_bytes(logged: Logged) -> None:
    done = CliRunner().invoke(cli, ["replay", str(logged.path), "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["differences"] == []
    assert found["runs"][0]["seconds"] == pytest.approx(logged.result.simulated, rel=0.1)
    moved = sum(row.bytes for row in logged.result.rows)
    assert sum(file["bytes"] for file in found["files"]) == moved


def test_ranks_that_left_the_last_open_first_may_read_before_it_has_ended() -> None:
    op = [TraceOp.WRITE, TraceOp.WRITE, TraceOp.READ, TraceOp.READ]
    start, took = np.array([1.0, 1.0, 4.0, 4.1]), np.array([1.0, 2.0, 0.5, 0.5])
    rows = make_rows(rank=np.array([0, 1, 0, 1]), op=np.array(op), start=start, took=took)
    # Rank 1 has left the open at 4.1, rank 0 at 4.0.
    opens = Sessions(np.array([0.5, 3.6]), np.array([3.0, 5.0]), 0.5, closes=True)
    found = between_pauses(opens, rows)
    assert found.opened.tolist() == pytest.approx([0.5, 3.5])
    assert found.closed.tolist() == pytest.approx([3.0, 5.0])


@pytest.mark.parametrize("logged", ["own-files", "independent", "collective"], indirect=True)
def test_the_log_of_a_replay_counts_what_its_log_counts(logged: Logged, tmp_path: Path) -> None:
    path = tmp_path / "again.darshan"
    done = CliRunner().invoke(cli, ["replay", str(logged.path), "--darshan", str(path)])
    assert done.exit_code == 0, done.stderr
    again = read_log(path)
    assert again.names == logged.log.names
    for module in ("posix", "mpiio"):
        first, second = getattr(logged.log, module), getattr(again, module)
        for name in first.columns:
            if name.startswith(
                ("BYTES_", "SIZE_", "COLL_", "INDEP_", "SYNCS", "FSYNCS", "MAX_BYTE")
            ):
                assert second.total(name) == first.total(name), (module, name)


@pytest.mark.parametrize("logged", ["collective"], indirect=True)
def test_the_same_scenario_gives_the_same_file(logged: Logged, tmp_path: Path) -> None:
    again = Logged(logged.name, tmp_path)
    assert again.path.read_bytes() == logged.path.read_bytes()
    assert again.path.stat().st_mode & 0o400


needed = ("mako", "seaborn", "matplotlib")
lacking = [name for name in needed if find_spec(name) is None]


@pytest.mark.skipif(bool(lacking), reason=f"darshan's summary needs {', '.join(lacking)}")
@pytest.mark.slow
def test_darshans_summary_makes_its_page(tmp_path: Path) -> None:
    logged, page = Logged("collective", tmp_path), tmp_path / "page.html"
    command = [sys.executable, "-m", "darshan", "summary", str(logged.path), "--output", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "ior -a MPIIO" in text
    for module in ("POSIX", "MPI-IO"):
        assert f"Per-Module Statistics: {module}" in text


def log_of(result: Result, folder: Path) -> DarshanLog:
    """Write the log of a result, and read it."""
    (path,) = write(result, str(folder / "log.darshan"), "--darshan")
    return read_log(path)


@pytest.mark.parametrize(
    ("machine", "target"), [("theta", "ssd"), ("cori-haswell", "bb"), ("theta", "home")]
)
def test_what_is_not_on_lustre_has_no_layout(tmp_path: Path, machine: str, target: str) -> None:
    workload = {"ior": "-F -w -r -b 2m -t 1m"}
    result = simulate(
        scenario(machine=machine, nodes=1, target=target, workload=workload), record=True
    )
    log = log_of(result, tmp_path)
    assert not log.layouts
    assert log.posix.total("BYTES_WRITTEN") == sum(row.bytes for row in result.rows[:1])
    kinds = {
        kind for path, kind in log.mounts if log.name_of(int(log.posix.number[0])).startswith(path)
    }
    assert "lustre" not in kinds


def test_a_file_that_is_made_anew_is_one_file(tmp_path: Path) -> None:
    workload = {"ior": "-w -i 3 -b 2m -t 1m"}
    log = log_of(simulate(scenario(workload=workload), record=True), tmp_path)
    assert len(log.posix) == len(log.names) == 1
    assert log.posix.total("OPENS") == 3 * 16
    assert log.posix.total("BYTES_WRITTEN") == 3 * 16 * 2 * MIB


def test_what_threads_do_their_rank_does(tmp_path: Path) -> None:
    workload = {"ior": "-F -w -b 8m -t 1m"}
    log = log_of(simulate(scenario(cores={"threads": 4}, workload=workload), record=True), tmp_path)
    assert log.posix["WRITES"].tolist() == [8] * 16
    assert sorted(log.posix.rank.tolist()) == list(range(16))
    busy = log.posix["F_WRITE_END_TIMESTAMP"] - log.posix["F_WRITE_START_TIMESTAMP"]
    assert (log.posix["F_WRITE_TIME"] <= busy + 1e-12).all()


def test_a_rank_alone_opens_its_file_independently(tmp_path: Path) -> None:
    workload = {"ior": "-a MPIIO -F -c -w -b 2m -t 1m"}
    log = log_of(simulate(scenario(workload=workload), record=True), tmp_path)
    assert log.mpiio["INDEP_OPENS"].tolist() == [1] * 16
    assert log.mpiio["COLL_WRITES"].tolist() == [2] * 16
    assert sorted(log.mpiio.rank.tolist()) == list(range(16))


def test_pieces_and_hints_of_a_program_are_counted(tmp_path: Path) -> None:
    ior = "-a MPIIO -c -w -V -S -s 4 -b 1m -t 1m -O hintsFileName=hints"
    (tmp_path / "hints").write_text("IOR_HINT__MPI__cb_nodes = 2\n")
    workload = {"ior": ior.replace("hintsFileName=hints", f"hintsFileName={tmp_path / 'hints'}")}
    log = log_of(simulate(scenario(workload=workload), record=True), tmp_path)
    assert log.mpiio.total("VIEWS") == 16
    assert log.mpiio.total("HINTS") == 16


def test_jobs_have_logs_of_their_own(tmp_path: Path) -> None:
    jobs = [
        {"name": name, "nodes": 1, "ppn": 2, "start": start, "workload": {"ior": "-w -b 1m -t 1m"}}
        for name, start in (("a", 0.0), ("b", 3.0))
    ]
    several = simulate_jobs(
        JobsScenario.model_validate({"machine": "theta", "jobs": jobs}), alone=False, record=True
    )
    logs = [log_of(outcome.result, tmp_path) for outcome in several.jobs]
    for log in logs:
        assert log.posix.total("BYTES_WRITTEN") == 2 * MIB
        window = log.posix.window("OPEN")
        assert window is not None
        assert window[0] < 0.1


def test_a_recording_that_ended_early_makes_a_partial_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MOST_RECORDS", 200)
    monkeypatch.setattr(recorder, "_LOG_ROWS", 1)
    result = simulate(scenario(**CASES["shared-file"]), record=True)
    log = log_of(result, tmp_path)
    assert len(log.warnings) == 1
    assert "ran out of memory for POSIX, LUSTRE, DXT_POSIX" in log.warnings[0]


def test_without_a_recording_there_is_nothing_to_log(tmp_path: Path) -> None:
    result = simulate(scenario(nodes=1, workload={"ior": "-w -b 1m -t 1m"}))
    with pytest.raises(InputError, match="no recording"):
        write(result, str(tmp_path / "log.darshan"), "--darshan")
    assert not list(tmp_path.iterdir())
