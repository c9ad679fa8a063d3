"""How collective I/O on Theta behaves; ``pytest -s`` prints the figures.

What was published of it, and how near the model comes, stands in ``validation/claims``.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from theta_runs import MIB, kept, rows, scenario

from xc40io.config.scenario import Scenario
from xc40io.mpi.stats import MpiRecord, Timer
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

GROUP = "cray_cb_write_lock_mode=1:romio_no_indep_rw=true"
OPENING = 48
"""Blocking ASTs on the locks of the rank that has truncated the file, one an object."""


@cache
def run(ior: str, nodes: int = 256, ppn: int = 16, *, hints: str = "", **options: object) -> Result:
    environment = {"MPICH_MPIIO_HINTS": f"*:{hints}"} if hints else {}
    described = scenario(ior, nodes, ppn, **options)  # type: ignore[arg-type]
    return kept(simulate(described.model_copy(update={"environment": environment})))


def bandwidth(result: Result) -> float:
    """Return what the first phase moved, in GB/s."""
    return rows(result)[0].bandwidth / 1e9


def told(result: Result) -> MpiRecord:
    record = result.outcome.tests[0].records[0].mpi
    assert record is not None
    return record


def raw_write(result: Result) -> float:
    """Return the seconds that an aggregator spent in writes, on average."""
    record = told(result)
    return float(record.timers[record.aggregators, Timer.RAW_WRITE].mean())


# ------------------------------------------------------------------- aggregators and lock modes


def multiplied(multiplier: int, hints: str, **options: object) -> Result:
    hints = f"{hints}:cray_cb_nodes_multiplier={multiplier}".removeprefix(":")
    return run("-a MPIIO -c -w -b 16m -t 16m", hints=hints, size="1m", **options)


def test_with_a_group_lock_raw_writes_go_as_the_aggregators_and_the_call_gains() -> None:
    """By how much the call gains is a claim (B08), and expected to fail."""
    results = {multiplier: multiplied(multiplier, GROUP) for multiplier in (1, 4)}
    for multiplier, result in results.items():
        print(f"\nlock mode 1, {multiplier} x 48 aggregators: raw file write ", end="")
        print(f"{raw_write(result):.2f} s, {bandwidth(result):.2f} GB/s", end="")
        assert raw_write(result) == pytest.approx(raw_write(results[1]) / multiplier, rel=0.15)
        assert result.stats[Stat.BLOCKING_ASTS] <= OPENING
    # What a call does beside its raw writes takes no less time with more aggregators.
    whole = bandwidth(results[4]) / bandwidth(results[1])
    assert 1 < whole < raw_write(results[1]) / raw_write(results[4])


def test_with_extent_locks_more_aggregators_take_locks_from_each_other_and_gain_little() -> None:
    """Who holds the lock of an object writes on, up to the next one who wants it.

    That one waits for a commit of the journal. So most of what a group lock gains is lost, and
    where a commit takes long, more aggregators are slower than one for an object.
    """
    alone = multiplied(1, "")
    assert alone.stats[Stat.BLOCKING_ASTS] <= OPENING
    result = multiplied(4, "")
    asts = result.stats[Stat.BLOCKING_ASTS]
    print(f"\nlock mode 0, 4 x 48 aggregators: {bandwidth(result):.2f} GB/s, ", end="")
    print(f"{asts:,} blocking ASTs for {4096 * 16:,} stripes", end="")
    gained, possible = (
        bandwidth(more) - bandwidth(alone) for more in (result, multiplied(4, GROUP))
    )
    assert gained < possible / 2
    assert bandwidth(multiplied(4, "", lustre__journal_commit=0.12)) < bandwidth(alone)
    assert asts > 10 * 48
    assert result.stats[Stat.CANCEL_SYNCS] > 0.9 * asts


def test_lock_ahead_lets_more_aggregators_write_where_the_servers_have_it() -> None:
    ahead = "cray_cb_write_lock_mode=2:romio_no_indep_rw=true"
    four = multiplied(4, ahead, lustre__lock_ahead=True)
    assert four.stats[Stat.BLOCKING_ASTS] < 0.01 * 4096 * 16  # stripes
    assert bandwidth(four) > 0.9 * bandwidth(multiplied(4, GROUP))


# ------------------------------------------------------------------------- what aggregators write


def test_holes_within_stripes_make_fewer_bytes_take_longer() -> None:
    """Two ranks write to each stripe of 8 MiB, 4 MiB apart: the aggregator writes all between.

    ROMIO's own example: ad_lustre_wrcoll.c, ADIOI_LUSTRE_Exch_and_write. Blocks as long as a stripe
    leave no holes; nor is anything read and written again where the hint says so.
    """
    half, whole = (
        run(f"-a MPIIO -c -w -t 512k -b {block}", 4, 2, count=8, size="8m")
        for block in ("4m", "8m")
    )
    pieces = run(
        "-a MPIIO -c -w -t 512k -b 4m", 4, 2, hints="romio_ds_write=disable", count=8, size="8m"
    )
    seconds = [rows(result)[0].total for result in (half, pieces, whole)]
    assert told(half).counts.writes.modified == 4 * 8  # four stripes, eight calls
    assert told(whole).counts.writes.modified == told(pieces).counts.writes.modified == 0
    assert seconds[0] > 2 * seconds[2] > 2 * seconds[1]


def slowed(hints: str) -> float:
    """Return by how much raw writes are slower if a core fetches 100 MB/s from memory: seconds."""
    slow, fast = (
        raw_write(run("-a MPIIO -c -w -b 4m -t 4m", 4, 4, hints=hints, mpi__fetch_rate=rate))
        for rate in ("100 MB/s", "100 GB/s")
    )
    return slow - fast


def test_aggregators_fetch_what_other_nodes_have_sent_from_memory() -> None:
    """Four aggregators of four nodes write 16 MiB each, three quarters of it from elsewhere."""
    assert slowed("cb_nodes=4") == pytest.approx(12 * MIB / 100e6, rel=0.02)


def test_direct_writes_copy_nothing_so_that_no_core_fetches_anything() -> None:
    assert slowed("cb_nodes=4:direct_io=true") == 0.0


# ------------------------------------------------------------------------------------------ HDF5


@cache
def hdf5(nodes: int) -> float:
    return bandwidth(run("-a HDF5 -c -w -b 16m -t 16m", nodes, 32, size="16m"))


def test_hdf5_collective_writes_rise_with_the_nodes_and_saturate() -> None:
    """Few nodes are bound by their own cores, many by what all share."""
    few, more, most = hdf5(1), hdf5(4), hdf5(16)
    assert few < more / 3 < most / 6
    assert hdf5(64) > most
    # With more nodes than the 48 aggregators, four times the nodes gain less than a tenth.
    assert hdf5(64) < hdf5(256) < 1.1 * hdf5(64)


# --------------------------------------------------------------------- one-sided and two-phase


@cache
def h5dwrite(driver: str, **options: object) -> float:
    exerciser = {"name": "exerciser", "driver": driver, **options}
    job = {"machine": "theta", "nodes": 64, "ppn": 16, "workload": {"kernel": exerciser}}
    result = simulate(Scenario.model_validate(job | {"striping": {"count": 48, "size": "16m"}}))
    (record,) = [record for record in result.rows if record.phase == "H5Dwrite"]
    return record.longest


def gain(ranks: str, elements: str) -> float:
    """Return how many times faster one-sided writes are."""
    shape = {"dimranks": ranks, "minels": elements, "numdims": len(elements.split())}
    two_phase, one_sided = (h5dwrite(driver, **shape) for driver in ("mpi", "one-sided"))
    print(f"\n{elements:>12} doubles a rank: one-sided {two_phase / one_sided:.2f} times", end="")
    return two_phase / one_sided


def test_one_sided_gains_with_small_messages_and_many_dimensions_and_not_with_large() -> None:
    tiny, small, large = (gain("1024", elements) for elements in ("64", "512", "2097152"))
    assert tiny > 3
    assert tiny > small > 1.3
    assert large < 1.05
    assert gain("16 8 8", "8 8 8") > 1.4 * small
    assert gain("8 8 4 4", "8 8 8 8") > 2
    flat, deep = gain("32 32", "64 64"), gain("16 8 8", "16 16 16")
    assert deep > 1.2 * flat  # as many bytes a rank, cut into more pieces


# ------------------------------------------------------------------ collective and independent


def test_collective_and_independent_writes_cross_over_with_the_data_per_rank() -> None:
    """Apart, ranks with less than a page read the page first; with more, they wait for the array.

    They do so when they close the file: with a slower array the curves cross further up.
    """

    def ratio(size: str, **options: object) -> float:
        ior = f"-a MPIIO -w -b {size} -t {size}"
        together, apart = (
            bandwidth(run(command, size="16m", **options)) for command in (f"{ior} -c", ior)
        )
        print(
            f"\n{size:>5} a rank: collective {together:.4f}, independent {apart:.4f} GB/s", end=""
        )
        return together / apart

    ratios = [ratio(size) for size in ("2k", "16k", "64k", "256k", "1m", "16m")]
    assert ratios[0] > 1 > ratios[1]
    # What a call costs its aggregators, whatever its size, levels the middle of the curve.
    assert all(later < 1.1 * earlier for earlier, later in pairwise(ratios))
    assert ratios[4] < 0.6
    assert ratio("64k", lustre__ost_write_latency=0.042) > 1.2 * ratio("64k")


def test_small_interleaved_blocks_favour_collective_large_aligned_ones_independent() -> None:
    small = "-a MPIIO -w -b 16k -t 16k -s 16"
    assert bandwidth(run(f"{small} -c", 64)) > 4 * bandwidth(run(small, 64))
    large = "-a MPIIO -w -b 16m -t 16m"
    apart, together = (run(f"{large} {option}", 64, size="16m") for option in ("", "-c"))
    assert bandwidth(apart) > 1.5 * bandwidth(together)


def test_within_nodes_first_sends_fewer_messages() -> None:
    """64 ranks a node, each with a piece of every stripe: TAM sends one message for 64."""
    ior, tam = "-a MPIIO -c -V -w -b 4k -t 4k -s 64", "xc40io_intra_node_aggregation=enable"
    plain = run(ior, 16, 64, count=8)
    inside = run(ior, 16, 64, count=8, hints=tam)
    assert told(inside).counts.writes.bytes == told(plain).counts.writes.bytes == 256 * MIB
    assert inside.stats[Stat.EXCHANGED_BYTES] <= plain.stats[Stat.EXCHANGED_BYTES]
    assert bandwidth(inside) > bandwidth(plain)
