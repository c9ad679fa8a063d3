"""A diagnosis of a log: the findings in its replay, and what each kind of remedy brings there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xc40io.config.job_form import AskedJob
from xc40io.config.scenario import Scenario
from xc40io.findings.trigger import Remedy, Trigger
from xc40io.findings.triggers import triggers
from xc40io.studies.advice.composites import COMPOSITE
from xc40io.studies.advice.job_nature import seconds_of_record
from xc40io.studies.advice.knobs import AGGREGATORS, BUFFERING, COUNT, LOCKS, SIZE
from xc40io.studies.case import Case
from xc40io.studies.log_replay import LogReplay
from xc40io.studies.logs.log_gain import TriedChange, bound_of, cheap_changes, tried_changes
from xc40io.studies.record import record_of
from xc40io.studies.simulations import Progress, Simulations
from xc40io.workloads.darshan.io_time import IoTime, io_time

_KNOBS: Mapping[Remedy, frozenset[str]] = {
    Remedy.STRIPING: frozenset((COUNT, COMPOSITE)),
    Remedy.STRIPE_SIZE: frozenset((SIZE,)),
    Remedy.AGGREGATION: frozenset((AGGREGATORS, BUFFERING, LOCKS)),
}
"""The knobs of each kind of remedy that who submits the job can turn; of others nobody tried."""


@dataclass(frozen=True)
class LogDiagnosis:
    """Findings in the I/O of a logged job, and what would have helped."""

    path: str  # of the log
    where: str  # it was replayed, and why there: a sentence
    known: bool  # whether the job ran there
    warnings: tuple[str, ...]  # what is wrong with the log: a sentence each
    time: IoTime  # of its I/O, by the log
    replayed: float  # seconds of its I/O in the replay as recorded
    bound: str  # what bound the replay, or was waited for longest
    findings: tuple[Trigger, ...]
    tried: tuple[TriedChange, ...]  # those that help first, the best before the others

    @property
    def best(self) -> TriedChange | None:
        """The change that saves most; None where none helps."""
        return next((one for one in self.tried if one.helps), None)

    def tried_for(self, finding: Trigger) -> TriedChange | None:
        """Return the best change that was tried of the kinds that are meant for a finding."""
        knobs = frozenset().union(*(_KNOBS.get(one, frozenset()) for one in finding.remedies))
        return next((one for one in self.tried if knobs & set(one.knobs)), None)

    def seconds(self, one: TriedChange | None) -> float:
        """Return the seconds of the log's own I/O that a change would have saved."""
        return 0.0 if one is None else one.saved * self.time.slowest


def diagnose(
    log: str,
    *,
    recorded: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    check: Callable[[Scenario], None] | None = None,
) -> LogDiagnosis:
    """Replay a log, look for findings, and try few changes of its settings.

    Parameters
    ----------
    log, recorded
        Its path, and what is known of the recorded run, as ``--recorded`` takes it.
    jobs, progress
        Processes; told how many runs are done, and of how many.
    check
        Given the scenario before it is run; may raise InputError.

    Raises
    ------
    InputError
        If the log cannot be read, or not be replayed.
    """
    asked = LogReplay.of(log, "think", (), AskedJob.of_log(), recorded)
    scenario = asked.scenario()
    if check is not None:
        check(scenario)
    result = Case(scenario).run(record=True)[""]
    base = record_of(result)
    runs = Simulations.of_study(jobs, progress=progress)
    return LogDiagnosis(
        path=log,
        where=asked.where(),
        known=asked.place.known,
        warnings=asked.log.warnings,
        time=io_time(asked.log),
        replayed=seconds_of_record(base, "all", replay=True),
        bound=bound_of(base),
        findings=tuple(triggers(result)),
        tried=tried_changes(scenario, base, cheap_changes(scenario, base), runs),
    )
