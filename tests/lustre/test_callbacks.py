"""Callbacks of the lock manager: how they queue at the node that they go to."""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import OSTS, PAGE, RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

TIME = 500e-6  # of a callback: long beside what a request takes at a server
some = settings(max_examples=25)


def plane_of(nodes: int, threads: int = 1, time: float = TIME, per_node: int = 1) -> SmallPlane:
    return SmallPlane(
        nodes, per_node, nodes__lock_threads=threads, nodes__lock_thread_time=f"{time * 1e6} us"
    )


def threads_of(plane: SmallPlane, node: int) -> npt.NDArray[np.int64]:
    """Return the stations of a node's threads for callbacks."""
    stations = plane.tables.network.stations
    threads = plane.machine.nodes.lock_threads
    return np.flatnonzero(stations.kind == StationKind.CALLBACK)[node * threads :][:threads]


def callbacks(plane: SmallPlane) -> list[int]:
    """Return how many callbacks each node has handled."""
    requests = plane.tables.network.stations.requests
    return [int(requests[threads_of(plane, node)].sum()) for node in range(plane.nodes)]


def stats_at_once(
    readers: int, stripes: int, threads: int = 1, time: float = TIME
) -> tuple[SmallPlane, npt.NDArray[np.float64]]:
    """Let a node write a file, and others then ask at the same time how long it is."""
    plane = plane_of(1 + readers, threads, time)
    plane.add_files(1, stripes)
    plane.run([[Step(Op.WRITE, length=stripes * RPC)], *([] for _ in range(readers))])
    return plane, plane.run([[], *([Step(Op.STAT)] for _ in range(readers))])


@some
@given(st.integers(1, 12), st.integers(1, OSTS), st.integers(1, 5))
def test_n_glimpses_of_one_node_take_the_time_of_n_over_its_threads(
    readers: int, stripes: int, threads: int
) -> None:
    plane, took = stats_at_once(readers, stripes, threads)
    count = readers * stripes  # each is asked for itself: none is merged with another
    assert plane.stat(Stat.GLIMPSE_ASTS) == count
    assert callbacks(plane) == [count, *([0] * readers)]
    unqueued = stats_at_once(readers, stripes, threads, 0.0)[1]
    rounds = ceil(count / threads)
    assert took.max() >= rounds * TIME
    assert took.max() <= unqueued.max() + rounds * TIME + 1e-9
    assert (took >= unqueued + TIME - 1e-9).all()


@some
@given(st.integers(1, 12), st.integers(1, 5))
def test_the_threads_of_a_node_share_its_callbacks_evenly(readers: int, threads: int) -> None:
    plane, _ = stats_at_once(readers, OSTS, threads)
    stations = plane.tables.network.stations[threads_of(plane, 0)]
    count = readers * OSTS
    assert sorted(stations.requests) == sorted(
        len(range(i, count, threads)) for i in range(threads)
    )
    assert stations.busy.sum() == pytest.approx(count * TIME)


def test_callbacks_take_no_longer_with_more_threads() -> None:
    slowest = [stats_at_once(9, OSTS, threads)[1].max() for threads in (1, 2, 3, 9, 36, 40)]
    assert slowest == sorted(slowest, reverse=True)
    assert slowest[-1] == slowest[-2]  # one for each callback: more bring nothing


@some
@given(st.integers(1, 6))
def test_callbacks_of_different_nodes_do_not_delay_each_other(pairs: int) -> None:
    """Each writer has a file and a reader of its own; the OSTs are shared, hence the margin."""
    alone = stats_at_once(1, 1)[1][0]
    plane = plane_of(2 * pairs)
    files = plane.add_files(pairs)
    idle: list[list[Step]] = [[] for _ in range(pairs)]
    plane.run([*([Step(Op.WRITE, file, length=RPC)] for file in files), *idle])
    took = plane.run([*idle, *([Step(Op.STAT, file)] for file in files)])
    assert callbacks(plane) == [*([1] * pairs), *([0] * pairs)]
    assert took.max() < alone + TIME / 2


@some
@given(st.integers(1, 8), st.integers(1, 3))
def test_locks_asked_back_from_one_node_at_once_come_one_after_another(
    writers: int, threads: int
) -> None:
    took = []
    for time in (0.0, TIME):
        plane = plane_of(1 + writers, threads, time)
        files = plane.add_files(writers)
        write = [[Step(Op.WRITE, file, length=PAGE), Step(Op.FSYNC, file)] for file in files]
        plane.run([[step for steps in write for step in steps], *([] for _ in files)])
        took.append(plane.run([[], *(steps[:1] for steps in write)]).max())
        # A blocking AST for each, and the grant of what had to wait comes as a completion AST.
        assert plane.stat(Stat.BLOCKING_ASTS) == writers
        assert callbacks(plane) == [writers, *([1] * writers)]
    rounds = ceil(writers / threads) + 1
    assert rounds * TIME <= took[1]
    assert took[1] <= took[0] + rounds * TIME + 1e-9


def test_who_waits_for_a_lock_that_is_not_granted_yet_waits_for_its_turn() -> None:
    """A blocking AST for it comes with its grant: until then no client has anything to handle."""
    plane = SmallPlane(4, lustre__journal_commit="1 s")
    plane.add_files()
    write = [Step(Op.WRITE, length=PAGE)]
    plane.run([write, [], [], []])
    assert plane.run([[], write, write, write]).max() > 3.0
    behind = plane.tables.programs.behind
    assert behind[Cause.LOCK_QUEUE].max() == pytest.approx(2.0, rel=0.1)
    assert behind[Cause.CALLBACK].max() < 0.01


def test_a_grant_at_once_is_a_reply_and_no_callback() -> None:
    plane = plane_of(2)
    plane.add_files(2)
    plane.run([[Step(Op.WRITE, i, length=RPC)] for i in range(2)])
    assert plane.stat(Stat.ENQUEUES) == 2
    assert callbacks(plane) == [0, 0]


def test_a_glimpse_asks_the_highest_writer_even_on_its_own_node() -> None:
    plane = plane_of(2)
    plane.add_files()
    low, high = (Step(Op.WRITE, offset=i * 8 * RPC, length=RPC) for i in (0, 1))
    plane.run([[low], []])
    plane.run([[Step(Op.STAT)], []])  # it has the whole object, and knows
    assert plane.stat(Stat.GLIMPSE_ASTS) == 0
    plane.tables.files.rows.no_expand[:] = 1
    plane.run([[], [high]])
    plane.run([[low], []])
    before = callbacks(plane)
    plane.run([[Step(Op.STAT)], []])
    plane.run([[], [Step(Op.STAT)]])
    assert plane.stat(Stat.GLIMPSE_ASTS) == 2
    assert callbacks(plane) == [before[0], before[1] + 2]


def test_the_same_run_twice_is_the_same() -> None:
    first, second = (stats_at_once(7, 3, 2) for _ in range(2))
    assert first[1].tobytes() == second[1].tobytes()
    assert first[0].tables.network.stations.tobytes() == second[0].tables.network.stations.tobytes()
