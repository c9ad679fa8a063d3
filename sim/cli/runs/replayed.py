"""A replay of a Darshan log, as the options of ``xc40io replay`` describe it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from xc40io.cli.job_options import describe, displaying, inherited, variables_of
from xc40io.cli.options import TABLES, View
from xc40io.config.asked_workload import Workload
from xc40io.config.job_form import HINTS, option_of
from xc40io.config.machine import DEFAULT_MACHINE, load_machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.findings.replay_report import ReplayReport, replay_report
from xc40io.results.file_stats import add_file_stats, format_file_stats
from xc40io.results.mpiio.mpiio_report import mpiio_blocks
from xc40io.results.programs.forms import output_of
from xc40io.results.progress import ProgressBar
from xc40io.results.replay_answer import replay_answer
from xc40io.results.run_text import format_run
from xc40io.run.simulate import simulate
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of
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
from xc40io.workloads.replay.kernel import open_trace

if TYPE_CHECKING:
    from xc40io.config.parts.lustre import Lustre
    from xc40io.run.result import Result

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
        As typed.
    facts
        What the user knows of the recorded run.
    """

    log: DarshanLog
    place: Place
    shape: Shape
    timing: str
    assignments: tuple[str, ...]
    job: dict[str, Any]
    facts: Facts

    @staticmethod
    def of(
        path: str,
        timing: str,
        assignments: tuple[str, ...],
        job: dict[str, Any],
        recorded: tuple[str, ...] = (),
    ) -> LogReplay:
        """Read the log; its warnings are for the caller to print.

        Parameters
        ----------
        path
            Of the log.
        timing, assignments, job
            As typed.
        recorded
            What is known of the recorded run, as typed.

        Raises
        ------
        InputError
            If the log cannot be read, or something that was typed cannot be.
        """
        facts = facts_of(recorded)
        log = read_log(path)
        ran = where_it_ran(log, facts, job["machine"])
        return LogReplay(
            log=log,
            place=ran.place,
            shape=ran.shape,
            timing=timing,
            assignments=assignments,
            job=job,
            facts=facts,
        )

    def run(self, *, record: bool) -> ReplayReport:
        """Run the replay as recorded, and the what-if if there is one; `record` what they do."""
        change = self.change
        jobs = [self._scenario(self._recorded_job(), ())]
        if change:  # may be refused: before the first of the two takes its time
            jobs.append(self._scenario(self._what_if_job(), self.assignments))
        found = reconstruct(self.log, self.shape.nodes, self.shape.ppn, self.facts.striping)
        runs = [self._run(found, scenario, record=record) for scenario in jobs]
        return replay_report(
            found,
            runs,
            where=self.where(),
            known=self.place.known,
            facts=self.facts,
            change=change,
        )

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
        scenario = self._scenario(job, self.assignments)
        kernel = scenario.workload.options | {"trace": str(self.log.path)}
        return scenario.model_copy(update={"workload": Workload(kernel=kernel)})

    @property
    def change(self) -> str:
        """Return what is to be different from what was recorded, as typed."""
        job = self.job
        recorded = {
            "machine": self.place.machine,
            "nodes": self.shape.nodes,
            "ppn": self.shape.ppn,
        }
        words = [
            f"{option_of(name)} {job[name]}"
            for name in _CHANGES
            if job[name] is not None and job[name] != recorded.get(name)
        ]
        words += [f"--env {assignment}" for assignment in job["environment"]]
        words += [f"--set {assignment}" for assignment in self.assignments]
        return " ".join(words)

    def _recorded_job(self) -> dict[str, Any]:
        """Return the job as it was recorded."""
        return self.job | {
            "machine": self.place.machine,
            "nodes": self.shape.nodes,
            "ppn": self.shape.ppn,
            **self._told_striping({}),
            "hints": self._hints(None),
            "environment": (),
        }

    def _what_if_job(self) -> dict[str, Any]:
        """Return the job with its changes."""
        job = dict(self.job)
        job["machine"] = job["machine"] or self.place.machine
        cores = load_machine(job["machine"]).nodes.cores
        nodes, ppn = job["nodes"], job["ppn"]
        if nodes is None and ppn is None and self.shape.ppn <= cores:
            nodes, ppn = self.shape.nodes, self.shape.ppn
        job["nodes"], job["ppn"] = dealt_to(self.log.ranks, cores, nodes, ppn)
        job["hints"] = self._hints(job["hints"])
        return job | self._told_striping(job)

    def _told_striping(self, typed: dict[str, Any]) -> dict[str, Any]:
        """Return the options of striping: those typed, else what is known of the recorded run."""
        if typed.get("setstripe") is not None:
            return {}
        told = self.facts.striping
        count, size, offset = (typed.get(f"stripe_{name}") for name in ("count", "size", "offset"))
        return {
            "stripe_count": told.count if count is None else count,
            "stripe_size": told.size if size is None else size,
            "stripe_offset": told.offset if offset is None else offset,
        }

    def _hints(self, typed: str | None) -> str | None:
        """Return hints: those typed, of the environment, told of the recorded run, and shown by it.

        Where a pattern of one of them fits a file, those behind it do not.
        """
        inside = variables_of(inherited(), None, ()).get(HINTS)
        layers = (typed, inside, self.facts.hints, as_hints(hints_shown(self.log)))
        return ",".join(layer for layer in layers if layer) or None

    def _scenario(self, job: dict[str, Any], assignments: tuple[str, ...]) -> Scenario:
        """Return the scenario of a job, without the trace that it is to replay."""
        kernel: dict[str, Any] = {"name": "replay", "timing": self.timing}
        if told := self.facts.of_striping():  # what the calls are put together by
            kernel["recorded"] = list(told)
        scenario = describe(Workload(kernel=kernel), assignments, job)
        if job["machine"] == self.place.machine:  # another one has other OSTs
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

    @staticmethod
    def _run(found: Reconstruction, scenario: Scenario, *, record: bool) -> Result:
        """Replay the trace."""
        kernel = scenario.workload.options | {"trace": found.trace}
        scenario = scenario.model_copy(update={"workload": Workload(kernel=kernel)})
        with ProgressBar() as progress:
            return simulate(scenario, progress=progress, record=record)


def print_log_warnings(warnings: Iterable[str]) -> None:
    """Say what is wrong with a log."""
    for warning in warnings:
        click.echo(f"xc40io: warning: {warning}", err=True)


def print_replay(report: ReplayReport, view: View) -> None:
    """Print a replay of a log."""
    if view.as_json:
        document = document_of(replay_answer(report, exact=view.exact))
        if view.file_stats:
            for told, run in zip(document["runs"], report.runs, strict=True):
                add_file_stats(told["xc40io"], run)
        click.echo(json_text(document), nl=False)
        return
    click.echo(text_of(replay_answer(report, explain=view.explain)))
    _print_more(report.runs[-1], view)


def _print_more(result: Result, view: View) -> None:
    """Print what only a simulator knows of the last run."""
    if view.mpiio_stats:
        records = [record for _, record in result.mpi_records]
        for block in mpiio_blocks(records, displaying(result.scenario.environment)):
            click.echo(block)
    if view.getstripe:
        click.echo(output_of(result).layouts())
    text = format_run(result, lustre_stats=view.lustre_stats, exact=view.exact)
    click.echo(text, nl=False)
    if view.file_stats:
        click.echo(format_file_stats(result), nl=False)


def scenario_of_log(
    path: str,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...] = (),
) -> Scenario:
    """Return the scenario in which a log or a trace table is replayed.

    Of a log it is said where the job ran, as far as that is known, and what was slow.

    Parameters
    ----------
    path
        Of the log, or of the table.
    assignments
        Changes of the machine, as typed.
    job
        The options that describe the job; None: as the log tells.
    recorded
        What is known of the recorded run, as typed.

    Raises
    ------
    InputError
        If it cannot be replayed so.
    """
    if path.lower().endswith(TABLES):
        return table_scenario(path, "think", None, assignments, job, recorded)
    replayed = LogReplay.of(path, "think", assignments, job, recorded)
    scenario = replayed.scenario()
    what_if = f"; what-if: {replayed.change}" if replayed.change else ""
    click.echo(f"xc40io: {path}: {replayed.where()}{what_if}", err=True)
    print_log_warnings((*replayed.log.warnings, *replayed.slow_sentences()))
    return scenario


def table_scenario(
    path: str,
    timing: str,
    files: str | None,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    recorded: tuple[str, ...],
) -> Scenario:
    """Return the scenario of a trace table; its ranks fill the nodes unless told how many."""
    check_no_facts(recorded, path)
    machine = job["machine"] or DEFAULT_MACHINE
    trace = open_trace(path, files)
    cores = load_machine(machine).nodes.cores
    nodes, ppn = job["nodes"], job["ppn"]
    if nodes is None and ppn is None:
        nodes, ppn = trace.nodes, trace.ppn
    nodes, ppn = dealt_to(trace.ranks, cores, nodes, ppn, idle=True)
    kernel: dict[str, Any] = {"name": "replay", "trace": path, "timing": timing}
    if files is not None:
        kernel["files"] = files
    job = job | {"machine": machine, "nodes": nodes, "ppn": ppn}
    return describe(Workload(kernel=kernel), assignments, job)
