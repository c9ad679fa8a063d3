"""The HDF5 exerciser: hyperslabs of a dataset, written and read back in many ways.

A kernel after the Parallel HDF5 Exerciser of the ExaHDF5 project (now part of h5bench, where its
options are documented; they have the same names here). Every rank has a buffer of doubles, with as
many elements along each dimension as it is told. For each of a series of sizes the program creates
a file, a group in it (with attributes, if asked for) and a dataset that holds the buffers of all
ranks, writes, flushes and closes it; opens it again, reads the dataset, perhaps writes a second one
of a compound type, flushes and closes. Each call is timed from a barrier before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, field_validator

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Bytes, Count, Size, format_bytes
from xc40io.libraries.hdf5 import Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_header import FLOAT, INTEGER, compound
from xc40io.libraries.hdf5_objects import Group
from xc40io.libraries.hdf5_transfer import TransferProperties
from xc40io.libraries.selections import Hyperslab, Memory, grid_positions
from xc40io.mpi.hints import InForce, Switch
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.array_rows import MOST_ROWS, rows_as_one
from xc40io.workloads.job_results import Figure
from xc40io.workloads.kernels.kernel import Kernel, KernelRun, Natural
from xc40io.workloads.kernels.shared_file import SharedFile, in_force_of

if TYPE_CHECKING:
    import simpy

    from xc40io.workloads.job import Job, Waiting

_DOUBLE = 8  # bytes of an element of the first dataset
_COMPOUND = 40  # of the second one: five integers and two doubles
_COMPOUND_TYPE = compound(
    {
        "total blocks": INTEGER,
        "time": FLOAT,
        "timestep": FLOAT,
        "number of steps": INTEGER,
        "nxb": INTEGER,
        "nyb": INTEGER,
        "nzb": INTEGER,
    }
)
_FILE = "hdf5TestFile"
_ATTRIBUTES, _ATTRIBUTE_SIZE = 64, 1024
_BEGIN, _END = range(2)  # marks
_MOST_ELEMENTS = 2**31 - 1  # of a rank's buffer: the program counts them in an int


def _numbers(value: object) -> object:
    """Read numbers, one for each dimension, typed as ``8 8``, ``8,8`` or a list."""
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[0-9]{1,18}(\s*[\s,]\s*[0-9]{1,18})*\s*", value):
            raise ValueError(f"{value!r} is not a list of numbers; right would be 64 64 or 64,64")
        return tuple(int(part) for part in re.findall(r"[0-9]+", value))
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Numbers = Annotated[tuple[Natural, ...], BeforeValidator(_numbers)]
"""Numbers, one for each dimension, or one for all of them."""


@dataclass(frozen=True)
class Layout:
    """How the buffers of one size lie in dataset and memory; numbers of elements."""

    elements: tuple[int, ...]  # of a rank's buffer along each dimension
    block: tuple[int, ...]  # of the dataset, along each dimension: a buffer is cut into them
    stride: tuple[int, ...]  # from one block to the next
    count: tuple[int, ...]  # blocks
    memory_block: int  # of a piece in memory
    memory_stride: int  # from one piece to the next

    @property
    def buffer(self) -> int:
        """Bytes that a rank writes of doubles."""
        return prod(self.elements) * _DOUBLE

    @property
    def span(self) -> tuple[int, ...]:
        """Elements of the dataset that one rank's part takes along each dimension."""
        return tuple(step * number for step, number in zip(self.stride, self.count, strict=True))

    @property
    def memory(self) -> int:
        """Bytes that the doubles take in a rank's memory, gaps and all."""
        return self.buffer // self.memory_block * self.memory_stride


class Exerciser(Kernel):
    """Every rank writes and reads its part of a dataset of one to four dimensions.

    Where a number for each dimension is asked for, one number stands for all of them.
    """

    name: ClassVar[str] = "exerciser"

    numdims: Annotated[int, Field(ge=1, le=4)] = Field(1, description="Dimensions.")
    minels: Numbers = Field(
        (8,), description="Doubles of a rank's buffer along each dimension, at first."
    )
    nsizes: Count = Field(1, description="Buffer sizes.")
    bufmult: Numbers = Field(
        (2,), description="What each dimension is multiplied by for the next size."
    )
    dimranks: Numbers = Field(
        (), description="Ranks along each dimension; all along the first unless given."
    )
    rshift: Natural = Field(
        0, description="Ranks by which writes are shifted, reads twice: past the client's cache."
    )
    metacoll: bool = Field(
        False,
        description="Metadata are read and written collectively, by an exerciser that is built "
        "with -DMETACOLOK; h5bench builds it without.",
    )
    derivedtype: bool = Field(False, description="A second dataset, of a compound type.")
    addattr: bool = Field(False, description="64 attributes of 1 KiB each for the group.")
    indepio: bool = Field(False, description="Raw data go independently, not collectively.")
    usechunked: bool = Field(
        False,
        description="Chunks of the size of a file block. Before h5bench 1.6, and those of the "
        "compound type ever since, they are moved one by one.",
    )
    memblock: Natural = Field(
        0, description="Doubles of a piece of the buffer in memory; 0: all in one."
    )
    memstride: Natural = Field(0, description="Doubles from one piece in memory to the next.")
    fileblocks: Numbers = Field(
        (0,), description="Elements of a block in the dataset along each dimension; 0: all in one."
    )
    filestrides: Numbers = Field(
        (0,), description="Elements from one block to the next along each dimension."
    )
    maxcheck: Bytes | None = Field(
        None, description="Largest buffer that is checked after it is read; all unless given."
    )
    writeonly: bool = Field(
        False, description="The first dataset is not read back; the original always does."
    )
    keepfile: bool = Field(False, description="The file is not removed in the end.")
    driver: Literal["mpi", "one-sided"] = Field(
        "mpi",
        description="HDF5's MPI driver, or the collective one (CCIO): data are put straight into "
        "the aggregators' buffers, and no datatypes are built and taken apart.",
    )
    iterations: Count = Field(1, description="Times that each size is done; the original does 10.")
    release: Literal["1.10.1", "1.10.2"] | None = Field(
        None, description="Release of HDF5; unless given, that of the machine (mpi.hdf5)."
    )
    h5bench: Literal["1.5", "1.6"] = Field(
        "1.6", description="Release of h5bench; 1.5 stands for all before it, too."
    )
    alignment: Size = Field(1, description="Objects in the file begin at multiples of this.")
    alignment_threshold: Size = Field(1, description="Smaller objects are not aligned.")

    @field_validator("minels", "bufmult")
    @classmethod
    def _not_empty(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if not value or min(value) < 1:
            raise ValueError(f"{list(value)}: right would be numbers of at least 1")
        return value

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the options go together, and the buffers into the memory."""
        ranks = scenario.nodes * scenario.ppn
        for option in ("minels", "bufmult", "dimranks", "fileblocks", "filestrides"):
            given = getattr(self, option)
            if len(given) not in (1, self.numdims) and (given or option != "dimranks"):
                raise InputError(
                    f"kernel exerciser: {option} has {len(given)} numbers; right would be one for "
                    f"each of the {self.numdims} dimensions, or one for all"
                )
        if self.indepio and self.driver == "one-sided":
            raise InputError(
                "kernel exerciser: driver = one-sided is for collective transfers; right would be "
                "indepio = false or driver = mpi"
            )
        if 2 * self.rshift > ranks:
            raise InputError(
                f"kernel exerciser: rshift = {self.rshift} is more than half of the {ranks} ranks, "
                "and reads are shifted twice as far"
            )
        self._check_sizes(scenario, machine)

    def _check_sizes(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError if the largest buffers are too large."""
        largest = self.layout(self.nsizes - 1)
        if prod(largest.elements) > _MOST_ELEMENTS:
            raise InputError(
                f"kernel exerciser: buffers of {largest.elements} elements; the program counts up "
                f"to {_MOST_ELEMENTS:,} of them"
            )
        buffers = largest.memory * (3 if self.rshift else 2) + prod(largest.elements) * _COMPOUND
        node, room = buffers * scenario.ppn, machine.nodes.memory
        if node > room:
            raise InputError(
                f"kernel exerciser: the buffers of a node take {format_bytes(node, 3)} at the "
                f"largest size; a node of {machine.name} has {format_bytes(room, 3)}"
            )
        dims = prod(largest.span) * scenario.nodes * scenario.ppn * _DOUBLE
        if dims > machine.lustre.capacity:
            raise InputError(
                f"kernel exerciser: the dataset takes {dims / 1e15:.1f} PB at the largest size; "
                f"the file system of {machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
            )

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all sizes, written and read."""
        each = (1 if self.writeonly else 2) * _DOUBLE + (_COMPOUND if self.derivedtype else 0)
        elements = sum(prod(self.layout(size).elements) for size in range(self.nsizes))
        return ranks * elements * each * self.iterations

    def layout(self, size: int) -> Layout:
        """Return how the buffers of the ``size``-th size lie in dataset and memory, from 0."""
        pairs = zip(self._each("minels"), self._each("bufmult"), strict=True)
        elements = tuple(least * factor**size for least, factor in pairs)
        block, stride, count = [], [], []
        for total, part, step in zip(
            elements, self._each("fileblocks"), self._each("filestrides"), strict=True
        ):
            fits = part > 0 and total % part == 0
            block.append(part if fits else total)
            stride.append(max(step, part) if fits else total)
            count.append(total // block[-1])
        every = prod(elements)
        pieces = self.memblock > 0 and every % self.memblock == 0
        return Layout(
            elements=elements,
            block=tuple(block),
            stride=tuple(stride),
            count=tuple(count),
            memory_block=self.memblock if pieces else every,
            memory_stride=max(self.memstride, self.memblock) if pieces else every,
        )

    def grid(self, ranks: int) -> tuple[int, ...]:
        """Return how many ranks there are along each dimension."""
        if self.dimranks and prod(self._each("dimranks")) == ranks:
            return self._each("dimranks")
        return (ranks, *[1] * (self.numdims - 1))

    def remarks(self, ranks: int) -> list[str]:
        """Return what the program warns of: a sentence for each option that does not fit."""
        remarks = []
        if self.dimranks and self.grid(ranks) != self._each("dimranks"):
            remarks.append(
                f"dimranks = {list(self.dimranks)} does not make {ranks} ranks: they are all along "
                "the first dimension."
            )
        for size in range(self.nsizes):
            layout = self.layout(size)
            wanted = self._each("fileblocks")
            if any(part not in (0, own) for part, own in zip(wanted, layout.block, strict=True)):
                remarks.append(
                    f"fileblocks = {list(self.fileblocks)} does not divide buffers of "
                    f"{list(layout.elements)} elements: a block is the whole buffer there."
                )
            if self.memblock not in (0, layout.memory_block):
                remarks.append(
                    f"memblock = {self.memblock} does not divide buffers of "
                    f"{prod(layout.elements)} elements: they are contiguous in memory."
                )
        return remarks

    def _each(self, option: str) -> tuple[int, ...]:
        """Return the numbers of an option, one for each dimension."""
        given: tuple[int, ...] = getattr(self, option)
        return given * self.numdims if len(given) == 1 else given

    def run(self, job: Job) -> Waiting:
        """Do all sizes, one after the other."""
        yield from _Run(self, job).run()


_Result = TypeVar("_Result")


class _Run(KernelRun[Exerciser]):
    """One run of the exerciser."""

    def __init__(self, options: Exerciser, job: Job) -> None:
        super().__init__(options, job)
        job.notes.extend(options.remarks(job.ranks))
        in_force = in_force_of(job, _FILE)
        if self._is_one_sided:
            in_force = _one_sided(in_force)
        self._shared = SharedFile(job, _FILE, in_force)
        self._file = Hdf5File(self._shared.mpi, job.machine.mpi, self._properties())
        self._grid = options.grid(job.ranks)

    @property
    def _is_one_sided(self) -> bool:
        return self._options.driver == "one-sided"

    def run(self) -> Waiting:
        """Create the file once, which nobody times; then do all sizes; remove the file."""
        options, job = self._options, self._job
        batch = job.batch()
        self._file.create(batch)
        self._file.close(batch)
        self._file.properties = self._properties(collective_writes=options.metacoll)
        yield from job.do(batch, "metadata")
        self._shared.start_timers()
        for size in range(options.nsizes):
            layout = self._with_fewer_rows(options.layout(size))
            for iteration in range(options.iterations):
                yield from self._iteration(layout, iteration)
        if not options.keepfile:
            batch = job.batch()
            batch.add(Op.UNLINK, job.world.owners[:1], file=self._shared.files.first)
            yield from job.do(batch, "metadata")

    def _with_fewer_rows(self, layout: Layout) -> Layout:
        """Return a layout with several rows as one, if there are more than can be told."""
        *outer, before, last = 1, 1, *layout.elements
        rows = prod(outer) * before * self._job.ranks
        cut = set(layout.count) == {1} and not self._options.usechunked
        as_one = next(
            n
            for n in range(1, before + 1)
            if before % n == 0 and (n == before or rows // n <= MOST_ROWS)
        )
        if as_one == 1 or not cut:
            return layout
        elements = (*outer, before // as_one, last * as_one)[-len(layout.elements) :]
        self._job.notes.append(rows_as_one(as_one, rows))
        return replace(layout, elements=elements, block=elements, stride=elements)

    def _iteration(self, layout: Layout, iteration: int) -> Waiting:
        """Write a dataset into a new file, open it again and read it."""
        file, options = self._file, self._options
        self._step = format_bytes(layout.buffer, 4)
        if options.iterations > 1:
            self._step += f" #{iteration + 1}"
        yield from self._timed("H5Fcreate", file.create)
        group = yield from self._timed("H5Gcreate", lambda batch: file.create_group(batch, "Data"))
        if options.addattr:
            names = [f"Attribute {number} Name" for number in range(_ATTRIBUTES)]
            yield from self._timed(
                "H5Acreate", lambda _: file.add_attributes(group, names, _ATTRIBUTE_SIZE)
            )
        yield from self._write_and_read(group, layout, f"hdf5DataSet1-iter{iteration}")
        if options.derivedtype:
            yield from self._compound(group, layout)
        yield from self._flush_and_close(writing=False)

    def _write_and_read(self, group: Group, layout: Layout, name: str) -> Waiting:
        """Write the dataset of doubles, close the file, open it again, read the dataset."""
        file, options, ranks = self._file, self._options, self._job.ranks
        dims = tuple(part * many for part, many in zip(layout.span, self._grid, strict=True))
        chunk = layout.block if options.usechunked else None
        dataset = yield from self._timed(
            "H5Dcreate",
            lambda batch: file.create_dataset(batch, name, dims, _DOUBLE, chunk=chunk, group=group),
        )
        memory, moved = Memory(layout.memory_block, layout.memory_stride), layout.buffer * ranks
        mine = self._selection(layout, options.rshift)
        yield from self._timed(
            "H5Dwrite", lambda batch: file.write(batch, dataset, mine, memory), moved
        )
        yield from self._flush_and_close(writing=True)
        file.properties = self._properties()
        if options.writeonly:
            yield from self._timed("H5Fopen", lambda batch: file.open(batch, writing=True))
            return
        yield from self._timed("H5Fopen", lambda batch: file.open(batch, writing=True))
        yield from self._timed("H5Gopen", lambda batch: file.open_group(batch, group))
        yield from self._timed("H5Dopen", lambda batch: file.open_dataset(batch, dataset))
        theirs = self._selection(layout, 2 * options.rshift)
        checked = options.maxcheck is None or layout.buffer <= options.maxcheck
        yield from self._timed(
            "H5Dread",
            lambda batch: file.read(batch, dataset, theirs, memory),
            moved,
            work=layout.memory / self._job.machine.mpi.copy_rate if checked else 0.0,
        )

    def _compound(self, group: Group, layout: Layout) -> Waiting:
        """Write the dataset of the compound type; its parts are in one piece along each dimension.

        Unlike the other it is not read, nor are its ranks shifted, and its chunks go one by one.
        """
        file, options = self._file, self._options
        whole = replace(layout, block=layout.elements, stride=layout.elements)
        whole = replace(whole, count=(1,) * options.numdims)
        dims = tuple(part * many for part, many in zip(whole.span, self._grid, strict=True))
        inner = yield from self._timed(
            "H5Gcreate", lambda batch: file.create_group(batch, "derivedData", group)
        )
        dataset = yield from self._timed(
            "H5Dcreate",
            lambda batch: file.create_dataset(
                batch,
                "simulation parameters",
                dims,
                _COMPOUND,
                chunk=whole.block if options.usechunked else None,
                group=inner,
                type_size=_COMPOUND_TYPE,
            ),
        )
        mine = self._selection(whole, 0)
        moved = int(mine.elements.sum()) * _COMPOUND
        kept = file.properties
        file.properties = replace(kept, transfer=replace(kept.transfer, chunk_io="multi"))
        yield from self._timed("H5Dwrite", lambda batch: file.write(batch, dataset, mine), moved)
        file.properties = kept

    def _flush_and_close(self, *, writing: bool) -> Waiting:
        """Flush and close the file, which was opened to write or to read the dataset of doubles."""
        yield from self._timed("H5Fflush", self._file.flush)
        yield from self._timed("H5Fclose", self._file.close)
        self._shared.tell(self._step, writing=writing)

    def _timed(
        self,
        name: str,
        call: Callable[[Batch], _Result],
        moved: int = 0,
        *,
        work: float = 0.0,
    ) -> Generator[simpy.Event, Any, _Result]:
        """Make a call at all ranks after a barrier, and add its row.

        ``call`` adds what it does to a batch; ``moved`` are the bytes of all ranks, ``work`` the
        seconds that each rank works afterwards, which nobody times.
        """
        job = self._job
        batch, world = job.batch(), job.world
        job.barrier(batch)
        batch.add(Op.MARK, world.owners, mark=_BEGIN)
        result = call(batch)
        batch.add(Op.MARK, world.owners, mark=_END)
        if work:
            batch.add(Op.WORK, world.owners, seconds=work)
        label = {"H5Dwrite": "write", "H5Dread": "read"}.get(name, "metadata")
        yield from job.do(batch, label)
        times = job.marks()
        longest = float((times[:, _END] - times[:, _BEGIN]).max())
        figures = {"raw rate": Figure(moved / longest, "bytes/s")} if moved else None
        job.record(self._step, name, times[:, _BEGIN], times[:, _END], moved, figures)
        return result

    def _selection(self, layout: Layout, shift: int) -> Hyperslab:
        """Return what each rank selects, if it takes the part of the rank ``shift`` further on."""
        ranks = self._job.ranks
        position = grid_positions((np.arange(ranks) + shift) % ranks, self._grid)
        return Hyperslab.of(
            position * np.array(layout.span),
            np.array(layout.block),
            stride=np.array(layout.stride),
            count=np.array(layout.count),
        )

    def _properties(self, *, collective_writes: bool = False) -> Hdf5Properties:
        """Return how the program has HDF5 access the file.

        It asks for collective writes of metadata once, after the file was made for the first time,
        and makes its list anew when it opens the file to read: from then on they are not.
        """
        options = self._options
        return Hdf5Properties(
            release=options.release,
            alignment=options.alignment,
            alignment_threshold=options.alignment_threshold,
            collective_metadata_reads=options.metacoll,
            collective_metadata_writes=collective_writes,
            fill="never",
            transfer=TransferProperties(
                collective=not options.indepio,
                chunk_io="multi" if options.h5bench == "1.5" else "link",
                datatypes=not self._is_one_sided,
            ),
        )


def _one_sided(in_force: InForce) -> InForce:
    """Return what is in force for a file whose collective writes the one-sided driver does itself.

    As the authors ran it on Theta: one put with a derived datatype to each target
    (``HDF5_CCIO_WR_METHOD=2``), aggregators and buffers as Cray's MPI has them.
    """
    hints = replace(
        in_force.hints,
        write_method="one-sided",
        put_datatypes=True,
        romio_cb_write=Switch.ENABLE,
    )
    ours = ("write_method", "put_datatypes", "romio_cb_write")
    origin = {**in_force.origin, **dict.fromkeys(ours, "driver = one-sided")}
    return replace(in_force, hints=hints, origin=origin)
