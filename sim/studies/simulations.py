"""Simulating many scenarios: each once, in several processes; what is finished is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.engine.processors import processors
from xc40io.studies.cluster import each_on_cluster
from xc40io.studies.processes import Crew, Failure, bytes_to_simulate, each
from xc40io.studies.record import RunRecord, record_of, record_of_jobs
from xc40io.studies.store import Store, scenario_hash

Ended: TypeAlias = RunRecord | Failure
"""What comes of a run."""

Runnable: TypeAlias = Scenario | JobsScenario
"""What can be run: one job, or several together."""

Progress = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""


class _Asked(NamedTuple):
    """A run that is to be made."""

    scenario: Runnable
    until: float  # simulated seconds after which it is given up


def seeds_of(first: int, repeat: int) -> tuple[int, ...]:
    """Return the seeds of a study: the first and those that follow; InputError without any."""
    if repeat < 1:
        raise InputError(f"repeat = {repeat}: right would be 1 or more")
    return tuple(range(first, first + repeat))


class Simulations:
    """Runs scenarios, and remembers them.

    Parameters
    ----------
    jobs
        Processes; with 1 the scenarios run in this one. The results are the same with any number.
    cache
        Where finished runs are kept; without one they are remembered here alone.
    progress
        Told how far a call of :meth:`run` has come; runs that are remembered are not counted.
    scheduler
        Of Dask, whose workers run the scenarios in place of processes: its address, or its file.

    Attributes
    ----------
    simulated, recalled
        How many runs have been simulated, and how many found in the cache.
    notes
        What the user should know: a sentence each.
    """

    def __init__(
        self,
        jobs: int = 1,
        cache: Store | None = None,
        progress: Progress | None = None,
        scheduler: str | None = None,
    ) -> None:
        self.simulated = 0
        self.recalled = 0
        self.notes: list[str] = []
        self._crew = Crew(jobs)
        self._cache = cache
        self._progress = progress
        self._scheduler = scheduler
        self._most: int | None = None
        self._expected: Callable[[], tuple[int, int]] | None = None
        self._ended: dict[str, Ended] = {}

    @staticmethod
    def of_study(
        jobs: int | None = None,
        store: str | Path | None = None,
        progress: Progress | None = None,
        scheduler: str | None = None,
    ) -> Simulations:
        """Return the simulations of a study; each run is kept in the store once it has finished.

        Parameters
        ----------
        jobs
            Processes; one a processor unless given. The result is the same with any number.
        store
            The folder in which runs are kept; the user's own unless given.
        progress
            Told how many runs are done, and of how many that have not been done before.
        scheduler
            Of Dask, whose workers run all in place of processes: its address, or its file.
        """
        kept = Store(None if store is None else Path(store))
        return Simulations(jobs or processors(), kept, progress, scheduler)

    def expect(self, runs: int | None = None, *, seconds: float | None = None) -> None:
        """Say what a study makes at most that decides from results what to run next.

        That is the total of its progress, of all calls of :meth:`run` together: its runs, or the
        seconds from now on.
        """
        began, self._most = time.monotonic(), runs
        if runs is not None:
            self._expected = lambda: (min(self.simulated, runs), runs)
        elif seconds is not None:
            self._expected = lambda: (int(min(time.monotonic() - began, seconds)), int(seconds))

    def counted(self) -> dict[str, Any]:
        """Return the runs and notes of a :class:`~xc40io.studies.study_result.KeptStudy`."""
        notes = tuple(self.notes)
        return {"simulated": self.simulated, "recalled": self.recalled, "notes": notes}

    def run(self, scenarios: Sequence[Runnable], until: Sequence[float] = ()) -> list[Ended]:
        """Return the results of scenarios, in their order; equal scenarios are run once.

        ``until``: simulated seconds after which each, of one job, is given up: its record then has
        these seconds and nothing else, or is that of the whole run, where it is known from before.
        """
        named = [self._key(scenario) for scenario in scenarios]
        limits = until or [inf] * len(named)
        missing = {
            key: _Asked(scenario, limit)
            for key, scenario, limit in zip(named, scenarios, limits, strict=True)
            if isinstance(key, str) and self._recall(key, limit) is None
        }
        self._foretell(missing)
        self._tell(0, len(missing))
        for done, (key, ended) in enumerate(self._simulate(missing), start=1):
            self._keep(key, ended, missing[key].until)
            self._tell(done, len(missing))
        found = (
            self._recall(key, limit) if isinstance(key, str) else key
            for key, limit in zip(named, limits, strict=True)
        )
        return [one for one in found if one is not None]  # all of them

    def knows(self, scenarios: Iterable[Runnable]) -> bool:
        """Tell whether all of some scenarios have been run already, now or before."""
        named = [self._key(scenario) for scenario in scenarios]
        return all(isinstance(key, Failure) or self._recall(key) is not None for key in named)

    def _key(self, scenario: Runnable) -> str | Failure:
        try:
            return scenario_hash(scenario)
        except InputError as error:
            return Failure(str(error))

    def _tell(self, done: int, total: int) -> None:
        if self._progress is None or not total:
            return
        if self._expected is not None:
            done, total = self._expected()
        self._progress(done, total)

    def _foretell(self, missing: Mapping[str, _Asked]) -> None:
        """Tell what runs will be, unless the clock limits them, or the study was told of before."""
        from xc40io.studies.case import Case, foretell

        if not missing or self._scheduler is not None:
            return
        cases = [Case(one.scenario) for one in missing.values()]
        if self._expected is not None:  # the first of a study stand for all
            cases *= 0 if self.simulated else (self._most or 0) // len(cases)
        foretell(cases, self._crew.jobs, self._progress)

    def _recall(self, key: str, until: float = inf) -> Ended | None:
        """Return the result of a run, if it is known, or that it was given up, no sooner."""
        for name, least in ((key, 0.0), (_over(key), until)):
            known = self._ended.get(name)
            if known is None and self._cache is not None:
                known = self._cache.get(name)
            if known is None or (isinstance(known, RunRecord) and known.simulated < least):
                continue
            if name not in self._ended:
                self._ended[name] = known
                self.recalled += 1
            return known
        return None

    def _keep(self, key: str, ended: Ended, until: float) -> None:
        """Remember the result of a run that has just ended."""
        if isinstance(ended, RunRecord) and ended.simulated >= until:
            key = _over(key)
        self._ended[key] = ended
        self.simulated += 1
        if self._cache is None or isinstance(ended, Failure):
            return
        try:
            self._cache.put(key, ended)
        except OSError as error:
            self.notes.append(self._cache.not_kept(error))
            self._cache = None

    def _simulate(self, missing: Mapping[str, _Asked]) -> Iterator[tuple[str, Ended]]:
        """Run scenarios and yield their results, in the order in which they end."""
        if self._scheduler is None:
            yield from each(_recorded, missing, self._crew, size=_size)
            return

        yield from each_on_cluster(_recorded, missing, self._scheduler, size=_size)


def _over(key: str) -> str:
    """Return by what a run is known of which nothing is known but that it takes longer."""
    return f"{key}-over"


def _size(asked: _Asked) -> float:
    """Return about how many bytes of a scenario are simulated one by one."""
    scenario = asked.scenario
    if isinstance(scenario, Scenario):
        return bytes_to_simulate(scenario)
    from xc40io.studies.case import Case

    return Case(scenario).size()


def _recorded(asked: _Asked) -> RunRecord:
    """Run a scenario; return what is kept of it. A log is read once for all runs of a process."""
    scenario, until = asked
    if isinstance(scenario, Scenario):
        from xc40io.run.simulate import OvertimeError
        from xc40io.studies.case import Case

        try:
            return record_of(Case(scenario).run(until=until if until < inf else None)[""])
        except OvertimeError:
            return RunRecord((), (), (), {}, {}, (), until)
    from xc40io.run.jobs import simulate_jobs

    return record_of_jobs(simulate_jobs(scenario, alone=False))
