"""A machine with another network, whose servers are on it, needs its machine file and no more.

``tests/support/cluster.yaml`` is such a one: a fat tree, and no LNET routers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from xc40io import ior_rows
from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, coarser, load_machine, read_machine
from xc40io.config.scenario import Scenario
from xc40io.config.workload_mix import load_mix
from xc40io.plane.stations import StationKind
from xc40io.results.animation.document import animation_html
from xc40io.results.pictures.album import album_of
from xc40io.run.fabric import fabric_of
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.studies.plan.hardware import all_hardware, doubled_and_halved
from xc40io.studies.plan.plan_faults import plan_faults

FILE = Path(__file__).parents[1] / "support/cluster.yaml"
MIB = 1 << 20


@pytest.fixture(scope="module")
def cluster() -> Machine:
    return load_machine(FILE)


def run(ior: str = "-w -r -C -e -b 4m -t 1m", *, record: bool = False, **job: Any) -> Result:
    """Run IOR on four nodes of it."""
    job = {"nodes": 4, "ppn": 2, "striping": {"count": 4}} | job
    job |= {"machine": str(FILE), "workload": {"ior": ior}}
    return simulate(Scenario.model_validate(job), record=record)


def served(result: Result, kind: StationKind) -> int:
    return sum(use.bytes for use in result.stations() if use.kind is kind)


def test_servers_are_service_nodes_of_the_network(cluster: Machine) -> None:
    fabric = fabric_of(cluster)
    assert fabric.kind == "fat_tree"
    assert len(fabric.lnet_router) == 0
    assert cluster.entry_nodes == 9 <= len(fabric.service_router)
    assert not set(fabric.service_router.tolist()) & set(fabric.compute_router.tolist())
    assert read_machine(cluster.document(), "again").values() == cluster.values()
    assert "router" not in repr(cluster)


def test_bulk_goes_straight_from_node_to_server_and_back() -> None:
    result = run(record=True)
    moved = 8 * 4 * MIB
    assert served(result, StationKind.OSS) >= 2 * moved
    assert served(result, StationKind.LINK) > 0
    assert not {use.kind for use in result.stations()} & {StationKind.LNET, StationKind.IB}
    recording = result.recording
    assert recording is not None
    rpcs = recording.rpcs
    assert (rpcs["gateway"] == -1).all()
    assert (rpcs["left"] < rpcs["ended"]).all()
    write = rpcs["write"] == 1
    least = rpcs["bytes"][write] / result.machine.network.nic_rate
    assert (rpcs["arrived"][write] - rpcs["left"][write] > least).all()


def test_the_interface_of_a_server_binds() -> None:
    slow = run("-w -e -b 8m -t 1m", changes={"lustre.oss_rate": "20 MB/s"})
    (row,) = ior_rows(slow)
    assert row.bandwidth < 4 * 20e6
    busiest = max(slow.stations(), key=lambda use: use.busy)
    assert busiest.kind is StationKind.OSS


@pytest.mark.parametrize(
    "fault",
    [
        "OST 3 gone from 1 ms to 40 ms, recovery 5 ms",
        "OST 3 slow 5",
        "OSS 1 down from 1 ms to 90 ms, taken over after 10 ms",
        "link uplink l0s0->l1s1 down from 1 ms to 60 ms, rerouted after 5 ms",
        "node 1 evicted at 3 ms",
        "MDS 0 paused from 1 ms to 5 ms",
    ],
)
def test_parts_that_it_has_can_fail(fault: str) -> None:
    result = run(faults=[fault], background={"read": "1 GB/s", "write": "1 GB/s"})
    assert result.faults[0].fault == fault
    assert not result.plane.tables.lnet.queued.size


@pytest.mark.parametrize(
    "fault",
    [
        "LNET router 5 down from 0 s to 1 s",
        "FGR group 0 down from 0 s to 1 s",
        "LNET router 5 slow 3",
    ],
)
def test_parts_that_it_has_not_cannot(fault: str) -> None:
    with pytest.raises(InputError, match=r"cluster has no LNET routers; right would be") as refused:
        run(faults=[fault])
    assert str(refused.value).count("\n") == 0


def test_more_servers_take_more_leaves(cluster: Machine) -> None:
    more = cluster.with_changes({"lustre.osts": 32})
    assert (more.nodes.service_blades, more.nodes.count) == (3, 88)
    with pytest.raises(InputError, match="the nearest right counts: 16 and 18"):
        cluster.with_changes({"lustre.osts": 17})
    assert coarser(cluster, 2).message_size == 2 * cluster.message_size
    with pytest.raises(InputError, match=r"lnet\.message_size, .+ are missing"):
        cluster.with_changes({"lnet.routers": 4})


def test_how_long_a_message_is_stands_in_one_place(cluster: Machine) -> None:
    document = cluster.document()
    said = document["lustre"].pop("message_size")
    with pytest.raises(InputError, match=r"lustre\.message_size is missing"):
        read_machine(document, "ours.yaml")
    theta = load_machine("theta").document()
    theta["lustre"]["message_size"] = said
    with pytest.raises(InputError, match=r"right would be lnet\.message_size"):
        read_machine(theta, "ours.yaml")


def test_plans_offer_what_it_has(tmp_path: Path) -> None:
    job = {
        "name": "own",
        "weight": 1,
        "nodes": 2,
        "ppn": 2,
        "workload": {"ior": "-w -F -b 1m -t 1m"},
    }
    mix = {"title": "A mix", "machine": str(FILE), "weights": "jobs", "jobs": [job]}
    (tmp_path / "mix.yaml").write_text(yaml.safe_dump(mix))
    loaded = load_mix(tmp_path / "mix.yaml")
    offered = {*all_hardware(loaded), *(axis.path for axis in doubled_and_halved(loaded))}
    assert {"network.uplinks", "network.uplink_rate", "lustre.osts"} <= offered
    assert not any(path.startswith("lnet.") for path in offered)
    found = plan_faults(loaded, numbers=(1,), jobs=1, store=tmp_path / "store")
    assert [curve.fault.split()[0] for curve in found.curves] == ["OST", "OST"]


def test_pictures_leave_routers_out() -> None:
    result = run(record=True)
    names = {one.name for one in album_of(result).pictures}
    assert names >= {"bandwidth", "osts", "ranks"}
    assert not names & {"lnet_routers", "groups", "links"}
    said = re.findall(r'"told":"([^"]*)"', animation_html(result))
    assert any("BRW RPCs" in words for words in said)
    assert not any("LNET" in words for words in said)
