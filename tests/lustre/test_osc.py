"""The OSC: its limits at every moment, and when dirty pages go."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import Plan, plans
from small_plane import KIB, OSTS, PAGE, RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

some = settings(max_examples=60)
anything = plans(Op.READ, Op.WRITE, Op.WRITE, Op.FSYNC, Op.THINK)


def assert_limits(plane: SmallPlane) -> None:
    tables = plane.tables
    osc = tables.osc.obds
    assert osc.dirty.min() >= 0
    assert osc.dirty.max() <= tables.osc.max_dirty
    assert osc.grant.min() >= 0
    assert osc.in_flight.min() >= 0
    # One more while someone waits for the lock above the pages.
    assert osc.in_flight.max() <= tables.osc.rpcs_in_flight + 1
    of_node = osc.dirty.reshape(plane.nodes, OSTS).sum(axis=1)
    assert tables.osc.clients.dirty.tolist() == of_node.tolist()


@some
@given(anything, st.booleans())
def test_the_limits_hold_at_every_moment(plan: Plan, direct: bool) -> None:
    plan.plane(size=1 << 20, direct=direct).run(plan.programs, assert_limits)


@some
@given(anything, st.sampled_from([0, PAGE, RPC]))
def test_a_client_without_grants_gets_on(plan: Plan, grant: int) -> None:
    sizes = {"lustre__initial_grant": grant, "lustre__grant_chunk": PAGE}
    plane = plan.plane(size=1 << 20, **sizes)
    plane.run(plan.programs, assert_limits)
    # What an OST has promised is never more than the client wishes for.
    osc = plane.tables.osc.obds
    assert (osc.dirty + osc.grant <= max(plane.tables.osc.max_dirty, grant)).all()


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({"lustre__max_dirty": 2 * RPC, "lustre__initial_grant": 8 * RPC}, 2 * RPC),
        ({"nodes__memory": 1 << 30, "nodes__max_dirty_share": 3 * RPC / (1 << 30)}, 3 * RPC),
    ],
    ids=["an OSC", "a node"],
)
def test_no_more_is_dirty_than_the_client_allows_however_much_is_granted(
    changes: dict[str, object], limit: int
) -> None:
    highest = 0

    def look(plane: SmallPlane) -> None:
        nonlocal highest
        highest = max(highest, int(plane.tables.osc.clients.dirty[0]))

    plane = SmallPlane(1, **changes)
    plane.add_files()
    # They fill no RPC, so that they stay dirty until somebody waits for room.
    plane.run([[Step(Op.WRITE, length=RPC - PAGE, count=12, stride=RPC)]], look)
    assert limit - RPC < highest <= limit


@some
@given(plans(Op.READ, Op.WRITE))
def test_an_rpc_keeps_to_one_window_of_the_object(plan: Plan) -> None:
    """Aligned and of RPC size at most: so many RPCs as extents are touched, or more."""
    plane = plan.plane(size=1 << 22, direct=True)
    touched = 0
    for program in plan.programs:
        for step in program:
            for call in range(step.count):
                start = step.offset + call * step.stride
                touched += -(-(start + step.length) // RPC) - start // RPC
    plane.run(plan.programs)
    assert plane.tables.programs.counts[1] == touched


def test_full_rpcs_go_by_themselves_and_the_rest_stays() -> None:
    plane = SmallPlane(1)
    plane.add_files()
    plane.run([[Step(Op.WRITE, length=2 * RPC + PAGE)]])
    assert plane.served(StationKind.OST).sum() == 2 * RPC
    assert plane.tables.osc.clients.dirty[0] == PAGE
    plane.run([[Step(Op.FSYNC)]])
    assert plane.served(StationKind.OST).sum() == 2 * RPC + PAGE


def test_pieces_of_an_rpc_are_written_together() -> None:
    plane = SmallPlane(1)
    plane.add_files()
    plane.run([[Step(Op.WRITE, length=PAGE, count=16, stride=PAGE)]])
    assert plane.tables.programs.counts[1] == 1
    assert plane.tables.programs.counts[2] == RPC


def test_who_finds_no_room_sends_what_there_is() -> None:
    """Dirty pages that fill no RPC go when a writer waits for room."""
    plane = SmallPlane(1, lustre__max_dirty=2 * RPC, lustre__initial_grant=2 * RPC)
    plane.add_files()
    holes = Step(Op.WRITE, length=RPC - PAGE, count=6, stride=RPC)
    plane.run([[holes]])
    assert plane.tables.programs.waits[Cause.CACHE, 0] > 0
    assert plane.served(StationKind.OST).sum() >= 4 * (RPC - PAGE)


@pytest.mark.parametrize("limit", [1, 2, 8])
def test_direct_io_fills_the_flight(limit: int) -> None:
    """One call of 16 RPCs: with a longer flight the round trips overlap."""
    highest = 0

    def look(plane: SmallPlane) -> None:
        nonlocal highest
        highest = max(highest, int(plane.tables.osc.obds.in_flight.max()))

    plane = SmallPlane(1, lustre__max_rpcs_in_flight=limit)
    plane.add_files(1, 1, 16 * RPC, direct=True)
    plane.run([[Step(Op.WRITE, length=16 * RPC)]], look)
    assert highest == limit


def test_write_back_goes_on_while_the_rank_computes() -> None:
    """The rank goes on at the pace of its copies; the OST is slower."""
    writes = Step(Op.WRITE, length=RPC, count=4, stride=RPC)
    slow = {"lustre__ost_write_rate": "1 MB/s"}
    buffered, direct = SmallPlane(1, **slow), SmallPlane(1, **slow)
    buffered.add_files()
    direct.add_files(direct=True)
    assert buffered.run([[writes]])[0] < 10e-3
    assert direct.run([[writes]])[0] > 4 * RPC / 1e6 * 0.8
    for plane in (buffered, direct):
        assert plane.served(StationKind.OST).sum() == 4 * RPC


def test_a_write_beyond_the_dirty_limit_waits_for_the_disks() -> None:
    took = []
    for calls in (4, 40):
        plane = SmallPlane(1, lustre__ost_write_rate="10 MB/s", lustre__ost_spread=0.0)
        plane.add_files()
        writes = Step(Op.WRITE, length=RPC, count=calls, stride=RPC)
        took.append(float(plane.run([[writes]])[0]))
        waited = plane.tables.programs.waits[Cause.CACHE, 0]
        assert (waited > 0) == (calls > 4)
    assert took[1] - took[0] == pytest.approx(36 * RPC / 10e6, rel=0.1)


def test_partial_stripes_of_the_raid_cost_more() -> None:
    """Half a stripe on, the first and the last half stripe are written in part, by an RPC more."""
    busy = []
    for offset in (0, 32 * KIB):
        plane = SmallPlane(1, lustre__ost_spread=0.0)
        plane.add_files()
        plane.run([[Step(Op.WRITE, offset=offset, length=16 * RPC), Step(Op.FSYNC)]])
        stations = plane.tables.network.stations
        busy.append(float(stations.busy[stations.kind == StationKind.OST].sum()))
    lustre = plane.machine.lustre
    whole = 16 * (lustre.ost_request_overhead + RPC / lustre.ost_write_rate)
    parts = 2 * 32 * KIB / lustre.ost_write_rate  # each is as much work as a whole stripe
    assert busy[0] == pytest.approx(whole)
    assert busy[1] == pytest.approx(whole + parts + lustre.ost_request_overhead)


def test_a_small_part_of_a_raid_stripe_costs_what_it_would_on_all_of_its_disks() -> None:
    busy = []
    for factor in (1.0, 8.0):
        changes = {"lustre__ost_spread": 0.0, "lustre__partial_stripe_factor": factor}
        plane = SmallPlane(1, **changes)
        plane.add_files()
        plane.run([[Step(Op.WRITE, length=PAGE), Step(Op.FSYNC)]])
        stations = plane.tables.network.stations
        busy.append(float(stations.busy[stations.kind == StationKind.OST].sum()))
    rate = plane.machine.lustre.ost_write_rate
    assert busy[1] - busy[0] == pytest.approx(7 * PAGE / rate)
