"""Parallel HDF5: the calls of MPI-IO that it makes, against those of real runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recorded_file import Call, RecordedFile, empty_batch, mpi, of_rank, recorded_file

from xc40io.config.errors import InputError
from xc40io.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_transfer import TransferProperties
from xc40io.libraries.selections import Hyperslab, Memory
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

INDEPENDENT = TransferProperties(collective=False)
SMALL_READS = [(0, 8), (0, 16), (16, 80), (96, 512)]


class Program:
    """A program that uses HDF5, its MPI file and its batch."""

    def __init__(self, ranks: int, properties: Hdf5Properties | None = None) -> None:
        self.mpi_file: RecordedFile = recorded_file(ranks)
        self.batch = empty_batch(ranks)
        properties = properties or Hdf5Properties()
        self.file = Hdf5File(self.mpi_file, mpi(), properties)  # type: ignore[arg-type]

    def calls(self) -> list[Call]:
        return self.mpi_file.take()

    def meetings(self) -> int:
        """Return how often rank 0 has met the others so far."""
        listing, bounds = self.batch.listing()
        return int(np.count_nonzero(listing["kind"][: bounds[1]] == Op.MEET))


def blocks(ranks: int, size: int, dims: int = 1) -> Hyperslab:
    """Return one block for each rank, one behind the other along the first dimension."""
    start = np.zeros((ranks, dims), np.int64)
    start[:, 0] = size * np.arange(ranks)
    return Hyperslab.of(start, [size] * dims)


def written(program: Program, chunk: tuple[int, ...] | None = None) -> Dataset:
    """Create a file with a dataset of 64 x 64 doubles a rank in a group; write it and close it."""
    file, batch = program.file, program.batch
    ranks = program.mpi_file.communicator.size
    file.create(batch)
    group = file.create_group(batch, "Data")
    dataset = file.create_dataset(batch, "set", (64 * ranks, 64), 8, chunk=chunk, group=group)
    file.write(batch, dataset, blocks(ranks, 64, 2))
    file.close(batch)
    return dataset


def test_as_ior_on_cori() -> None:
    """IOR -a HDF5, 4 ranks of 1 MiB in transfers of 256 KiB: a Darshan log with all accesses."""
    program = Program(4, Hdf5Properties(release="1.10.2", transfer=INDEPENDENT))
    file, batch = program.file, program.batch
    file.create(batch)
    dataset = file.create_dataset(batch, "Dataset-0000.0000", (4 * 131072,), 8)
    transfer = np.tile(np.arange(4), 4) * 32768
    rank = np.repeat(np.arange(4), 4)
    calls = Hyperslab.of((rank * 131072 + transfer)[:, None], 32768, rank=rank)
    file.write(batch, dataset, calls)
    file.close(batch)
    created, data, metadata, superblock, closed = program.calls()
    assert (created.name, closed.name) == ("create", "close")
    assert of_rank(data, 0) == [(2048 + 262144 * turn, 262144) for turn in range(4)]
    assert of_rank(data, 3)[0] == (3147776, 262144)
    assert [of_rank(metadata, rank) for rank in range(4)] == [
        [(96, 40), (0, 96)],
        [(136, 544), (680, 120)],
        [(800, 272)],
        [(1072, 328)],
    ]
    assert superblock.pieces == ((0, 0, 96),)

    file.open(batch)
    opened, *reads = program.calls()
    assert opened.name == "open to read"
    assert [of_rank(read, 0)[0] for read in reads] == SMALL_READS
    file.open_dataset(batch, dataset)
    (opening,) = program.calls()
    for rank in range(4):
        assert sorted(of_rank(opening, rank)) == [(136, 544), (680, 512), (800, 512), (1072, 328)]
    file.read(batch, dataset, calls)
    (read,) = program.calls()
    assert read.pieces == data.pieces


def test_every_rank_reads_five_times_512_bytes() -> None:
    """As 496 ranks of Theta did when they opened a dataset in a group (Darshan log, 1.10.1)."""
    program = Program(3)
    dataset = written(program)
    program.calls()
    program.file.open(program.batch)
    program.file.open_group(program.batch, dataset.group)
    program.file.open_dataset(program.batch, dataset)
    reads = [call for call in program.calls() if call.name == "each_read"]
    for rank in range(3):
        sizes = [size for call in reads for _, size in of_rank(call, rank)]
        assert sizes.count(512) == 5
        assert of_rank(reads[0], rank) == SMALL_READS[:3]


def test_metadata_read_collectively_are_read_by_rank_0_and_passed_on() -> None:
    program = Program(3, Hdf5Properties(collective_metadata_reads=True))
    dataset = written(program)
    program.calls()
    before = program.meetings()
    program.file.open(program.batch)
    program.file.open_group(program.batch, dataset.group)
    program.file.open_dataset(program.batch, dataset)
    reads = [call for call in program.calls() if call.name == "each_read"]
    assert {rank for call in reads for rank, _, _ in call.pieces} == {0}
    assert program.meetings() - before == len(reads) + 1  # and one for the size of the file


def test_since_1_10_2_all_ranks_read_the_metadata_of_objects() -> None:
    """Whatever is asked of the file; as recorded with 1.10.8 (IOR, --hdf5.collectiveMetadata)."""
    program = Program(3, Hdf5Properties(collective_metadata_reads=True, release="1.10.2"))
    dataset = written(program)
    program.calls()
    program.file.open(program.batch, writing=True)
    opening = [call.pieces for call in program.calls() if call.name == "each_read"]
    assert opening == [
        ((0, offset, size),) for offset, size in [*SMALL_READS, (136, 544), (680, 512)]
    ]
    program.file.open_group(program.batch, dataset.group)
    program.file.open_dataset(program.batch, dataset)
    (group, found) = (call for call in program.calls() if call.name == "each_read")
    for rank in range(3):
        assert of_rank(group, rank) == [(1504, 328), (800, 512)]
        assert sorted(of_rank(found, rank))[:2] == [(840, 544), (1384, 512)]


@pytest.mark.parametrize("collective", [False, True])
def test_metadata_are_written_by_all_ranks(collective: bool) -> None:
    program = Program(4, Hdf5Properties(collective_metadata_writes=collective))
    written(program)
    metadata = program.calls()[2]
    assert metadata.name == ("write_all" if collective else "each_write")
    # As HDF5 1.10.8 shares them out; the last entry lies behind the data.
    assert [sorted(of_rank(metadata, rank)) for rank in range(4)] == [
        [(0, 96), (96, 40), (136, 544)],
        [(680, 120), (800, 40), (840, 544)],
        [(1384, 120), (1504, 328)],
        [(1832, 272), (2104 + 4 * 32768, 328)],
    ]


def test_metadata_may_all_be_written_by_the_first_rank() -> None:
    program = Program(4, Hdf5Properties(metadata_writers="first"))
    written(program)
    metadata = program.calls()[2]
    assert len(of_rank(metadata, 0)) == len(metadata.pieces) == 10


def test_one_call_of_mpiio_for_a_contiguous_dataset() -> None:
    program = Program(4)
    written(program)
    data = program.calls()[1]
    assert data.name == "write_all"
    assert [of_rank(data, rank) for rank in range(4)] == [
        [(2104 + 32768 * rank, 32768)] for rank in range(4)
    ]


def test_an_independent_transfer_makes_a_call_for_every_piece() -> None:
    """Columns of 48 doubles out of memory in blocks of 24: 192 bytes a call (HDF5 1.10.8)."""
    program = Program(2, Hdf5Properties(transfer=INDEPENDENT))
    file, batch = program.file, program.batch
    file.create(batch)
    group = file.create_group(batch, "Data")
    dataset = file.create_dataset(batch, "a" * 24, (48, 96), 8, group=group)
    file.write(batch, dataset, Hyperslab.of([[0, 0], [0, 48]], 48), Memory(24, 32))
    data = program.calls()[1]
    assert data.name == "each_write"
    offsets = [2104, 2296, 2872, 3064, 3640, 3832]
    assert of_rank(data, 0)[:6] == [(offset, 192) for offset in offsets]
    assert len(of_rank(data, 0)) == 96


def chunked(
    transfer: TransferProperties, chunk: tuple[int, int], fill: str = "never"
) -> list[Call]:
    """Let 4 ranks write columns of 32 x 32 doubles; return the calls that move data."""
    properties = replace(Hdf5Properties(transfer=transfer), fill=fill)  # type: ignore[arg-type]
    program = Program(4, properties)
    file, batch = program.file, program.batch
    file.create(batch)
    group = file.create_group(batch, "Data")
    dataset = file.create_dataset(batch, "a" * 24, (32, 128), 8, chunk=chunk, group=group)
    columns = Hyperslab.of([[0, 32 * rank] for rank in range(4)], 32)
    file.write(batch, dataset, columns)
    return program.calls()[1:]


def test_chunks_are_linked_to_one_call() -> None:
    (data,) = chunked(TransferProperties(), (16, 64))
    assert data.name == "write_all"
    assert len(data.pieces) == 4 * 32  # rows of 32 doubles
    assert of_rank(data, 1)[:2] == [(4720 + 256, 256), (4720 + 512 + 256, 256)]


def test_multi_chunk_is_collective_where_most_ranks_take_part() -> None:
    """Chunks of 16 x 128 are in all four ranks, of 16 x 96 in three and one, of 16 x 64 in two."""
    multi = TransferProperties(chunk_io="multi")
    assert [call.name for call in chunked(multi, (16, 128))] == ["write_all"] * 2
    names = [call.name for call in chunked(multi, (16, 96))]
    assert names == ["write_all", "write", "write_all", "write"]
    calls = chunked(multi, (16, 64))
    assert [call.name for call in calls] == ["write"] * 2  # first ones and second ones of each rank
    assert of_rank(calls[0], 3)[0] == (12912 + 256, 256)
    assert of_rank(calls[1], 3)[0] == (29296 + 256, 256)
    whole = chunked(multi, (32, 32))
    assert [call.name for call in whole] == ["each_write"]
    assert of_rank(whole[0], 2) == [(4720 + 2 * 8192, 8192)]
    few = chunked(TransferProperties(chunk_io="multi", multi_percent=40), (16, 64))
    assert [call.name for call in few] == ["write_all"] * 4


def test_the_threshold_for_linking_chunks() -> None:
    assert [call.name for call in chunked(TransferProperties(link_threshold=3), (16, 32))] == [
        "each_write"
    ]
    assert [call.name for call in chunked(TransferProperties(link_threshold=2), (16, 32))] == [
        "write_all"
    ]


def test_chunks_are_filled_by_all_ranks() -> None:
    fill, data = chunked(TransferProperties(), (16, 96), "if set")
    assert fill.name == "write_all"
    assert [of_rank(fill, rank) for rank in range(4)] == [
        [(4720 + 12288 * rank, 12288)] for rank in range(4)
    ]
    assert data.name == "write_all"


@pytest.mark.parametrize(("fill", "filled"), [("if set", 0), ("never", 0), ("at allocation", 2)])
def test_a_contiguous_dataset_is_filled_by_rank_0(fill: str, filled: int) -> None:
    program = Program(2, replace(Hdf5Properties(), fill=fill))  # type: ignore[arg-type]
    program.file.create(program.batch)
    program.calls()
    program.file.create_dataset(program.batch, "x", (3, 65536), 8)
    calls = program.calls()
    assert sum(len(of_rank(call, 0)) for call in calls) == filled
    assert sum(size for call in calls for *_, size in call.pieces) == (3 << 19 if filled else 0)


def test_a_chunk_index_is_read_when_it_is_needed() -> None:
    program = Program(2, Hdf5Properties(transfer=INDEPENDENT))
    dataset = written(program, chunk=(64, 64))
    program.calls()
    program.file.open(program.batch)
    program.file.open_dataset(program.batch, dataset)
    program.calls()
    program.file.read(program.batch, dataset, blocks(2, 64, 2))
    index, data = program.calls()
    assert index.pieces == ((0, 2104, 2616), (1, 2104, 2616))
    assert sum(size for *_, size in data.pieces) == 2 * 32768
    program.file.read(program.batch, dataset, blocks(2, 64, 2))
    assert program.calls()[0].pieces == ()  # the index is in memory now


def test_releases_differ_in_how_they_set_the_size() -> None:
    for release, cuts in (("1.10.1", 1), ("1.10.2", 0)):
        program = Program(2, replace(Hdf5Properties(), release=release))  # type: ignore[arg-type]
        written(program)
        assert [call.size for call in program.calls() if call.name == "set_size"] == [67968] * cuts


def test_the_machine_says_which_release_programs_are_linked_with() -> None:
    for release, readers in (("1.10.1", {0, 1, 2}), ("1.10.2", {0})):
        program = Program(3)
        linked = mpi().model_copy(update={"hdf5": release})
        program.file = Hdf5File(program.mpi_file, linked, Hdf5Properties())  # type: ignore[arg-type]
        written(program)
        program.calls()
        program.file.open(program.batch)
        reads = [call.pieces for call in program.calls() if call.name == "each_read"]
        assert {rank for pieces in reads for rank, *_ in pieces} == readers


def test_a_file_whose_end_nobody_wrote_is_made_longer() -> None:
    program = Program(2, Hdf5Properties(release="1.10.2"))
    file, batch = program.file, program.batch
    file.create(batch)
    file.create_dataset(batch, "x", (1 << 20,), 8)
    file.flush(batch)
    names = [call.name for call in program.calls()]
    assert names == ["create", "each_write", "set_size", "sync"]
    assert file.size == 2048 + (8 << 20)
    file.flush(batch)
    assert [call.name for call in program.calls()] == ["sync"]


def test_a_file_that_is_created_again_is_emptied() -> None:
    program = Program(2)
    written(program)
    program.calls()
    program.file.create(program.batch)
    opened, emptied = program.calls()
    assert (opened.name, emptied) == ("open", Call("set_size", size=0))


def test_a_file_that_is_only_read_is_not_written() -> None:
    program = Program(2)
    dataset = written(program)
    program.calls()
    program.file.open(program.batch)
    program.file.open_dataset(program.batch, dataset)
    program.file.read(program.batch, dataset, blocks(2, 64, 2))
    program.file.close(program.batch)
    assert {call.name for call in program.calls()} == {
        "open to read", "each_read", "read_all", "close"
    }  # fmt: skip


def work_of(datatypes: bool, memory: Memory | None, block: int) -> float:
    """Return the seconds that rank 0 works in the library for a write of 64 doubles."""
    program = Program(2, Hdf5Properties(transfer=TransferProperties(datatypes=datatypes)))
    program.file.create(program.batch)
    dataset = program.file.create_dataset(program.batch, "x", (512,), 8)
    slab = Hyperslab.of([[0], [256]], block, stride=2 * block, count=64 // block)
    program.batch = Batch(np.arange(2))
    program.file.write(program.batch, dataset, slab, memory)
    listing, bounds = program.batch.listing()
    mine = listing[: bounds[1]]
    return float(mine["seconds"][mine["kind"] == Op.WORK].sum())


def test_pieces_are_described_to_mpiio() -> None:
    step = mpi().piece_time
    assert work_of(True, None, 64) == 0.0
    assert work_of(True, None, 8) == pytest.approx(8 * step)  # the type of the file
    assert work_of(True, Memory(4, 6), 8) == pytest.approx((8 + 2 * 16) * step)
    assert work_of(False, None, 8) == 0.0
    assert work_of(False, Memory(4, 6), 8) == pytest.approx(16 * step)


@pytest.mark.parametrize(
    ("dims", "chunk", "sentence"),
    [
        ((1, 1, 1, 1, 1), None, "1 to 4"),
        ((4, 0), None, "empty"),
        ((4, 4), (4,), "along each dimension"),
        ((4, 4), (8, 4), "along each dimension"),
        ((1 << 20, 1 << 10), (1 << 19, 1 << 10), "4 GiB"),
    ],
)
def test_datasets_that_hdf5_cannot_make(
    dims: tuple[int, ...], chunk: tuple[int, ...] | None, sentence: str
) -> None:
    program = Program(2)
    program.file.create(program.batch)
    with pytest.raises(InputError, match=sentence):
        program.file.create_dataset(program.batch, "x", dims, 8, chunk=chunk)
