"""The HDF5 exerciser: what its options make of buffers and datasets, and small runs."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from simulated_calls import pieces, run_romio
from small_jobs import job

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.mpi.stats import Timer
from xc40io.run.simulate import simulate
from xc40io.workloads.job_results import Row
from xc40io.workloads.kernels.exerciser import Exerciser, Layout
from xc40io.workloads.known_kernels import make_kernel


def exerciser(**options: Any) -> Exerciser:
    kernel = make_kernel({"name": "exerciser", **options})
    assert isinstance(kernel, Exerciser)
    return kernel


def scenario(nodes: int = 2, ppn: int = 4, **options: Any) -> Scenario:
    kernel = {"kernel": {"name": "exerciser", **options}}
    return job(kernel, nodes, ppn, striping={"count": 4, "size": "1 MiB"})


@cache
def rows(options: tuple[tuple[str, Any], ...]) -> tuple[Row, ...]:
    """Run once, and return the rows."""
    result = simulate(scenario(**dict(options)))
    return result.rows


def row(phase: str, **options: Any) -> Row:
    """Return the first row of a phase."""
    found = rows(tuple(options.items()))
    return next(record for record in found if record.phase == phase)


def test_as_its_readme_has_it() -> None:
    """64 to 256 elements along each dimension, --bufmult 2, on 8 x 4 ranks."""
    kernel = exerciser(numdims=2, minels=64, nsizes=3, bufmult=2, dimranks="8 4")
    assert [kernel.layout(size).elements for size in range(3)] == [(64, 64), (128, 128), (256, 256)]
    assert kernel.grid(32) == (8, 4)
    assert kernel.layout(2).buffer == 256 * 256 * 8
    assert kernel.remarks(32) == []


@pytest.mark.parametrize("typed", ["8 16", "8,16", "8, 16", [8, 16], (8, 16)])
def test_numbers_for_each_dimension(typed: object) -> None:
    assert exerciser(numdims=2, minels=typed).minels == (8, 16)


def test_blocks_and_strides() -> None:
    kernel = exerciser(
        numdims=2, minels=[6, 8], fileblocks=[2, 4], filestrides=[5, 1], memblock=4, memstride=6
    )
    assert kernel.layout(0) == Layout(
        elements=(6, 8),
        block=(2, 4),
        stride=(5, 4),  # no less than a block
        count=(3, 2),
        memory_block=4,
        memory_stride=6,
    )
    assert kernel.layout(0).span == (15, 8)
    assert kernel.layout(0).memory == 6 * 8 * 8 * 6 // 4


def test_what_does_not_fit_is_left_out_with_a_remark() -> None:
    kernel = exerciser(numdims=2, minels=10, fileblocks=3, memblock=7, dimranks=[3, 3])
    layout = kernel.layout(0)
    assert (layout.block, layout.count) == ((10, 10), (1, 1))
    assert layout.memory_block == 100
    assert kernel.grid(8) == (8, 1)
    remarks = " ".join(kernel.remarks(8))
    assert all(option in remarks for option in ("dimranks", "fileblocks", "memblock"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"numdims": 3, "minels": [4, 4]}, "minels has 2 numbers"),
        ({"dimranks": [2, 2], "numdims": 3}, "dimranks has 2 numbers"),
        ({"driver": "one-sided", "indepio": True}, "collective transfers"),
        ({"rshift": 5}, "more than half of the 8 ranks"),
        ({"minels": 1 << 31}, "counts up to 2,147,483,647"),
        ({"minels": 1 << 30}, "buffers of a node"),
        ({"minels": 8, "nsizes": 28}, "buffers of a node"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        exerciser(**options).check(scenario(), load_machine("theta"))


@pytest.mark.parametrize(
    "options", [{"numdims": 5}, {"minels": "a b"}, {"minels": 0}, {"driver": "sec2"}, {"dims": 2}]
)
def test_options_that_do_not_exist(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        exerciser(**options)


def test_bytes_to_move() -> None:
    kernel = exerciser(minels=1000, nsizes=2, iterations=3)
    assert kernel.bytes_to_move(4) == 4 * (1000 + 2000) * 16 * 3
    assert exerciser(minels=1000, derivedtype=True).bytes_to_move(4) == 4 * 1000 * (16 + 40)


def test_a_row_for_every_call() -> None:
    found = rows((("addattr", True), ("derivedtype", True), ("minels", 4096)))
    assert [record.phase for record in found] == [
        *("H5Fcreate", "H5Gcreate", "H5Acreate", "H5Dcreate", "H5Dwrite", "H5Fflush", "H5Fclose"),
        *("H5Fopen", "H5Gopen", "H5Dopen", "H5Dread"),
        *("H5Gcreate", "H5Dcreate", "H5Dwrite", "H5Fflush", "H5Fclose"),
    ]
    moved = [record.bytes for record in found if record.bytes]
    assert moved == [8 * 32768, 8 * 32768, 8 * 4096 * 40]
    assert all(before.end <= after.start for before, after in pairwise(found))


def test_sizes_and_iterations() -> None:
    found = rows((("iterations", 2), ("minels", 512), ("nsizes", 2)))
    steps = list(dict.fromkeys(record.step for record in found))
    assert steps == ["4.000 KiB #1", "4.000 KiB #2", "8.000 KiB #1", "8.000 KiB #2"]


def test_one_long_write_costs_less_than_many_short_ones() -> None:
    shape = {"numdims": 2, "minels": 128, "dimranks": (1, 8)}
    whole = row("H5Dwrite", **shape)
    pieces = row("H5Dwrite", **shape, fileblocks=2, filestrides=4)
    assert pieces.seconds > 1.2 * whole.seconds


@pytest.mark.parametrize(
    "options",
    [
        {"usechunked": True},
        {"indepio": True, "memblock": 16, "memstride": 32},
        {"metacoll": True, "release": "1.10.2"},
        {"driver": "one-sided"},
        {"rshift": 4, "alignment": "1 MiB", "alignment_threshold": 4096},
        {"keepfile": True, "maxcheck": 0},
    ],
)
def test_every_way_to_write_and_read(options: dict[str, Any]) -> None:
    shape = {"numdims": 3, "minels": 8, "dimranks": (2, 2, 2)}
    found = rows(tuple((shape | options).items()))
    assert [record.bytes for record in found if record.bytes] == [8 * 4096] * 2
    assert all(record.seconds >= 0.0 for record in found)


@pytest.mark.parametrize(
    ("release", "by_first", "by_third"),
    [("1.6", (4720, 131072), None), ("1.5", (4720, 32768), (70256, 32768))],
)
def test_chunks_of_doubles_go_in_one_call_since_h5bench_1_6(
    release: str, by_first: tuple[int, int], by_third: tuple[int, int] | None
) -> None:
    """A chunk of 32 KiB a rank, as ``--numdims 2 --minels 64 64 --dimranks 2 2 --usechunked``."""
    options = {"name": "exerciser", "numdims": 2, "minels": 64, "dimranks": (2, 2)}
    more = {"usechunked": True, "release": "1.10.2", "h5bench": release}
    calls = run_romio({"kernel": options | more})
    written = {rank: pieces(calls[rank], "WRITE") for rank in calls}
    chunks = {rank: [piece for piece in written[rank] if piece[1] >= 32768] for rank in written}
    assert chunks[0] == [by_first]
    assert chunks[2] == ([by_third] if by_third else [])
    # Either way every rank reads by itself, since ROMIO finds nothing interleaved.
    for rank, offset in enumerate((4720, 37488, 70256, 103024)):
        assert pieces(calls[rank], "READ")[-1] == (offset, 32768)


def test_chunks_of_the_compound_type_go_one_by_one() -> None:
    options = {"name": "exerciser", "minels": 1024, "usechunked": True, "derivedtype": True}
    calls = run_romio({"kernel": options})
    compound = 1024 * 40
    for rank in calls:
        sizes = [size for _, size in pieces(calls[rank], "WRITE")]
        assert sizes.count(compound) == 1


def test_metadata_are_written_collectively_until_the_file_is_opened_again() -> None:
    """What rank 1 writes with ``--minels 1024 --dimranks 4 --metacoll`` and 2 iterations."""
    options = {"minels": 1024, "dimranks": 4, "metacoll": True, "iterations": 2}
    calls = run_romio({"kernel": {"name": "exerciser", "release": "1.10.2"} | options})[1]
    assert pieces(calls, "WRITE") == [(96, 40), (680, 120), (800, 40), (840, 544)]
    reads = [(1504, 328), (800, 512), (1384, 512), (840, 544), (34872, 328), (1832, 512)]
    found = pieces(calls, "READ")
    assert sorted(found[:6]) == sorted(reads)
    assert found[6] == (10296, 8192)


def test_one_sided_spares_the_planning_of_many_pieces() -> None:
    shape = {"numdims": 3, "minels": 16, "dimranks": (2, 2, 2)}
    two_phase = row("H5Dwrite", **shape)
    one_sided = row("H5Dwrite", **shape, driver="one-sided")
    assert one_sided.seconds < two_phase.seconds


@pytest.mark.parametrize("driver", ["mpi", "one-sided"])
def test_mpi_io_tells_of_each_time_the_file_was_open(driver: str) -> None:
    result = simulate(scenario(minels=4096, nsizes=2, derivedtype=True, driver=driver))
    told = [(step, record.writing) for step, record in result.mpi_records]
    sizes = ("32.00 KiB", "64.00 KiB")
    assert told == [(size, writing) for size in sizes for writing in (True, False)]
    for _, record in result.mpi_records:
        assert record.in_force.hints.write_method == {"mpi": "two-phase"}.get(driver, driver)
        done = record.counts.writes if record.writing else record.counts.reads
        assert done.collective == 8
        assert record.timers[:, Timer.RAW_WRITE if record.writing else Timer.RAW_READ].any()
    first, second = (record for _, record in result.mpi_records[:2])
    assert first.counts.reads.collective == 0
    assert second.counts.writes.collective == 8  # the dataset of the compound type
    for step in sizes:  # timers tell of these calls alone
        taken = sum(row.longest for row in result.rows if row.step == step)
        spent = sum(
            record.timers.sum(axis=1).max() for name, record in result.mpi_records if name == step
        )
        assert 0.5 * taken < spent < 1.1 * taken


def test_the_same_every_time() -> None:
    once = simulate(scenario(minels=1024))
    again = simulate(scenario(minels=1024))
    assert once.rows == again.rows
