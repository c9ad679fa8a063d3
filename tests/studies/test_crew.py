"""The processes of a study stay for its next runs, and end with it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import time

from xc40io.studies.processes import Crew, Failure, each

NAMES = {name: name for name in ("one", "two", "three", "four")}


def who(_name: str) -> int:
    """Return which process works."""
    return os.getpid()


def dies_at_two(name: str) -> int:
    """End the process in which ``two`` is to be done."""
    return os._exit(3) if name == "two" else who(name)


def alike(_name: str) -> float:
    return 1.0


def workers(crew: Crew) -> set[object]:
    return {ended for _, ended in each(who, NAMES, crew, size=alike)}


def gone(pids: set[object]) -> bool:
    """Tell whether processes have ended, within a long time."""
    end = time.monotonic() + 120.0
    while pids & {child.pid for child in multiprocessing.active_children()}:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_the_same_processes_work_again_and_end_with_their_crew():
    crew = Crew(2)
    assert not crew.has_worked
    first = workers(crew)
    assert crew.has_worked
    again = workers(crew)
    assert len(first | again) <= 2
    assert first & again
    assert os.getpid() not in first | again
    del crew
    gc.collect()
    assert gone(first | again)


def test_who_stops_early_leaves_no_process_and_can_go_on():
    crew = Crew(2)
    running = each(who, NAMES, crew, size=alike)
    name, first = next(running)
    assert name in NAMES
    running.close()
    assert gone({first})
    assert not crew.has_worked
    assert first not in workers(crew)


def test_a_crew_that_has_lost_a_process_gets_others():
    crew = Crew(2)
    told = dict(each(dies_at_two, NAMES, crew, size=alike))
    assert isinstance(told.pop("two"), Failure)
    assert all(isinstance(pid, int) for pid in told.values())
    assert len(workers(crew)) in (1, 2)
