"""What IOR's options mean, seen from outside: bytes, calls, phases, requests at the servers."""

from __future__ import annotations

import numpy as np
import pytest
from theta_runs import MIB, headline, rows, run, used

from xc40io.config.machine import load_machine
from xc40io.engine.page import PAGE
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.workloads.ior.parameters import Access


def small_requests(result: Result) -> int:
    """Return how many small requests the OSSs have served: OST_SYNC, and other kinds too."""
    return sum(use.requests for use in used(result, StationKind.SERVICE))


def test_the_headline_moves_its_bytes() -> None:
    write, read = rows(headline())
    assert (write.access, read.access) == (Access.WRITE, Access.READ)
    assert write.bytes_moved == read.bytes_moved == 4096 * 8 * MIB
    assert write.calls == read.calls == 4096


def test_reads_are_not_synced() -> None:
    plain, synced = (run(f"-r {option} -b 2m -t 1m") for option in ("", "-e -Y"))
    assert small_requests(synced) == small_requests(plain)


def test_repetitions_and_accesses_make_the_records() -> None:
    result = run("-w -r -i 3 -b 2m -t 1m")
    got = [(row.access, row.repetition) for row in rows(result)]
    assert got == [(access, i) for i in range(3) for access in (Access.WRITE, Access.READ)]
    assert [row.bytes_moved for row in rows(result)] == [16 * 2 * MIB] * 6


def test_no_phase_begins_before_the_one_before_has_ended() -> None:
    (test,) = run("-w -r -i 2 -b 2m -t 1m").outcome.tests
    for before, after in zip(test.records, test.records[1:], strict=False):
        assert after.open_start.min() >= before.close_end.max()


def test_the_readings_of_a_rank_come_in_order() -> None:
    for result in (run("-w -r -b 2m -t 1m"), run("-w -r -g -b 2m -t 1m")):
        for record in result.outcome.tests[0].records:
            readings = (
                *(record.open_start, record.open_end, record.io_start),
                *(record.io_end, record.close_start, record.close_end),
            )
            assert (np.diff(np.array(readings), axis=0) >= 0).all()


def test_barriers_keep_the_ranks_together() -> None:
    (record,) = run("-w -g -b 2m -t 1m", 8, 16).outcome.tests[0].records
    skew = load_machine("theta").mpi.barrier_skew
    assert record.io_start.min() >= record.open_end.max() >= record.io_start.max() - skew
    assert record.close_start.min() >= record.io_end.max() >= record.close_start.max() - skew
    (record,) = run("-w -b 2m -t 1m", 8, 16).outcome.tests[0].records
    assert record.io_start.min() < record.open_end.max()


def test_a_file_for_every_process() -> None:
    result = run("-w -e -F -b 4m -t 1m", 4, 4, count=1)
    (test,) = result.outcome.tests
    assert len(test.files.osts) == 16
    # Round-robin: 16 files lie on 16 OSTs, 4 MiB each.
    assert [use.bytes for use in used(result, StationKind.OST)] == [4 * MIB] * 16
    shared = run("-w -e -b 4m -t 1m", 4, 4, count=1)
    assert [use.bytes for use in used(shared, StationKind.OST)] == [16 * 4 * MIB]


def test_reordered_tasks_read_the_file_of_the_next_node() -> None:
    """With 3 nodes x 1 rank and a file on one OST for each, -C moves every node to another OST."""
    plain, shifted = (
        run(f"-r -F {option} -b 64m -t 4m", 3, 1, count=1, mpi__barrier_skew=0.0)
        for option in ("", "-C")
    )
    for result in (plain, shifted):
        assert rows(result)[0].bytes_moved == 3 * 64 * MIB
        assert [use.bytes for use in used(result, StationKind.OST)] == [64 * MIB] * 3
    own, other = (
        result.outcome.tests[0].records[0].io_end - result.outcome.tests[0].records[0].io_start
        for result in (plain, shifted)
    )
    # The OSTs are not quite equally fast: who reads from which shows in the times of the ranks.
    assert np.argsort(other).tolist() == np.argsort(np.roll(own, -1)).tolist()
    assert np.argsort(other).tolist() != np.argsort(own).tolist()


def test_random_offsets_move_each_transfer_once() -> None:
    result = run("-w -e -z -b 16m -t 1m", 4, 4)
    (row,) = rows(result)
    assert (row.bytes_moved, row.calls) == (16 * 16 * MIB, 256)
    in_turn = run("-w -e -b 16m -t 1m", 4, 4)
    assert [use.bytes for use in used(result, StationKind.OST)] == [
        use.bytes for use in used(in_turn, StationKind.OST)
    ]
    assert row.total != rows(in_turn)[0].total


ON_SLOW_OSTS = "-w -k -D 1 -b 64m -t 1m --posix.odirect"
SLOW_OSTS = {
    "lustre__ost_write_rate": "10 MB/s",
    "lustre__ost_write_latency": 0.0,
    "count": 4,
}


def test_a_deadline_stops_the_ranks() -> None:
    result = run(ON_SLOW_OSTS, 2, 4, **SLOW_OSTS)
    (record,), (row,) = result.outcome.tests[0].records, rows(result)
    assert 0 < row.bytes_moved < 8 * 64 * MIB
    assert row.bytes_moved == int(record.calls.sum()) * MIB
    # The OSTs were busy for about a second.
    assert row.bytes_moved == pytest.approx(4 * 10e6, rel=0.3)
    # A call that is under way at the deadline runs to its end, behind at most seven others.
    took = record.io_end - record.io_start
    assert took.min() >= 1.0
    assert took.max() < 1.0 + 8 * 1.2 * MIB / 10e6


def test_wearing_out_evens_the_ranks() -> None:
    result = run(f"{ON_SLOW_OSTS} -O stoneWallingWearOut=1", 2, 4, **SLOW_OSTS)
    (record,) = result.outcome.tests[0].records
    assert record.stonewall is not None
    assert set(record.calls.tolist()) == {record.stonewall.calls_max}


@pytest.mark.parametrize("sizes", ["-b 1528k -t 764k", "-b 8k -t 8", "-b 3000008 -t 3000008"])
def test_every_size_arrives_whole_however_it_lies_on_the_stripes(sizes: str) -> None:
    """Calls that cross stripes and RPC boundaries move their bytes, no more and no less."""
    for access in ("-w --posix.odirect", "-r --posix.odirect"):
        result = run(f"{access} -s 2 {sizes}", 2, 3, count=5)
        asked = result.outcome.tests[0].test.aggregate_bytes(6)
        assert rows(result)[0].bytes_moved == result.bulk_bytes == asked
    # Through the cache, a node first reads each page of which a call writes a part, at most once.
    result = run(f"-w -e -s 2 {sizes}", 2, 3, count=5)
    test = result.outcome.tests[0].test
    ends = np.arange(0, asked, test.transfer_size)
    in_part = len(np.unique(ends[ends % PAGE > 0] // PAGE))
    read = result.stats[Stat.MISS_BYTES]
    assert rows(result)[0].bytes_moved == asked
    assert result.bulk_bytes == asked + read
    assert read % PAGE == 0
    assert read <= 2 * in_part * PAGE
    # The cache reads whole pages, of two pieces of the file on either node, and some ahead.
    result = run(f"-r -s 2 {sizes}", 2, 3, count=5)
    ahead = result.stats[Stat.AHEAD_BYTES]
    assert rows(result)[0].bytes_moved == asked
    assert asked <= result.bulk_bytes + result.stats[Stat.HIT_BYTES]
    assert result.bulk_bytes <= asked + ahead + 2 * 2 * 2 * 4096


def test_a_bulk_rpc_never_holds_more_than_its_size() -> None:
    result = run("-w -b 8m -t 8m --posix.odirect", 2, 2, count=4, size="8m")
    assert result.rpcs == 4 * 8
    four_mib = {"lustre__rpc_size": "4 MiB"}
    larger = run("-w -b 8m -t 8m --posix.odirect", 2, 2, count=4, size="8m", **four_mib)
    assert larger.rpcs == 4 * 2
    assert larger.bulk_bytes == result.bulk_bytes


def test_fewer_tasks_than_ranks_take_part() -> None:
    result = run("-w -e -N 5 -b 2m -t 1m", 4, 4)
    assert result.outcome.tests[0].tasks == 5
    assert rows(result)[0].bytes_moved == 5 * 2 * MIB
    assert len(used(result, StationKind.NIC, "out of")) == 2


def test_a_delay_passes_before_each_phase() -> None:
    result = run("-w -r -d 7 -b 2m -t 1m")
    first, second = result.outcome.tests[0].records
    skew = load_machine("theta").mpi.barrier_skew
    assert 7.0 <= first.open_start.min() < 7.0 + skew
    assert 0.0 <= second.open_start.min() - first.close_end.max() - 7.0 < skew
