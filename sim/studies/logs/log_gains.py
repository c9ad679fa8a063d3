"""Many logs, ranked by the seconds that a change of their settings would have saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xc40io.studies.logs.each_log import BadLog, of_each_log
from xc40io.studies.logs.log_gain import LogGain, LogQuestion, log_gain
from xc40io.studies.simulations import Progress
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Column, Columns, Table, Unit
from xc40io.telling.units import FLAG, LONG, NUMBER, RATIO, TYPED, WORDS
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.facts import facts_of
from xc40io.workloads.darshan.log_folder import logs_of

_HOURS = Unit("h", float, lambda hours: f"{hours:,.3g}")

GAINS: Columns = (
    Column("log", WORDS, lambda one: one.name, help="Its name."),
    Column(
        "seconds",
        LONG,
        head="saves",
        help="Seconds of the job that the change would have saved: the share that it saves of the "
        "replay's I/O, times the log's seconds of I/O.",
    ),
    Column("rank_seconds", LONG, head="of all ranks", help="Likewise, of all ranks together."),
    Column("node_hours", _HOURS, head="node-hours", help="The seconds on all nodes of the job."),
    Column(
        "gain",
        RATIO,
        lambda one: None if one.best is None else one.best.gain,
        head="times as fast",
        help="All I/O, with the change in place of none; simulated, with one seed.",
    ),
    Column(
        "change",
        WORDS,
        lambda one: "" if one.best is None else one.best.words,
        head="with",
        help="The change that saved most; empty where none of those that were tried helps.",
    ),
    Column("bound", WORDS, head="bound by", help="What bound the replay, or was waited for."),
    Column(
        "io_seconds",
        LONG,
        lambda one: one.time.slowest,
        head="log: in I/O",
        help="Seconds of the rank that spent most, by the log.",
    ),
    Column("replayed", LONG, head="replay", help="Seconds of I/O in the replay as recorded."),
    Column(
        "of_log",
        RATIO,
        lambda one: one.ratio,
        head="of log",
        help="The replay's seconds by the log's; none on the machine of a stand-in.",
    ),
    Column(
        "typed",
        TYPED,
        lambda one: "" if one.best is None else one.best.typed,
        head="how to ask for it",
        help="On the command line.",
    ),
)
"""A log, and what a change would have saved."""

GAINS_OF_DATA: Columns = (
    *GAINS,
    Column("path", WORDS, help="Of the log."),
    Column("machine", WORDS, help="On which it was replayed."),
    Column("known", FLAG, help="Whether it ran there."),
    Column("nodes", NUMBER, help="Of the job."),
    Column("ranks", NUMBER, help="Of the job."),
    Column("runtime", LONG, help="Of the job, by the log."),
    Column("tried", NUMBER, help="Changes."),
    Column("possible", NUMBER, help="Changes that there were to try."),
    Column("rpcs_as_one", NUMBER, help="Bulk RPCs that were handled as one."),
)
"""The same with what programs ask besides."""


@dataclass(frozen=True)
class LogGains(KeptStudy):
    """Logs, ranked: what :func:`replay_logs` returns."""

    asked: int  # logs
    logs: tuple[LogGain, ...]  # with which most seconds are saved first
    bad: tuple[BadLog, ...]  # those that could not be read, or not be replayed

    def __repr__(self) -> str:
        """Return a line: of how many logs."""
        return f"<LogGains of {format_count(len(self.logs), 'log')}>"

    @property
    def finished(self) -> bool:
        """Whether nobody interrupted it."""
        return len(self.logs) + len(self.bad) == self.asked

    @property
    def table(self) -> Table:
        """A row for each log."""
        return Table(GAINS_OF_DATA, lambda: self.logs)


def replay_logs(
    logs: Sequence[str] | Mapping[str, Path],
    *,
    recorded: Sequence[str] = (),
    jobs: int = 1,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> LogGains:
    """Replay many logs by their counters, as recorded and with changes; rank them.

    Each run is kept as soon as it has finished, as :func:`~xc40io.studies.sweep.sweep.sweep` keeps
    them; after an interrupt that is returned which has ended.

    Parameters
    ----------
    logs
        Paths of logs, and of folders with such in and below them; or logs by what they are called.
    recorded
        What is known of the recorded runs, as ``--recorded`` takes it: of all of them.
    jobs
        Processes.
    store
        Where runs are kept; in the folder of the user unless given.
    progress
        Told how many logs are done, and of how many.

    Raises
    ------
    InputError
        If there is no log, or none of them could be replayed.
    """
    named = logs if isinstance(logs, Mapping) else logs_of(logs)
    facts_of(recorded)  # refused before the first log is read
    question = LogQuestion(tuple(recorded), store)
    found = of_each_log(partial(log_gain, question), named, jobs, progress)
    return LogGains(
        asked=found.asked,
        logs=tuple(sorted(found.ended, key=lambda one: (-one.seconds, one.name))),
        bad=found.bad,
        simulated=sum(one.simulated for one in found.ended),
        recalled=sum(one.recalled for one in found.ended),
        notes=(),
    )
