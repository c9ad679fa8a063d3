from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from random import Random

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st
from reference_locks import Call, History, Lock, PlainLocks, Request, conflict, overlap, run_clients

from xc40io.engine.page import PAGE
from xc40io.engine.pool import give, take
from xc40io.lustre.locks import (
    EOF,
    MODE_GROUP,
    MODE_PR,
    MODE_PW,
    Locks,
    cancel,
    compatible,
    enqueue,
    highest_writer,
    reprocess,
)

KIB, MIB = 1 << 10, 1 << 20
Extent = tuple[int, int]


def no_locks(resources: int, rows: int) -> Locks:
    return Locks(**Locks.idle(resources, rows))


def ask(locks: Locks, request: Request, resource: int = 0) -> int:
    """Fill in a request as a client would, and enqueue it; return its row."""
    row = int(take(locks.spare_locks))
    lock = locks.locks[row]
    lock.resource, lock.owner, lock.mode = resource, request.owner, request.mode
    lock.group, lock.no_expand = request.gid, request.no_expand
    lock.request_start, lock.request_end = request.start, request.end
    enqueue(locks, row)
    return row


def write(locks: Locks, owner: int, start: int, size: int, resource: int = 0) -> int:
    return ask(locks, Request(owner, MODE_PW, start, start + size - 1), resource)


def read(locks: Locks, owner: int, start: int, size: int) -> int:
    return ask(locks, Request(owner, MODE_PR, start, start + size - 1))


def group(locks: Locks, owner: int, gid: int) -> int:
    return ask(locks, Request(owner, MODE_GROUP, 0, EOF, gid))


def asked_back(locks: Locks) -> list[int]:
    return sorted(locks.asts[: locks.ast_count[0]].tolist())


def extent(locks: Locks, row: int) -> Extent | None:
    lock = locks.locks[row]
    return (int(lock.start), int(lock.end)) if lock.granted else None


def release(locks: Locks, row: int) -> list[int]:
    """Cancel a lock; return the requests that are granted in its stead, in order."""
    resource = int(locks.locks[row].resource)
    cancel(locks, row)
    granted = []
    while (head := reprocess(locks, resource)) >= 0:
        granted.append(int(head))
    give(locks.spare_locks, row)
    return granted


def new_locks(rows: int = 100) -> Locks:
    return no_locks(1, rows)


# ------------------------------------------------------------------ examples worked out by hand


@pytest.mark.parametrize(
    ("one", "other", "fit"),
    [
        ((MODE_PR, 0), (MODE_PR, 0), True),
        ((MODE_PR, 0), (MODE_PW, 0), False),
        ((MODE_PW, 0), (MODE_PW, 0), False),
        ((MODE_GROUP, 7), (MODE_GROUP, 7), True),
        ((MODE_GROUP, 7), (MODE_GROUP, 8), False),
        ((MODE_GROUP, 0), (MODE_PR, 0), False),
        ((MODE_GROUP, 0), (MODE_PW, 0), False),
    ],
)
def test_which_modes_share_bytes(one: Extent, other: Extent, fit: bool) -> None:
    assert compatible(*one, *other) == fit
    assert compatible(*other, *one) == fit


def test_the_first_writer_gets_the_whole_object() -> None:
    locks = new_locks()
    first = write(locks, 0, 8 * MIB, MIB)
    assert extent(locks, first) == (0, EOF)
    assert asked_back(locks) == []


def test_a_second_writer_takes_it_away_and_gets_the_object_in_turn() -> None:
    locks = new_locks()
    first = write(locks, 0, 0, MIB)
    second = write(locks, 1, MIB, MIB)
    assert extent(locks, second) is None
    assert asked_back(locks) == [first]
    assert release(locks, first) == [second]
    assert extent(locks, second) == (0, EOF)


def test_a_writer_that_comes_back_gets_what_lies_from_its_request_to_the_next_lock() -> None:
    locks = new_locks()
    first = write(locks, 0, 4 * MIB, MIB)
    second = ask(locks, Request(1, MODE_PW, 8 * MIB, 9 * MIB - 1, no_expand=True))
    assert release(locks, first) == [second]
    assert extent(locks, second) == (8 * MIB, 9 * MIB - 1)
    assert extent(locks, write(locks, 0, 4 * MIB, MIB)) == (4 * MIB, 8 * MIB - 1)
    assert extent(locks, write(locks, 2, 12 * MIB, MIB)) == (12 * MIB, EOF)


def test_a_node_conflicts_with_its_own_write_locks() -> None:
    locks = new_locks()
    first = ask(locks, Request(0, MODE_PW, 0, MIB - 1, no_expand=True))
    again = write(locks, 0, 0, 2 * MIB)
    assert extent(locks, again) is None
    assert asked_back(locks) == [first]


def test_readers_share_and_one_blocking_ast_is_enough() -> None:
    locks = new_locks()
    readers = [read(locks, node, 0, MIB) for node in range(3)]
    assert [extent(locks, row) for row in readers] == [(0, EOF)] * 3
    writer = write(locks, 3, 0, MIB)
    assert asked_back(locks) == readers
    write(locks, 4, MIB, MIB)  # needs the readers gone too, but they know
    assert asked_back(locks) == []
    assert [release(locks, row) for row in readers[:2]] == [[], []]
    assert release(locks, readers[2])[0] == writer


def test_while_others_wait_a_grant_is_cut_to_what_its_neighbours_asked_for() -> None:
    """The shared file of a job: one hand-over for the object and everybody has his part."""
    locks = new_locks()
    first = write(locks, 0, 0, MIB)
    others = [write(locks, node, node * 8 * MIB, MIB) for node in range(1, 7)]
    assert asked_back(locks) == []  # only the first of them had somebody to ask
    assert release(locks, first) == others
    # The first is granted while five wait above it; later ones have granted locks below.
    assert [extent(locks, row) for row in others[:-1]] == [
        (node * 8 * MIB, (node + 1) * 8 * MIB - 1) for node in range(1, 6)
    ]
    assert extent(locks, others[-1]) == (48 * MIB, EOF)


@pytest.mark.parametrize(("waiting", "start"), [(4, 2 * MIB), (5, 100 * MIB)])
def test_beyond_four_conflicts_a_lock_does_not_grow_downwards(waiting: int, start: int) -> None:
    locks = new_locks()
    first = write(locks, 0, 0, MIB)
    second = write(locks, 1, 100 * MIB, MIB)
    write(locks, 2, MIB, MIB)
    for node in range(1, waiting):
        write(locks, 2 + node, (200 + node) * MIB, MIB)
    cancel(locks, first)
    assert reprocess(locks, 0) == second
    assert extent(locks, second) == (start, 201 * MIB - 1)


@pytest.mark.parametrize(("held", "end"), [(32, EOF), (33, 132 * MIB - 1)])
def test_beyond_32_conflicts_a_write_lock_ends_after_32_mib(held: int, end: int) -> None:
    locks = new_locks()
    for node in range(held):
        ask(locks, Request(node, MODE_PW, node * MIB, (node + 1) * MIB - 1, no_expand=True))
    last = write(locks, held, 100 * MIB, MIB)
    assert extent(locks, last) == (100 * MIB, end)


def test_a_request_for_32_mib_is_not_limited_on_a_contended_object() -> None:
    locks = new_locks()
    for node in range(33):
        ask(locks, Request(node, MODE_PW, node * MIB, (node + 1) * MIB - 1, no_expand=True))
    assert extent(locks, write(locks, 99, 64 * MIB, 32 * MIB)) == (64 * MIB, EOF)


def test_a_contended_object_limits_no_reader() -> None:
    locks = new_locks()
    for node in range(33):
        ask(locks, Request(node, MODE_PW, node * MIB, (node + 1) * MIB - 1, no_expand=True))
    assert extent(locks, read(locks, 99, 100 * MIB, MIB)) == (100 * MIB, EOF)


@pytest.mark.parametrize(
    ("start", "size", "end"),
    [
        (0, MIB, 9 * MIB),  # in units of 1 MiB
        (0, 4 * MIB, 8 * MIB),  # in units of 4 MiB
        (64 * KIB, 192 * KIB, 9 * MIB + 64 * KIB),  # in units of 64 KiB
        (PAGE, 2 * PAGE, 9 * MIB + 68 * KIB),  # in units of a page
        (100, 5000, 9 * MIB + 68 * KIB),  # not aligned: pages
    ],
)
def test_a_grown_extent_is_aligned_as_the_request_is(start: int, size: int, end: int) -> None:
    locks = new_locks()
    ask(locks, Request(0, MODE_PW, 9 * MIB + 69 * KIB, 10 * MIB - 1, no_expand=True))
    assert extent(locks, write(locks, 1, start, size)) == (start, end - 1)


def test_a_group_lock_is_shared_by_its_gid_and_holds_off_all_others() -> None:
    locks = new_locks()
    one = group(locks, 0, 7)
    assert extent(locks, one) == (0, EOF)
    writer = write(locks, 1, 0, MIB)
    assert extent(locks, writer) is None
    assert asked_back(locks) == []  # its users release it when they are done
    stranger = group(locks, 2, 8)
    two = group(locks, 3, 7)  # joins, although others wait
    assert (extent(locks, stranger), extent(locks, two)) == (None, (0, EOF))
    assert release(locks, one) == []
    assert release(locks, two) == [stranger]  # a group waits before all that are not
    assert release(locks, stranger) == [writer]


def test_a_group_lock_is_for_the_whole_object_whatever_was_asked_for() -> None:
    locks = new_locks()
    some = ask(locks, Request(0, MODE_GROUP, MIB, 2 * MIB - 1, 7))
    assert extent(locks, some) == (0, EOF)
    locks = new_locks()
    beyond = ask(locks, Request(1, MODE_PW, 4 * MIB, 5 * MIB - 1, no_expand=True))
    waits = ask(locks, Request(0, MODE_GROUP, MIB, 2 * MIB - 1, 7))
    assert extent(locks, waits) is None
    assert release(locks, beyond) == [waits]


def test_a_reader_spares_what_his_own_node_waits_for() -> None:
    """Another node's reader may have a lock on the same bytes; the own one would have two."""
    locks = new_locks()
    writer = write(locks, 9, 0, MIB)
    readers = [read(locks, node, at * MIB, MIB) for node, at in [(0, 0), (1, 4), (0, 8)]]
    assert release(locks, writer) == readers
    assert [extent(locks, row) for row in readers] == [(0, 8 * MIB - 1), (0, EOF), (0, EOF)]


def test_waiting_groups_of_one_gid_stand_together() -> None:
    locks = new_locks()
    reader = read(locks, 0, 0, MIB)
    seven, eight = group(locks, 1, 7), group(locks, 2, 8)
    assert asked_back(locks) == []  # the first of them has asked the reader
    also_seven = group(locks, 3, 7)
    assert release(locks, reader) == [seven, also_seven]
    assert release(locks, seven) == []
    assert release(locks, also_seven) == [eight]


def test_nobody_overtakes_a_request_that_conflicts_with_his() -> None:
    locks = new_locks()
    reader = read(locks, 0, 0, MIB)
    writer = write(locks, 1, 0, MIB)
    late_reader = read(locks, 2, 0, MIB)  # fits the granted lock, not the one that waits
    assert extent(locks, late_reader) is None
    assert asked_back(locks) == [writer]  # which will get it with its grant
    assert release(locks, reader) == [writer]
    assert release(locks, writer) == [late_reader]


def test_the_highest_writer_is_found_whoever_it_is() -> None:
    locks = new_locks()
    assert highest_writer(locks, 0) == -1
    low = ask(locks, Request(0, MODE_PW, 0, MIB - 1, no_expand=True))
    middle = ask(locks, Request(1, MODE_PW, 2 * MIB, 3 * MIB - 1, no_expand=True))
    high = ask(locks, Request(0, MODE_PW, 4 * MIB, 5 * MIB - 1, no_expand=True))
    for lock, below in ((high, middle), (middle, low), (low, -1)):
        assert highest_writer(locks, 0) == lock
        release(locks, lock)
        assert highest_writer(locks, 0) == below
    ask(locks, Request(1, MODE_PR, 0, MIB - 1, no_expand=True))
    assert highest_writer(locks, 0) == -1


def test_enlarged_tables_keep_their_locks_and_objects() -> None:
    locks = no_locks(1, 2)
    first, second = write(locks, 0, 0, MIB), write(locks, 1, 0, MIB)
    locks.grow("locks", 8)
    locks.add_resources(2)
    third = write(locks, 2, 0, MIB, resource=1)
    assert extent(locks, third) == (0, EOF)
    assert extent(locks, write(locks, 3, 0, MIB)) is None
    assert asked_back(locks) == [second]
    assert release(locks, first) == [second]


# ---------------------------------------------------- the same decisions as the plain lock manager


@dataclass
class CompiledLocks:
    """The compiled locks of one object behind the face of the plain ones."""

    clock: simpy.Environment
    locks: Locks = field(default_factory=lambda: no_locks(1, 600))
    by_row: dict[int, Lock] = field(default_factory=dict)
    granted: list[Lock] = field(default_factory=list)
    history: History = field(default_factory=list)
    numbers: int = 0

    def enqueue(self, request: Request) -> Lock:
        row = ask(self.locks, request)
        lock = Lock(self.numbers, request, self.clock.event(), self.clock.event())
        self.numbers += 1
        self.by_row[row] = lock
        asked = [self.by_row[other] for other in asked_back(self.locks)]
        for other in sorted(asked, key=lambda other: other.number):
            self.history.append(("blocking", other.number))
            other.blocking.succeed()
        if self.locks.locks[row].granted:
            self.grant(row)
        return lock

    def cancel(self, lock: Lock) -> None:
        self.granted.remove(lock)
        row = next(row for row, other in self.by_row.items() if other is lock)
        del self.by_row[row]
        for head in release(self.locks, row):
            self.grant(head)

    def grant(self, row: int) -> None:
        lock = self.by_row[row]
        bounds = extent(self.locks, row)
        assert bounds is not None
        lock.start, lock.end = bounds
        self.granted.append(lock)
        self.check()
        self.history.append(("granted", lock.number, *bounds))
        lock.granted.succeed()

    def check(self) -> None:
        """What always holds of the granted locks."""
        for lock in self.granted:
            assert lock.start <= lock.request.start
            assert lock.request.end <= lock.end
        for one, other in combinations(self.granted, 2):
            assert not (conflict(one.request, other.request) and overlap(one, other))


def decisions(kind: type[PlainLocks | CompiledLocks], calls: list[Call]) -> History:
    """Let the calls happen with one kind of lock manager; return what it decided."""
    clock = simpy.Environment()
    manager = kind(clock)
    run_clients(clock, manager, calls)
    return manager.history


def grants(history: History) -> list[int]:
    """Return the numbers of the granted requests, in the order of their grants."""
    return [entry[1] for entry in history if entry[0] == "granted"]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    owner = draw(st.integers(0, 4))
    mode = draw(st.sampled_from([MODE_PW, MODE_PW, MODE_PW, MODE_PR, MODE_PR, MODE_GROUP]))
    if mode == MODE_GROUP:
        return Request(owner, mode, 0, EOF, gid=draw(st.integers(1, 2)))
    unit = draw(st.sampled_from([1, 1000, PAGE, 64 * KIB, MIB, 8 * MIB]))
    start = draw(st.integers(0, 12)) * unit
    end = EOF if draw(st.integers(0, 9)) == 0 else start + draw(st.integers(1, 4)) * unit - 1
    return Request(owner, mode, start, end, no_expand=draw(st.integers(0, 4)) == 0)


small = st.integers(0, 6)
calls = st.builds(Call, st.integers(0, 20), requests(), small, small, st.booleans())


@given(st.lists(calls, max_size=25))
def test_the_same_grants_and_blocking_asts_as_the_plain_locks(calls: list[Call]) -> None:
    plain, compiled = (decisions(kind, calls) for kind in (PlainLocks, CompiledLocks))
    assert compiled == plain
    # Blocking ASTs are all it takes: nobody is left waiting.
    assert sorted(grants(compiled)) == list(range(len(calls)))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_decisions_on_a_contended_object(seed: int) -> None:
    random = Random(seed)
    calls = []
    for _ in range(500):
        mode = MODE_PR if random.random() < 0.2 else MODE_PW
        start = random.choice([random.randrange(60), random.randrange(4000)]) * MIB
        end = start + random.choice([1, 1, 1, 40]) * MIB - 1
        exactly = random.random() < 0.4
        if random.random() < 0.03:  # for a moment, everybody waits for one
            start, end = 0, EOF
        request = Request(random.randrange(60), mode, start, end, no_expand=exactly)
        calls.append(Call(random.randrange(300), request, random.randrange(20), 5))
    plain, compiled = (decisions(kind, calls) for kind in (PlainLocks, CompiledLocks))
    assert compiled == plain
    assert sorted(grants(compiled)) == list(range(len(calls)))


@given(st.lists(requests(), max_size=25))
def test_conflicting_requests_are_granted_first_come_first_served(asked: list[Request]) -> None:
    """All ask at once; each gives its lock back when it was asked to. Groups go ahead of others."""
    order = grants(decisions(CompiledLocks, [Call(0, request, 1, 0) for request in asked]))
    for earlier, later in combinations(range(len(asked)), 2):
        one, other = asked[earlier], asked[later]
        if (
            MODE_GROUP not in (one.mode, other.mode)
            and conflict(one, other)
            and overlap(one, other)
        ):
            assert order.index(earlier) < order.index(later)
