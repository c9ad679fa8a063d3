"""Locks that programs ask for themselves: group locks, and lock-ahead."""

from __future__ import annotations

from small_plane import RPC, SmallPlane, Step

from xc40io.lustre.locks import MODE_GROUP, MODE_PW
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

GROUP = 7


def interleaved(node: int, calls: int = 8) -> Step:
    """Every other RPC of an object: two nodes that write like this fight for it."""
    return Step(Op.WRITE, 0, node * RPC, RPC, calls, 2 * RPC)


def test_a_group_lock_ends_the_fight_of_two_nodes() -> None:
    fight = SmallPlane(2, 1)
    fight.add_files()
    alone = fight.run([[interleaved(node)] for node in range(2)]).max()
    assert fight.stat(Stat.BLOCKING_ASTS) > 0

    peace = SmallPlane(2, 1)
    peace.add_files()
    programs = [
        [Step(Op.GROUP_LOCK, group=GROUP), interleaved(node), Step(Op.GROUP_UNLOCK)]
        for node in range(2)
    ]
    together = peace.run(programs).max()
    assert peace.stat(Stat.BLOCKING_ASTS) == 0
    assert together < alone


def test_the_last_user_of_a_node_gives_a_group_lock_back() -> None:
    plane = SmallPlane(1, 3)
    plane.add_files(stripes=2)
    program = [Step(Op.GROUP_LOCK, group=GROUP), interleaved(0), Step(Op.GROUP_UNLOCK)]
    plane.run([program, program, program])
    assert not plane.tables.locks.resources.granted_group.any()
    assert plane.stat(Stat.CANCELS) == plane.stat(Stat.ENQUEUES)


def test_others_wait_until_the_group_has_gone() -> None:
    plane = SmallPlane(2, 1)
    plane.add_files()
    pause = 0.5
    hold = [Step(Op.GROUP_LOCK, group=GROUP), Step(Op.THINK, seconds=pause), Step(Op.GROUP_UNLOCK)]
    write = [Step(Op.THINK, seconds=0.1), Step(Op.WRITE, length=RPC)]
    _, waited = plane.run([hold, write])
    assert waited > pause
    modes = plane.tables.locks.locks.mode[plane.tables.locks.locks.granted == 1]
    assert modes.tolist() == [MODE_PW]
    assert MODE_GROUP not in modes


def test_locks_asked_for_ahead_are_exact_and_spare_the_fight() -> None:
    plane = SmallPlane(2, 1)
    plane.add_files()
    programs = [
        [
            Step(Op.LOCK_AHEAD, 0, node * RPC, RPC, 8, 2 * RPC),
            Step(Op.THINK, seconds=0.1),
            interleaved(node),
        ]
        for node in range(2)
    ]
    plane.run(programs)
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
    assert plane.stat(Stat.ENQUEUES) == 16
    assert plane.stat(Stat.MATCHES) == 16
    granted = plane.tables.locks.locks[plane.tables.locks.locks.granted == 1]
    assert (granted.end - granted.start + 1 == RPC).all()


def test_a_lock_asked_for_ahead_takes_nothing_from_anybody() -> None:
    plane = SmallPlane(2, 1)
    plane.add_files()
    ahead = [Step(Op.THINK, seconds=0.1), Step(Op.LOCK_AHEAD, 0, 4 * RPC, RPC)]
    plane.run([[Step(Op.WRITE, length=RPC)], ahead])
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
    granted = plane.tables.locks.locks[plane.tables.locks.locks.granted == 1]
    assert granted.owner.tolist() == [0]


def test_locks_of_a_file_that_forbids_growth_are_as_asked_for() -> None:
    plane = SmallPlane(1, 1)
    plane.add_files()
    plane.tables.files.rows.no_expand = 1
    plane.run([[Step(Op.WRITE, length=RPC, count=4, stride=RPC)]])
    assert plane.stat(Stat.ENQUEUES) == 4
