"""A machine with another network: small jobs on Titan's torus, and what ADIOS does there."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from theta_runs import MIB, rows, total_bytes, used

from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.fabric import fabric_of
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

NODES, PPN = 48, 2


@cache
def ior(command: str, nodes: int = 8) -> Result:
    """An IOR run with files in 48 stripes, its nodes all over the machine."""
    return simulate(
        Scenario.model_validate(
            {
                "machine": "titan",
                "nodes": nodes,
                "ppn": 4,
                "placement": "spread",
                "striping": {"count": 48, "size": "1m"},
                "workload": {"ior": command},
            }
        )
    )


@cache
def adios(placement: str = "contiguous", **options: Any) -> Result:
    """A step of output of 96 ranks, two to a node, as in the runs on Titan."""
    kernel = {"name": "adios", "steps": 1, "num_aggregators": 32, **options}
    job = {"machine": "titan", "nodes": NODES, "ppn": PPN, "placement": placement}
    return simulate(Scenario.model_validate(job | {"workload": {"kernel": kernel}}))


def seconds(phase: str, **options: Any) -> float:
    (row,) = [r for r in adios(**options).rows if r.phase == phase]
    return row.longest


@pytest.fixture(scope="module")
def shared() -> Result:
    return ior("-w -r -e -k -C -b 16m -t 1m")


def test_all_bytes_cross_the_torus_and_arrive(shared: Result) -> None:
    size = 8 * 4 * 16 * MIB
    assert [row.bytes_moved for row in rows(shared)] == [size, size]
    for kind, out, home in (
        (StationKind.NIC, "NIC out of", "NIC into"),
        (StationKind.LNET, " from ", " to "),
        (StationKind.IB, "to servers", "from servers"),
        (StationKind.OSS, "in", "out"),
    ):
        assert total_bytes(shared, kind, out) == size
        assert total_bytes(shared, kind, home) >= size  # read ahead may bring more
    assert total_bytes(shared, StationKind.OST) == shared.bulk_bytes


def test_links_are_those_of_the_torus_and_no_faster(shared: Result) -> None:
    fabric = fabric_of(shared.machine)
    rate = {f"link {fabric.link_name(i)}": fabric.link_rate[i] for i in range(fabric.links)}
    uses = used(shared, StationKind.LINK)
    assert len(uses) > 500
    assert {use.name.split()[1] for use in uses} == {"mezzanine", "backplane", "cable"}
    for use in uses:
        assert use.bytes <= rate[use.name] * use.busy * (1 + 1e-9), use


def test_messages_are_in_the_right_x_and_y_before_they_move_in_z(shared: Result) -> None:
    fabric = fabric_of(shared.machine)
    nics = [use.name for use in used(shared, StationKind.NIC)]
    routers = {fabric.router_names.index(name.partition("(")[2].rstrip(")")) for name in nics}
    ends = [*routers, *fabric.lnet_router]
    columns = {tuple(place) for place in fabric.router_coordinates[ends, :2].tolist()}
    assert len(routers) == 8
    for use in used(shared, StationKind.LINK):
        source, target = (
            tuple(map(int, place)) for place in re.findall(r"x(\d+)y(\d+)z(\d+)", use.name)
        )
        if source[2] != target[2]:
            assert source[:2] in columns, use


def test_a_node_reaches_an_oss_through_the_routers_of_its_group() -> None:
    result = ior("-w -e -k -F -b 4m -t 1m", nodes=2)
    lnet = result.machine.lnet
    reached = {int(use.name.split()[1]) for use in used(result, StationKind.OSS, "in")}
    passed = {
        int(use.name.split()[2]) // lnet.routers_per_group
        for use in used(result, StationKind.LNET, " from ")
    }
    assert passed == {oss // lnet.oss_per_group for oss in reached}


def test_the_same_run_is_the_same_again(shared: Result) -> None:
    again = simulate(shared.scenario)
    assert again.simulated == shared.simulated
    assert again.events == shared.events


def test_ranks_in_neighbouring_cabinets_load_fewer_links() -> None:
    options = {"num_aggregators": 4, "size": 1_000_000}
    near, far = (
        total_bytes(adios(placement=placement, **options), StationKind.LINK)
        for placement in ("contiguous", "random")
    )
    assert far > 3 * near


def test_a_thread_hides_the_opens() -> None:
    assert seconds("open", threading=False) > 3 * seconds("open", threading=True)


def test_brigade_and_gather_take_as_long() -> None:
    options = {"num_aggregators": 8, "size": 24_000_000}
    gather = seconds("all", aggregation_type="all-gather", **options)
    assert gather == pytest.approx(seconds("all", **options), rel=0.1)


def test_irregular_blocks_take_longer() -> None:
    irregular = seconds("all", distribution="exponential", size=24_000_000)
    assert irregular > 1.5 * seconds("all", distribution="fixed", size=24_000_000)


def test_an_aggregator_writes_no_faster_than_its_ost() -> None:
    """What exceeds the client's cache has to be on the disks before it returns."""
    options = {"num_aggregators": 4, "size": 24_000_000, "distribution": "fixed"}
    lustre = adios(**options).machine.lustre
    size = NODES * PPN // 4 * 24_000_000 - lustre.max_dirty
    assert seconds("all", **options) > size / (lustre.ost_write_rate * (1 + 3 * lustre.ost_spread))
