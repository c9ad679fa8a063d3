"""Many runs in several processes: the result of each, as they end.

The processes are started afresh (*spawn*), so that results do not depend on what this one has done
before; none runs the caller's script, and each ends by itself when this one is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, TypeVar

from xc40io.config.errors import InputError
from xc40io.config.jobs import Job
from xc40io.config.scenario import Scenario
from xc40io.studies.process_end import Memory
from xc40io.workloads.catalogue import workload_of

_A_LOOK = 0.1
"""Seconds for which an interrupt may wait."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Failure:
    """A run that did not end well, and why."""

    reason: str


class Crew:
    """Processes that work for a study; they end when nobody has the crew any more.

    They begin when there is work for them, and stay for the next: to start one takes as long as
    many small runs.

    Parameters
    ----------
    jobs
        How many, at most; with 1 the process that asks does the work itself.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._at_work: _AtWork | None = None

    @contextmanager
    def pool(self, items: int) -> Iterator[ProcessPoolExecutor]:
        """Give the processes to work in; if the block is left early, they are ended at once.

        ``items``: how many are to be worked on; no more processes than that are needed.

        Raises
        ------
        BrokenProcessPool
            If one ended by itself; it says how.
        """
        at_work, self._at_work = self._at_work, None
        workers = min(self.jobs, items)
        if at_work is not None and at_work.workers < workers:
            at_work.pool.shutdown()
            at_work = None
        at_work = at_work or _AtWork(workers)
        try:
            at_work.start()
            yield at_work.pool
        except (BrokenProcessPool, OSError) as error:  # OSError: it broke while one was started
            at_work.pool.shutdown(cancel_futures=True)
            raise BrokenProcessPool(at_work.words_of_end()) from error
        except BaseException:
            at_work.end()
            raise
        self._at_work = at_work

    @property
    def has_worked(self) -> bool:
        """Whether there are processes that have done some work already."""
        return self._at_work is not None


class _AtWork:
    """The processes of a crew."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._started = False
        self._context = _Spawning()
        self._memory = Memory()
        self.pool = ProcessPoolExecutor(
            workers, mp_context=self._context, initializer=become_worker
        )

    def start(self) -> None:
        """Start all of them, unless they are there: before any does what may end it.

        A pool waits for ever for a process that it starts while it ends, as another one is gone.
        """
        if not self._started:
            with _interrupts_held():
                starting = [self.pool.submit(os.getpid) for _ in range(self.workers)]
            for one in _ended(starting):
                one.result()
            self._started = True

    def words_of_end(self) -> str:
        """Say how the first of them ended that did so by itself."""
        return self._memory.words_of_end(self._context.first_to_end())

    def end(self) -> None:
        """End all at once, whatever they do."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self._context.terminate()


def each(
    work: Callable[[Item], Outcome],
    items: Mapping[str, Item],
    crew: Crew,
    *,
    size: Callable[[Item], float],
) -> Iterator[tuple[str, Outcome | Failure]]:
    """Call a function on scenarios, or similar; yield each result with its name, as they end.

    Parameters
    ----------
    work
        What to do: to run it, and to return what is wanted of the result. A function of a module,
        which another process can import.
    items
        With what, by name.
    crew
        Who does it; for one item this process does the work.
    size
        About how long the work on an item takes, in any unit: :func:`bytes_to_move`.
    """
    if crew.jobs == 1 or len(items) < 2:
        yield from ((key, attempt(work, item)) for key, item in items.items())
        return
    left = dict(items)
    try:
        for key, ended in _in_processes(work, items, crew, size):
            del left[key]
            yield key, ended
    except BrokenProcessPool:
        # A process was killed, and all runs with it. Which one was to blame shows when they are
        # repeated one at a time.
        for key, item in left.items():
            try:
                yield from _in_processes(work, {key: item}, Crew(1), size)
            except BrokenProcessPool as error:
                yield key, Failure(f"its process {error}")


def attempt(work: Callable[[Item], Outcome], item: Item) -> Outcome | Failure:
    """Call a function on one item; return its result, or why there is none."""
    try:
        return work(item)
    except InputError as error:
        return Failure(str(error))
    except MemoryError:
        return Failure("there is not enough memory for it")


def _in_processes(
    work: Callable[[Item], Outcome],
    items: Mapping[str, Item],
    crew: Crew,
    size: Callable[[Item], float],
) -> Iterator[tuple[str, Outcome | Failure]]:
    """Do the work in other processes; raise BrokenProcessPool, which says how, if one ended."""
    # The largest first, so that none of them is left to run alone in the end. Before them, when the
    # crew is new, the smallest alone: if the data plane has to be compiled, one process does it.
    left = sorted(items, key=lambda key: -size(items[key]))
    alone = [] if crew.has_worked else [left.pop()]
    with crew.pool(len(items)) as pool:
        for keys in filter(None, (alone, left)):
            with _interrupts_held():
                futures = {pool.submit(attempt, work, items[key]): key for key in keys}
            for future in _ended(futures):
                yield futures[future], future.result()


def _ended(futures: Collection[Future[Outcome]]) -> Iterator[Future[Outcome]]:
    """Yield futures as they end.

    An interrupt is heard between two looks, when this process holds no lock of a future: the pool
    could never end otherwise.
    """
    left = set(futures)
    while left:
        with _interrupts_held():
            done, left = wait(left, _A_LOOK, FIRST_COMPLETED)
        yield from done


def bytes_to_move(job: Scenario | Job) -> float:
    """Return about how many bytes a job moves; the longest runs are those with most."""
    try:
        return workload_of(job.workload).bytes_to_move(job.nodes * job.ppn)
    except InputError:
        return 0


def bytes_to_simulate(scenario: Scenario) -> float:
    """Return about how many bytes of a scenario are simulated one by one."""
    return bytes_to_move(scenario) / scenario.rpcs_as_one


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hear of an interrupt when the block has ended; processes that begin within never do.

    A Ctrl-C goes to all processes of a terminal, also to one that is only just importing what it
    needs, and would print a traceback of that.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Spawning(SpawnContext):
    """Starts processes afresh, and knows them when they are gone: their pool tells no status."""

    def __init__(self) -> None:
        super().__init__()
        self._started: list[SpawnProcess] = []

    def Process(self, *words: Any, **named: Any) -> SpawnProcess:  # type: ignore[override] # noqa: N802
        """Return a process that is to be started."""
        self._started.append(_Fresh(*words, **named))
        return self._started[-1]

    def terminate(self) -> None:
        """End all that are still there."""
        for process in self._started:
            if process.is_alive():
                process.terminate()

    def first_to_end(self) -> int | None:
        """Return the status of the one that ended by itself; the pool has ended the others."""
        statuses = [process.exitcode for process in self._started]
        by_itself = [one for one in statuses if one not in (None, 0, -signal.SIGTERM)]
        return by_itself[0] if by_itself else None


class _Fresh(SpawnProcess):
    """A process that does not run the caller's script again, as *spawn* would to find its names.

    What is done here is always a function of this package, so nothing of the script is needed, and
    a plain script works without ``if __name__ == "__main__"``.
    """

    @staticmethod
    def _Popen(process: BaseProcess) -> Any:  # noqa: N802 - the name that multiprocessing calls
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process)
        finally:
            sys.modules["__main__"] = script


def become_worker() -> None:
    """Leave interrupts to the main process, and end when it is gone: even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
