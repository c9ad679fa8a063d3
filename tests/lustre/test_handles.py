"""Who tells the MDS that a file is opened or closed: one program of a node, or each."""

from __future__ import annotations

import numpy as np
from small_plane import SmallPlane, Step

from xc40io.plane.operations import Op

RANKS = 8
SOON = 1e-3
"""Seconds: longer than one round trip to the MDS, shorter than three."""


def asked(plane: SmallPlane) -> int:
    """Return the requests that the MDS has served."""
    return int(plane.tables.network.stations[plane.tables.mds.station].requests)


def test_the_ranks_of_a_node_open_and_close_a_file_with_one_rpc_each() -> None:
    plane = SmallPlane(3, RANKS)
    (file,) = plane.add_files(1)
    later = Step(Op.THINK, seconds=0.1)
    took = plane.run([[Step(Op.OPEN, file), later, Step(Op.CLOSE, file)]] * (3 * RANKS))
    assert asked(plane) == 3 * 2
    # But for the last one of a node, nobody waits to close.
    assert np.sum(took < 0.1 + SOON) >= 3 * (RANKS - 1)


def test_who_comes_while_a_neighbour_looks_the_name_up_waits_for_it() -> None:
    plane = SmallPlane(1, RANKS)
    (file,) = plane.add_files(1)
    took = plane.run([[Step(Op.OPEN, file)]] * RANKS)
    assert asked(plane) == 1
    assert took.max() < SOON


def test_where_the_name_is_known_each_asks_in_turn_until_the_file_is_open() -> None:
    plane = SmallPlane(1, RANKS)
    (file,) = plane.add_files(1)
    plane.run([[Step(Op.CREATE, file), Step(Op.CLOSE, file)]])
    before = asked(plane)
    took = plane.run([[Step(Op.OPEN, file)]] * RANKS)
    assert asked(plane) - before == RANKS
    assert took.max() > RANKS / 3 * SOON
    plane.run([[Step(Op.OPEN, file)]] * RANKS)
    assert asked(plane) - before == RANKS


def test_a_name_that_is_gone_is_known_nowhere() -> None:
    plane = SmallPlane(2, RANKS)
    (file,) = plane.add_files(1)
    used = [Step(Op.OPEN, file), Step(Op.CLOSE, file)]
    plane.run([used] * (2 * RANKS))
    plane.run([[Step(Op.UNLINK, file), Step(Op.CREATE, file), Step(Op.CLOSE, file)]])
    before = asked(plane)
    plane.run([[]] * RANKS + [[Step(Op.OPEN, file)]] * RANKS)
    assert asked(plane) - before == 1


def test_every_close_of_what_nobody_opened_asks() -> None:
    plane = SmallPlane(1, RANKS)
    (file,) = plane.add_files(1)
    plane.run([[Step(Op.CLOSE, file)]] * RANKS)
    assert asked(plane) == RANKS
