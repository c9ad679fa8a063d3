"""Fsyncs of objects on an OSS: in turn on one object, with shared commits on several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import Plan, plans
from small_plane import OSTS, PAGE, RPC, SmallPlane, Step

from xc40io.engine.pool import live_rows
from xc40io.lustre.server.journal import is_committed, note_write, object_committed
from xc40io.lustre.server.syncs import pass_mutex, take_mutex
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.plane.registry import LOCK_EVENT, REQUEST_EVENT

COMMIT = 0.5
"""Seconds of a commit: nothing else in these runs takes as long."""


conflicting = plans(Op.READ, Op.WRITE, Op.FSYNC)


def plane_of(nodes: int, objects: int) -> SmallPlane:
    """Return nodes, and files of one object each, all on one OST."""
    commits = {"lustre__journal_commit": COMMIT, "lustre__shared_commit": COMMIT}
    plane = SmallPlane(nodes, **commits, lustre__commit_period="1 h")
    plane.add_files(objects)
    plane.tables.files.rows.no_expand = 1  # so that nodes take no locks that they do not need
    plane.tables.files.objects.ost = 0
    return plane


def hand_over(pairs: int, objects: int, *, meanwhile: int) -> float:
    """Let one node of each pair take what the other has written; return how long that took.

    The pairs are dealt over the objects. To each object a further node goes on writing elsewhere,
    ``meanwhile`` times.
    """
    plane = plane_of(2 * pairs + objects, objects)
    page = [(pair % objects, pair * PAGE) for pair in range(pairs)]
    first = [Step(Op.WRITE, file, offset, PAGE) for file, offset in page]
    pause = Step(Op.THINK, seconds=COMMIT / 10)
    others: list[list[Step]] = [
        [
            step
            for i in range(meanwhile)
            for step in (Step(Op.WRITE, file, (1 + i) * RPC, RPC), pause)
        ]
        for file in range(objects)
    ]
    plane.run([[write] for write in first] + [[] for _ in range(pairs + objects)])
    took = plane.run([[] for _ in first] + [[pause, write] for write in first] + others)
    return float(took[:pairs].max())


def test_syncs_of_one_object_go_one_after_another_while_others_write() -> None:
    """Each waits for a commit of its own; on objects of their own they share two at most."""
    on_one, on_each = hand_over(6, 1, meanwhile=60), hand_over(6, 6, meanwhile=60)
    assert 6 * COMMIT < on_one < 8 * COMMIT
    assert COMMIT < on_each < 2.5 * COMMIT


def test_syncs_of_one_object_share_a_commit_if_nobody_writes_meanwhile() -> None:
    assert COMMIT < hand_over(6, 1, meanwhile=0) < 1.5 * COMMIT


@settings(max_examples=8, deadline=None)
@given(conflicting)
def test_every_mutex_is_given_back(plan: Plan) -> None:
    plane = plan.plane(size=1 << 20)
    plane.run(plan.programs)
    turns = plane.tables.files.objects.syncing
    assert not turns["taken"].any()
    assert (turns["waiting"]["head"] == -1).all()
    assert len(live_rows(plane.tables.syncs.spare_rows)) == 0


def test_who_comes_first_has_the_mutex_first() -> None:
    plane = plane_of(1, 1)
    syncs = plane.tables.syncs
    assert take_mutex(syncs, 0, LOCK_EVENT, 7)
    assert not take_mutex(syncs, 0, REQUEST_EVENT, 8)
    assert not take_mutex(syncs, 0, LOCK_EVENT, 9)
    assert plane.plane.next_time() == np.inf
    pass_mutex(syncs, 0, 1.0)
    assert plane.plane.next_time() == 1.0  # the event of the request, and not yet of the lock
    pass_mutex(syncs, 0, 2.0)
    pass_mutex(syncs, 0, 3.0)
    assert take_mutex(syncs, 0, LOCK_EVENT, 7)


@given(busy=st.floats(0.0, 10.0), commit=st.floats(0.001, 1.0))
@settings(max_examples=8)
def test_a_commit_comes_behind_what_the_array_is_busy_with(busy: float, commit: float) -> None:
    plane = SmallPlane(1, lustre__journal_commit=commit, lustre__ost_spread=0)
    plane.add_files()
    tables = plane.tables
    tables.files.objects.written[0] = tables.files.objects.sought[0] = 1.0
    tables.network.stations.free[tables.disks.ost] = 2.0 + busy
    assert not is_committed(tables.journals, 0, 2.0)
    done = object_committed(tables.journals, 0, 2.0)
    assert done == pytest.approx(2.0 + busy + commit)
    assert object_committed(tables.journals, 0, done) == done


@pytest.mark.parametrize(
    ("writers", "size", "shared"),
    [
        *(((), RPC, 0), ((0,), RPC, 0), ((0, 0), RPC, 0)),
        *(((0, OSTS), RPC, 1), ((OSTS, 0, 0), RPC, 1)),
        *(((0, OSTS), PAGE, 0), ((0, OSTS) * (RPC // PAGE // 2), PAGE, 1)),
    ],
)
def test_the_commit_of_an_object_that_several_nodes_have_written_takes_longer(
    writers: tuple[int, ...], size: int, shared: int
) -> None:
    """If they came to a new RAID stripe of it, and only the first one after they have."""
    plane = SmallPlane(2, lustre__journal_commit=0.25, lustre__shared_commit=1.5)
    plane.add_files()
    files, journals = plane.tables.files, plane.tables.journals
    files.objects.written[0] = files.objects.sought[0] = 1.0
    for channel in writers:
        note_write(files, 0, channel, size, 1.0)
    ost = files.objects.ost[0]
    done = object_committed(journals, 0, 2.0)
    assert done == pytest.approx(2.0 + journals.ost_commit[shared, ost])
    assert journals.ost_commit[1, ost] == pytest.approx(6 * journals.ost_commit[0, ost])
    files.objects.written[0] = files.objects.sought[0] = done + 0.1
    again = object_committed(journals, 0, done + 0.2)
    assert again == pytest.approx(done + 0.2 + journals.ost_commit[0, ost])


def test_a_commit_comes_behind_what_waits_at_the_array() -> None:
    plane = SmallPlane(1, lustre__ost_spread=0)
    plane.add_files()
    tables = plane.tables
    tables.files.objects.written[0] = tables.files.objects.sought[0] = 1.0
    rate = plane.machine.lustre.ost_write_rate
    tables.disks.seconds[:] = 1.0 / rate
    tables.disks.arrays.line[0] = int(3 * rate)
    done = object_committed(tables.journals, 0, 2.0)
    assert done == pytest.approx(2.0 + 3.0 + plane.machine.lustre.journal_commit)


def test_who_is_not_in_a_commit_asks_again_when_it_has_ended() -> None:
    """Only then does the next commit begin, and it is as long as the load then makes it."""
    plane = SmallPlane(1, lustre__journal_commit=0.25, lustre__ost_spread=0)
    plane.add_files(2)
    tables = plane.tables
    ost = tables.files.objects.ost[:2]
    ost[:] = 0
    tables.files.objects.sought[:2] = 1.0
    first = object_committed(tables.journals, 0, 2.0)
    tables.files.objects.sought[1] = 2.1  # after the commit began
    assert object_committed(tables.journals, 1, 2.1) == first
    tables.network.stations.free[tables.disks.ost] = first + 7.0
    assert object_committed(tables.journals, 1, first) == pytest.approx(first + 7.0 + 0.25)


def test_an_ost_that_needs_no_commit_is_never_waited_for() -> None:
    plane = SmallPlane(1, lustre__journal_commit=0)
    plane.add_files()
    tables = plane.tables
    tables.files.objects.written[0] = tables.files.objects.sought[0] = 1.0
    tables.network.stations.free[tables.disks.ost] = 9.0
    assert is_committed(tables.journals, 0, 2.0)


def test_an_fsync_waits_for_its_turn_and_says_so() -> None:
    """Two nodes sync one object while both go on writing: the journal is what they wait for."""
    plane = plane_of(2, 1)
    programs = [
        [step for _ in range(3) for step in (Step(Op.WRITE, 0, i * PAGE, PAGE), Step(Op.FSYNC))]
        for i in (0, 1)
    ]
    took = plane.run(programs)
    assert took.min() > 3 * COMMIT
    behind = plane.tables.programs.behind
    assert behind[Cause.JOURNAL].sum() > 0.9 * took.sum()
