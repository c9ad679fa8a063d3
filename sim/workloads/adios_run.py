"""The ADIOS kernel at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.config.units import format_bytes
from sim.engine.types import Integers
from sim.libraries.adios import Method, Posix, Writers
from sim.libraries.adios_aggregate import MpiAggregate
from sim.libraries.adios_groups import WARNED
from sim.mpi.collectives import Collectives
from sim.mpi.timers import Timer
from sim.plane.operations import Op
from sim.workloads.adios_kernel import AdiosKernel
from sim.workloads.adios_need import aggregation, block_sizes, buffer_memory, variables
from sim.workloads.job import Job
from sim.workloads.row import Figure

if TYPE_CHECKING:
    from sim.workloads.job import Waiting

_OPEN, _WRITE, _CLOSE, _END = range(4)  # marks


def run(kernel: AdiosKernel, job: Job) -> Waiting:
    """Write one output after the other."""
    yield from AdiosRun(kernel, job).run()


class AdiosRun:
    """One run of the kernel.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: AdiosKernel, job: Job) -> None:
        self._options = options
        self._job = job

    def run(self) -> Waiting:
        """Write one output after the other."""
        method = self._method()
        for step in range(self._options.steps):
            yield from self._output(method, step)

    def _method(self) -> Method:
        """Return the method, ready to write."""
        options, job = self._options, self._job
        writers = Writers(
            filesystem=job.filesystem,
            osts=job.machine.lustre.osts,
            world=job.world,
            mpi=job.machine.mpi,
            striping=job.striping,
            variables=variables(options),
            buffer_growth=options.buffer_growth,
            meetings=job.meetings,
        )
        if options.method == "POSIX":
            return Posix(writers)
        return MpiAggregate(writers, aggregation(options, writers.osts))

    def _output(self, method: Method, step: int) -> Waiting:
        """Write one output; add its rows."""
        options, job = self._options, self._job
        size = block_sizes(options, job.ranks, step, job.seed)
        written = size + options.headers
        job.files.update({f"{name}.{step}": files for name, files in method.begin().items()})
        batch, world = job.batch(method.helped()), job.world
        barrier = Collectives(job.machine.mpi, world.nodes, world.size).barrier()
        batch.add(Op.MEET, world.owners, meeting=world.meeting, members=world.size, seconds=barrier)
        batch.add(Op.MARK, world.owners, mark=_OPEN)
        method.open(batch)
        batch.add(Op.MARK, world.owners, mark=_WRITE)
        method.write(batch, written)
        batch.add(Op.MARK, world.owners, mark=_CLOSE)
        method.close(batch, written)
        batch.add(Op.MARK, world.owners, mark=_END)
        before = job.filesystem.timers(job.programs)
        last = step == options.steps - 1
        yield from job.do(batch, "output", think=0.0 if last else options.compute)
        # Named as ADIOS names its timers: Communication, I/O, Global metadata.
        spent = (job.filesystem.timers(job.programs) - before).max(axis=0)
        parts = {
            "comm": Figure(float(spent[Timer.AGGREGATE]), "seconds"),
            "I/O": Figure(float(spent[Timer.RAW_WRITE]), "seconds"),
            "global md": Figure(float(spent[Timer.METADATA]), "seconds"),
        }
        self._add_rows(str(step), size, parts)

    def _add_rows(self, step: str, size: Integers, parts: dict[str, Figure]) -> None:
        """Add the rows of an output: its phases, and all of it."""
        job = self._job
        times = job.marks()
        job.record(step, "open", times[:, _OPEN], times[:, _WRITE])
        job.record(step, "write", times[:, _WRITE], times[:, _CLOSE])
        job.record(step, "close", times[:, _CLOSE], times[:, _END], figures=parts)
        written = size + self._options.headers
        memory = int(buffer_memory(self._options, written, job.machine.lustre.osts).max())
        job.record(
            step,
            "all",
            times[:, _OPEN],
            times[:, _END],
            int(size.sum()),
            {"memory": Figure(memory, "bytes")},
        )
        self._remark(memory)

    def _remark(self, memory: int) -> None:
        """Warn as ADIOS does of large buffers, once."""
        job = self._job
        note = (
            f"An aggregator needs {format_bytes(memory, 3)} for its buffers; ADIOS 1.5 and 1.6 "
            f"warn beyond {format_bytes(WARNED, 3)}."
        )
        if memory > WARNED and not job.notes:
            job.notes.append(note)
