"""IOR's APIs over MPI-IO: the backend of a phase, also where every rank has a file of its own.

Imported when a test uses one of them: a test of POSIX needs neither MPI-IO nor the libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.engine.types import Floats, Indices, Integers, Table
from xc40io.machine.filesystem import FileSet
from xc40io.mpi.aggregators import left_out
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.stats import MpiRecord, Timer
from xc40io.plane.batch import Batch, Transfers, refer_from
from xc40io.plane.operations import ON_FILES, Op
from xc40io.workloads.ior.backend import Backend, Task, add_calls
from xc40io.workloads.ior.files import Contents, IorHints
from xc40io.workloads.ior.library_backends import Hdf5Backend, NcmpiBackend
from xc40io.workloads.ior.mpiio import MpiioBackend, MpiSetting

_BACKENDS: dict[str, Callable[[MpiSetting], Backend]] = {
    "MPIIO": MpiioBackend,
    "HDF5": Hdf5Backend,
    "NCMPI": NcmpiBackend,
}


def backend_of(
    task: Task,
    world: Communicator,
    files: FileSet,
    *,
    inner_meeting: int,
    hints: IorHints,
    machine: Machine,
    file_name: str,
    contents: Contents,
    table: Table,
) -> Backend:
    """Return the backend of a test's API, ready for one phase.

    ``world`` are the ranks that do it, ``table`` is the data plane's table of files; the others are
    as :class:`~xc40io.workloads.ior.mpiio.MpiSetting` has them.
    """
    apart = task.test.file_per_process
    # Not where all ranks meet: who comes there by itself would let those go on who wait for all.
    alone = world.part(task.ranks.all[:1], inner_meeting)
    _check_openers(world if apart else alone, hints, machine)
    setting = MpiSetting(
        task=first_of(task) if apart else task,
        tasks=world.size,
        communicator=alone if apart else world,
        inner_meeting=inner_meeting,
        hints=hints,
        machine=machine,
        file_name=file_name,
        layout=files.layout(),
        contents=contents,
        files=table,
        numbers=np.unique(task.file),
    )
    backend = _BACKENDS[task.test.api](setting)
    return ApartBackend(task, backend, world.node) if apart else backend


def _check_openers(ranks: Communicator, hints: IorHints, machine: Machine) -> None:
    """Raise InputError if one of the ranks that open a file by themselves cannot.

    IOR asks so for its size after each phase (aiori-MPIIO.c, MPIIO_GetFileSize).
    """
    in_force = hints.in_force.hints
    if machine.mpi.library == "romio" and (out := left_out(ranks.host, in_force)):
        raise InputError(
            f"cb_config_list={in_force.cb_config_list}: a rank on {out[0]} opens the file by "
            "itself to ask for its size, and finds no aggregator: IOR ends with an error; right "
            f"would be *:*, *:1, or a list that has {out[0]}"
        )


def first_of(task: Task) -> Task:
    """Return the part of a task that the first rank has."""
    first = int(task.pattern.first[1])
    return replace(
        task,
        ranks=replace(task.ranks, programs=task.ranks.programs[:1]),
        pattern=task.pattern._replace(
            offset=task.pattern.offset[:first], first=task.pattern.first[:2]
        ),
        pretend=task.pretend[:1],
        file=task.file[:1],
    )


class ApartBackend(Backend):
    """A backend for a file per process (``-F``), made of one that serves the first rank.

    Every rank is by itself, on MPI_COMM_SELF. All do the same, each to its own file. So what the
    first one does is worked out once and then repeated for the others, which spares a communicator
    and a plan for each of them. ``inner`` has the task that :func:`first_of` returns, and ``node``,
    int32 (ranks,), is the node of each rank.
    """

    def __init__(self, task: Task, inner: Backend, node: Indices) -> None:
        self._task = task
        self._inner = inner
        self._node = node
        self.pieces = inner.pieces

    @property
    def counted(self) -> bool:
        """Whether each call of a rank is one read or write of its own."""
        return self._inner.counted

    def open(self, batch: Batch) -> None:
        """Let every rank open its file."""
        template = self._template()
        self._inner.open(template)
        self._repeat(batch, template)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``.

        Contiguous calls by themselves may begin and end elsewhere for each rank, or come in another
        order; what is worked out for the first rank must hold for all.
        """
        if not self._inner.counted:
            template = self._template()
            self._inner.transfer(template, begin[:1], end[:1])
            self._repeat(batch, template)
            return
        if limit is not None:
            batch.add(Op.LIMIT, self._task.ranks.all, seconds=limit)
        self._inner.transfer(self._template(), begin[:1], end[:1])  # it counts what it sees
        rank, _, offset = self._task.calls(begin, end)
        timers = (Timer.INDEPENDENT, Timer.SYNC)
        with batch.calling():
            file, syncs = self._task.file[rank], self._inner.syncs
            add_calls(batch, self._task, rank, file, offset, timers=timers, syncs=syncs)

    def sync(self, batch: Batch) -> None:
        """Let every rank bring its file to the disks."""
        template = self._template()
        self._inner.sync(template)
        self._repeat(batch, template)

    def close(self, batch: Batch) -> None:
        """Let every rank close its file."""
        template = self._template()
        self._inner.close(template)
        self._repeat(batch, template)

    def record(self, timers: Floats) -> MpiRecord | None:
        """Return what MPI-IO has to tell of the first file."""
        record = self._inner.record(timers[:1])
        return None if record is None else replace(record, files=len(self._task.ranks))

    def recount(self, calls: Integers) -> None:
        """Count the calls that the first rank really made."""
        if isinstance(self._inner, MpiioBackend):
            self._inner.recount(calls[:1])

    def _template(self) -> Batch:
        """Return a batch of the first rank, in which it may turn out to do nothing."""
        batch = Batch(self._task.ranks.programs[:1])
        batch.add(Op.WORK, np.zeros(0, np.int64))
        return batch

    def _repeat(self, batch: Batch, template: Batch) -> None:
        """Let every rank do with its file what the first does with its own."""
        operations, _ = template.listing()
        each, ranks = len(operations), len(self._task.ranks)
        repeated = np.tile(operations, ranks)
        of_file = np.isin(repeated["kind"], list(ON_FILES))
        repeated["file"][of_file] = np.repeat(self._task.file, each)[of_file]
        repeated["tag"][repeated["tag"] > 0] += len(batch.library_calls)
        every, files = self._task.ranks.all, self._task.file
        batch.library_calls += [call.repeated(every, files) for call in template.library_calls]
        for kind, _, _ in template.noted:
            batch.note(kind, every, files)
        rank = np.repeat(self._task.ranks.all, each)
        if template.transfers:
            first, transfers = self._add_transfers(batch, template)
            refer_from(repeated, first + transfers * rank)
        batch.add_operations(repeated, rank)

    def _add_transfers(self, batch: Batch, template: Batch) -> tuple[int, int]:
        """Add the template's transfers for every rank, on its own node.

        Returns the number of the first, and how many each rank has.
        """
        parts = Transfers(
            *(np.concatenate(columns) for columns in zip(*template.transfers, strict=True))
        )
        each, ranks = len(parts.size), len(self._task.ranks)
        node = np.repeat(self._node, each)
        # Whoever is alone exchanges with itself. No node waits for another's turn: each rank has
        # but one turn a round, and waits for it anyway.
        first = batch.add_transfers(source=node, target=node, size=np.tile(parts.size, ranks))
        return first, each
