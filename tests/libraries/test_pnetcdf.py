"""PnetCDF: header, layout and calls of MPI-IO, against those of PnetCDF 1.12.3."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from recorded_file import RecordedFile, empty_batch, mpi, of_rank, recorded_file

from xc40io.config.errors import InputError
from xc40io.libraries.pnetcdf import PnetcdfFile, PnetcdfProperties, Variable
from xc40io.libraries.selections import Hyperslab
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

MIB = 1 << 20


class Ior:
    """IOR's file: one variable over records, transfers and bytes; and what it is made with."""

    def __init__(
        self,
        ranks: int = 2,
        transfers: int = 2,
        size: int = 1024,
        others: int = 0,
        **properties: object,
    ) -> None:
        self.mpi_file: RecordedFile = recorded_file(ranks)
        self.batch = empty_batch(ranks)
        self.file = PnetcdfFile(
            self.mpi_file,  # type: ignore[arg-type]
            mpi(),
            PnetcdfProperties(**properties),  # type: ignore[arg-type]
        )
        self.size = size
        self.file.create(self.batch)
        dimensions = [
            self.file.define_dimension("segments_times_np", None),
            self.file.define_dimension("number_of_transfers", transfers),
            self.file.define_dimension("transfer_size", size),
        ]
        self.others: list[Variable] = []
        if others:
            self.others = [self.file.define_variable("fixed_var", dimensions[1:], 8)]
        self.variable = self.file.define_variable("data_var", dimensions, 1)
        if others > 1:
            self.others.append(self.file.define_variable("more_var", dimensions, 1))
        self.file.end_define(self.batch)

    def transfer(self, segment: int, transfer: int) -> Hyperslab:
        """Return one transfer of every rank."""
        ranks = self.mpi_file.communicator.size
        start = [[segment * ranks + rank, transfer, 0] for rank in range(ranks)]
        return Hyperslab.of(start, [1, 1, self.size])


def test_as_ior_writes_collectively() -> None:
    ior = Ior()
    created, header = ior.mpi_file.take()
    assert created.name == "create"
    assert header.pieces == ((0, 0, 164),)
    assert (ior.variable.begin, ior.file.record_size) == (512, 2048)
    ior.file.put(ior.batch, ior.variable, ior.transfer(0, 0))
    data, count = ior.mpi_file.take()
    assert data.pieces == ((0, 512, 1024), (1, 2560, 1024))
    assert (count.name, count.pieces) == ("each_write", ((0, 4, 4),))
    ior.file.put(ior.batch, ior.variable, ior.transfer(0, 1))
    (data,) = ior.mpi_file.take()  # no new records
    assert (data.name, data.pieces) == ("write_all", ((0, 1536, 1024), (1, 3584, 1024)))
    ior.file.put(ior.batch, ior.variable, ior.transfer(1, 0))
    data, count = ior.mpi_file.take()
    assert data.pieces == ((0, 4608, 1024), (1, 6656, 1024))
    ior.file.close(ior.batch)
    assert [call.name for call in ior.mpi_file.take()] == ["close"]


def test_as_ior_writes_independently() -> None:
    ior = Ior()
    ior.mpi_file.take()
    before = len(ior.batch.listing()[0])
    ior.file.begin_independent(ior.batch)
    operations, bounds = ior.batch.listing()
    # Each for itself: ROMIO creates the file and closes it before it opens it.
    assert operations["kind"][: bounds[1]].tolist()[-3:] == [Op.OPEN, Op.CLOSE, Op.OPEN]
    assert len(operations) == before + 6
    rows = [ior.transfer(segment, turn) for segment in range(2) for turn in range(2)]
    start = np.stack([row.start for row in rows], axis=1).reshape(-1, 3)
    calls = Hyperslab.of(start, [1, 1, 1024], rank=np.repeat([0, 1], 4))
    ior.file.put(ior.batch, ior.variable, calls)
    (data,) = ior.mpi_file.take()
    assert data.name == "each_write"
    assert of_rank(data, 0) == [(512, 1024), (1536, 1024), (4608, 1024), (5632, 1024)]
    assert of_rank(data, 1) == [(2560, 1024), (3584, 1024), (6656, 1024), (7680, 1024)]
    ior.file.end_independent(ior.batch)
    (count,) = ior.mpi_file.take()
    assert count.pieces == ((0, 4, 4),)
    ior.file.close(ior.batch)
    assert ior.batch.listing()[0]["kind"].tolist().count(Op.CLOSE) == 4


def test_rank_0_reads_the_header_and_passes_it_on() -> None:
    ior = Ior()
    ior.file.put(ior.batch, ior.variable, ior.transfer(0, 1))
    ior.file.close(ior.batch)
    ior.mpi_file.take()
    ior.file.open(ior.batch)
    opened, header = ior.mpi_file.take()
    assert opened.name == "open to read"
    operations, bounds = ior.batch.listing()
    mine = operations[: bounds[1]]
    looked = mine[np.isin(mine["kind"], [Op.OPEN, Op.READ, Op.CLOSE])]
    assert looked["kind"].tolist() == [Op.OPEN, Op.READ, Op.CLOSE]
    assert (looked["offset"][1], looked["length"][1]) == (0, 8)
    assert header.pieces == ((0, 0, 4608),)  # as much as there is of 256 KiB
    ior.file.get(ior.batch, ior.variable, ior.transfer(0, 1))
    (data,) = ior.mpi_file.take()
    assert (data.name, data.pieces) == ("read_all", ((0, 1536, 1024), (1, 3584, 1024)))


@pytest.mark.parametrize(
    ("shape", "properties", "variable", "others", "record"),
    [
        # transfers, bytes of a transfer, other variables; as ncmpi_inq_varoffset tells them
        ((1, 1024, 1), {}, 8704, [512], 1024),
        ((1, 4 * MIB, 1), {}, 33 * MIB, [MIB], 4 * MIB),  # large: from stripe to stripe
        ((4, 16 * MIB, 2), {}, 513 * MIB, [MIB, 577 * MIB], 128 * MIB),
        ((1, 1024, 1), {"header_align": 10240}, 18432, [10240], 1024),
        ((1, 1024, 2), {"variable_align": 4096}, 12288, [4096, 13312], 2048),
        ((3, 1001, 2), {"record_align": 8192}, 24576, [512, 27580], 6008),
        ((3, 1001, 0), {"header_align": 10240, "record_align": 8192}, 16384, [], 3003),
        ((3, 1001, 0), {"variable_align": 4096}, 4096, [], 3003),
        ((1, 16 * MIB, 0), {}, 512, [], 16 * MIB),  # records are not aligned
    ],
)
def test_layout(
    shape: tuple[int, int, int],
    properties: dict[str, int],
    variable: int,
    others: list[int],
    record: int,
) -> None:
    ior = Ior(1, *shape, **properties)
    assert ior.variable.begin == variable
    assert [other.begin for other in ior.others] == others
    assert ior.file.record_size == record


@pytest.mark.parametrize(
    ("others", "version", "size"), [(0, 2, 164), (1, 2, 216), (2, 2, 268), (0, 1, 160), (0, 5, 232)]
)
def test_header_size(others: int, version: Literal[1, 2, 5], size: int) -> None:
    assert Ior(1, others=others, version=version).file.header_size == size


def test_slices_of_a_variable_lie_a_record_apart() -> None:
    ior = Ior(1, 1, 1000, others=2)
    ior.mpi_file.take()
    slab = Hyperslab.of([[0, 0, 100]], [3, 1, 50])
    ior.file.put(ior.batch, ior.variable, slab)
    data = ior.mpi_file.take()[0]
    begin, record = ior.variable.begin, ior.file.record_size
    assert record == 2000
    assert of_rank(data, 0) == [(begin + 100 + turn * record, 50) for turn in range(3)]
    fixed = ior.others[0]
    ior.file.put(ior.batch, fixed, Hyperslab.of([[0, 10]], [1, 5]))
    assert of_rank(ior.mpi_file.take()[0], 0) == [(fixed.begin + 80, 40)]


def test_a_strided_independent_call_is_one_call() -> None:
    ior = Ior(2, 4, 100)
    ior.file.begin_independent(ior.batch)
    ior.mpi_file.take()
    strided = Hyperslab.of([[0, 0, 0], [1, 0, 0]], [1, 1, 10], stride=[1, 2, 10], count=[1, 2, 1])
    ior.file.put(ior.batch, ior.variable, strided)
    (data,) = ior.mpi_file.take()
    assert data.name == "write"
    assert of_rank(data, 1) == [(512 + 400, 10), (512 + 600, 10)]


def test_sync_and_create_again() -> None:
    ior = Ior()
    ior.mpi_file.take()
    ior.file.sync(ior.batch)
    assert [call.name for call in ior.mpi_file.take()] == ["sync"]
    ior.file.close(ior.batch)
    ior.mpi_file.take()
    ior.batch = Batch(np.arange(2))
    ior.file.create(ior.batch)
    assert [call.name for call in ior.mpi_file.take()] == ["open"]
    assert ior.batch.listing()[0]["kind"].tolist().count(Op.TRUNCATE) == 1
    assert ior.file.size == 0


def test_impossible_definitions() -> None:
    ior = Ior()
    with pytest.raises(InputError, match="one unlimited dimension"):
        ior.file.define_dimension("time", None)
    with pytest.raises(InputError, match="at least 1"):
        ior.file.define_dimension("x", 0)
    x = ior.file.define_dimension("x", 5)
    time = ior.variable.dimensions[0]
    with pytest.raises(InputError, match="only its first"):
        ior.file.define_variable("y", [x, time], 8)
    with pytest.raises(InputError, match="2 GiB"):
        Ior(1, 4, 128 * MIB, others=1, version=1)
