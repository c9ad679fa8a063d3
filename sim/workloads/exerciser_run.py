"""The HDF5 exerciser at work."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import simpy

from sim.config.units import format_bytes
from sim.libraries.hdf5 import Hdf5File, Hdf5Properties
from sim.libraries.hdf5_objects import Group
from sim.libraries.hdf5_transfer import TransferProperties
from sim.libraries.selections import Hyperslab, Memory, grid_positions
from sim.mpi.collectives import Collectives
from sim.mpi.file import MpiFile
from sim.mpi.hints import Hints, InForce, Switch, resolve
from sim.mpi.record import MpiRecord
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.exerciser import COMPOUND, DOUBLE, Exerciser, Layout
from sim.workloads.job import Job, Waiting
from sim.workloads.row import Figure

_FILE = "hdf5TestFile"
_ATTRIBUTES, _ATTRIBUTE_SIZE = 64, 1024
_COMPOUND_HEADER = 520  # bytes of the header of the compound dataset, and what a dimension adds
_HEADER_DIMENSION = 16
_BEGIN, _END = range(2)  # marks

_Result = TypeVar("_Result")


def run(kernel: Exerciser, job: Job) -> Waiting:
    """Do all sizes, one after the other."""
    yield from ExerciserRun(kernel, job).run()


class ExerciserRun:
    """One run of the exerciser.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: Exerciser, job: Job) -> None:
        self._options = options
        self._job = job
        in_force = resolve(
            job.environment, file_name=_FILE, striping=job.striping, machine=job.machine
        )
        job.notes.extend(options.remarks(job.ranks))
        job.notes.extend(in_force.ignored)
        self._in_force = _one_sided(in_force) if self._is_one_sided else in_force
        self._files = job.filesystem.allocate(1, in_force.striping)
        job.files[_FILE] = self._files
        self._mpi_file = self._open_through(self._in_force.hints)
        self._file = Hdf5File(self._mpi_file, job.machine.mpi, self._properties())
        costs = Collectives(job.machine.mpi, job.world.nodes, job.world.size)
        self._barrier = costs.barrier()
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
        yield from job.do(batch, "metadata")
        self._timers = job.filesystem.timers(job.programs)
        for size in range(options.nsizes):
            for iteration in range(options.iterations):
                yield from self._iteration(options.layout(size), iteration)
        if not options.keepfile:
            batch = job.batch()
            batch.add(Op.UNLINK, job.world.owners[:1], file=self._files.first)
            yield from job.do(batch, "metadata")

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
            lambda batch: file.create_dataset(batch, name, dims, DOUBLE, chunk=chunk, group=group),
        )
        memory, moved = Memory(layout.memory_block, layout.memory_stride), layout.buffer * ranks
        mine = self._selection(layout, options.rshift)
        yield from self._timed(
            "H5Dwrite", lambda batch: file.write(batch, dataset, mine, memory), moved
        )
        yield from self._flush_and_close(writing=True)
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

        Unlike the other it is not read, nor are its ranks shifted.
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
                COMPOUND,
                chunk=whole.block if options.usechunked else None,
                group=inner,
                header_size=_COMPOUND_HEADER + _HEADER_DIMENSION * options.numdims,
            ),
        )
        mine = self._selection(whole, 0)
        moved = int(mine.elements.sum()) * COMPOUND
        yield from self._timed("H5Dwrite", lambda batch: file.write(batch, dataset, mine), moved)

    def _flush_and_close(self, *, writing: bool) -> Waiting:
        """Flush and close the file, which was opened to write or to read the dataset of doubles."""
        yield from self._timed("H5Fflush", self._file.flush)
        yield from self._timed("H5Fclose", self._file.close)
        self._job.mpi_records.append((self._step, self._mpi_record(writing=writing)))

    def _mpi_record(self, *, writing: bool) -> MpiRecord:
        """Return what MPI-IO has to tell of the file since it was opened."""
        job, file, before = self._job, self._mpi_file, self._timers
        self._timers = job.filesystem.timers(job.programs)
        return MpiRecord(
            file_name=_FILE,
            files=1,
            writing=writing,
            given={},
            in_force=self._in_force,
            communicator=job.world,
            aggregators=file.aggregators if writing else file.read_aggregators,
            counts=file.counts,
            timers=self._timers - before,
        )

    def _timed(
        self,
        name: str,
        call: Callable[[Batch], _Result],
        moved: int = 0,
        *,
        work: float = 0.0,
    ) -> Generator[simpy.Event, Any, _Result]:
        """Make a call at all ranks after a barrier, and add its row.

        Parameters
        ----------
        name
            Of the call.
        call
            Adds what it does to a batch.
        moved
            Bytes of all ranks.
        work
            Seconds that each rank works afterwards, which nobody times.
        """
        job = self._job
        batch, world = job.batch(), job.world
        meeting, members = world.meeting, world.size
        batch.add(Op.MEET, world.owners, meeting=meeting, members=members, seconds=self._barrier)
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

    def _open_through(self, hints: Hints) -> MpiFile:
        """Return the MPI file, yet to be opened."""
        job, files = self._job, self._files
        file = MpiFile(
            files.first,
            files.layout(),
            job.world,
            hints,
            job.machine,
            job.filesystem.meetings(),
        )
        file.set_flags(job.filesystem.plane.files)
        return file

    def _properties(self) -> Hdf5Properties:
        """Return how the program has HDF5 access the file."""
        options = self._options
        return Hdf5Properties(
            release=options.release,
            alignment=options.alignment,
            alignment_threshold=options.alignment_threshold,
            collective_metadata_reads=options.metacoll,
            collective_metadata_writes=options.metacoll,
            fill="never",
            transfer=TransferProperties(
                collective=not options.indepio,
                chunk_io="multi",
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
