"""Whether a replay explains its log: the log's seconds and rates beside those of the replay.

A replay explains a phase (reads, writes, opens and other metadata) if the seconds that its ranks
spent in it by the log are among those that nine of ten real runs would take of which the replay's
seconds were simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xc40io.config.units import format_seconds
from xc40io.findings.replay_report import ReplayReport
from xc40io.findings.replay_times import KINDS, outcome_of, together
from xc40io.run.result import Result
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness
from xc40io.workloads.darshan.module_counters import Layer, Phase
from xc40io.workloads.replay.outcome import Call


class PhaseOfLog(NamedTuple):
    """A phase of the application by its log, and in the replay."""

    phase: Phase
    calls: int
    bytes: int
    log: float  # seconds of all ranks together
    replay: float
    log_rate: float  # bytes/s of a rank while it was in it, on average; 0 of metadata
    replay_rate: float
    real: Interval | None  # seconds of nine of ten real runs; None where nothing is known of them

    @property
    def ratio(self) -> float | None:
        """The replay's seconds by those of the log."""
        return self.replay / self.log if self.log else None

    @property
    def explained(self) -> bool:
        """Whether the log's seconds are among those of real runs."""
        return self.real is None or self.real.low <= self.log <= self.real.high


def phases_of_log(report: ReplayReport) -> list[PhaseOfLog]:
    """Return what the application did by its log, of all files and layers, beside the replay."""
    every, run = together(report.files, "all files"), report.runs[0]
    sureness = Sureness(run.scenario, run.traits)
    found = []
    for phase in (Phase.READ, Phase.WRITE, Phase.META):
        keys = [(layer, phase) for layer in (Layer.POSIX, Layer.MPIIO)]
        log = [every.recorded[key] for key in keys if key in every.recorded]
        replay = [every.runs[0][key] for key in keys if key in every.runs[0]]
        seconds = sum(of.seconds for of in log)
        if not seconds or (phase is not Phase.META and not any(of.bytes for of in log)):
            continue
        simulated = sum(of.seconds for of in replay)
        found.append(
            PhaseOfLog(
                phase,
                sum(of.calls for of in log),
                sum(of.bytes for of in log),
                seconds,
                simulated,
                sum(of.bytes for of in log) / seconds,
                sum(of.bytes for of in replay) / simulated if simulated else 0.0,
                sureness.seconds(_name(run, phase), simulated),
            )
        )
    return found


def _name(run: Result, phase: Phase) -> str:
    """Return what the kind of calls is called in which ranks spent most of a phase."""
    outcome = outcome_of(run)
    calls = [call for key, kinds in KINDS.items() if key[1] is phase for call in kinds]
    most: Call = max(calls, key=lambda call: float(outcome.seconds_in(call).sum()))
    return most.name.lower().replace("_", " ")


def verdict(report: ReplayReport, phases: Sequence[PhaseOfLog]) -> str:
    """Say that a replay does not explain its log, where and probably why; nothing if it does."""
    wrong = [of for of in phases if not of.explained]
    if not wrong:
        return ""
    said = "; ".join(_beside(of, known=report.known) for of in wrong)
    whys = "; ".join(dict.fromkeys(_reasons(report, wrong)))
    return f"This replay does not explain the log: {said}. Likely reasons: {whys}."


def _beside(of: PhaseOfLog, *, known: bool) -> str:
    """Say how long a phase took by the log and in the replay; a ratio where it is a test."""
    log, replay = (format_seconds(seconds, 4) for seconds in (of.log, of.replay))
    times = f" ({of.ratio:.3g} times)" if known and of.ratio else ""
    return f"{of.phase} took all ranks {log} by the log and {replay} here{times}"


def _reasons(report: ReplayReport, wrong: Sequence[PhaseOfLog]) -> Iterator[str]:
    """Yield why the replay may differ, what is known of this log first."""
    log = report.log
    if not report.known:
        yield "the job ran on another machine than the stand-in (--recorded machine=...)"
    if log.elsewhere:
        yield "its files lay on another file system than Lustre"
    if log.lost or log.unreplayed:
        yield "the log lacks a part of what the job did"
    yield from report.guessed
    if log.slow or log.slow_servers:
        yield "some OSTs were slow (see the warnings)"
    quicker = {of.phase for of in wrong if of.log < of.replay}
    slower = {of.phase for of in wrong if of.log > of.replay}
    if Phase.READ in quicker:
        yield "a page cache had what was read"
    if quicker & {Phase.WRITE, Phase.META}:
        yield "the order and the places of the calls, which the counters leave open, were others"
    if slower & {Phase.READ, Phase.WRITE}:
        yield "other jobs used the same servers (--background-write, --background typical)"
        if any(key[0] is Layer.MPIIO for file in report.files for key in file.keys):
            yield "ranks waited in calls of MPI-IO for others that still computed"
    if Phase.META in slower:
        yield "the MDS was busy with other jobs"
