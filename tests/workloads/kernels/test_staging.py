"""The staging kernel: what the application sees, and when the data are safe."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import run_kernel

from xc40io.config.errors import InputError
from xc40io.run.result import Result
from xc40io.studies.record import record_of
from xc40io.workloads.job_results import Row

MIB = 1 << 20


def run(machine: str = "theta", nodes: int = 2, target: Any = "lustre", **options: Any) -> Result:
    told = {"machine": machine, "target": target, "striping": {"count": 4, "size": "1m"}}
    return run_kernel("staging", nodes, job=told, **({"size": 4 * MIB} | options))


def row(result: Result, phase: str, step: str = "all") -> Row:
    (found,) = [r for r in result.rows if (r.phase, r.step) == (phase, step)]
    return found


def test_the_application_waits_for_the_ssd_alone() -> None:
    result = run(steps=2, compute=0.5)
    application, safe = row(result, "application"), row(result, "until safe")
    assert application.seconds < 2 * 0.5 + 0.1
    assert safe.seconds >= application.seconds
    assert safe.bytes == application.bytes == 2 * 4 * 4 * MIB
    assert result.bulk_bytes == safe.bytes, "all of it went to Lustre"
    assert not result.troubles


def test_a_flush_begins_at_once_in_the_background_and_late_at_the_end() -> None:
    early, late = run(steps=2, compute=0.5), run(steps=2, compute=0.5, flush="end")
    assert row(early, "flush", "0").start < 0.1
    assert row(late, "flush", "0").start >= 1.0
    assert row(early, "until safe").seconds < row(late, "until safe").seconds
    assert row(early, "application").seconds == pytest.approx(
        row(late, "application").seconds, rel=0.1
    )


def test_a_job_that_ends_too_soon_leaves_bytes_unsafe() -> None:
    result = run(steps=2, grace=0.01)
    (trouble,) = result.troubles
    assert trouble.name == "UNSAFE"
    assert trouble.bytes + row(result, "until safe").bytes == 2 * 4 * 4 * MIB
    assert "had not been flushed" in trouble.text


def test_staging_pays_when_there_is_something_to_compute() -> None:
    staged, direct = run(steps=2, compute=0.5), run(steps=2, compute=0.5, direct=True)
    assert row(staged, "application").seconds < row(direct, "application").seconds


def test_where_there_is_room_for_few_steps_a_rank_waits_for_the_flush_of_an_old_one() -> None:
    """SCR counts this wait apart from the write that it comes before (its pull request 544)."""
    options: dict[str, Any] = {"steps": 4, "size": 32 * MIB}
    free = run(**options)
    flush = [row(free, "flush", str(step)).seconds for step in range(4)]
    local = row(free, "local write", "0").seconds
    assert min(flush) > 1.2 * local
    for keep in (1, 2):
        kept = run(**options, cache_steps=keep)
        waits = [one for one in kept.rows if one.phase == "wait"]
        assert [one.step for one in waits] == [str(step) for step in range(keep, 4)]
        for wait in waits:
            assert wait.end == row(kept, "flush", str(int(wait.step) - keep)).end
            assert row(kept, "local write", wait.step).start >= wait.end
    slow = run(**options, cache_steps=1, compute=max(flush) + local + 0.1)
    assert [one.seconds for one in slow.rows if one.phase == "wait"] == [0.0] * 3


def test_input_is_read_from_lustre_once() -> None:
    result = run(mode="in", steps=3)
    # Both nodes copy the part of each of their ranks.
    assert result.bulk_bytes == pytest.approx(2 * 2 * 4 * MIB, rel=0.3)
    copied, read = row(result, "stage in", "in"), row(result, "read", "2")
    assert copied.bytes == read.bytes == 4 * 4 * MIB
    assert read.seconds < copied.seconds


@pytest.mark.parametrize(
    ("machine", "options", "words"),
    [
        ("titan", {}, "no section ssd"),
        ("theta", {"mode": "in", "flush": "end"}, "belong to mode: out"),
        ("theta", {"mode": "in", "exchange": 1e6}, "exchange and overlap belong to mode: out"),
        ("theta", {"exchange": 1e6, "nodes": 1}, "no other node is there"),
        ("theta", {"overlap": True}, "right would be cycle: 1 s"),
        ("theta", {"partner": True, "nodes": 1}, "at least 2 nodes"),
        ("theta", {"mode": "back", "direct": True}, "at least 2 nodes"),
        ("theta", {"cache_steps": 1, "flush": "end"}, "cache_steps = 1 belongs to output"),
    ],
)
def test_what_cannot_be_is_refused(machine: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(machine, **options)


def test_service_nodes_move_what_they_hold_to_lustre_and_back() -> None:
    burst_buffer = {"kind": "bb", "capacity": "60 GB"}
    out = run("cori-knl", target=burst_buffer, steps=2, size=20 * MIB)
    assert row(out, "until safe").bytes == 2 * 4 * 20 * MIB
    assert row(out, "flush", "1").seconds > row(out, "local write", "1").seconds
    # Once from the nodes to the burst buffer, once from there, once to Lustre.
    assert out.bulk_bytes == 3 * 2 * 4 * 20 * MIB
    back = run("cori-knl", target=burst_buffer, mode="in", size=20 * MIB)
    assert row(back, "stage in", "in").bytes == 2 * 20 * MIB
    assert row(back, "read", "0").seconds < row(back, "stage in", "in").seconds


def test_a_private_burst_buffer_is_moved_too() -> None:
    private = {"kind": "bb", "capacity": "60 GB", "access": "private"}
    out = run("cori-knl", target=private, size=20 * MIB)
    assert row(out, "until safe").bytes == 4 * 20 * MIB


def slowed(**options: Any) -> float:
    """Return by which share computing fell behind beside a flush of 32 MiB a rank."""
    own = {"layout": "rank", "overlap": True, "cycle": 0.01, "size": 32 * MIB}
    result = run(**own | options)
    return row(result, "beside flush").figures["slowed"].value


def test_a_helper_takes_the_time_of_the_core_that_it_shares() -> None:
    # A core needs about as long to read and to write the bytes as the SSD and Lustre.
    assert slowed() > 0.5
    assert slowed(helper="idle") < 0.1


def test_on_a_full_node_no_core_is_idle() -> None:
    cores = {"system": 62}
    told = {"machine": "theta", "striping": {"count": 1}, "cores": cores}
    options = {"layout": "rank", "overlap": True, "cycle": 0.01, "size": 32 * MIB}
    result = run_kernel("staging", 2, job=told, helper="idle", **options)
    assert row(result, "beside flush").figures["slowed"].value > 0.5


def test_messages_wait_while_the_flush_is_on_the_network() -> None:
    # An interface so slow that the drain fills a good part of it.
    changes = {"network.nic_rate": "400 MB/s", "network.nic_both_rate": "400 MB/s"}
    told = {"machine": "theta", "striping": {"count": 4}, "changes": changes}
    options = {"layout": "rank", "overlap": True, "cycle": 0.05, "size": 32 * MIB}
    shares = [
        row(
            run_kernel("staging", 2, job=told, helper="idle", exchange=exchange, **options),
            "beside flush",
        )
        .figures["slowed"]
        .value
        for exchange in (0.0, 40e6)
    ]
    assert shares[1] > shares[0] + 0.05


def test_an_exchange_takes_the_time_of_its_bytes() -> None:
    each = 0.1 * 40e6  # bytes of a cycle
    plain, more = (
        row(run(steps=1, compute=1.0, cycle=0.1, exchange=rate, flush="end"), "application")
        for rate in (0.0, 40e6)
    )
    rate = 10.2e9  # of Theta's interfaces
    assert more.seconds - plain.seconds > 10 * 2 * each / rate


def test_partners_hold_a_copy_until_the_next_one_is_safe() -> None:
    result = run(steps=3, partner=True, compute=0.5, layout="rank")
    local, copy = row(result, "local write", "1"), row(result, "partner copy", "1")
    assert copy.start >= local.end - 1e-3
    assert copy.bytes == local.bytes
    # Each SSD takes its own files and those of the other node, and keeps the newest of both.
    written = 2 * 3 * 4 * 4 * MIB
    ssds = [use for use in result.stations() if use.kind.name.startswith("SSD")]
    assert sum(use.bytes for use in ssds) >= written


def test_too_small_an_ssd_holds_no_copies() -> None:
    told = {"machine": "theta", "changes": {"ssd.capacity": "12 MiB"}}
    options = {"size": 4 * MIB, "layout": "rank"}
    assert not run_kernel("staging", 2, 2, job=told, **options).troubles
    (trouble,) = run_kernel("staging", 2, 2, job=told, partner=True, **options).troubles
    assert trouble.name == "ENOSPC"


def test_a_new_node_gets_its_files_from_the_partner() -> None:
    result = run(mode="back", nodes=3, partner=True)
    fetched, copied = row(result, "read from partner", "0"), row(result, "partner copy", "0")
    read = row(result, "read", "0")
    assert fetched.bytes == 2 * 4 * MIB
    assert copied.bytes == read.bytes == 6 * 4 * MIB
    assert fetched.end <= copied.start
    assert copied.end <= read.start
    assert result.bulk_bytes == 0, "nothing of it is on Lustre"
    assert not [one for one in run(mode="back").rows if one.phase == "partner copy"]


def test_what_is_flushed_is_written_once() -> None:
    told = record_of(run(steps=2, partner=True, layout="rank"))
    assert told.written == 2 * 4 * 4 * MIB
    assert record_of(run(mode="in")).written == 0
