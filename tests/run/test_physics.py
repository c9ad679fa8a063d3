"""What must hold whatever the parameters: rates, conservation, limits of the machine."""

from __future__ import annotations

import numpy as np
import pytest
from theta_runs import MIB, headline, rows, run, stations, total_bytes, used

from xc40io.config.machine import Machine
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.run.fabric import fabric_of
from xc40io.run.result import Result
from xc40io.workloads.ior.parameters import Access

THETA = {Access.WRITE: 172e9, Access.READ: 240e9}
"""Sustained bytes/s of all 56 OSTs (Theta I/O slides)."""

OUTWARD = [
    (StationKind.NIC, "NIC out of"),
    (StationKind.LNET, "from Aries"),
    (StationKind.IB, "to servers"),
    (StationKind.OSS, "in"),
]
HOMEWARD = [
    (StationKind.OSS, "out"),
    (StationKind.IB, "from servers"),
    (StationKind.LNET, "to Aries"),
    (StationKind.NIC, "NIC into"),
]


def ost_bound(
    access: str, osts: int = 56, mib: int = 32, count: int = 7, **changes: object
) -> Result:
    """Enough for every OST and every client to be busy; written data is on the disks (-e)."""
    job = f"{access} -e -k -F -b {mib}m -t 8m"
    return run(job, 256, 16, count=count, size="8m", lustre__osts=osts, **changes)


@pytest.fixture(
    params=[
        pytest.param(headline, id="headline"),
        pytest.param(lambda: run("-w -F -k -Y -b 3m -t 1536k", 8, 4, count=5), id="synced"),
        pytest.param(lambda: run("-w -e -k -z -b 64m -t 4m", 3, 5, count=7), id="shuffled"),
        pytest.param(lambda: run("-r -C -k -i 2 -b 8m -t 2m", 6, 8, count=9), id="read twice"),
        pytest.param(lambda: ost_bound("-r"), id="OST-bound"),
    ]
)
def result(request: pytest.FixtureRequest) -> Result:
    finished: Result = request.param()
    return finished


def rates(machine: Machine) -> dict[StationKind, float]:
    """Bytes/s of the fastest station of each kind."""
    lustre, spread = machine.lustre, 1 + 5 * machine.lustre.ost_spread
    return {
        StationKind.NIC: machine.network.nic_rate,
        StationKind.LINK: float(fabric_of(machine).link_rate.max()),
        StationKind.LNET: machine.network.nic_rate,
        StationKind.IB: machine.lnet.ib_link_rate,
        StationKind.OSS: lustre.oss_rate,
        StationKind.OST: max(lustre.ost_read_rate, lustre.ost_write_rate) * spread,
    }


def test_no_station_is_ever_above_its_rate(result: Result) -> None:
    fastest = rates(result.machine)
    fabric = fabric_of(result.machine)
    rate = {f"link {fabric.link_name(i)}": fabric.link_rate[i] for i in range(fabric.links)}
    for use in stations(result):
        if use.kind in fastest:
            limit = rate.get(use.name, fastest[use.kind])
            assert use.bytes <= limit * use.busy * (1 + 1e-9), use
        assert use.busy <= (use.last - use.first) * (1 + 1e-9), use
        assert 0 <= use.utilisation <= 1 + 1e-9
        assert use.waiting >= 0


WATCHED = {
    *(StationKind.LNET, StationKind.IB, StationKind.OSS),
    *(StationKind.OST, StationKind.SERVICE, StationKind.MDS),
}


def test_no_station_is_busier_than_time_passes(result: Result) -> None:
    watched = [
        use
        for use in stations(result)
        if use.kind in WATCHED and not use.name.endswith("directory lock")
    ]
    sample = watched[:: max(1, len(watched) // 40)]
    for use in sample:
        line = result.timeline(use.name)
        assert line.busy.max() <= line.width * (1 + 1e-9), use
        assert line.busy.sum() == pytest.approx(use.busy, rel=1e-9), use
        assert line.bytes.sum() == pytest.approx(use.bytes), use


def test_bytes_in_are_bytes_out_all_along_the_path(result: Result) -> None:
    written = {total_bytes(result, kind, words) for kind, words in OUTWARD}
    read = {total_bytes(result, kind, words) for kind, words in HOMEWARD}
    assert len(written) == len(read) == 1
    assert total_bytes(result, StationKind.OST) == sum((*written, *read)) == result.bulk_bytes
    moved = {Access.WRITE: 0, Access.READ: 0}
    for row in rows(result):
        moved[row.access] += row.bytes_moved
    assert written == {moved[Access.WRITE]}  # all of these runs sync what they write
    # What a node has written or read before it finds in its own memory.
    stats = result.stats
    assert stats[Stat.HIT_BYTES] + stats[Stat.MISS_BYTES] == moved[Access.READ]
    assert read == {stats[Stat.MISS_BYTES] + stats[Stat.AHEAD_BYTES]}


def test_every_oss_hands_all_it_gets_to_its_ost(result: Result) -> None:
    of_oss: dict[str, float] = {}
    for use in used(result, StationKind.OSS):
        number = use.name.split()[1]
        of_oss[number] = of_oss.get(number, 0.0) + use.bytes
    of_ost = {use.name.split()[1]: use.bytes for use in used(result, StationKind.OST)}
    assert of_oss == of_ost


def test_a_fine_grained_group_of_routers_serves_its_own_osss_alone() -> None:
    result = run("-w -e -b 8m -t 1m", 4, 4, count=2)
    lnet = result.machine.lnet
    groups = {
        int(use.name.split()[1]) // lnet.oss_per_group for use in used(result, StationKind.OSS)
    }
    routers = {
        int(use.name.split()[2]) // lnet.routers_per_group for use in used(result, StationKind.LNET)
    }
    assert routers == groups


def test_ost_bound_writes_come_close_to_what_theta_sustains_and_never_above() -> None:
    """They need many bytes for that: opening and syncing the files takes its time as well."""
    row = rows(ost_bound("-w", mib=128))[0]
    assert 0.85 * THETA[row.access] < row.bandwidth < THETA[row.access]


def test_so_do_reads_if_each_stream_stays_on_its_ost() -> None:
    """And if each of the 16 readers of a node may read 40 MiB ahead, which they share by default.

    With stripes of 8 MiB in turn on seven OSTs, heads move as long as they read, if only to what is
    nearest of all that waits. Who reads ahead less has fewer RPCs there to choose from.
    """
    stays = rows(ost_bound("-r", mib=128, count=1, lustre__readahead="640 MiB"))[0]
    shares = rows(ost_bound("-r", mib=128, count=1))[0]
    turns = rows(ost_bound("-r"))[0]
    assert 0.7 * THETA[stays.access] < stays.bandwidth < THETA[stays.access]
    assert turns.bandwidth < 0.8 * stays.bandwidth
    assert shares.bandwidth < 0.9 * stays.bandwidth


@pytest.mark.parametrize("access", ["-w", "-r"])
def test_twice_the_osts_are_never_slower(access: str) -> None:
    before, after = rows(ost_bound(access))[0], rows(ost_bound(access, osts=112))[0]
    assert after.bandwidth >= before.bandwidth


ONE_STREAM = "-e -b 256m -t 64m --posix.odirect"


@pytest.mark.parametrize(
    ("access", "smallest", "changes"),
    [
        ("-w", 3.0714e9, {}),
        ("-r", 4.2857e9, {}),
        ("-w", 1e9, {"network__nic_rate": "1 GB/s"}),
        ("-r", 1e9, {"network__nic_rate": "1 GB/s"}),
        ("-w", 5e8, {"lustre__oss_rate": "500 MB/s"}),
        ("-r", 5e8, {"lustre__oss_rate": "500 MB/s"}),
    ],
)
def test_one_client_and_one_ost_are_as_fast_as_the_smallest_station_between(
    access: str, smallest: float, changes: dict[str, object]
) -> None:
    latencies = ("lustre__ost_write_latency", "lustre__disk_seek", "lustre__disk_turn")
    prompt = dict.fromkeys(latencies, 0.0)
    still = {"lustre__ost_spread": 0.0, "lustre__journal_commit": "1 ms", **prompt, **changes}
    result = run(f"{access} {ONE_STREAM}", 1, 1, count=1, size="64m", **still)
    bandwidth = rows(result)[0].bandwidth
    assert 0.6 * smallest < bandwidth <= smallest
    assert len(used(result, StationKind.OST)) == 1


def test_a_slower_machine_is_never_faster() -> None:
    # A file for each process: ranks that fight for one file do so by chance, now more, now less.
    job = ("-w -e -F -b 16m -t 1m", 16, 8)
    theta = rows(run(*job))[0].bandwidth
    for change in (
        {"lustre__ost_write_rate": "1 GB/s"},
        {"lnet__ib_link_rate": "1 GB/s"},
        {"network__nic_rate": "2 GB/s"},
        {"network__payload_fraction": 0.2},
        {"network__message_latency": "1 ms"},
        {"lustre__max_rpcs_in_flight": 1},
    ):
        assert rows(run(*job, **change))[0].bandwidth <= theta * 1.01, change


def test_all_time_of_every_rank_has_a_cause(result: Result) -> None:
    elapsed = sum(
        record.close_end - record.open_start
        for test in result.outcome.tests
        for record in test.records
    )
    np.testing.assert_allclose(result.waits.sum(axis=1), elapsed, rtol=1e-9)
    assert result.waits.min() >= -1e-12


def test_queues_stand_where_the_load_is() -> None:
    waiting = ost_bound("-r").waiting()
    assert max(waiting, key=lambda cause: waiting[cause]) in (Cause.OST, Cause.OSC)
    slow = run("-r -b 16m -t 1m", 8, 16, network__nic_rate="200 MB/s").waiting()
    assert max(slow, key=lambda cause: slow[cause]) in (Cause.NIC, Cause.LNET)


def test_work_grows_with_the_bytes() -> None:
    once, twice = (
        run(f"-w -b {size}m -t 8m --posix.odirect", 64, 16, size="8m") for size in (8, 16)
    )
    assert twice.rpcs == 2 * once.rpcs
    assert twice.bulk_bytes == 2 * once.bulk_bytes == 2 * 1024 * 8 * MIB
    # Locks are asked for once, and so cost less each in the larger run.
    assert 1.5 * once.events < twice.events <= 2 * once.events
