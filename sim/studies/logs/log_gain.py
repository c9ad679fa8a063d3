"""What a change would have saved of the I/O of a logged job: the log is replayed with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.job_form import AskedJob
from xc40io.config.scenario import Scenario, machine_of
from xc40io.plane.causes import Cause
from xc40io.studies.advice.changes import Change, JobChanges
from xc40io.studies.advice.job_nature import longest_phase, nature_of, seconds_of_record
from xc40io.studies.advice.weighing import LEAST, ranked
from xc40io.studies.case import Case
from xc40io.studies.log_replay import LogReplay
from xc40io.studies.logs.each_log import NamedLog
from xc40io.studies.processes import Failure
from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Simulations
from xc40io.trust.doubts import doubt_of
from xc40io.workloads.darshan.io_time import IoTime, io_time
from xc40io.workloads.darshan.place import bytes_of_files
from xc40io.workloads.darshan.reconstruction import calls_of
from xc40io.workloads.job_records.coarseness import MOST_CALLS, rpcs_as_one

_CALLS = 2_000_000
"""Calls of all replays of a log among many together, about: what has more is tried with fewer."""

MOST_RPCS = 400_000
"""Bulk RPCs of a replay among many, about: above it several are handled as one."""


@dataclass(frozen=True)
class LogQuestion:
    """What all logs have in common."""

    recorded: tuple[str, ...] = ()  # what the user knows of the recorded runs
    store: str | Path | None = None  # where runs are kept


class TriedChange(NamedTuple):
    """A change with which a log was replayed."""

    words: str
    typed: str  # how it is asked for on the command line
    gain: float  # times as fast, all I/O; simulated
    knobs: tuple[str, ...] = ()  # that were turned, by name
    doubt: str = ""  # why it is not advised, if the simulator is known to get such changes wrong

    @property
    def helps(self) -> bool:
        """Whether it is worth a change."""
        return self.gain >= LEAST and not self.doubt

    @property
    def saved(self) -> float:
        """Share of all I/O's time that it saves, in the replay; 0 of one that does not help."""
        return 1.0 - 1.0 / self.gain if self.helps else 0.0


@dataclass(frozen=True)
class LogGain:
    """A log, and what of its I/O a change would have saved."""

    name: str
    path: str
    machine: str  # on which it was replayed
    known: bool  # whether it ran there; else that is a stand-in
    nodes: int
    ranks: int
    runtime: float  # seconds, by the log
    time: IoTime  # of its I/O, by the log
    replayed: float  # seconds of its I/O in the replay as recorded
    bound: str  # what bound the replay, or was waited for longest
    best: TriedChange | None  # that saves most; None where none of those that were tried helps
    tried: int  # changes
    possible: int  # changes that there were to try
    rpcs_as_one: int  # bulk RPCs that were handled as one
    simulated: int  # runs
    recalled: int  # runs that were known from before

    @property
    def saved(self) -> float:
        """Share of its I/O's time that the best change saves, in the replay."""
        return 0.0 if self.best is None else self.best.saved

    @property
    def seconds(self) -> float:
        """Seconds of the job that this would have been: of its I/O by the log."""
        return self.saved * self.time.slowest

    @property
    def rank_seconds(self) -> float:
        """Likewise, of all ranks together."""
        return self.saved * self.time.all_ranks

    @property
    def node_hours(self) -> float:
        """What they come to on its nodes."""
        return self.seconds * self.nodes / 3600.0

    @property
    def ratio(self) -> float | None:
        """The replay's I/O by the log's: how well it explains the log, where it ran there."""
        return self.replayed / self.time.slowest if self.known and self.time.slowest else None


def log_gain(question: LogQuestion, log: NamedLog) -> LogGain:
    """Replay a log by its counters, as recorded and with a few changes of its settings.

    Raises
    ------
    InputError
        If it cannot be read, or not be replayed among others.
    """
    path = str(log.path)
    asked = LogReplay.of(path, "think", (), AskedJob.of_log(), question.recorded, counters=True)
    calls = calls_of(asked.log)
    if calls > MOST_CALLS:
        raise InputError(
            f"{path}: the log counts {calls:,} calls; right would be at most {MOST_CALLS:,} among "
            f"several logs, or the log by itself: xc40io replay {path}"
        )
    scenario = _coarse(asked)
    runs = Simulations.of_study(1, question.store)
    (base,) = runs.run([scenario])
    if isinstance(base, Failure):
        raise InputError(f"{path}: {base.reason}")
    changes = cheap_changes(scenario, base)
    some = changes[: max(_CALLS // max(calls, 1) - 1, 1)]
    tried = tried_changes(scenario, base, some, runs)
    return LogGain(
        name=log.name,
        path=path,
        machine=asked.place.machine,
        known=asked.place.known,
        nodes=scenario.nodes,
        ranks=asked.log.ranks,
        runtime=asked.log.run_time,
        time=io_time(asked.log),
        replayed=seconds_of_record(base, "all", replay=True),
        bound=bound_of(base),
        best=next((one for one in tried if one.helps), None),
        tried=len(tried),
        possible=len(changes),
        rpcs_as_one=scenario.rpcs_as_one,
        simulated=runs.simulated,
        recalled=runs.recalled,
    )


def _coarse(asked: LogReplay) -> Scenario:
    """Return the scenario of a log, as coarse as it must be among many."""
    scenario = asked.scenario()
    moved = sum(bytes_of_files(asked.log).values())
    coarse = rpcs_as_one(moved, MOST_RPCS, machine_of(scenario))
    return scenario.model_copy(update={"rpcs_as_one": coarse})


def cheap_changes(scenario: Scenario, base: RunRecord) -> list[Change]:
    """Return few changes of a replayed job's settings; ``base``: what came of it as it was."""
    return list(JobChanges("", Case(scenario), nature_of(scenario, base)).cheap())


def tried_changes(
    scenario: Scenario, base: RunRecord, changes: Sequence[Change], runs: Simulations
) -> tuple[TriedChange, ...]:
    """Run changes; return those that help, the best first, and then the others."""
    before = seconds_of_record(base, "all", replay=True)
    longest = longest_phase(base, "all", replay=True)
    tried: list[TriedChange] = []
    efforts: dict[TriedChange, tuple[int, ...]] = {}
    ends = runs.run([change.case.scenario for change in changes])
    for change, ended in zip(changes, ends, strict=True):
        if isinstance(ended, Failure):
            continue
        gain = before / seconds_of_record(ended, "all", replay=True)
        doubt = doubt_of(gain, scenario, change.case.scenario, longest)
        words = "" if doubt is None else doubt.words
        one = TriedChange(change.words, change.typed, gain, tuple(change.turned), words)
        tried.append(one)
        efforts[one] = change.effort
    helping = [one for one in tried if one.helps]
    best = ranked(helping, lambda one: one.gain, efforts.__getitem__)
    return (*best, *sorted((one for one in tried if not one.helps), key=lambda one: -one.gain))


def bound_of(base: RunRecord) -> str:
    """Return what bound a replay, or what its ranks waited for longest beside computing."""
    for bound in base.bounds:
        if bound.binds:
            return f"{bound.station}, busy {100 * bound.busy:.0f} %"
        waits = (wait for wait in bound.waits if wait.cause != Cause.THINK.name.lower())
        longest = next(waits, None)
        if longest is not None:
            return longest.words
    return ""
