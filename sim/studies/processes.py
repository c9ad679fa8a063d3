"""Many scenarios, in several processes: what comes of each, as they end.

The processes are started afresh (*spawn*), so that results do not depend on what this one has done
before, and each ends by itself when this one is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from sim.config.errors import InputError
from sim.config.scenario import Scenario

Outcome = TypeVar("Outcome")
Work = Callable[[Scenario], Outcome]
"""A function of a module, which another process can import."""


@dataclass(frozen=True)
class Failure:
    """A run that did not end well, and why."""

    reason: str


def each(
    work: Work[Outcome], scenarios: Mapping[str, Scenario], jobs: int
) -> Iterator[tuple[str, Outcome | Failure]]:
    """Do something with scenarios; yield what comes of each by its name, as they end.

    Parameters
    ----------
    work
        What to do: to run it, and to return what is wanted of the result.
    scenarios
        By name.
    jobs
        Processes; with 1, or for one scenario, this one does the work.
    """
    if jobs == 1 or len(scenarios) < 2:
        yield from ((key, _attempt(work, scenario)) for key, scenario in scenarios.items())
        return
    left = dict(scenarios)
    try:
        for key, ended in _in_processes(work, scenarios, jobs):
            del left[key]
            yield key, ended
    except BrokenProcessPool:
        # A process was killed, and all runs with it. Which one was to blame shows when they are
        # repeated one at a time.
        for key, scenario in left.items():
            try:
                yield from _in_processes(work, {key: scenario}, 1)
            except BrokenProcessPool:
                yield key, Failure("its process was killed, perhaps for want of memory")


def _attempt(work: Work[Outcome], scenario: Scenario) -> Outcome | Failure:
    try:
        return work(scenario)
    except InputError as error:
        return Failure(str(error))
    except MemoryError:
        return Failure("there is not enough memory for it")


def _in_processes(
    work: Work[Outcome], scenarios: Mapping[str, Scenario], jobs: int
) -> Iterator[tuple[str, Outcome | Failure]]:
    """Do the work in other processes.

    Raises
    ------
    BrokenProcessPool
        If a process was killed.
    """
    # The smallest goes first and alone: if the data plane has to be compiled, one process does it.
    # Then the large ones, so that none of them is left to run alone in the end.
    first, *others = sorted(scenarios, key=lambda key: _bytes_to_move(scenarios[key]))
    with _pool(min(jobs, len(scenarios))) as pool:
        yield first, pool.submit(_attempt, work, scenarios[first]).result()
        futures = {pool.submit(_attempt, work, scenarios[key]): key for key in reversed(others)}
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
