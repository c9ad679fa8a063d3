"""The layout lock of composite layouts: beside a plain model, and as whole runs meet it."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_layout import Layout, Times, Use
from small_plane import KIB, RPC, SmallPlane, Step

from xc40io.config.setstripe import EOF
from xc40io.engine.calendar import drop_next, next_index, next_kind, next_time, pending, schedule
from xc40io.lustre.layout_lock import (
    enter_layout,
    go_on_with_layout,
    leave_layout,
    on_layout_ast,
    on_layout_request,
)
from xc40io.node.page_cache import inode_of
from xc40io.plane.counters import Stat
from xc40io.plane.files import Shape
from xc40io.plane.operations import Op
from xc40io.plane.registry import LAYOUT_AST_EVENT, LAYOUT_EVENT, PROGRAM_EVENT

TICK = 2.0**-24  # s: sums of times are exact
RATES: dict[str, object] = {
    "lustre__mds__stat_rate": 2.0**14,
    "lustre__mds__close_rate": 2.0**13,
    "lustre__mds__stripe_time": 2.0**-16,
    "lustre__mds__op_latency": 2.0**-12,
    "nodes__lock_thread_time": 2.0**-15,
    "lnet__router_latency": 0.0,
    "lnet__ib_latency": 0.0,
}
ENDS, OBJECTS = (1 << 20, 4 << 20, EOF), (1, 2, 3)


class Driven:
    """The compiled side: its functions, called one event after another."""

    def __init__(self, nodes: int, per_node: int, slots: int) -> None:
        self.plane = SmallPlane(nodes, per_node, lustre__mds__modifying_rpcs=slots, **RATES)
        shapes = [Shape(end, RPC, count) for end, count in zip(ENDS, OBJECTS, strict=True)]
        osts = np.array([[0, 1, 2, 3, 0, 1]], np.int32)
        self.file = self.plane.plane.namespace.add_files(RPC, osts, shapes=shapes)
        self.mds = self.plane.tables.mds
        tables = self.plane.tables
        tables.programs.operations = np.recarray(1, tables.programs.operations.dtype)
        tables.programs.operations.file[0] = self.file
        tables.programs.rows.op = 0

    def run(self, ranks: list[tuple[int, list[Use]]]) -> list[list[float]]:
        """Let ranks make their calls; return when each of these begins."""
        self.ranks = [list(uses) for _, uses in ranks]
        self.begun: list[list[float]] = [[] for _ in ranks]
        self.own: list[tuple[float, int, int, bool]] = []
        self.made = 0
        tables, calendar = self.plane.tables, self.mds.network.calendar
        for program, (node, uses) in enumerate(ranks):
            assert tables.programs.rows.node[program] == node
            tables.programs.rows.inode[program] = inode_of(tables.cache, self.file, node)
            if uses:
                self.later(max(uses[0].begin, uses[0].after), program, ends=False)
        while self.own or pending(calendar):
            due = next_time(calendar) if pending(calendar) else np.inf
            if self.own and self.own[0][0] <= due:
                now, _, program, ends = heapq.heappop(self.own)
                self.own_event(program, now, ends=ends)
                continue
            kind, index = next_kind(calendar), next_index(calendar)
            drop_next(calendar)
            if kind == PROGRAM_EVENT:
                if go_on_with_layout(self.mds, index, due):
                    self.enter(index, due)
            elif kind == LAYOUT_AST_EVENT:
                on_layout_ast(self.mds, index, due)
            elif kind == LAYOUT_EVENT:
                again = on_layout_request(self.mds, index, due)
                if again >= 0:
                    schedule(calendar, again, LAYOUT_EVENT, index)
        return self.begun

    def later(self, time: float, program: int, *, ends: bool) -> None:
        heapq.heappush(self.own, (time, self.made, program, ends))
        self.made += 1

    def own_event(self, program: int, now: float, *, ends: bool) -> None:
        if ends:
            leave_layout(self.mds, self.mds.programs.rows.inode[program], now)
            self.ranks[program].pop(0)
            if self.ranks[program]:
                use = self.ranks[program][0]
                self.later(max(now + use.after, use.begin), program, ends=False)
        else:
            self.enter(program, now)

    def enter(self, program: int, now: float) -> None:
        use = self.ranks[program][0]
        if enter_layout(self.mds, program, use.end, now):
            self.begun[program].append(now)
            self.later(now + use.seconds, program, ends=True)


@st.composite
def some_ranks(draw: st.DrawFn) -> tuple[int, int, list[list[tuple[int, int, int]]]]:
    """Draw nodes, ranks of each, and calls: ticks to the begin, bytes, ticks that it takes."""
    nodes, per_node = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    end = st.sampled_from([0, 1000, (1 << 20) + 1, 5 << 20])
    call = st.tuples(st.integers(0, 40_000), end, st.integers(1, 20_000))
    calls = st.lists(call, max_size=3)
    return nodes, per_node, [draw(calls) for _ in range(nodes * per_node)]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(some_ranks(), st.sampled_from([1, 2, 7]))
def test_calls_begin_when_those_of_the_plain_model_do(
    drawn: tuple[int, int, list[list[tuple[int, int, int]]]], slots: int
) -> None:
    nodes, per_node, calls = drawn
    driven = Driven(nodes, per_node, slots)
    # No two things at one time: which comes first then is nobody's rule.
    ranks: list[tuple[int, list[Use]]] = []
    for number, of_rank in enumerate(calls):
        apart = (2 * number + 1) * TICK / 256
        uses = [
            Use(begin * TICK + apart, end, takes * TICK, apart) for begin, end, takes in of_rank
        ]
        ranks.append((number // per_node, uses))
    mds = driven.mds
    times = Times(
        message=mds.latency,
        read=float(mds.seconds[Op.STAT]),
        write=float(mds.seconds[Op.TRUNCATE]),
        each_object=mds.each_object,
        latency=2.0**-12,
        callback=mds.nodes.callback_service,
    )
    plain = Layout(ENDS, OBJECTS, nodes, slots, times)
    assert driven.run(ranks) == [pytest.approx(begun, abs=1e-12) for begun in plain.run(ranks)]
    stats = driven.plane.stat
    counted = stats(Stat.LAYOUT_INTENTS), stats(Stat.LAYOUT_FETCHES), stats(Stat.LAYOUT_CANCELS)
    assert counted == (plain.intents, plain.fetches, plain.cancels)
    assert driven.plane.tables.files.composites.instantiated[0] == plain.ready


def composite(plane: SmallPlane, count: int = 1, size: int = 0) -> tuple[int, ...]:
    """Add files whose first 128 KiB have one object, the next 384 KiB two, the rest four."""
    shapes = [Shape(2 * RPC, RPC, 1), Shape(8 * RPC, RPC, 2), Shape(EOF, RPC, 4)]
    osts = np.tile(np.array([0, 1, 2, 0, 1, 2, 3], np.int32), (count, 1))
    first = plane.plane.namespace.add_files(RPC, osts, shapes=shapes, size=size)
    return tuple(range(first, first + count))


def test_a_write_beyond_a_component_makes_the_next_one() -> None:
    plane = SmallPlane(1)
    (file,) = composite(plane)
    plane.run([[Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC, count=16, stride=RPC)]])
    layout = plane.tables.files.composites[0]
    assert (layout.instantiated, layout.generation) == (3, 4)
    assert plane.stat(Stat.LAYOUT_INTENTS) == 2
    assert plane.stat(Stat.LAYOUT_FETCHES) == 0  # it came with the create, and with the intents


def test_a_small_file_has_the_objects_of_its_first_component_alone() -> None:
    plane = SmallPlane(1)
    (file,) = composite(plane)
    before = plane.tables.precreation.stocks.available.copy()
    plane.run([[Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC), Step(Op.CLOSE, file)]])
    assert (before - plane.tables.precreation.stocks.available).tolist() == [1, 0, 0, 0]
    assert plane.stat(Stat.LAYOUT_INTENTS) == 0


def test_an_fsync_and_a_stat_ask_for_what_there_is() -> None:
    for length, objects in ((RPC, 1), (4 * RPC, 3), (16 * RPC, 7)):
        plane = SmallPlane(1)
        (file,) = composite(plane)
        steps = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, length), Step(Op.FSYNC, file)]
        plane.run([[*steps, Step(Op.STAT, file)]])
        assert plane.stat(Stat.OST_SYNCS) == objects
        assert plane.stat(Stat.GLIMPSES) == objects


def test_a_truncate_makes_the_objects_up_to_the_new_end() -> None:
    for end, ready in ((0, 1), (RPC, 1), (2 * RPC, 2), (8 * RPC, 3)):
        plane = SmallPlane(1)
        (file,) = composite(plane)
        plane.run([[Step(Op.CREATE, file), Step(Op.TRUNCATE, file, end)]])
        assert plane.tables.files.composites.instantiated[file] == ready
        assert plane.plane.files.end[file] == end


def test_another_layout_is_set_when_the_calls_of_the_node_have_ended() -> None:
    """The second rank writes for long into the first component; the first wants the next one."""
    alone, beside = SmallPlane(1, 2), SmallPlane(1, 2)
    far = [Step(Op.OPEN), Step(Op.THINK, seconds=0.0012), Step(Op.WRITE, 0, 4 * RPC, 4 * KIB)]
    near = [Step(Op.OPEN), Step(Op.WRITE, 0, 0, 2 * RPC, count=40)]
    took = []
    for plane, other in ((alone, []), (beside, near)):
        composite(plane)
        took.append(plane.run([far, other])[0])
    assert took[1] > took[0]
    assert beside.stat(Stat.LAYOUT_FETCHES) >= 1  # the others' next call asks anew


def test_nobody_writes_below_a_layout_that_he_does_not_know() -> None:
    plane = SmallPlane(3, 2)
    (file,) = composite(plane)
    tables = plane.tables

    def check(plane: SmallPlane) -> None:
        layout = plane.tables.files.composites[0]
        holders, inode = set(), int(layout.holders)
        while inode >= 0:
            holders.add(inode)
            inode = int(plane.tables.cache.layouts.next[inode])
        layouts = plane.tables.cache.layouts
        assert set(np.flatnonzero(layouts.granted).tolist()) == holders
        # Who knows a layout has the lock, or is about to hear that it must give it back.
        assert (layouts.known <= layouts.cached).all()
        known = np.flatnonzero(layouts.cached)
        assert all(inode in holders or layouts.revoker[inode] >= 0 for inode in known)

    steps = [
        [Step(Op.OPEN, file), Step(Op.WRITE, file, 3 * rank * RPC, RPC, count=3, stride=RPC)]
        for rank in range(6)
    ]
    plane.run(steps, check)
    assert not tables.cache.layouts.calls.any()
    assert (tables.cache.layouts.waiter[tables.cache.layouts.generation > 0] == -1).all()
    assert int(tables.files.composites.instantiated[0]) == 3
    assert plane.plane.files.end[file] == 18 * RPC


def test_files_that_are_given_back_leave_their_rows_to_others() -> None:
    plane = SmallPlane(1)
    composite(plane, 3)
    plane.plane.namespace.give_files(0, 3)
    composite(plane, 3)
    assert len(plane.tables.files.composites) == 3
    assert len(plane.tables.files.parts) == 3
