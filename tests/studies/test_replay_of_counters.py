"""A job simulated, its Darshan log replayed by its counters alone: its own figures come out."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from darshan_logs import posix_writes, write_log

from xc40io import replay
from xc40io.cli.app import cli
from xc40io.config.job_form import FROM_LOG, AskedJob
from xc40io.findings.log_explained import phases_of_log, verdict
from xc40io.findings.replay_report import ReplayReport
from xc40io.results.replay_answer import replay_answer
from xc40io.studies.log_replay import LogReplay
from xc40io.telling.text import text_of
from xc40io.workloads.darshan.log import read_log
from xc40io.workloads.darshan.module_counters import Phase

MIB = 2**20
_SAYS = "This replay does not explain the log"

JOBS = {
    "own files, synced, read by another node": "-F -w -r -C -e -b 32m -t 1m",
    "own files, read by who wrote them": "-F -w -r -b 32m -t 1m",
    "a shared file": "--stripe-count 8 -- -w -r -C -e -b 32m -t 1m",
    "a shared file, read by who wrote it": "--stripe-count 8 -- -w -r -b 32m -t 1m",
    "a shared file, collectively": "--stripe-count 8 -- -a MPIIO -c -w -r -b 16m -t 1m",
}


@pytest.mark.parametrize("words", JOBS.values(), ids=JOBS)
def test_a_job_that_is_replayed_by_its_counters_takes_as_long_as_by_its_log(
    words: str, tmp_path: Path
) -> None:
    options, _, ior = words.rpartition("-- ")
    path = tmp_path / "own.darshan"
    line = f"ior --machine theta --nodes 2 --ppn 8 {options} --darshan {path} -- {ior}"
    done = CliRunner().invoke(cli, shlex.split(line))
    assert done.exit_code == 0, done.output
    job = LogReplay.of(path, "think", [], AskedJob(**dict.fromkeys(FROM_LOG)))
    report = replace(job, log=job.log.without_dxt()).run()
    phases = {of.phase: of for of in phases_of_log(report)}
    for phase in (Phase.READ, Phase.WRITE):
        ratio = phases[phase].ratio
        assert ratio is not None
        assert 1 / 1.5 < ratio < 1.5
        assert phases[phase].explained


def with_map(path: Path, width: float) -> Path:
    """Write a log of POSIX anew with a heat map, by its DXT, in place of DXT; return its path."""
    log = read_log(path)
    dxt, posix, moved = log.dxt_posix, log.posix, {}
    last = int(dxt.segments["end"].max() / width) + 1
    ends = np.cumsum(dxt.writes + dxt.reads)
    for rank, reads, end in zip(dxt.rank.tolist(), dxt.reads.tolist(), ends, strict=True):
        mine = dxt.segments[end - reads : end]  # reads stand after writes
        row = moved.setdefault(rank, np.zeros(last, np.int64))
        np.add.at(row, (mine["start"] / width).astype(int), mine["length"])
    records = [
        {"id": posix.number[row], "rank": posix.rank[row]}
        | {name: posix[name][row] for name in posix.columns}
        for row in range(len(posix))
    ]
    none = np.zeros(last, np.int64)
    maps = [
        {"id": 8, "rank": rank, "width": width, "reads": row, "writes": none}
        for rank, row in moved.items()
    ]
    hosts = [{"id": 0, "rank": rank, "host": host} for rank, host in log.hosts.items()]
    layouts = [
        {"id": number, "rank": -1, "size": lay.size, "osts": lay.osts}
        for number, lay in log.layouts.items()
    ]
    again, names = path.with_suffix(".map.darshan"), {**log.names, 8: "heatmap:POSIX"}
    modules = {"POSIX": records, "LUSTRE": layouts, "APMPI": hosts, "HEATMAP": maps}
    return write_log(again, ranks=log.ranks, seconds=60, names=names, **modules)


def test_a_heat_map_tells_when_ranks_read_between_pauses(tmp_path: Path) -> None:
    """All ranks read at once, compute for 20 s, and read again."""
    rows, path = ["rank,op,file,offset,length,think"], tmp_path / "own.darshan"
    for rank in range(8):
        rows.append(f"{rank},open,/lus/theta-fs0/in,,,")
        for call in range(64):
            offset, pause = (call * 8 + rank) * 8 * MIB, 20 if call == 32 else 0
            rows.append(f"{rank},read,/lus/theta-fs0/in,{offset},{8 * MIB},{pause}")
        rows.append(f"{rank},close,/lus/theta-fs0/in,,,")
    (tmp_path / "job.csv").write_text("\n".join(rows) + "\n")
    line = f"replay --machine theta --nodes 2 --ppn 4 --stripe-count 1 --darshan {path}"
    done = CliRunner().invoke(cli, [*shlex.split(line), str(tmp_path / "job.csv")])
    assert done.exit_code == 0, done.output
    job = LogReplay.of(with_map(path, 0.5), "think", [], AskedJob(**dict.fromkeys(FROM_LOG)))
    ratios = []
    for log in (job.log, replace(job.log, paced={})):
        (read,) = [
            of for of in phases_of_log(replace(job, log=log).run()) if of.phase is Phase.READ
        ]
        ratios.append(read.ratio or 0.0)
    with_it, without = ratios
    assert without < 0.8 < with_it < 1.2


def written_in(path: Path, seconds: float, meta: float) -> ReplayReport:
    """Replay 32 MiB of four ranks, each of which wrote and opened for so long by the log."""
    end = 1.0 + seconds
    took = {"F_WRITE_TIME": seconds, "F_META_TIME": meta, "F_WRITE_END_TIMESTAMP": end}
    closed = {"F_CLOSE_START_TIMESTAMP": end, "F_CLOSE_END_TIMESTAMP": end + 0.1}
    wrote = [posix_writes(rank, 4, 2 * MIB, **took, **closed) for rank in range(4)]
    return replay(write_log(path, POSIX=wrote))


def test_a_replay_that_contradicts_its_log_says_where_and_probably_why(tmp_path: Path) -> None:
    report = written_in(tmp_path / "slow.darshan", 300.0, 0.0005)
    write, meta = phases_of_log(report)
    assert (write.phase, write.log, write.bytes, write.log_rate) == (
        Phase.WRITE,
        1200.0,
        32 * MIB,
        32 * MIB / 1200.0,
    )
    assert write.real is not None
    assert write.real.low < write.replay < write.real.high < write.log
    assert (write.explained, meta.explained) == (False, True)
    (said,) = [line for line in text_of(replay_answer(report)).splitlines() if _SAYS in line]
    assert said.startswith(f"{_SAYS}: write took all ranks 1200 s by the log and ")
    assert "; on how many nodes the ranks were is a guess" in said
    assert said.endswith(
        "; other jobs used the same servers (--background-write, --background typical)."
    )
    assert _SAYS not in text_of(replay_answer(report, exact=True))  # without what real runs take


def test_a_replay_of_which_the_log_could_be_is_silent(tmp_path: Path) -> None:
    report = written_in(tmp_path / "usual.darshan", 0.05, 0.0005)
    assert [of.explained for of in phases_of_log(report)] == [True, True]
    assert verdict(report, phases_of_log(report)) == ""
    assert _SAYS not in text_of(replay_answer(report))
