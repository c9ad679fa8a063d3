"""The method MPI_AGGREGATE of ADIOS 1: a few ranks gather what all write.

The ranks form contiguous groups; the first of each, its *aggregator*, gathers the group's data and
writes a subfile, each on OSTs of its own. The order of the steps is that of ADIOS 1.13
(src/write/adios_mpi_amr.c, where the method is called MPI_AMR).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sim.config.striping import StripeRequest
from sim.config.units import KIB, MIB
from sim.engine.types import Floats, Integers
from sim.libraries.adios import DEFAULT_STRIPING, Writers, write_once
from sim.libraries.adios_brigade import Brigade
from sim.libraries.adios_groups import AggregateOptions
from sim.libraries.adios_index import FOOTER
from sim.mpi.collectives import Collectives
from sim.mpi.timers import Timer
from sim.plane.batch import Batch
from sim.plane.operations import Op

if TYPE_CHECKING:  # the options of a kernel need no machine
    from sim.machine.filesystem import FileSet

_EAGER = 8 * KIB
"""Longest message that is sent ahead, before anybody asks for it (MPICH_GNI_MAX_EAGER_MSG_SIZE)."""

_CONTEXT = 256
"""Bytes of the allreduce in which a new communicator gets its number (MPICH)."""


class MpiAggregate:
    """The method MPI_AGGREGATE: a subfile for each group of ranks, written by its aggregator.

    Parameters
    ----------
    writers
        Who writes.
    options
        The parameters of the method.
    """

    def __init__(self, writers: Writers, options: AggregateOptions) -> None:
        self._writers, self._options = writers, options
        ranks = writers.world.size
        self._groups = options.groups(ranks, writers.osts)
        groups = len(self._groups.leader)
        meetings = writers.meetings(1 + 2 * groups + (ranks if options.brigade else 0))
        self._leaders = meetings[0]
        self._together = meetings[1 : 1 + groups]  # where each group meets
        self._helpers = meetings[1 + groups : 1 + 2 * groups]  # each aggregator and its thread
        self._pairs = meetings[1 + 2 * groups :]  # each rank and the one before it

    @property
    def aggregators(self) -> Integers:
        """The ranks that write: int64 (groups,)."""
        return self._groups.leader

    def begin(self) -> dict[str, FileSet]:
        """Make the files of a new output; return them by name."""
        self._index = self._writers.filesystem.allocate(1, DEFAULT_STRIPING)
        self._files = self._subfiles()
        return {"bp": self._index, "bp.dir/bp": self._files}

    def _subfiles(self) -> FileSet:
        """Make the subfiles, each with its first stripe where ADIOS wants it."""
        writers, groups = self._writers, len(self._groups.leader)
        count = writers.striping.count or DEFAULT_STRIPING.count or 1
        size = writers.striping.size or DEFAULT_STRIPING.size or MIB
        if self._options.random_offset:
            return writers.filesystem.allocate(groups, StripeRequest(count=count, size=size))
        count = writers.osts if count == -1 else count
        usable = self._options.usable(writers.osts)
        first = usable[np.arange(groups) % len(usable)]
        osts = (first[:, None] + np.arange(count)) % writers.osts
        number = writers.filesystem.plane.namespace.add_files(size, osts.astype(np.int32))
        return self._index._replace(first=number, stripe_count=count, stripe_size=size, osts=osts)

    @property
    def _file(self) -> Integers:
        return self._files.first + np.arange(len(self._groups.leader))

    def helped(self) -> Integers | None:
        """Return the ranks that need a helper thread: int64; None if there are none."""
        return self.aggregators if self._options.threading else None

    @property
    def _thread(self) -> Integers:
        """The positions of the aggregators' threads: behind all ranks."""
        return self._writers.world.size + np.arange(len(self._groups.leader))

    def open(self, batch: Batch) -> None:
        """Rank 0 opens the global index; the ranks form groups; their subfiles are opened."""
        writers, first = self._writers, self._writers.world.owners[:1]
        if self._options.have_metadata_file:
            for kind in (Op.STAT, Op.CREATE):
                batch.add(kind, first, file=self._index.first, timer=Timer.OPEN)
        costs = writers.costs
        new_communicator = costs.allgather(8) + costs.allreduce(_CONTEXT)
        writers.meet(batch, costs.bcast(4) + 2 * new_communicator, Timer.OPEN)
        batch.add(Op.MKDIR, first, file=self._index.first, timer=Timer.OPEN)
        self._meet_leaders(batch, self._leaders_costs.barrier(), Timer.OPEN)
        self._meet_thread(batch, Timer.OPEN)
        opener = self._thread if self._options.threading else self.aggregators
        # An old file is looked for; O_LOV_DELAY_CREATE and the striping; opened once more.
        for kind in (Op.STAT, Op.CREATE, Op.CLOSE, Op.OPEN):
            batch.add(kind, opener, file=self._file, timer=Timer.OPEN)

    def write(self, batch: Batch, size: Integers) -> None:
        """Copy what is written into buffers."""
        self._writers.fill_buffers(batch, size)

    def close(self, batch: Batch, size: Integers) -> None:
        """Gather the data of each group and write it; gather the indices and write them."""
        self._meet_groups(batch, self._group_costs("allgather", 8))
        total = np.bincount(self._groups.of, size).astype(np.int64)
        index = self._writers.entry * self._groups.size + FOOTER
        if self._options.brigade:
            self._meet_thread(batch, Timer.OPEN)
            self._pass_on(batch, size)
            self._gather_index(batch)
            self._write_behind(batch, total, index)
        else:
            self._gather(batch, size)
            self._gather_index(batch)
            self._meet_thread(batch, Timer.OPEN)
            self._write_behind(batch, np.zeros_like(total), total + index)
        self._gather_global_index(batch)
        self._meet_thread(batch, Timer.RAW_WRITE)
        batch.add(Op.CLOSE, self.aggregators, file=self._file)
        if self._options.have_metadata_file:
            batch.add(Op.CLOSE, self._writers.world.owners[:1], file=self._index.first)

    @cached_property
    def _leaders_costs(self) -> Collectives:
        """What collectives of the aggregators cost."""
        nodes = len(np.unique(self._writers.world.node[self.aggregators]))
        return Collectives(self._writers.mpi, nodes, len(self.aggregators))

    def _group_costs(self, name: str, size: int) -> Floats:
        """Return what a collective of each group costs: float64 (groups,), in seconds."""
        node, groups = self._writers.world.node, self._groups
        last = groups.leader + groups.size - 1
        shape = np.stack([node[last] - node[groups.leader] + 1, groups.size], axis=1)
        shapes, which = np.unique(shape, axis=0, return_inverse=True)
        mpi = self._writers.mpi
        costs = [getattr(Collectives(mpi, *row), name)(size) for row in shapes.tolist()]
        return np.array(costs)[which.ravel()]

    def _meet_groups(self, batch: Batch, seconds: Floats) -> None:
        """Add a collective of the ranks of each group."""
        of = self._groups.of
        batch.add(
            Op.MEET,
            self._writers.world.owners,
            meeting=self._together[of],
            members=self._groups.size[of],
            seconds=seconds[of],
            timer=Timer.AGGREGATE,
        )

    def _meet_leaders(self, batch: Batch, seconds: float, timer: Timer) -> None:
        """Add a collective of the aggregators."""
        leaders, count = self.aggregators, len(self.aggregators)
        batch.add(
            Op.MEET, leaders, meeting=self._leaders, members=count, seconds=seconds, timer=timer
        )

    def _meet_thread(self, batch: Batch, timer: Timer) -> None:
        """Start the aggregators' threads, or wait until these have done their work."""
        if self._options.threading:
            for owner in (self.aggregators, self._thread):
                batch.add(Op.MEET, owner, meeting=self._helpers, members=2, timer=timer)

    def _brigades(self) -> list[tuple[Brigade, Integers]]:
        """Return the groups by their size, each with the numbers of the groups."""
        groups, threaded = self._groups, self._options.threading
        handshake = self._writers.mpi.message_time
        found = []
        for members in np.unique(groups.size).tolist():
            which = np.flatnonzero(groups.size == members)
            found.append((Brigade(groups.leader[which], members, threaded, handshake), which))
        return found

    def _pass_on(self, batch: Batch, size: Integers) -> None:
        """Gather and write by brigade."""
        node = self._writers.world.node
        for brigade, which in self._brigades():
            brigade.close(batch, node, size, self._pairs, self._file[which])

    def _gather(self, batch: Batch, size: Integers) -> None:
        """Gather all data of each group at its aggregator, which takes what it can get."""
        groups, node = self._groups, self._writers.world.node
        others = np.setdiff1d(np.arange(len(size)), groups.leader)
        home = groups.leader[groups.of[others]]
        first = batch.add_transfers(node[others], node[home], size[others])
        count = groups.size - 1
        messages = count * self._writers.mpi.message_time
        leaders = self.aggregators
        batch.add(Op.WORK, leaders, seconds=messages, timer=Timer.AGGREGATE)
        begins = first + np.cumsum(count) - count
        batch.add(Op.EXCHANGE, leaders, transfer=begins, received=count, timer=Timer.AGGREGATE)
        self._meet_groups(batch, np.zeros(len(leaders)))

    def _gather_index(self, batch: Batch) -> None:
        """Gather the index of each group at its aggregator, which merges it.

        Short messages are sent ahead, and nobody waits for the aggregator to take them.
        """
        writers, groups = self._writers, self._groups
        sent = self._group_costs("gather", 4) + self._group_costs("gather", writers.entry)
        if writers.entry > _EAGER:
            self._meet_groups(batch, sent)
        else:
            seconds = sent[groups.of]
            batch.add(Op.WORK, writers.world.owners, seconds=seconds, timer=Timer.AGGREGATE)
        taken = (groups.size - 1) * writers.entry / writers.mpi.step_rate
        merged = groups.size * writers.merge_time(1)
        seconds = taken + merged
        batch.add(Op.WORK, self.aggregators, seconds=seconds, timer=Timer.AGGREGATE)

    def _write_behind(self, batch: Batch, offset: Integers, length: Integers) -> None:
        """Write what is left in each subfile, in the aggregator's thread if it has one."""
        self._meet_thread(batch, Timer.RAW_WRITE)
        writer = self._thread if self._options.threading else self.aggregators
        write_once(batch, writer, self._file, offset, length, Timer.RAW_WRITE)

    def _gather_global_index(self, batch: Batch) -> None:
        """Gather the indices of all subfiles at rank 0, which writes the global one."""
        if not self._options.have_metadata_file:
            return
        self._meet_leaders(batch, self._leaders_costs.gather(4), Timer.AGGREGATE)
        foreign = int(self._groups.size[1:].sum())
        gathered = self._writers.variables.index_size(foreign)
        gathering = self._leaders_costs.gatherv(gathered)
        self._writers.write_global_index(batch, self._index.first, gathering)
