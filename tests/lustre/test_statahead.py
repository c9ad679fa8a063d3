"""Statahead: what a client asks for ahead of a process that lists a directory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import PAGE, SmallPlane, Step

from xc40io.lustre.statahead import OFF, RUNNING, STOPPED
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

FILES = 100


class Directory:
    """A directory with files on a small plane, and what a process does that lists it."""

    def __init__(self, plane: SmallPlane, files: int = FILES, stripes: int = 1) -> None:
        self.plane = plane
        self.number = plane.plane.namespace.add_names(np.zeros(1, np.int32))
        self.files = plane.add_files(files, stripes)

    def listing(self, order: Iterable[int] | None = None, names: int | None = None) -> list[Step]:
        """Open, read the names, so many at a time, stat those of an order, and close."""
        count = len(self.files)
        each = count if names is None else names
        steps = [Step(Op.OPEN, self.number)]
        chosen = list(range(count) if order is None else order)
        for first in range(0, count, each):
            entries = {"first_entry": self.files[0], "entries": count}
            steps.append(Step(Op.READDIR, self.number, count=each, **entries))
            steps += [Step(Op.STAT, self.files[i]) for i in chosen if first <= i < first + each]
        return [*steps, Step(Op.CLOSE, self.number)]


def asked_mds(plane: SmallPlane) -> int:
    tables = plane.tables
    return int(tables.network.stations[tables.mds.station].requests)


def listing_of(plane: SmallPlane, program: int = 0) -> Any:
    return plane.tables.statahead.listings[program]


def nothing_is_left(plane: SmallPlane) -> bool:
    ahead = plane.tables.statahead
    free = ahead.spare_entries.counts[0] == len(ahead.entries)
    return bool(free and (ahead.mds.mdcs.in_flight == 0).all())


def test_the_entries_ahead_grow_from_2_with_each_hit_up_to_the_most() -> None:
    plane, seen = SmallPlane(1), []

    def look(plane: SmallPlane) -> None:
        listing = listing_of(plane)
        if listing.state == RUNNING:
            seen.append((int(listing.ahead_max), int(listing.cached)))

    plane.run([Directory(plane).listing()], look)
    most = [ahead for ahead, _ in seen]
    assert list(dict.fromkeys(most)) == [2, 4, 8, 16, 32]
    assert all(cached <= ahead for ahead, cached in seen)
    assert nothing_is_left(plane)


def test_no_more_rpcs_are_under_way_than_the_mdc_may_have() -> None:
    plane, seen = SmallPlane(1, 2, lustre__mds__max_rpcs_in_flight=3), []
    programs = [Directory(plane).listing() for _ in range(2)]
    plane.run(programs, lambda plane: seen.append(plane.tables.mds.mdcs.in_flight.max()))
    assert max(seen) == 3
    assert nothing_is_left(plane)


@settings(max_examples=12)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 40), st.booleans(), st.integers(1, 60))
def test_it_asks_for_the_same_and_not_for_more(
    files: int, stripes: int, most: int, sizes: bool, names: int
) -> None:
    counts, took = [], []
    for ahead in (0, most):
        plane = SmallPlane(1, lustre__statahead_max=ahead, lustre__statahead_agl=sizes)
        directory = Directory(plane, files, stripes)
        took.append(plane.run([directory.listing(names=names if files % names == 0 else None)])[0])
        counts.append((asked_mds(plane), plane.stat(Stat.GLIMPSES)))
        assert nothing_is_left(plane)
    assert counts[0] == counts[1]
    assert took[1] <= took[0] * (1 + 1e-9)


@pytest.mark.parametrize(("sizes", "quicker"), [(True, 5.0), (False, 2.0)])
def test_a_listing_takes_a_fraction_of_the_time(sizes: bool, quicker: float) -> None:
    took = []
    for most in (0, 32):
        plane = SmallPlane(1, lustre__statahead_max=most, lustre__statahead_agl=sizes)
        took.append(plane.run([Directory(plane).listing()])[0])
        assert listing_of(plane).hits == (FILES - 1 if most else 0)
    assert took[0] > quicker * took[1]


def test_a_hit_whose_reply_is_there_takes_no_time_and_no_rpc() -> None:
    plane = SmallPlane(1)
    directory = Directory(plane, 3)
    steps = directory.listing()
    alone = SmallPlane(1)
    first = plane.run([[*steps[:3], Step(Op.THINK, seconds=1.0), *steps[3:]]])[0]
    once = alone.run([[*Directory(alone, 1).listing(), Step(Op.THINK, seconds=1.0)]])[0]
    assert first == pytest.approx(once, rel=1e-4)
    assert asked_mds(plane) - asked_mds(alone) == 2


@pytest.mark.parametrize("order", [range(FILES - 1, -1, -1), range(1, FILES)])
@pytest.mark.parametrize("names", [FILES, FILES // 2])
def test_who_does_not_begin_with_the_first_entry_gets_none(order: range, names: int) -> None:
    took = []
    for most in (0, 32):
        plane = SmallPlane(1, lustre__statahead_max=most)
        took.append(plane.run([Directory(plane).listing(order, names)])[0])
        assert asked_mds(plane) == len(order) + FILES // names + 2
    assert took[0] == took[1]


def test_the_thread_stops_where_too_few_names_are_looked_at() -> None:
    plane, states = SmallPlane(1), []
    directory = Directory(plane, 400)
    steps = directory.listing([0, *range(60, 400, 20)])
    plane.run([steps], lambda plane: states.append(int(listing_of(plane).state)))
    listing = listing_of(plane)
    assert STOPPED in states
    assert listing.state == OFF
    assert listing.hits == 0
    assert listing.misses == 17
    assert nothing_is_left(plane)


@pytest.mark.parametrize(("hits", "misses"), [(0, 9), (7, 9), (8, 3), (9, 3), (12, 4)])
def test_the_thread_stops_with_9_misses_in_a_row_or_few_hits_a_miss(hits: int, misses: int) -> None:
    """Of at least 8 hits four are enough for a miss (sa_low_hit)."""
    plane, at = SmallPlane(1), set()
    directory = Directory(plane, 400)

    def look(plane: SmallPlane) -> None:
        listing = listing_of(plane)
        if listing.state == STOPPED:
            at.add((int(listing.hits), int(listing.misses)))

    plane.run([directory.listing([*range(hits + 1), *range(200, 400, 20)])], look)
    assert min(at) == (hits, misses)


def test_names_left_out_are_forgotten_far_behind() -> None:
    plane = SmallPlane(1)
    directory = Directory(plane, 300)
    plane.run([directory.listing([i for i in range(300) if i % 3 < 2])])
    assert listing_of(plane).hits > 8
    assert nothing_is_left(plane)


def test_the_close_of_the_directory_ends_it() -> None:
    plane = SmallPlane(1)
    directory = Directory(plane)
    steps = directory.listing()
    early = [*steps[:6], steps[-1], *steps[6:-1]]
    plane.run([early])
    assert listing_of(plane).hits == 3
    assert asked_mds(plane) > FILES + 3  # what has been asked for in vain
    assert nothing_is_left(plane)


def test_one_process_of_a_node_has_it_for_a_directory() -> None:
    plane = SmallPlane(2, 2)
    directory = Directory(plane)
    plane.run([directory.listing(names=FILES // 4)] * 4)
    assert sorted(plane.tables.statahead.listings.hits) == [0, 0, FILES - 1, FILES - 1]


def test_what_has_changed_since_is_asked_again() -> None:
    plane = SmallPlane(2)
    directory = Directory(plane, 3)
    steps = directory.listing()
    wait = Step(Op.THINK, seconds=1.0)
    slow = [*steps[:3], wait, wait, *steps[3:]]
    plane.run([slow, [wait, Step(Op.UNLINK, directory.files[2])]])
    assert asked_mds(plane) == 3 + 3 + 1 + 2  # who removes a name asks for it first
    assert nothing_is_left(plane)


@pytest.mark.parametrize("before", [True, False])
def test_the_size_of_what_others_write_is_asked_of_them(before: bool) -> None:
    plane = SmallPlane(2)
    directory = Directory(plane, 3)
    steps, wait = directory.listing(), Step(Op.THINK, seconds=1.0)
    write = Step(Op.WRITE, directory.files[2], length=PAGE)
    slow = [wait, *steps[:3], wait, wait, *steps[3:]]
    plane.run([slow, [write] if before else [wait, wait, write]])
    assert plane.stat(Stat.GLIMPSE_ASTS) == 1
    assert plane.stat(Stat.GLIMPSES) == 3 + 1
    assert nothing_is_left(plane)
