"""PnetCDF: parallel access to files of the classic netCDF formats.

A file begins with a header that says everything about its dimensions and variables. Variables of
fixed size follow, one after the other; then come the records: a record holds one slice of every
variable whose first dimension is the unlimited one, so that the slices of one variable lie a whole
record apart. All ranks keep the header in memory; rank 0 writes it when the definitions are
complete, and later only the number of records in it. (Format: NetCDF Classic Format Specification
for CDF-1, -2 and -5. Order of the steps: PnetCDF 1.12, src/drivers/ncmpio, checked against a trace
of the MPI-IO calls of release 1.12.3.)

What IOR does with it (aiori-NCMPI.c): dimensions ``segments_times_np`` (unlimited),
``number_of_transfers`` and ``transfer_size``, one variable ``data_var`` of bytes over them in a
64-bit-offset file (CDF-2); transfer t of segment s of rank r of N is record ``s * N + r``, row t.
Without ``-c`` it is in independent mode from its first transfer until it closes the file. ``-e``,
and ``-Y`` after each transfer, is ``sync`` (IOR 4.0; IOR 3 did nothing).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.parts.mpi import Mpi
from xc40io.config.units import KIB
from xc40io.engine.types import Integers
from xc40io.libraries.mpi_driver import LibraryFile, MpiDriver
from xc40io.libraries.selections import Hyperslab, Pieces, Storage, file_pieces
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.file import MpiFile
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

_ALIGNMENT = 512  # of header and variables, unless they are large or something else is asked for
_LARGE = 4  # stripes: fixed-size variables of more than so many begin at a stripe
_COUNT_OFFSET = 4  # where the number of records is
_SIGNATURE = 8  # bytes in which rank 0 looks for the format
_NUMBER = 8  # bytes of an offset in a collective


@dataclass(frozen=True, kw_only=True)
class PnetcdfProperties:
    """How a file is made, with the library's defaults."""

    # of the format: 1 (classic), 2 (64-bit offsets) or 5 (64-bit data)
    version: Literal[1, 2, 5] = 2
    # header_align, variable_align, record_align: bytes: the extent of the header, the beginning of
    # each fixed-size variable and that of the records are multiples of them (hints
    # `nc_header_align_size`, `nc_var_align_size`, `nc_record_align_size`). Unless given, header and
    # variables go by 512 bytes, or by stripes if there is more than four stripes of fixed-size
    # variables.
    header_align: int | None = None
    variable_align: int | None = None
    record_align: int = 4
    # bytes that rank 0 reads of the header at a time (`nc_header_read_chunk_size`)
    header_read_chunk: int = 256 * KIB


class Dimension(NamedTuple):
    """A dimension; its size is 0 if it is the unlimited one."""

    name: str
    size: int


@dataclass(eq=False)
class Variable:
    """A variable."""

    # name, dimensions, element_size: as defined; size in bytes
    name: str
    dimensions: tuple[Dimension, ...]
    element_size: int
    begin: int = -1  # where it begins in the file, in bytes, once the definitions are complete

    @property
    def is_record(self) -> bool:
        """Whether it has a slice in every record."""
        return bool(self.dimensions) and self.dimensions[0].size == 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each dimension of what is in one piece: of a slice, or of everything."""
        return tuple(dimension.size for dimension in self.dimensions[self.is_record :])

    @property
    def size(self) -> int:
        """Bytes of what is in one piece."""
        return prod(self.shape) * self.element_size

    @property
    def padded(self) -> int:
        """The same, with what follows up to the next multiple of 4."""
        return _rounded(self.size, 4)


@dataclass(eq=False)
class PnetcdfFile(LibraryFile):
    """A file of PnetCDF: created or opened, closed, and perhaps opened again."""

    file: MpiFile  # the MPI file under it
    mpi: Mpi  # the MPI library
    properties: PnetcdfProperties  # how it is made
    _dimensions: list[Dimension] = field(default_factory=list)
    _variables: list[Variable] = field(default_factory=list)
    _records: int = 0
    _writing: bool = False  # whether it is open for writing
    _independent: bool = False
    _opened_alone: bool = False
    _created: bool = False  # whether it is open since it was created

    def __post_init__(self) -> None:
        self._driver = MpiDriver(self.file, self.mpi)

    def create(self, batch: Batch) -> None:
        """Create the file, or empty it if it exists; definitions follow (ncmpi_create)."""
        driver = self._driver
        first, number = driver.communicator.owners[:1], driver.file.number
        batch.note(Op.STAT, first, number)  # rank 0 looks whether it exists
        if driver.size:
            batch.add(Op.TRUNCATE, first, file=number, offset=0, timer=Timer.METADATA)
        driver.meet(batch, 2 * driver.costs.bcast(4))
        driver.file.open(batch, create=True, fresh=not driver.size)
        self._created = self._writing = True
        driver.size = self._records = 0
        self._dimensions, self._variables = [], []

    def define_dimension(self, name: str, size: int | None) -> Dimension:
        """Define a dimension of so many elements, or the unlimited one (ncmpi_def_dim)."""
        if size is None and any(dimension.size == 0 for dimension in self._dimensions):
            raise InputError(f"dimension {name}: a netCDF file has one unlimited dimension at most")
        if size is not None and size < 1:
            raise InputError(f"dimension {name}: {size} is not a size; right would be at least 1")
        self._dimensions.append(Dimension(name, size or 0))
        return self._dimensions[-1]

    def define_variable(
        self, name: str, dimensions: Sequence[Dimension], element_size: int
    ) -> Variable:
        """Define a variable over dimensions; only the first may be unlimited (ncmpi_def_var)."""
        if any(dimension.size == 0 for dimension in dimensions[1:]):
            raise InputError(f"variable {name}: only its first dimension may be unlimited")
        self._variables.append(Variable(name, tuple(dimensions), element_size))
        return self._variables[-1]

    def end_define(self, batch: Batch) -> None:
        """Lay the variables out; rank 0 writes the header (ncmpi_enddef)."""
        end = self._lay_out()
        if self.properties.version == 1 and end > 2**31 - 1:
            raise InputError(
                f"variables begin at up to {end} bytes: format version 1 ends at 2 GiB; choose 2"
            )
        self._write_header(batch, 0, self.header_size)

    @property
    def header_size(self) -> int:
        """Bytes of the header."""
        number = 8 if self.properties.version == 5 else 4
        offset = 4 if self.properties.version == 1 else 8
        lists = 3 * (4 + number)  # dimensions, attributes, variables: tag and number of each
        dimensions = sum(2 * number + _rounded(len(one.name), 4) for one in self._dimensions)
        variables = sum(
            2 * number + _rounded(len(one.name), 4)  # name and number of dimensions
            + number * len(one.dimensions) + (4 + number)  # dimensions, empty list of attributes
            + 4 + number + offset  # type, size, begin
            for one in self._variables
        )  # fmt: skip
        return 4 + number + lists + dimensions + variables

    @property
    def record_size(self) -> int:
        """Bytes from one record to the next: that of a sole record variable is not padded."""
        records = [variable for variable in self._variables if variable.is_record]
        if len(records) == 1:
            return records[0].size
        return sum(variable.padded for variable in records)

    def open(self, batch: Batch, *, writing: bool = False) -> None:
        """Open the file; rank 0 reads the header and passes it on (ncmpi_open).

        Before, it looks by itself at the first bytes for the format (ncmpi_inq_file_format).
        """
        driver, chunk = self._driver, self.properties.header_read_chunk
        self._created, self._writing = False, writing
        for kind in (Op.OPEN, Op.READ, Op.CLOSE):
            size = {"length": _SIGNATURE, "count": 1} if kind is Op.READ else {}
            first, number = driver.communicator.owners[:1], driver.file.number
            batch.add(kind, first, file=number, timer=Timer.OPEN, **size)
        driver.meet(batch, driver.costs.bcast(_NUMBER))
        driver.file.open(batch, create=False, writing=writing)
        for begin in range(0, self.header_size, chunk):
            length = min(chunk, driver.size - begin)
            driver.read(batch, _by_first(begin, length), each=True)
            driver.meet(batch, driver.costs.bcast(chunk))

    def begin_independent(self, batch: Batch) -> None:
        """Begin independent mode (ncmpi_begin_indep_data): every rank opens the file for itself.

        It does so as the file was opened: to create it, which ROMIO does before it opens the file.
        """
        if not self._opened_alone:
            for kind in (Op.OPEN, Op.CLOSE) if self._created else ():
                self._each(batch, kind)
            self._each(batch, Op.OPEN)
        self._independent = self._opened_alone = True

    def end_independent(self, batch: Batch) -> None:
        """End independent mode (ncmpi_end_indep_data): the ranks agree on the number of records."""
        self._save_records(batch)
        self._independent = False

    def put(self, batch: Batch, variable: Variable, selection: Hyperslab) -> None:
        """Write what each rank selects of a variable (ncmpi_put_vars).

        In independent mode each row of the selection is a call of its own; else all ranks make one
        collective call (``..._all``), with one row for each.
        """
        grown = 0
        if variable.is_record and selection.elements.any():
            last = selection.start + (selection.count - 1) * selection.stride + selection.block
            grown = int(last[selection.elements > 0, 0].max())
        more = grown > self._records
        self._records = max(self._records, grown)
        self._move(batch, variable, selection, writing=True)
        if variable.is_record and not self._independent:
            self._agree_on_records(batch, grown=more)

    def get(self, batch: Batch, variable: Variable, selection: Hyperslab) -> None:
        """Read what each rank selects of a variable (ncmpi_get_vars), as :meth:`put` writes it."""
        self._move(batch, variable, selection, writing=False)

    def put_together(
        self, batch: Batch, variables: Sequence[Variable], record: int, regions: Accesses
    ) -> None:
        """Write the same regions of several variables at once, in a record if they are record ones.

        Each rank has made its lists of them (ncmpi_iput_varn), and all wait for what that takes
        (ncmpi_wait_all), which merges them to one collective call (ncmpio_wait.c). Offsets of
        ``regions`` are from where a variable's slice begins.
        """
        more = variables[0].is_record and record >= self._records
        self._records = max(self._records, record + 1) if variables[0].is_record else self._records
        begin = np.array(
            [one.begin + one.is_record * record * self.record_size for one in variables]
        )
        rank = np.tile(regions.rank, len(variables))
        offset = (begin[:, None] + regions.offset).ravel()
        pieces = Pieces(rank, np.zeros_like(rank), offset, np.tile(regions.length, len(variables)))
        driver = self._driver
        of_rank = np.bincount(rank, minlength=driver.communicator.size)
        driver.describe(batch, driver.ranks, np.where(of_rank > 1, of_rank, 0))
        driver.write_all(batch, pieces.accesses(driver.ranks))
        if variables[0].is_record:
            self._agree_on_records(batch, grown=more)

    def sync(self, batch: Batch) -> None:
        """Make durable what was written (ncmpi_sync)."""
        self._save_records(batch)
        self._driver.sync(batch)
        self._driver.barrier(batch)

    def close(self, batch: Batch) -> None:
        """Close the file (ncmpi_close)."""
        self.end_independent(batch)
        if self._opened_alone:
            self._each(batch, Op.CLOSE)
        self._opened_alone = False
        self._driver.close(batch)

    def _lay_out(self) -> int:
        """Give every variable its place; return where the last one begins."""
        fixed = [variable for variable in self._variables if not variable.is_record]
        stripe = self.file.layout.stripe_size  # MPI-IO says it as the hint striping_unit
        large = sum(variable.padded for variable in fixed) > _LARGE * stripe
        default = stripe if large else _ALIGNMENT
        variable_align = _rounded(self.properties.variable_align or default, 4)
        header_align = self.properties.header_align or self.properties.variable_align or default
        end = _rounded(self.header_size, _rounded(header_align, 4))
        last = end
        for variable in fixed:
            variable.begin = last = _rounded(end, variable_align)
            end = last + variable.padded
        end = _rounded(_rounded(end, variable_align), _rounded(self.properties.record_align, 4))
        for variable in self._variables:
            if variable.is_record:
                variable.begin = last = end
                end += variable.padded
        return last

    def _move(
        self, batch: Batch, variable: Variable, selection: Hyperslab, *, writing: bool
    ) -> None:
        """Move what each rank selects, and let MPI-IO know it as a datatype."""
        driver = self._driver
        pieces = file_pieces(selection, self._storage(variable))
        of_row = np.bincount(pieces.row, minlength=len(selection.rank))
        driver.describe(batch, selection.rank, np.where(of_row > 1, of_row, 0))
        if not self._independent:
            move_all = driver.write_all if writing else driver.read_all
            move_all(batch, pieces.accesses(selection.rank))
            return
        move = driver.write if writing else driver.read
        if (of_row <= 1).all():
            rank = selection.rank[pieces.row]
            move(batch, Accesses(rank, pieces.offset, pieces.length), each=True)
            return
        for calls in _turns(pieces, selection.rank):
            move(batch, calls, each=False)

    def _storage(self, variable: Variable) -> Storage:
        """Return where a variable lies: each slice of a record variable is a piece of its own."""
        if not variable.is_record:
            shape = variable.shape or (1,)
            return Storage(shape, variable.element_size, shape, np.array([variable.begin]))
        records = np.arange(self._records)
        return Storage(
            (self._records, *variable.shape),
            variable.element_size,
            (1, *variable.shape),
            variable.begin + records * self.record_size,
        )

    def _save_records(self, batch: Batch) -> None:
        """In independent mode write the number of records, whether it has grown or not.

        No rank knows whether it has for the others (ncmpio_sync.c, ncmpio_sync_numrecs).
        """
        some = any(variable.is_record for variable in self._variables)
        if some and self._independent and self._writing:
            self._agree_on_records(batch, grown=True)

    def _agree_on_records(self, batch: Batch, *, grown: bool) -> None:
        """Find the largest number of records of all ranks; rank 0 writes it into the header."""
        self._driver.meet(batch, self._driver.costs.allreduce(_NUMBER))
        if grown:
            self._write_header(batch, _COUNT_OFFSET, 8 if self.properties.version == 5 else 4)

    def _write_header(self, batch: Batch, offset: int, length: int) -> None:
        self._driver.write(batch, _by_first(offset, length), each=True)

    def _each(self, batch: Batch, kind: Op) -> None:
        """Open or close the file at every rank by itself, beside what all have open together."""
        communicator, number = self._driver.communicator, self._driver.file.number
        batch.add(kind, communicator.owners, file=number, timer=Timer.OPEN)


def _turns(pieces: Pieces, rank: Integers) -> list[Accesses]:
    """Return the calls of several rows of each rank: all first ones, all second ones, and so on."""
    first = np.searchsorted(rank, rank)
    turn = (np.arange(len(rank)) - first)[pieces.row]
    return [
        pieces.only(turn == number).accesses(rank)
        for number in range(int(turn.max(initial=-1)) + 1)
    ]


def _by_first(offset: int, length: int) -> Accesses:
    return Accesses(np.zeros(1, np.int64), np.array([offset]), np.array([length]))


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit
