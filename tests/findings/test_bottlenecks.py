"""The busiest stations, and what is said of the bottleneck."""

from __future__ import annotations

import pytest
import small_jobs

from xc40io import Result
from xc40io.findings.bottlenecks import PLURALS, Load, busiest, loads
from xc40io.findings.waits import Wait
from xc40io.plane.stations import StationKind


def run(ior: str, nodes: int = 8, ppn: int = 4, **striping: object) -> Result:
    # Arrays that answer at once: then stations bind, and not how long one request takes.
    prompt = dict.fromkeys(("lustre.ost_write_latency", "lustre.disk_seek", "lustre.disk_turn"), 0)
    return small_jobs.run(ior, nodes=nodes, ppn=ppn, striping=striping, changes=prompt)


def load(busy: float, mean: float, *, in_turn: float = 0.0, felt: float = 0.9) -> Load:
    wait = Wait("lock_commit", "extent locks", 1.0, 0.5)
    station = StationKind.OST, "OST 3", "OSTs"
    return Load(0, "write", *station, busy, mean, 48, in_turn, felt, (wait,), wait)


def test_many_nodes_on_one_ost_are_bound_by_it():
    (found,) = loads(run("-w -F -e -b 64m -t 8m", count=1, offset=0))
    assert found.kind == StationKind.OST
    assert found.used == 1
    assert found.sentence().startswith("bound by OST 0, busy")


def test_a_node_that_moves_directly_is_bound_by_its_nic():
    (found,) = loads(run("-w -B -b 256m -t 64m", nodes=1, ppn=16, count=-1, size="8m"))
    assert found.kind == StationKind.NIC
    assert found.sentence().startswith("bound by NIC out of node 0")


def test_a_node_that_fills_its_cache_is_bound_by_its_memory():
    (found,) = loads(run("-w -F -b 64m -t 8m", nodes=1, ppn=32, count=8, size="1m"))
    assert found.kind == StationKind.MEMORY
    assert found.sentence().startswith("bound by memory of node 0")


def test_one_writer_is_bound_by_its_core():
    (found,) = loads(run("-w -b 64m -t 8m", nodes=1, ppn=1, count=-1, size="1m"))
    assert found.kind == StationKind.CORE
    assert found.sentence().startswith("bound by the busiest cores: core 0 of node 0")


def test_ranks_in_a_convoy_saturate_one_ost_after_the_other():
    # Blocks of two whole turns over the OSTs: all ranks begin on the same OST and move on together.
    # In the first turn they also take the locks from each other, and wait for commits.
    (found,) = loads(run("-w -B -b 128m -t 1m", nodes=32, count=8, size="8m"))
    assert found.busy < 0.5
    assert found.in_turn > 0.8
    assert found.sentence().startswith("bound by the OSTs in turn")


def test_a_small_write_is_bound_by_nothing():
    (found,) = loads(run("-w -b 64k -t 64k", nodes=1, ppn=1))
    assert not found.binds
    assert found.sentence().startswith("no single part is the bottleneck (busiest: ")
    assert "The last rank waited mostly for messages" in found.sentence()


def test_ranks_that_take_locks_from_each_other_are_bound_by_no_station():
    (found,) = loads(run("-w -b 256k -t 256k -s 16", count=2))
    assert found.sentence().startswith("no single part is the bottleneck")
    assert found.waits[0].cause == "lock_commit"
    assert "lock" in [one.cause for one in found.doing[:2]]


def test_where_no_station_binds_the_last_rank_tells_what_does():
    (found,) = loads(run("-w -b 256k -t 256k -s 16", count=2))
    assert found.last.cause == "lock_commit"
    assert 0.2 < found.last.share < 1.0


def test_busy_disks_that_nobody_waits_for_bind_nothing():
    # 128 MiB a node fit the dirty limits: the OSTs write back while the ranks copy on.
    (found,) = loads(run("-w -F -b 8m -t 8m", nodes=64, ppn=16, count=1))
    assert "no single part is the bottleneck" in found.sentence()
    assert load(0.97, 0.93, felt=0.05).sentence().startswith("no single part is the bottleneck")


def test_each_access_of_each_test_has_its_load():
    found = loads(run("-w -r -W -b 1m -i 2"))
    assert [load.access for load in found] == ["write", "write check", "read"]


def test_a_long_pause_before_each_phase_hides_no_bottleneck():
    (found,) = loads(run("-w -B -F -b 16m -t 8m -d 600 -i 3", count=1, size="8m", offset=0))
    assert found.kind == StationKind.OST
    assert found.busy > 0.9


def test_what_the_ranks_waited_for_adds_up_to_each_phase():
    for found in loads(run("-w -r -e -b 4m -d 1 -i 2", count=4)):
        assert sum(wait.share for wait in found.waits) == pytest.approx(1.0)


def test_uneven_load_is_told_from_even_load():
    assert load(0.97, 0.93).sentence().startswith("bound by the OSTs: OST 3 was busy 97 %")
    assert load(0.97, 0.33).sentence().startswith("bound by the busiest OSTs: OST 3 was busy 97 %")
    assert load(0.3, 0.3, in_turn=0.9).sentence().startswith("bound by the OSTs in turn: 90 %")


def test_every_kind_of_station_has_a_plural():
    assert PLURALS.keys() == set(StationKind)


def test_the_busiest_of_each_kind_come_in_the_order_of_the_path():
    result = run("-w -r -C -e -b 4m -t 4m", count=4)
    uses = result.stations()
    best = [station.use for station in busiest(result)]
    kinds = [use.kind for use in best]
    elsewhere = {StationKind.SSD, StationKind.DVS, StationKind.STORE}
    assert kinds == sorted(set(StationKind) - elsewhere)
    for use in best:
        assert use.busy == max(other.busy for other in uses if other.kind == use.kind)


@pytest.mark.parametrize("accesses", ["-w", "-w -r -C"])
def test_the_table_and_the_sentence_have_one_base(accesses):
    result = run(f"{accesses} -e -b 4m -t 4m", count=4)
    stations = {station.use.name: station.shares for station in busiest(result)}
    found = loads(result)
    assert {load.access for load in found} == set(next(iter(stations.values())))
    for load in found:
        # The busiest of one phase need not be the busiest of several, but of a single one it is.
        assert load.name in stations or len(found) > 1
        if load.name in stations:
            assert stations[load.name][load.access] == load.busy
        for kind, busy in load.kinds.items():
            of_kind = [one for one in busiest(result) if one.use.kind == kind]
            assert all(one.shares[load.access] <= busy for one in of_kind)
