"""The mutex of a directory on each node, names that a node knows, and what a change needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_client import SIMPLE
from reference_directory import Node
from small_plane import Program, SmallPlane, Step

from xc40io.plane.operations import Op

TICK = 26617 / 2**28  # s, apart from all other times
RATES: dict[str, object] = {
    "lustre__mds__stat_rate": 2**15,
    "lustre__mds__create_rate": 2**14,
    "lustre__mds__unlink_rate": 2**13,
    "lustre__mds__directory_rate": 2.0**40,
    "lustre__mds__change_latency": 8087 / 2**28,
    "lustre__mds__stripe_time": 2.0**-18,
}
RANKS = 12


def look_up(plane: SmallPlane) -> float:
    """Return what asking for a name takes at least, in seconds."""
    mds = plane.machine.lustre.mds
    return 2 * plane.tables.mds.latency + mds.op_latency + 1 / mds.stat_rate


def asked(plane: SmallPlane) -> int:
    """Return the requests that the MDS has served."""
    return int(plane.tables.network.stations[plane.tables.mds.station].requests)


def stats(plane: SmallPlane, **where: Any) -> float:
    """Let each rank stat a file; return when the last has."""
    files = plane.add_files(plane.nodes * plane.per_node, **where)
    return float(plane.run([[Step(Op.STAT, file)] for file in files]).max())


@pytest.mark.parametrize(("kernel", "rounds"), [("4.4", RANKS), ("4.7", 2), ("4.12.14", 2)])
def test_names_of_one_directory_are_looked_up_one_after_another_before_linux_4_7(
    kernel: str, rounds: int
) -> None:
    plane = SmallPlane(2, RANKS, nodes__kernel=kernel)
    took = stats(plane)
    assert rounds * look_up(plane) <= took < (rounds + 2) * look_up(plane)
    assert (plane.tables.directories.rows.mutex.taken == 0).all()
    assert (plane.tables.programs.rows.directory == 0).all()


def test_each_directory_of_a_node_has_a_mutex() -> None:
    plane = SmallPlane(1, RANKS)
    took = stats(plane, directories=np.arange(RANKS) % 4)
    assert RANKS / 4 * look_up(plane) <= took < (RANKS / 4 + 2) * look_up(plane)


def test_changes_of_a_directory_follow_each_other_whatever_the_mdc_may_send_and_the_kernel() -> (
    None
):
    took = []
    for shared in (True, False):
        plane = SmallPlane(1, RANKS, lustre__mds__modifying_rpcs=RANKS, nodes__kernel="5.14")
        files = plane.add_files(RANKS, shared_directory=shared)
        took.append(plane.run([[Step(Op.CREATE, file)] for file in files]).max())
    assert took[0] >= RANKS * look_up(plane)
    assert took[1] < 3 * look_up(plane)


def test_who_waits_for_a_name_finds_its_attributes_known() -> None:
    plane = SmallPlane(1, RANKS)
    (file,) = plane.add_files()
    plane.run([[Step(Op.STAT, file)]] * RANKS)
    assert asked(plane) == 1
    plane.run([[Step(Op.STAT, file)]] * RANKS)
    assert asked(plane) == 1


@pytest.mark.parametrize(
    ("before", "requests"),
    [([], 2), ([Op.STAT], 1), ([Op.CREATE], 1), ([Op.CREATE, Op.UNLINK], 2)],
)
def test_a_name_is_asked_for_before_it_is_removed_unless_the_node_knows_it(
    before: list[Op], requests: int
) -> None:
    plane = SmallPlane(2)
    (file,) = plane.add_files()
    if before:
        plane.run([[Step(kind, file) for kind in before]])
    first = asked(plane)
    took = plane.run([[Step(Op.UNLINK, file)]])[0]
    assert asked(plane) - first == requests
    assert took >= requests * look_up(plane)


def test_another_node_does_not_know_the_name() -> None:
    plane = SmallPlane(2)
    (file,) = plane.add_files()
    plane.run([[Step(Op.CREATE, file)]])
    before = asked(plane)
    plane.run([[], [Step(Op.UNLINK, file)]])
    assert asked(plane) - before == 2


@pytest.mark.parametrize(("files", "looked_up"), [(4, 0), (5, 1)])
def test_a_node_knows_as_many_names_as_it_keeps_locks(files: int, looked_up: int) -> None:
    """Of one more than that the one used longest ago is given up."""
    plane = SmallPlane(1, lustre__unused_locks_per_core=1, nodes__cores=4)
    made = plane.add_files(files)
    plane.run([[Step(Op.CREATE, file) for file in made]])
    plane.run([[Step(Op.STAT, file) for file in made]])
    before = asked(plane)
    plane.run([[Step(Op.UNLINK, file) for file in made]])
    assert asked(plane) - before == files + looked_up
    assert (plane.tables.handles.clients.count == 0).all()


def test_a_change_takes_longer_than_a_look() -> None:
    took = []
    for more in (0.0, 0.001):
        plane = SmallPlane(1, lustre__mds__change_latency=more)
        plane.add_files()
        took.append(plane.run([[Step(Op.CREATE), Step(Op.STAT)]])[0])
    assert took[1] - took[0] == pytest.approx(0.001)


@st.composite
def work(draw: st.DrawFn) -> list[tuple[Op, int, int]]:
    """Draw what a rank does with which of 8 files, and how many ticks it thinks before it."""
    kinds = st.sampled_from([Op.STAT, Op.STAT, Op.CREATE, Op.UNLINK])
    one = st.tuples(kinds, st.integers(0, 7), st.sampled_from([1, 2, 5]))
    return draw(st.lists(one, min_size=1, max_size=6))


@settings(max_examples=60, derandomize=True)
@given(
    drawn=st.lists(work(), min_size=1, max_size=6),
    directories=st.integers(1, 3),
    kernel=st.sampled_from(["3.0.101", "4.12"]),
    places=st.sampled_from([1, 2, 8]),
    turns=st.sampled_from([1, 3]),
)
def test_each_rank_ends_when_that_of_the_plain_model_does(
    drawn: list[list[tuple[Op, int, int]]], directories: int, kernel: str, places: int, turns: int
) -> None:
    changes: dict[str, object] = {
        "nodes__kernel": kernel,
        "lustre__mds__max_rpcs_in_flight": places,
        "lustre__mds__modifying_rpcs": turns,
    }
    plane = SmallPlane(1, len(drawn), **SIMPLE | RATES | changes)
    directory = np.arange(8) % directories
    files = plane.add_files(8, directories=directory)
    programs: list[Program] = [
        [Step(Op.THINK, seconds=(rank * rank + 1) * TICK / 4)]
        + [
            step
            for kind, file, ticks in steps
            for step in (
                Step(Op.THINK, seconds=ticks * TICK * (rank + 1)),
                Step(kind, files[file]),
            )
        ]
        for rank, steps in enumerate(drawn)
    ]
    model = Node(plane.machine, directory.tolist())
    ended = model.run(programs)
    assume(not model.tied)
    assert plane.run(programs).tolist() == pytest.approx(ended, rel=1e-9)
