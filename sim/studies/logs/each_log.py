"""Something done with each of many logs, in several processes: what has ended outlives Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from xc40io.config.errors import InputError
from xc40io.studies.processes import Crew, Failure, each
from xc40io.studies.simulations import Progress

Outcome = TypeVar("Outcome")


class NamedLog(NamedTuple):
    """A log, and what it is called."""

    name: str
    path: Path


class BadLog(NamedTuple):
    """A log of which nothing came."""

    name: str
    reason: str


@dataclass(frozen=True)
class OfLogs(Generic[Outcome]):
    """What came of many logs."""

    asked: int  # logs
    ended: tuple[Outcome, ...]  # of each log that was read well, in the order in which they stood
    bad: tuple[BadLog, ...]

    @property
    def finished(self) -> bool:
        """Whether nobody interrupted it."""
        return len(self.ended) + len(self.bad) == self.asked


def of_each_log(
    work: Callable[[NamedLog], Outcome],
    logs: Mapping[str, Path],
    jobs: int,
    progress: Progress | None = None,
) -> OfLogs[Outcome]:
    """Do some work for each log; after an interrupt, return what has ended until then.

    Parameters
    ----------
    work
        A function of a module, or such with arguments; what it raises as InputError makes a log a
        bad one, of which the others hear nothing.
    logs
        By what they are called.
    jobs
        Processes.
    progress
        Told how many logs are done, and of how many.

    Raises
    ------
    InputError
        If all have ended, and none of them well.
    """
    items = {name: NamedLog(name, path) for name, path in logs.items()}
    ended: dict[str, Outcome | Failure] = {}
    try:
        if progress is not None:
            progress(0, len(items))
        for name, outcome in each(work, items, Crew(jobs), size=_size):
            ended[name] = outcome
            if progress is not None:
                progress(len(ended), len(items))
    except KeyboardInterrupt:
        pass
    found = [(name, ended[name]) for name in items if name in ended]
    of_logs = OfLogs(
        asked=len(items),
        ended=tuple(one for _, one in found if not isinstance(one, Failure)),
        bad=tuple(BadLog(name, one.reason) for name, one in found if isinstance(one, Failure)),
    )
    if of_logs.finished and not of_logs.ended:
        raise InputError(of_logs.bad[0].reason)
    return of_logs


def _size(log: NamedLog) -> float:
    try:
        return log.path.stat().st_size
    except OSError:
        return 0.0
