"""A replay of a Darshan log beside what the log says: as recorded, and with other settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xc40io.config.asked_job import inherited, scenario_of_job, variables_of
from xc40io.config.asked_workload import Workload
from xc40io.config.job_form import HINTS, AskedJob, option_of
from xc40io.config.machine import DEFAULT_MACHINE, load_machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.findings.replay_report import ReplayReport, replay_report
from xc40io.run.simulate import simulate
from xc40io.workloads.darshan.facts import (
    Facts,
    check_no_facts,
    facts_of,
    fitted_rates,
    slowed_parts,
)
from xc40io.workloads.darshan.inference import as_hints, hints_shown
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.place import Place, Shape, dealt_to, where_it_ran
from xc40io.workloads.darshan.reconstruction import Reconstruction, reconstruct
from xc40io.workloads.darshan.slow_parts import slow_sentences
from xc40io.workloads.darshan.turns import ReadCosts
from xc40io.workloads.replay.kernel import open_trace

if TYPE_CHECKING:
    from xc40io.config.parts.lustre import Lustre

Watch = Callable[[], AbstractContextManager[Any]]
"""Makes who is told of the progress of a run."""

_STRIPES = ("stripe_count", "stripe_size", "stripe_offset")
_CHANGES = ("machine", "nodes", "ppn", *_STRIPES, "setstripe", "hints")
"""Fields of a job that a what-if may have otherwise than the recorded run."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LogReplay:
    """A replay of a log, ready to run.

    Attributes
    ----------
    log, place, shape
        What was read, and where the job ran.
    timing, assignments, job
        As typed; what is None of the job, the log tells.
    facts
        What the user knows of the recorded run.
    """

    log: DarshanLog
    place: Place
    shape: Shape
    timing: str
    assignments: Sequence[str]
    job: AskedJob
    facts: Facts
    counters: bool = False  # whether what DXT has of the calls is left aside

    @staticmethod
    def of(
        path: str,
        timing: str,
        assignments: Sequence[str],
        job: AskedJob,
        recorded: Sequence[str] = (),
        *,
        counters: bool = False,
    ) -> LogReplay:
        """Read the log; its warnings are for the caller to print. All is as typed.

        Raises
        ------
        InputError
            If the log cannot be read, or something that was typed cannot be.
        """
        facts = facts_of(recorded)
        log = read_log(path)
        ran = where_it_ran(log, facts, job.machine)
        log = log.without_dxt() if counters else log
        return LogReplay(
            log=log,
            place=ran.place,
            shape=ran.shape,
            timing=timing,
            assignments=assignments,
            job=job,
            facts=facts,
            counters=counters,
        )

    def run(
        self,
        *,
        record: bool = False,
        watch: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> ReplayReport:
        """Run the replay as recorded, and the what-if if there is one; `record` what they do.

        ``watch`` makes who is told of the progress of each.
        """
        change = self.change
        jobs = [self._scenario(self._recorded_job(), ())]
        if change:  # may be refused: before the first of the two takes its time
            jobs.append(self._scenario(self._what_if_job(), self.assignments))
        nodes, ppn = self.shape.nodes, self.shape.ppn
        costs = ReadCosts.of(load_machine(self.place.machine), nodes, ppn)
        found = reconstruct(self.log, nodes, ppn, self.facts.striping, costs)
        runs = []
        for scenario in jobs:
            with watch() as progress:
                of_trace = _of_trace(scenario, found.trace)
                runs.append(simulate(of_trace, progress=progress, record=record))
        return replay_report(
            found,
            runs,
            where=self.where(),
            known=self.place.known,
            facts=self.facts,
            change=change,
            guessed=tuple(self._guessed(found)),
        )

    def _guessed(self, found: Reconstruction) -> Iterator[str]:
        """Yield what the log does not say of the recorded run, and how it can be told."""
        if any(file.striping.count in (None, 0) for file in found.trace.files):
            yield "how files were striped is not known (--recorded striping.count=...)"
        if self.shape.guessed:
            yield "on how many nodes the ranks were is a guess (--recorded nodes=...)"

    def where(self) -> str:
        """Say where the job ran, and where it is replayed; first of all if that is unknown."""
        place, shape = self.place, self.shape
        nodes = f"nodes x ranks on each: {shape.nodes:,} x {shape.ppn:,} ({shape.why})"
        nodes = "; ".join([nodes, *fitted_rates(self.facts, self.log, self._lustre)])
        if place.known:
            return f"Replayed on {place.machine} ({place.why}); {nodes}"
        return (
            f"The log's machine is unknown ({place.why}). Replayed on {place.machine} as a "
            f"stand-in, so that its times are no test against the log's; {nodes}"
        )

    def slow_sentences(self) -> list[str]:
        """Say which OSSs and OSTs were slow by the log."""
        lustre = self._lustre if self.place.known else None
        return slow_sentences(self.log, lustre, self.facts.rates)

    def scenario(self) -> Scenario:
        """Return the job as recorded, with the changes that were typed; it names the log."""
        job = self._what_if_job() if self.change else self._recorded_job()
        return _of_trace(self._scenario(job, self.assignments), str(self.log.path))

    @property
    def change(self) -> str:
        """Return the options, as typed, that make the replay differ from what was recorded."""
        job = self.job
        recorded = {
            "machine": self.place.machine,
            "nodes": self.shape.nodes,
            "ppn": self.shape.ppn,
        }
        words = [
            f"{option_of(name)} {typed}"
            for name in _CHANGES
            if (typed := getattr(job, name)) is not None and typed != recorded.get(name)
        ]
        words += [f"--env {assignment}" for assignment in job.environment]
        words += [f"--set {assignment}" for assignment in self.assignments]
        return " ".join(words)

    def _recorded_job(self) -> AskedJob:
        """Return the job as it was recorded."""
        return replace(
            self.job,
            machine=self.place.machine,
            nodes=self.shape.nodes,
            ppn=self.shape.ppn,
            stripe_count=self.facts.striping.count,
            stripe_size=self.facts.striping.size,
            stripe_offset=self.facts.striping.offset,
            hints=self._hints(None),
            environment=(),
        )

    def _what_if_job(self) -> AskedJob:
        """Return the job with its changes; striping is as recorded where nothing else was typed."""
        job, recorded = self.job, self._recorded_job()
        machine = job.machine or self.place.machine
        cores = load_machine(machine).nodes.cores
        nodes, ppn = job.nodes, job.ppn
        if nodes is None and ppn is None and self.shape.ppn <= cores:
            nodes, ppn = self.shape.nodes, self.shape.ppn
        nodes, ppn = dealt_to(self.log.ranks, cores, nodes, ppn)
        known = (
            {}
            if job.setstripe is not None
            else {name: getattr(recorded, name) for name in _STRIPES if getattr(job, name) is None}
        )
        hints = self._hints(job.hints)
        return replace(job, machine=machine, nodes=nodes, ppn=ppn, hints=hints, **known)

    def _hints(self, typed: str | None) -> str | None:
        """Return hints: those typed, of the environment, told of the recorded run, and shown by it.

        Where a pattern of one of them fits a file, those behind it do not.
        """
        inside = variables_of(inherited(), None, ()).get(HINTS)
        layers = (typed, inside, self.facts.hints, as_hints(hints_shown(self.log)))
        return ",".join(layer for layer in layers if layer) or None

    def _scenario(self, job: AskedJob, assignments: Sequence[str]) -> Scenario:
        """Return the scenario of a job, without the trace that it is to replay."""
        kernel: dict[str, Any] = {"name": "replay", "timing": self.timing}
        if told := self.facts.of_striping():  # what the calls are put together by
            kernel["recorded"] = list(told)
        if self.counters:
            kernel["calls"] = "counters"
        scenario = scenario_of_job(job, Workload(kernel=kernel), assignments)
        if job.machine == self.place.machine:  # another one has other OSTs
            scenario = scenario.model_copy(update={"slow": self._slow()})
        machine_of(scenario)  # raises InputError if the machine cannot run it
        return scenario

    def _slow(self) -> dict[str, float]:
        """Return the OSTs and OSSs that are known to have been slow."""
        return slowed_parts(self.facts, self.log, self._lustre)

    @property
    def _lustre(self) -> Lustre:
        """The file system of the machine that the job is replayed on."""
        return load_machine(self.place.machine).lustre


def _of_trace(scenario: Scenario, trace: object) -> Scenario:
    """Return the scenario of a replay with the trace that it is to replay, or its name."""
    workload = Workload(kernel=scenario.workload.options | {"trace": trace})
    return scenario.model_copy(update={"workload": workload})


def replay(
    log: str,
    *,
    timing: str = "think",
    recorded: Sequence[str] = (),
    assignments: Sequence[str] = (),
    record: bool = False,
    **job: Any,
) -> ReplayReport:
    """Replay what a job did by its Darshan log: as recorded and, if anything differs, a what-if.

    Parameters
    ----------
    log
        The path of the log.
    timing
        Between calls: ``think``, as long as recorded; ``start``, no call before its recorded start;
        ``asap``, as soon as possible.
    recorded
        What is known of the recorded run and the log does not say, as ``--recorded`` takes it.
    assignments
        Values of the machine that the what-if has otherwise, as ``lustre.osts=112``.
    record
        Whether to record what the runs do.
    job
        What the what-if has otherwise: ``machine``, ``nodes``, ``stripe_count`` and all that
        describes a job on the command line, by these names.

    Raises
    ------
    InputError
        If the log cannot be read, or it cannot be replayed so.

    Examples
    --------
    >>> from xc40io import replay
    >>> report = replay("job.darshan", stripe_count=48)  # doctest: +SKIP
    """
    asked = AskedJob.of_log(**job)
    return LogReplay.of(log, timing, assignments, asked, recorded).run(record=record)


def table_scenario(
    path: str,
    timing: str,
    files: str | None,
    assignments: Sequence[str],
    job: AskedJob,
    recorded: Sequence[str],
) -> Scenario:
    """Return the scenario of a trace table; its ranks fill the nodes unless told how many."""
    check_no_facts(recorded, path)
    machine = job.machine or DEFAULT_MACHINE
    trace = open_trace(path, files)
    cores = load_machine(machine).nodes.cores
    nodes, ppn = job.nodes, job.ppn
    if nodes is None and ppn is None:
        nodes, ppn = trace.nodes, trace.ppn
    nodes, ppn = dealt_to(trace.ranks, cores, nodes, ppn, idle=True)
    kernel: dict[str, Any] = {"name": "replay", "trace": path, "timing": timing}
    if files is not None:
        kernel["files"] = files
    job = replace(job, machine=machine, nodes=nodes, ppn=ppn)
    return scenario_of_job(job, Workload(kernel=kernel), assignments)
