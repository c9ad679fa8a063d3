"""The busiest stations, and what is said of the bottleneck."""

from __future__ import annotations

import pytest

from sim import Result, Scenario, simulate
from sim.lustre.tables import StationKind
from sim.results.stations import Load, busiest, loads
from sim.results.waits import waits


def run(ior: str, nodes: int = 8, ppn: int = 4, **striping: object) -> Result:
    scenario = Scenario(
        machine="theta", nodes=nodes, ppn=ppn, striping=striping, workload={"ior": ior}
    )
    return simulate(scenario)


def test_many_nodes_on_one_ost_are_bound_by_it():
    (load,) = loads(run("-w -b 8m -t 8m", count=1, size="8m"))
    assert load.kind == StationKind.OST
    assert load.used == 1
    assert load.busy > 0.8
    assert load.sentence().startswith(f"bound by {load.name}, busy")


def test_one_node_on_all_osts_is_bound_by_its_nic():
    (load,) = loads(run("-w -b 256m -t 64m", nodes=1, ppn=16, count=-1, size="1m"))
    assert load.kind == StationKind.NIC
    assert load.name.startswith("NIC out of node 0")


def test_ranks_in_a_convoy_saturate_one_ost_after_the_other():
    # Blocks of a whole turn over the OSTs: all ranks begin on the same OST and move on together.
    (load,) = loads(run("-w -b 64m -t 1m", nodes=32, count=8, size="8m"))
    assert load.busy < 0.5
    assert load.in_turn > 0.9
    assert load.sentence().startswith("bound by the OSTs in turn")


def test_a_small_write_is_bound_by_nothing():
    (load,) = loads(run("-w -b 64k -t 64k", nodes=1, ppn=1))
    assert not load.saturated
    assert "bound by no station" in load.sentence()


def test_each_access_of_each_test_has_its_load():
    found = loads(run("-w -r -W -b 1m -i 2"))
    assert [load.access for load in found] == ["write", "write check", "read"]


def test_a_long_pause_before_each_phase_hides_no_bottleneck():
    (load,) = loads(run("-w -b 8m -t 8m -d 600 -i 3", count=1, size="8m", offset=0))
    assert load.kind == StationKind.OST
    assert load.busy > 0.8


def test_uneven_load_is_told_from_even_load():
    even = Load(0, "write", StationKind.OST, "OST 3", 0.97, 0.93, 48, 1.0)
    uneven = Load(0, "write", StationKind.OST, "OST 3", 0.97, 0.33, 48, 1.0)
    assert even.sentence().startswith("bound by the OSTs: OST 3 was busy 97 %")
    assert uneven.sentence().startswith("bound by the busiest OSTs: OST 3 was busy 97 %")


def test_the_busiest_of_each_kind_come_in_the_order_of_the_path():
    uses = run("-w -e -b 4m", count=4).stations()
    best = busiest(uses)
    kinds = [use.kind for use in best]
    assert kinds == sorted(StationKind)
    for use in best:
        assert use.busy == max(other.busy for other in uses if other.kind == use.kind)


def test_waits_add_up_to_the_whole():
    result = run("-w -r -e -b 4m -d 1", count=4)
    found = waits(result)
    assert sum(wait.seconds for wait in found) == pytest.approx(result.simulated)
    assert found == sorted(found, key=lambda wait: -wait.seconds)
