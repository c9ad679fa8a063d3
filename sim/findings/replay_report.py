"""The report on a replay of a Darshan log: plain data, apart from the log itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from xc40io.config.kept import kept
from xc40io.config.parts.lustre import Lustre
from xc40io.findings.call_sizes import CallSizes, log_sizes
from xc40io.findings.replay_times import FileTimes, file_times
from xc40io.run.result import Result
from xc40io.workloads.darshan.facts import Facts
from xc40io.workloads.darshan.heat_map import heat_sentences
from xc40io.workloads.darshan.log import DarshanLog, Unreplayed
from xc40io.workloads.darshan.place import described, elsewhere, file_systems
from xc40io.workloads.darshan.reconstruction import Reconstruction
from xc40io.workloads.darshan.slow_parts import ost_sentences, server_sentences, slow_parts


@kept
@dataclass(frozen=True, kw_only=True)
class ReplayedLog:
    """What the log says of the job as a whole."""

    path: str  # where it was
    version: str  # of the log's format
    job_id: int
    executable: str  # the command line
    ranks: int
    run_time: float  # seconds
    warnings: tuple[str, ...]  # what is wrong with the log: a sentence each
    lost: tuple[str, ...]  # what it should have told and does not: a few words each
    unreplayed: tuple[Unreplayed, ...]  # what moved through modules that are not replayed
    elsewhere: tuple[str, ...]  # its file systems that are not Lustre, and what lay there
    last_call: float  # when it ended, in seconds since the job began; 0 if unknown
    slow: tuple[str, ...]  # which OSTs were slow: a sentence each
    slow_servers: tuple[str, ...] = ()  # which OSSs were, with all their OSTs: a sentence each
    # when bytes were moved, by its heat maps, where DXT has no calls: a sentence each
    heat: tuple[str, ...] = ()
    sizes: tuple[CallSizes, ...] = ()  # of its reads and writes; nothing in what was kept earlier

    @property
    def name(self) -> str:
        """The name of its file."""
        return Path(self.path).name


@kept
class Reconstructed(NamedTuple):
    """How the calls of a file were reconstructed."""

    name: str  # of the file
    story: tuple[str, ...]  # a sentence each


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class ReplayReport:
    """The report on a replay."""

    log: ReplayedLog
    where: str  # on which machine and nodes it was replayed, and why there: a sentence
    files: tuple[FileTimes, ...]  # the one with most bytes first
    reconstructed: tuple[Reconstructed, ...]  # file by file in the order of the trace
    runs: tuple[Result, ...]
    """The replay as recorded, then the what-if if one was asked for. Their scenarios name the log.
    """
    change: str = ""  # what the what-if changes, as it was typed; nothing without one
    known: bool = True
    """Whether the job ran on that machine: if not, no times are compared with the log's."""
    told: str = ""  # what the user knows of the recorded run, as it was typed
    guessed: tuple[str, ...] = ()  # what the log does not say of it: a clause each


def replay_report(
    found: Reconstruction,
    runs: Sequence[Result],
    *,
    where: str,
    facts: Facts,
    known: bool = True,
    change: str = "",
    guessed: Sequence[str] = (),
) -> ReplayReport:
    """Return the report on a replay.

    ``found``: the log, and the trace that was made of it. ``runs``, ``where``, ``known``,
    ``change`` and ``guessed``: as :class:`ReplayReport` has them. ``facts``: what the user
    knows of the recorded run.
    """
    path = str(found.log.path)
    return ReplayReport(
        log=_replayed(found.log, runs[0].machine.lustre if known else None, facts),
        where=where,
        known=known,
        told=facts.as_typed(),
        files=tuple(file_times(found, runs)),
        reconstructed=tuple(
            Reconstructed(file.name, tuple(story))
            for file, story in zip(found.trace.files, found.stories, strict=True)
        ),
        runs=tuple(_naming(run, path) for run in runs),
        change=change,
        guessed=tuple(guessed),
    )


def _replayed(log: DarshanLog, lustre: Lustre | None, facts: Facts) -> ReplayedLog:
    slow = slow_parts(log, lustre)
    return ReplayedLog(
        path=str(log.path),
        version=log.version,
        job_id=log.job_id,
        executable=log.executable,
        ranks=log.ranks,
        run_time=log.run_time,
        warnings=log.warnings,
        lost=log.lost,
        unreplayed=log.unreplayed,
        last_call=log.last_call,
        heat=() if len(log.dxt_posix.rank) else tuple(heat_sentences(log.heat)),
        sizes=log_sizes(log),
        slow=tuple(ost_sentences(slow, facts.rates)),
        slow_servers=tuple(server_sentences(slow, facts.rates)),
        elsewhere=tuple(described(system) for system in elsewhere(file_systems(log))),
    )


def _naming(run: Result, path: str) -> Result:
    """Return a run whose scenario names the log where it held the trace itself."""
    asked = run.scenario.workload
    workload = asked.having({**asked.options, "trace": path})
    return replace(run, scenario=run.scenario.model_copy(update={"workload": workload}))
