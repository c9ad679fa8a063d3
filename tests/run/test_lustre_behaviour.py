"""The published curves of Theta are curves of Lustre's behaviour: each effect, and what makes it.

256 nodes x 16 ranks unless said otherwise. ``pytest -s`` prints what ``xc40io ior`` would. How near
the figures come to the published ones is said in ``validation/claims``.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from theta_runs import MIB, rows, run, scenario

from xc40io.config.machine import load_machine
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.outcome import IorRow

DISKS = 172e9
"""Sustained write bytes/s of all 56 OSTs (Theta I/O slides)."""

NODES, PPN = 256, 16

MPI_IO = "-a MPIIO -O iorVersion=3"
"""Shared files as the slides ran them: "MPI-IO within IOR", by a descendant of IOR 3."""


def write(result: Result, what: str) -> IorRow:
    """Return the first write phase; print its bandwidth."""
    row = rows(result)[0]
    print(f"\n{what:<60} {row.bandwidth / 1e9:7.2f} GB/s", end="")
    return row


def shared_file(mib: int, *, osts: int = 48, stripe: int = 8, fsync: bool = True) -> IorRow:
    ior = f"{MPI_IO} -w {'-e ' if fsync else ''}-b {mib}m -t {min(mib, 8)}m"
    result = run(ior, NODES, PPN, count=osts, size=f"{stripe}m")
    return write(result, f"shared file, {ior}, {osts} OSTs x {stripe} MiB")


def file_per_process(mib: int, *, fsync: bool = True) -> IorRow:
    ior = f"-w -F {'-e ' if fsync else ''}-b {mib}m -t {min(mib, 8)}m"
    return write(run(ior, NODES, PPN, count=1, size="8m"), f"file per process, {ior}")


def one_node(ranks: int, **cores: object) -> IorRow:
    result = run("-w -F -b 128m -t 1m", 1, ranks, count=1, **cores)
    bound = ", ".join(f"{name} {value}" for name, value in cores.items())
    return write(result, f"one node, {ranks} ranks, a file each, 128 MiB {bound}")


# ------------------------------------------------------------------------------- a shared file


def test_a_shared_file_is_faster_with_large_blocks_for_journal_commits_take_as_long() -> None:
    """Where a lock changes hands, the journal is committed, whatever has been written."""
    assert shared_file(8).bandwidth > 2 * shared_file(1).bandwidth
    prompt = {
        mib: rows(
            run(
                f"{MPI_IO} -w -e -b {mib}m -t {mib}m",
                NODES,
                PPN,
                size="8m",
                lustre__journal_commit=0,
            )
        )[0].bandwidth
        for mib in (1, 8)
    }
    assert prompt[1] / shared_file(1).bandwidth > prompt[8] / shared_file(8).bandwidth > 1


def test_more_osts_are_better() -> None:
    bandwidth = [shared_file(8, osts=osts).bandwidth for osts in (1, 8, 48, 56)]
    assert all(after > 0.99 * before for before, after in pairwise(bandwidth))
    assert bandwidth[-1] > 15 * bandwidth[0]


def test_stripes_of_8_mib_are_large_enough() -> None:
    sizes = (1, 4, 8, 32)
    bandwidth = {size: shared_file(8, stripe=size).bandwidth for size in sizes}
    assert max(bandwidth.values()) < 1.15 * bandwidth[8]
    assert max(bandwidth[size] for size in (1, 4)) < 1.01 * bandwidth[8]


# ------------------------------------------------------------------------------ the page cache


def test_what_fits_the_dirty_limits_is_written_faster_than_the_disks_can() -> None:
    assert file_per_process(32, fsync=False).bandwidth > 1.2 * DISKS
    # The ranks of a node enter the pages of a shared file one after another.
    assert shared_file(8, fsync=False).bandwidth > 1.3 * shared_file(8).bandwidth


@pytest.mark.slow
def test_beyond_the_dirty_limits_writes_fall_back_to_what_the_disks_sustain() -> None:
    bandwidth = [file_per_process(mib, fsync=False).bandwidth for mib in (32, 64, 128)]
    assert bandwidth == sorted(bandwidth, reverse=True)
    assert DISKS < bandwidth[-1] < 1.25 * DISKS
    assert shared_file(160, fsync=False).bandwidth < DISKS


@pytest.mark.parametrize("file", ["", "-F"])
def test_a_read_after_a_write_finds_the_data_in_memory_unless_tasks_are_reordered(
    file: str,
) -> None:
    shares = {}
    for reorder in ("", "-C"):
        ior = f"-w -r {file} {reorder} -b 8m -t 8m"
        result = run(ior, NODES, PPN, count=1 if file else 48, size="8m")
        hits, missed = result.stats[Stat.HIT_BYTES], result.stats[Stat.MISS_BYTES]
        read = rows(result)[1]
        assert hits + missed == read.bytes_moved
        shares[reorder] = hits / read.bytes_moved
        print(f"\n{ior:<30} {shares[reorder]:7.1%} of the bytes from memory,", end="")
        print(f"{read.bandwidth / 1e9:7.2f} GB/s", end="")
    assert shares["-C"] == 0
    # In a shared file some have lost their first lock, and the pages below it, to another node.
    assert shares[""] == 1 if file else shares[""] > 0.9


def test_a_close_without_fsync_leaves_what_fills_no_rpc_in_the_cache() -> None:
    unsynced, synced = (
        simulate(
            scenario(f"-w -F -k {option} -b 2560k -t 512k", count=1, lustre__ost_write_latency=0.0)
        )
        for option in ("", "-e")
    )
    dirty = int(unsynced.plane.tables.osc.clients.dirty.sum())
    assert (unsynced.bulk_bytes, dirty) == (16 * 2 * MIB, 16 * MIB // 2)
    assert (synced.bulk_bytes, int(synced.plane.tables.osc.clients.dirty.sum())) == (40 * MIB, 0)


# --------------------------------------------------------------------------- a file per process


def test_a_file_per_process_writes_as_fast_as_its_osts() -> None:
    row = file_per_process(64)
    assert 0.85 * DISKS < row.bandwidth < DISKS
    assert row.open < 0.1 * row.total


def test_creates_hold_small_files_back() -> None:
    row, shared = file_per_process(1), shared_file(1)
    print(
        f"\n  opens take {row.open:.3f} of {row.total:.3f} s, {shared.open:.3f} if shared", end=""
    )
    assert row.bandwidth < 0.15 * DISKS
    assert row.open > 0.4 * row.total
    assert row.open > 3 * shared.open


# ----------------------------------------------------------------------------------- the locks


def traffic(result: Result, what: str) -> dict[Stat, int]:
    """Print the lock traffic of a run."""
    stats = result.stats
    print(
        f"\n{what}: {stats[Stat.ENQUEUES]:,} enqueues, {stats[Stat.MATCHES]:,} matches, "
        f"{stats[Stat.BLOCKING_ASTS]:,} blocking ASTs, {stats[Stat.CANCELS]:,} cancels, "
        f"{stats[Stat.FLUSHED_BYTES] / 1e9:.3f} GB flushed by them",
        end="",
    )
    return stats


def test_one_writer_of_an_object_is_never_asked_for_its_lock() -> None:
    result = run("-w -F -e -b 8m -t 1m", NODES, PPN, count=1, size="8m")
    stats = traffic(result, "file per process, 8 calls each")
    assert stats[Stat.BLOCKING_ASTS] == stats[Stat.CANCELS] == stats[Stat.FLUSHED_BYTES] == 0
    assert (stats[Stat.ENQUEUES], stats[Stat.MATCHES]) == (4096, 7 * 4096)


@pytest.mark.parametrize("repetitions", [1, 2, 5])
def test_every_change_of_hands_costs_one_blocking_ast(repetitions: int) -> None:
    """Two nodes write a file each, and with ``-C`` read the other's: 2 i - 1 changes a file."""
    ior = f"-w -r -C -F -k -E -i {repetitions} -b 4m -t 1m"
    stats = traffic(run(ior, 2, 1, count=1), f"two nodes, {ior}")
    assert stats[Stat.BLOCKING_ASTS] == stats[Stat.CANCELS] == 2 * (2 * repetitions - 1)


def test_a_shared_file_causes_lock_traffic_and_aligned_stripes_little_of_it() -> None:
    ior = f"{MPI_IO} -w -e -b 8m -t 8m"
    jobs = {size: run(ior, NODES, PPN, size=size) for size in ("8m", "1m", "3m")}
    stats = {size: traffic(job, f"shared file, stripes of {size}") for size, job in jobs.items()}
    # A stripe belongs to one rank, or eight stripes do: eight times the chunks.
    assert stats["8m"][Stat.ENQUEUES] + stats["8m"][Stat.MATCHES] == 4096
    assert stats["1m"][Stat.ENQUEUES] + stats["1m"][Stat.MATCHES] == 8 * 4096
    # Whoever opened the file loses each object once. Then nobody wants what another has, but where
    # a stripe holds the end of one block and the begin of the next.
    assert 0 < stats["8m"][Stat.BLOCKING_ASTS] <= 48
    assert stats["3m"][Stat.BLOCKING_ASTS] > 10 * stats["8m"][Stat.BLOCKING_ASTS]


# -------------------------------------------------------------------------------------- a node


def test_one_core_writes_as_it_copies_and_all_of_a_node_as_its_memory_lets_them() -> None:
    """Beyond what may be dirty, a stream waits for an array that its RPCs in flight do not hide."""
    nodes, lustre = load_machine("theta").nodes, load_machine("theta").lustre
    prompt = one_node(1, lustre__ost_write_latency=0.0).bandwidth
    in_flight = lustre.max_rpcs_in_flight * lustre.rpc_size
    hidden = in_flight / nodes.write_copy_rate
    assert lustre.ost_write_latency < hidden
    assert one_node(1).bandwidth == pytest.approx(prompt, rel=0.01)
    slow = one_node(1, lustre__ost_write_latency=3 * hidden).bandwidth
    waited_for = 128 * MIB - lustre.max_dirty  # the rest stays dirty when the file is closed
    assert slow == pytest.approx(128 * MIB / waited_for * in_flight / (3 * hidden), rel=0.1)
    assert slow < 0.9 * prompt
    assert 0.95 * nodes.write_copy_rate < prompt < nodes.write_copy_rate
    assert 0.6 * nodes.node_copy_rate < one_node(64).bandwidth < nodes.node_copy_rate


def test_cores_for_the_system_do_not_hurt() -> None:
    """60 ranks, with four cores left over: for whoever comes, or for the system alone."""
    assert one_node(60, system_cores=4).bandwidth >= 0.99 * one_node(60).bandwidth


def test_few_unbound_ranks_share_cores_while_others_idle() -> None:
    assert one_node(12, bind="none").bandwidth < 0.9 * one_node(12).bandwidth


# ----------------------------------------------------------------------------------- variation


def test_other_jobs_take_their_share() -> None:
    quiet, busy = (
        write(
            run("-w -F -e -b 16m -t 1m", 64, 16, count=1, background=background),
            f"file per process, others write {background}",
        ).bandwidth
        for background in ("0 GB/s", "86 GB/s")
    )
    assert 0.3 * quiet < busy < 0.9 * quiet
