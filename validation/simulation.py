"""Simulating many scenarios: each once, in several processes; what is finished is kept.

The processes are started afresh (*spawn*), so that results do not depend on what this one has done
before, and each ends by itself when this one is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from sim.config.errors import InputError
from sim.config.scenario import Scenario
from validation.cache import ResultCache, scenario_hash
from validation.record import RunRecord, record_of


@dataclass(frozen=True)
class Failure:
    """A run that did not end well, and why."""

    reason: str


Ended: TypeAlias = RunRecord | Failure
"""What comes of a run."""

Progress = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""


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

    Attributes
    ----------
    simulated, recalled
        How many runs have been simulated, and how many found in the cache.
    notes
        What the user should know: a sentence each.
    """

    def __init__(
        self, jobs: int = 1, cache: ResultCache | None = None, progress: Progress | None = None
    ) -> None:
        self.simulated = 0
        self.recalled = 0
        self.notes: list[str] = []
        self._jobs = jobs
        self._cache = cache
        self._progress = progress
        self._ended: dict[str, Ended] = {}

    def run(self, scenarios: Sequence[Scenario]) -> list[Ended]:
        """Return what comes of scenarios, in their order; equal ones are run once."""
        named = [self._key(scenario) for scenario in scenarios]
        missing = {
            key: scenario
            for key, scenario in zip(named, scenarios, strict=True)
            if isinstance(key, str) and not self._recall(key)
        }
        self._tell(0, len(missing))
        for done, (key, ended) in enumerate(self._simulate(missing), start=1):
            self._keep(key, ended)
            self._tell(done, len(missing))
        return [self._ended[key] if isinstance(key, str) else key for key in named]

    def _key(self, scenario: Scenario) -> str | Failure:
        try:
            return scenario_hash(scenario)
        except InputError as error:
            return Failure(str(error))

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None and total:
            self._progress(done, total)

    def _recall(self, key: str) -> bool:
        """Remember what came of a run, if that is known."""
        if key in self._ended:
            return True
        record = self._cache.get(key) if self._cache is not None else None
        if record is None:
            return False
        self._ended[key] = record
        self.recalled += 1
        return True

    def _keep(self, key: str, ended: Ended) -> None:
        """Remember what came of a run that has just ended."""
        self._ended[key] = ended
        self.simulated += 1
        if self._cache is None or isinstance(ended, Failure):
            return
        try:
            self._cache.put(key, ended)
        except OSError as error:
            self.notes.append(f"Results are not kept for the next time: {error}.")
            self._cache = None

    def _simulate(self, missing: Mapping[str, Scenario]) -> Iterator[tuple[str, Ended]]:
        """Run scenarios and yield what comes of them, in the order in which they end."""
        if self._jobs == 1 or len(missing) < 2:
            yield from ((key, _simulated(scenario)) for key, scenario in missing.items())
            return
        left = dict(missing)
        try:
            for key, ended in _in_processes(missing, self._jobs):
                del left[key]
                yield key, ended
        except BrokenProcessPool:
            # A process was killed, and all runs with it. Which one was to blame shows when they
            # are repeated one at a time.
            for key, scenario in left.items():
                try:
                    yield from _in_processes({key: scenario}, 1)
                except BrokenProcessPool:
                    yield key, Failure("its process was killed, perhaps for want of memory")


def _simulated(scenario: Scenario) -> Ended:
    """Run a scenario in this process."""
    from sim.run.simulate import simulate

    try:
        return record_of(simulate(scenario))
    except InputError as error:
        return Failure(str(error))
    except MemoryError:
        return Failure("there is not enough memory for it")


def _in_processes(scenarios: Mapping[str, Scenario], jobs: int) -> Iterator[tuple[str, Ended]]:
    """Run scenarios in other processes; yield what comes of them as they end.

    Raises
    ------
    BrokenProcessPool
        If a process was killed.
    """
    # The smallest goes first and alone: if the data plane has to be compiled, one process does it.
    # Then the large ones, so that none of them is left to run alone in the end.
    first, *others = sorted(scenarios, key=lambda key: _bytes_to_move(scenarios[key]))
    with _pool(min(jobs, len(scenarios))) as pool:
        yield first, pool.submit(_simulated, scenarios[first]).result()
        futures = {pool.submit(_simulated, scenarios[key]): key for key in reversed(others)}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _bytes_to_move(scenario: Scenario) -> float:
    """Return about how many bytes a scenario moves; the longest runs are those with most."""
    from sim.workloads.catalogue import workload_of

    try:
        moved = workload_of(scenario.workload).bytes_to_move(scenario.nodes * scenario.ppn)
    except InputError:
        return 0
    return moved / scenario.rpcs_as_one


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give processes to work in; if the block is left early, they are ended at once."""
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_become_worker)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise


def _become_worker() -> None:
    """Leave interrupts to the main process, and end when it is gone: even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
