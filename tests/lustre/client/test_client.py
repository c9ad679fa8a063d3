"""The compiled client beside the plain one: the same RPCs, bytes and times."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from cache_contents import cached_runs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plans import Plan, plans
from reference_client import SIMPLE, Clients, File, RpcStart
from small_plane import OSTS, PAGE, RPC, Program, SmallPlane, Step

from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

some = settings(max_examples=60, derandomize=True)
"""The same examples every time: one in some thousand has two ranks of a node at the same instant,
of which no rule says who is first, and which no excuse of the plain clients names."""
TICK = 26617 / 2**28  # s, apart from all other times
MIB = 1 << 20


class Place(NamedTuple):
    """Where the files of a plan are, and where in them its ranks; they never reach the end."""

    size: int  # bytes of each file
    at: int  # bytes
    osts: int  # the stripes go round over so many


places = st.builds(
    lambda where, osts: Place(where[0], where[1], osts),
    st.sampled_from(
        [
            (2 * MIB, 0),  # small files are read whole
            (4 * MIB, 0),
            (8 * MIB, 4 * MIB - 6 * RPC),  # read-ahead stops at every 4 MiB
        ]
    ),
    st.sampled_from([1, 2, OSTS]),
)


def apart(programs: list[Program]) -> list[Program]:
    """Let every rank begin at a time of its own; let thinking take whole ticks."""

    def ticking(step: Step) -> Step:
        return step._replace(seconds=round(step.seconds * 1e4) * TICK)

    return [
        [Step(Op.THINK, seconds=(i * i + 1) * TICK / 4), *map(ticking, program)] if program else []
        for i, program in enumerate(programs)
    ]


class Watch:
    """Remembers every BRW RPC that a plane has started."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, RpcStart]] = set()

    def __call__(self, plane: SmallPlane) -> None:
        """Look at all rows: an RPC lives longer than an instant, and its row is written once."""
        rpcs = plane.tables.bulk.rpcs
        for row in np.flatnonzero(rpcs.bytes):
            rpc = rpcs[row]
            node, number = int(rpc.obd) // OSTS, int(rpc["object"])
            start = float(rpc.start), node, number, int(rpc.unit), int(rpc.bytes)
            self.seen.add((int(row), RpcStart(*start, bool(rpc.write))))

    @property
    def starts(self) -> list[RpcStart]:
        return sorted(start for _, start in self.seen)


def moved(programs: list[Program], distance: int) -> list[Program]:
    """Let reads and writes be further on in their files."""

    def moved(step: Step) -> Step:
        moves = step.kind in (Op.READ, Op.WRITE)
        return step._replace(offset=step.offset + distance) if moves else step

    return [[moved(step) for step in each] for each in programs]


def assert_agree(plan: Plan, place: Place, *, direct: bool = False, **changes: object) -> None:
    """Run a plan with both clients; compare all that can be seen of them."""
    programs = moved(apart(plan.programs), place.at)
    plane = SmallPlane(plan.nodes, plan.per_node, **SIMPLE | changes)
    turn = np.arange(plan.files)[:, None] + np.arange(plan.stripes)
    osts = (turn % place.osts).astype(np.int32)
    plane.plane.namespace.add_files(plan.stripe_size, osts, size=place.size, direct=direct)
    files = [
        File(i * plan.stripes, osts[i].tolist(), plan.stripe_size, place.size, direct)
        for i in range(plan.files)
    ]
    model = Clients(plane.machine, plan.nodes, plan.per_node, files)
    ended = [end for end, program in zip(model.run(programs), programs, strict=True) if program]
    assume(not model.excuses)
    watch = Watch()
    took = plane.run(programs, watch)
    assert watch.starts == sorted(model.starts)
    assert took.tolist() == ended
    assert_same_cache(plane, model)


def assert_same_cache(plane: SmallPlane, model: Clients) -> None:
    """Compare what is cached and dirty, the grants, and what has been counted."""
    cached: Counter[tuple[int, int]] = Counter()
    for osc_object_id, start, stop in cached_runs(plane):
        osc_object = plane.tables.cache.osc_objects[osc_object_id]
        cached[int(osc_object.node), int(osc_object["object"])] |= (1 << stop // PAGE) - (
            1 << start // PAGE
        )
    osc_objects = {
        (n.number, o): osc_object for n in model.nodes for o, osc_object in n.osc_objects.items()
    }
    assert cached == {
        key: osc_object.cached for key, osc_object in osc_objects.items() if osc_object.cached
    }
    oscs = [osc for node in model.nodes for osc in node.oscs.values()]
    assert plane.tables.osc.obds.dirty.tolist() == [osc.dirty for osc in oscs]
    assert plane.tables.osc.obds.grant.tolist() == [osc.grant for osc in oscs]
    counted = (model.hits, model.misses, model.read_ahead, model.evicted, model.flushed)
    stats = Stat.HIT_BYTES, Stat.MISS_BYTES, Stat.AHEAD_BYTES, Stat.EVICTED_BYTES
    assert tuple(plane.stat(stat) for stat in (*stats, Stat.FLUSHED_BYTES)) == counted


@some
@given(plans(Op.WRITE, Op.WRITE, Op.FSYNC, Op.THINK), places, st.sampled_from([1, 2, 8]))
def test_writes(plan: Plan, place: Place, flight: int) -> None:
    assert_agree(plan, place, lustre__max_rpcs_in_flight=flight)


@some
@given(plans(Op.WRITE, Op.WRITE, Op.THINK), places, st.sampled_from([2, 3, 7]), st.booleans())
def test_writers_share_little_room(plan: Plan, place: Place, pages: int, full_first: bool) -> None:
    room = {"lustre__max_dirty": RPC + pages * PAGE, "lustre__max_rpcs_in_flight": 1}
    assert_agree(plan, place, **room, lustre__full_extents_first=full_first)


@some
@given(plans(Op.WRITE, Op.FSYNC, Op.THINK), places, st.sampled_from([0, PAGE, RPC]))
def test_writes_without_grants(plan: Plan, place: Place, grant: int) -> None:
    assert_agree(plan, place, lustre__initial_grant=grant, lustre__grant_chunk=PAGE)


@some
@given(plans(Op.READ, Op.READ, Op.THINK), places, st.sampled_from([0, 4 * RPC, 32 * RPC]))
def test_reads(plan: Plan, place: Place, ahead: int) -> None:
    assert_agree(plan, place, lustre__readahead=ahead)


@some
@given(plans(Op.READ, Op.WRITE, Op.FSYNC, Op.THINK), places, st.booleans())
def test_reads_and_writes(plan: Plan, place: Place, direct: bool) -> None:
    assert_agree(plan, place, direct=direct)


@some
@given(plans(Op.READ, Op.READ, Op.WRITE, Op.FSYNC, Op.THINK), places, st.sampled_from([8, 16]))
def test_a_node_with_little_memory(plan: Plan, place: Place, memory: int) -> None:
    assert_agree(plan, place, nodes__memory=memory * RPC)
