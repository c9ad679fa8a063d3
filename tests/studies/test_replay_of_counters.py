"""A job simulated, its Darshan log replayed by its counters alone: its own figures come out."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

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
