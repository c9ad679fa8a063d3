"""The queue, at work on jobs that end when they like, but not late."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.run.streaming.backfill import QueuedJob, Running, begin_now, reservation_of

NODES = 12


class Asked(NamedTuple):
    """A job: when it comes, what it asks for, and the share of it that it takes."""

    gap: int
    nodes: int
    walltime: int
    used: float


jobs = st.lists(
    st.builds(
        Asked,
        st.integers(0, 4),
        st.integers(1, NODES),
        st.integers(1, 9),
        st.sampled_from([0.3, 1]),
    ),
    min_size=1,
    max_size=14,
)


class Course:
    """What a queue does with jobs: an event at a time."""

    def __init__(self, asked: list[Asked], *, backfill: bool) -> None:
        self.promised: dict[str, float] = {}
        self.begun: dict[str, float] = {}
        self.most = 0
        at, coming = 0, []
        for number, job in enumerate(asked):
            at += job.gap
            coming.append((float(at), str(number), job))
        queue: list[QueuedJob] = []
        running: list[tuple[float, Running]] = []
        while coming or running or queue:
            now = min([time for time, *_ in coming] + [end for end, _ in running])
            running = [one for one in running if one[0] > now]
            while coming and coming[0][0] <= now:
                _, name, job = coming.pop(0)
                queue.append(QueuedJob(name, job.nodes, float(job.walltime)))
            free = NODES - sum(one.nodes for _, one in running)
            at_work = [one for _, one in running]
            for job in begin_now(queue, free, at_work, now, backfill=backfill):
                queue.remove(job)
                self.begun[job.name] = now
                end = now + asked[int(job.name)].used * job.walltime
                running.append((end, Running(job.nodes, now + job.walltime)))
            used = sum(one.nodes for _, one in running)
            self.most = max(self.most, used)
            if queue and backfill:
                promise = reservation_of(queue[0], NODES - used, [one for _, one in running], now)
                known = self.promised.setdefault(queue[0].name, promise.time)
                assert promise.time <= known  # what is promised only gets better


@given(jobs, st.booleans())
def test_never_more_nodes_are_in_use_than_there_are(asked: list[Asked], backfill: bool) -> None:
    course = Course(asked, backfill=backfill)
    assert course.most <= NODES
    assert len(course.begun) == len(asked)


@given(jobs)
def test_backfilling_never_delays_the_first_job_beyond_its_reservation(asked: list[Asked]) -> None:
    course = Course(asked, backfill=True)
    for name, time in course.promised.items():
        assert course.begun[name] <= time


@given(jobs)
def test_jobs_that_ask_for_the_same_begin_in_their_order(asked: list[Asked]) -> None:
    course = Course(asked, backfill=True)
    times: dict[tuple[int, int], float] = {}
    for number, job in enumerate(asked):
        begun = course.begun[str(number)]
        assert begun >= times.get((job.nodes, job.walltime), 0.0)
        times[job.nodes, job.walltime] = begun


@given(jobs)
def test_without_backfilling_all_begin_in_their_order(asked: list[Asked]) -> None:
    begun = Course(asked, backfill=False).begun
    times = [begun[str(number)] for number in range(len(asked))]
    assert times == sorted(times)


def test_a_short_job_and_a_narrow_one_go_first() -> None:
    running = [Running(8, 10.0)]
    head = QueuedJob("head", 10, 5.0)
    short, long, narrow = (
        QueuedJob("short", 2, 10.0),
        QueuedJob("long", 3, 11.0),
        QueuedJob("narrow", 2, 99.0),
    )
    queue = [head, short, long, narrow]
    assert begin_now(queue, 4, running, 0.0, backfill=True) == [short, narrow]
    assert begin_now(queue, 4, running, 0.0, backfill=False) == []


def test_a_job_that_should_be_over_is_taken_to_end_now() -> None:
    head = QueuedJob("head", 5, 1.0)
    assert reservation_of(head, 1, [Running(4, 3.0)], 7.0).time == 7.0


def test_a_job_larger_than_the_machine_gets_no_promise() -> None:
    with pytest.raises(ValueError, match="more than there are"):
        reservation_of(QueuedJob("head", 9, 1.0), 4, [Running(4, 1.0)], 0.0)
