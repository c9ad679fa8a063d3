"""``xc40io replay`` with Darshan logs."""

from __future__ import annotations

import json

import pytest
from darshan_logs import collective_writes, file_per_ost, posix_writes, write_log

MIB = 2**20
SIZE = 2 * MIB


@pytest.fixture(scope="module")
def shared_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Eight ranks that write one file together, twice; rank 0 alone wrote it below."""
    below = posix_writes(-1, 32, MIB, OPENS=8, SLOWEST_RANK_BYTES=32 * MIB)
    below["F_VARIANCE_RANK_BYTES"] = (32 * MIB) ** 2 / 8 - (4 * MIB) ** 2
    below["SIZE_WRITE_100K_1M"], below["SIZE_WRITE_1M_4M"] = 32, 0
    path = tmp_path_factory.mktemp("logs") / "shared.darshan"
    write_log(path, ranks=8, POSIX=[below], MPIIO=[collective_writes(8, 2, SIZE)])
    return str(path)


@pytest.fixture(scope="module")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve ranks with a file each."""
    path = tmp_path_factory.mktemp("logs") / "own.darshan"
    records = [posix_writes(rank, 4, MIB + 8, FSYNCS=1) | {"id": rank + 1} for rank in range(12)]
    names = {rank + 1: f"/lus/theta-fs0/out.{rank}" for rank in range(12)}
    return str(write_log(path, ranks=12, names=names, partial=1 << 1, POSIX=records))


def test_a_replay_shows_the_log_beside_the_simulation(xc40io, shared_log):
    done = xc40io("replay", shared_log)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Darshan log shared.darshan: 8 ranks, job 7, 10 s"
    assert lines[1].startswith("Replayed on theta (its files lie below /lus/theta-fs0)")
    assert "1 file, opens, stats, reads, writes and 0.0335544 GB: as recorded." in lines[2]
    written = next(line.split() for line in lines if line.startswith("MPI-IO       write"))
    assert written[2:5] == ["16", "0.03355", "12"]  # calls, GB, seconds of all ranks by the log
    below = next(line.split() for line in lines if line.startswith("POSIX below  write"))
    assert below[3] == "32"
    assert "what-if" not in done.stdout
    judged = next(line.split() for line in lines if line.startswith("/lus/theta-fs0/data  writes"))
    assert judged[2:] == ["32", "32", "1.000"]
    assert "Warning" not in done.stdout
    (end,) = [line for line in lines if line.startswith("From the job's start to its last call")]
    assert "log 3.1 s, replay " in end
    assert "of the ranks' time in the replay is computing as recorded" in end


def test_calls_below_mpi_io_that_are_not_as_recorded_are_warned_of(xc40io, tmp_path):
    path = tmp_path / "small.darshan"
    below = posix_writes(0, 512, MIB // 16, SIZE_WRITE_10K_100K=512, SIZE_WRITE_1M_4M=0)
    layout = {"id": 1, "rank": -1, "size": MIB, "osts": [7]}
    above = collective_writes(8, 2, SIZE)
    write_log(path, ranks=8, POSIX=[below], MPIIO=[above], LUSTRE=[layout])
    done = xc40io("replay", str(path), "--json")
    (judged,) = json.loads(done.stdout)["below_mpi"]
    assert (judged["recorded"], judged["differ"], judged["complete"]) == (512, True, True)
    text = xc40io("replay", str(path), "--timing", "asap").stdout
    warning = next(line for line in text.splitlines() if line.startswith("Warning: "))
    assert f"{judged['simulated']:,} writes were simulated where the log has 512" in warning
    assert "computing as recorded" not in text


def test_an_end_that_is_recorded_time_is_no_success(xc40io, tmp_path):
    path = tmp_path / "thinking.darshan"
    later = {"F_WRITE_START_TIMESTAMP": 90.0, "F_WRITE_END_TIMESTAMP": 91.0}
    closed = {"F_CLOSE_START_TIMESTAMP": 91.0, "F_CLOSE_END_TIMESTAMP": 91.1}
    written = [posix_writes(rank, 4, SIZE, **later, **closed) for rank in range(4)]
    done = xc40io("replay", str(write_log(path, POSIX=written)))
    end = next(line for line in done.stdout.splitlines() if "last call" in line)
    assert end.endswith("the end says little about the I/O")


def test_a_slow_ost_is_told_of_and_replayed(xc40io, tmp_path):
    path = tmp_path / "bad.darshan"
    took = [1.0] * 5 + [20.0]
    written = [
        posix_writes(rank, 4, SIZE, FSYNCS=1, F_WRITE_END_TIMESTAMP=1.0 + took[rank])
        | {"id": 1 + rank}
        for rank in range(6)
    ]
    layouts = [{"id": 1 + rank, "rank": rank, "size": MIB, "osts": [rank]} for rank in range(6)]
    names = {1 + rank: f"/lus/theta-fs0/{rank}" for rank in range(6)}
    write_log(path, ranks=6, names=names, POSIX=written, LUSTRE=layouts)
    usual = xc40io("replay", str(path), "--timing", "asap").stdout.splitlines()
    warning = next(line for line in usual if line.startswith("Warning: OST 5 was slow in the log"))
    assert "--recorded ost.5.rate=fitted replays it as slow as it was" in warning
    words = ("replay", str(path), "--recorded", "ost.5.rate=fitted", "--json")
    document = json.loads(xc40io(*words).stdout)
    seconds = {file["name"]: file["phases"][-1]["runs"][0]["seconds"] for file in document["files"]}
    assert seconds["/lus/theta-fs0/5"] > 10 * seconds["/lus/theta-fs0/0"]
    assert document["where"].endswith("OST 5 at 419 kB/s: 0.008389 GB in 20 s by the log")


def test_a_slow_server_is_told_of_and_replayed(xc40io, tmp_path):
    took = dict.fromkeys((0, 1, 21, 22), 1.0) | {14: 40.0, 15: 40.0}
    path = file_per_ost(tmp_path / "bad.darshan", took, mount="/lustre/atlas", synced=True)
    usual = xc40io("replay", str(path)).stdout
    said = next(line for line in usual.splitlines() if line.startswith("Warning: OSS 2 was slow"))
    assert ", with 2 of its 7 OSTs" in said
    assert said.endswith("; --recorded oss.2.rate=fitted replays it as slow as it was")
    words = ("replay", str(path), "--recorded", "oss.2.rate=fitted")
    slowed = json.loads(xc40io(*words, "--json").stdout)
    assert slowed["where"].endswith("OSS 2 at 3.36 MB/s: 0.1342 GB in 40 s by the log")
    assert set(slowed["runs"][0]["xc40io"]["scenario"]["slow"]) == {"OSS 2"}
    writes = {file["name"]: file["phases"][-1]["runs"][0]["seconds"] for file in slowed["files"]}
    assert writes["/lustre/atlas/4"] == pytest.approx(40.0, rel=0.05)
    assert writes["/lustre/atlas/0"] < 1.5
    (said,) = slowed["log"]["slow_servers"]
    assert "--recorded" not in said  # it is told already
    assert slowed["log"]["slow_osts"] == []


def test_a_what_if_stands_beside_the_replay(xc40io, shared_log):
    done = xc40io("replay", shared_log, "--stripe-count", "4", "--json")
    document = json.loads(done.stdout)
    assert document["change"] == "--stripe-count 4"
    assert document["differences"] == []
    assert len(document["runs"]) == 2
    scenarios = [run["xc40io"]["scenario"] for run in document["runs"]]
    assert scenarios[1]["striping"]["count"] == 4
    assert "count" not in scenarios[0]["striping"]
    assert scenarios[0]["workload"]["kernel"]["trace"] == shared_log
    (file,) = document["files"]
    writes = {of["layer"]: of for of in file["phases"] if of["phase"] == "write"}
    phase, below = writes["MPI-IO"], writes["POSIX below"]
    assert phase["log"]["seconds"] == 12.0
    assert [run["bytes"] for run in phase["runs"]] == [16 * SIZE] * 2
    assert [run["ranks"] for run in below["runs"]] == [1, 4]


def test_an_unknown_machine_is_said_first_and_no_test(xc40io, tmp_path):
    path = tmp_path / "home.darshan"
    names = {1: "/home/me/data", 2: "<STDOUT>", 3: "/home/me/log"}
    stdio = [{"id": number, "rank": 0, "OPENS": 1, "BYTES_WRITTEN": MIB} for number in (2, 3)]
    mounts = {"/home": "nfs", "/lus/theta-fs0": "lustre"}
    written = [posix_writes(0, 4, SIZE)]
    write_log(path, names=names, mounts=mounts, POSIX=written, STDIO=stdio)
    done = xc40io("replay", str(path))
    lines = done.stdout.splitlines()
    assert lines[1].startswith("The log's machine is unknown (its files lay on nfs at /home")
    assert "Replayed on theta as a stand-in" in lines[1]
    assert lines[2].startswith("Not on Lustre when recorded, but replayed on Lustre: nfs at /home")
    assert lines[3] == ("Not replayed: 0.001049 GB of 1 file through STDIO; 11.1 % of all bytes")
    assert "of log" not in done.stdout
    document = json.loads(xc40io("replay", str(path), "--json").stdout)
    assert document["known"] is False
    assert document["log"]["unreplayed"] == [
        {"module": "STDIO", "files": 1, "bytes": MIB, "seconds": 0.0}
    ]


def test_what_is_known_of_the_recorded_run_is_no_what_if(xc40io, shared_log):
    facts = ("ppn=4", "striping.count=2", "ost.1.rate=300 MB/s", "hints=*:cb_nodes=1")
    words = [word for fact in facts for word in ("--recorded", fact)]
    document = json.loads(xc40io("replay", shared_log, *words, "--json").stdout)
    (run,) = document["runs"]
    scenario = run["xc40io"]["scenario"]
    assert (scenario["nodes"], scenario["ppn"]) == (2, 4)
    assert scenario["striping"]["count"] == 2
    assert scenario["slow"]["OST 1"] == pytest.approx(10.238)
    assert scenario["environment"]["MPICH_MPIIO_HINTS"].startswith("*:cb_nodes=1")
    assert document["told"] == " ".join(words)
    assert document["change"] == ""


def test_many_files_are_told_of_in_short_and_a_partial_log_warns(xc40io, many_files):
    done = xc40io("replay", many_files, "--timing", "asap", "--explain")
    assert done.exit_code == 0
    assert "ran out of memory for POSIX" in done.stderr
    assert "Lost in the log: records of POSIX for which Darshan had no memory" in done.stdout
    assert "GB: as far as the log tells." in done.stdout
    assert "4 files more" in done.stdout
    assert "/lus/theta-fs0/out.0 and 11 alike" in done.stdout
    assert "4 writes of 4.000 MiB: 3 consecutive" in done.stdout
    assert "1 opens, 0 stats, 1 fsyncs" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--nodes", "5"), "room for 12"),
        (("--machine", "nowhere"), "nowhere"),
        (("--stripe-count", "99"), "stripe count 99"),
        (("--files", "f.yaml"), "--files f.yaml"),
        (("--recorded", "machine=nowhere"), "nowhere"),
        (("--recorded", "striping.count=99"), "stripe count 99"),
        (("--env", "rubbish"), "NAME=VALUE"),
        (("--set", "lustre.osts=none"), "lustre.osts"),
    ],
)
def test_what_cannot_be_is_refused(xc40io, many_files, words, says):
    from xc40io.config.errors import InputError

    done = xc40io("replay", many_files, *words)
    assert done.exit_code != 0
    said = str(done.exception) if isinstance(done.exception, InputError) else done.output
    assert says in said
