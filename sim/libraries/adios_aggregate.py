"""The method MPI_AGGREGATE of ADIOS 1: a few ranks gather what all write.

The ranks form contiguous groups; the first of each, its *aggregator*, gathers the group's data and
writes a subfile, each on OSTs of its own. The order of the steps is that of ADIOS 1.13
(src/write/adios_mpi_amr.c, where the method is called MPI_AMR).

By *brigade* the blocks of a group pass from hand to hand to its first rank. The ranks of a group
stand in a line. Each sends its block to the one before it, and then passes on what comes from
behind, block after block; the aggregator writes its own block and then each one that arrives
(adios_mpi_amr_bg_close). A rank has one buffer for what arrives: it takes the next block only when
it has handed the last one on, and the sender waits for that, since messages of this length are not
sent ahead. The aggregator has two, and lets the next block come while it writes one, if a thread of
its own does the writing: without one nobody attends to MPI meanwhile.

In the data plane a *hop* is an ``EXCHANGE`` of the rank that sends. Two neighbours tell each other
that a buffer is free, and that a block has come, at a meeting of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.striping import StripeRequest
from xc40io.config.units import KIB, MIB
from xc40io.engine.types import Floats, Indices, Integers
from xc40io.libraries.adios_format import FOOTER
from xc40io.libraries.adios_output import DEFAULT_STRIPING, Variables, Writers, write_once
from xc40io.mpi.communicator import Collectives
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op, mix_operations

if TYPE_CHECKING:  # the options of a kernel need no machine
    from xc40io.machine.filesystem import FileSet


class _Line(NamedTuple):
    """What the ranks of one group do, rank after rank and each in order: rows of shape (n,).

    ``place`` is the rank, counted from the aggregator; ``kind`` the operation; ``pair`` the
    neighbours that meet: the place of the one behind; ``block`` whose block is moved or written;
    ``hop`` numbers the hops, -1 where there is none.
    """

    place: Integers
    kind: Integers
    pair: Integers
    block: Integers
    hop: Integers


@dataclass(frozen=True)
class Brigade:
    """The groups of a communicator, of one size each."""

    leader: Integers  # int64 (groups,): the aggregators; the ranks that follow one are its group
    members: int  # ranks of every group
    threaded: bool  # whether a thread of the aggregator writes
    # seconds that each of two neighbours is busy with telling the other, or hearing from it, that a
    # buffer is free or a block has come
    handshake: float

    @property
    def hops(self) -> int:
        """Messages of all groups: each block goes as many steps as its rank is from the first."""
        return len(self.leader) * self.members * (self.members - 1) // 2

    def close(
        self,
        batch: Batch,
        node: Indices,
        size: Integers,
        meeting: Integers,
        file: Integers,
        behind: Integers | int = 0,
    ) -> None:
        """Gather and write the blocks of the groups.

        Parameters
        ----------
        batch
            Gets the operations; rank r has position r.
        node
            int32 (ranks,): the node of each rank.
        size
            int64 (ranks,): the bytes of each rank's block.
        meeting
            int64 (ranks,): where each rank meets the one before it.
        file
            int64 (groups,): the subfile of each group.
        behind
            int64 (groups,): the bytes that it has already.
        """
        line = _line(self.members, threaded=self.threaded)
        groups = self.leader[:, None]
        rank, kind = groups + line.place, np.broadcast_to(line.kind, (len(groups), len(line.kind)))
        first = self._transfers(batch, node, size, line)
        each_hop = first + line.hop + np.arange(len(groups))[:, None] * (line.hop.max() + 1)
        block = groups + line.block
        offset = np.cumsum(size)[block] - size[block] - (np.cumsum(size) - size)[groups]
        offset += np.reshape(behind, (-1, 1))
        # A group of one rank has no neighbours: no operation looks at what stands there.
        pair = meeting[np.minimum(groups + line.pair, len(meeting) - 1)]
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            Op.MEET: {
                "meeting": pair.ravel(),
                "members": 2,
                "timer": Timer.AGGREGATE,
            },
            Op.WORK: {"seconds": self.handshake, "timer": Timer.AGGREGATE},
            Op.WRITE: {
                "file": np.repeat(file, len(line.kind)),
                "offset": offset.ravel(),
                "length": size[block].ravel(),
                "stride": size[block].ravel(),
                "count": 1,
                "timer": Timer.RAW_WRITE,
            },
            Op.EXCHANGE: {
                "transfer": each_hop.ravel(),
                "received": 1,
                "timer": Timer.AGGREGATE,
            },
        }
        batch.add_operations(mix_operations(kind.ravel(), columns), rank.ravel())

    def _transfers(self, batch: Batch, node: Indices, size: Integers, line: _Line) -> int:
        """Add the hops of all groups, group after group; return the number of the first."""
        hops = line.hop >= 0
        sender = (self.leader[:, None] + line.place[hops]).ravel()
        block = (self.leader[:, None] + line.block[hops]).ravel()
        if not len(sender):
            return 0
        return batch.add_transfers(node[sender], node[sender - 1], size[block])


def _line(members: int, *, threaded: bool) -> _Line:
    """Return what the ranks of a group with so many members do."""
    place, block = np.triu_indices(members)
    last, own = block == members - 1, block == place
    first = place == 0
    # One row for each block that a rank handles, one column for each thing that it does with it.
    behind, before = place + 1, place
    meets = [
        (~own & ~first & (block >= place + 2), behind),  # my buffer is free again
        (~own & ~first, behind),  # it has come
        (~first & (~own | ((place == 1) & (not threaded))), before),  # the next buffer is free
    ]
    steps: list[tuple[npt.NDArray[np.bool_], Op, Integers]] = [
        *((asked, Op.MEET, pair) for asked, pair in meets),
        (first & ~last & (block > 0) & threaded, Op.MEET, behind),  # the aggregator's buffer
        (first, Op.WRITE, place),
        (first & ~last & (not threaded), Op.MEET, behind),
        (first & ~last, Op.MEET, behind),  # the next block has come
        (~first, Op.EXCHANGE, place),
        (~first, Op.MEET, before),  # it has gone
    ]
    columns = [
        (asked, kind, pair)
        for asked, step, pair in steps
        for kind in ((Op.MEET, Op.WORK) if step is Op.MEET else (step,))
    ]
    asked = np.stack([column[0] for column in columns], axis=1)
    kind = np.broadcast_to([int(column[1]) for column in columns], asked.shape)
    pair = np.stack([column[2] for column in columns], axis=1)
    row, _ = np.nonzero(asked)
    kinds = kind[asked].astype(np.int64)
    hop = np.where(kinds == Op.EXCHANGE, np.cumsum(kinds == Op.EXCHANGE) - 1, -1)
    return _Line(place[row], kinds, pair[asked], block[row], hop)


MOST_HOPS = 2_000_000
"""Messages of all brigades in a step that are still simulated."""

MOST_GATHERED = 2**31 - 1
"""Bytes that an aggregator can gather in one call of MPI, whose counts are 32-bit integers."""

WARNED = 704_643_072
"""Bytes of aggregation buffers beyond which ADIOS 1.5 and 1.6 warn (MAX_AGG_BUF)."""


class Groups(NamedTuple):
    """Contiguous groups of ranks.

    ``leader`` and ``size`` are int64 (groups,): the first rank, and how many there are; ``of`` is
    int64 (ranks,): the group of each rank.
    """

    leader: Integers
    size: Integers
    of: Integers


def split(ranks: int, groups: int) -> Groups:
    """Split ranks into contiguous groups; the first ones get one more where they do not come out.

    As many groups as ranks if that is fewer.
    """
    count = min(groups, ranks)
    size = np.full(count, ranks // count)
    size[: ranks % count] += 1
    return Groups(np.cumsum(size) - size, size, np.repeat(np.arange(count), size))


@dataclass(frozen=True, kw_only=True)
class AggregateOptions:
    """The parameters of MPI_AGGREGATE, named as in ADIOS's XML file."""

    num_aggregators: int | None = None  # subfiles, and so groups; as many as OSTs unless given
    # OSTs that the subfiles are dealt to: subfile g begins on OST g mod `num_ost`; all there are
    # unless given
    num_ost: int | None = None
    osts_to_skip: frozenset[int] = frozenset()  # which of these are left out
    random_offset: bool = False  # the file system chooses the OSTs instead
    brigade: bool = True  # aggregation by brigade (`aggregation_type=2`), not by a gather (`=1`)
    threading: bool = True  # a thread of each aggregator opens its subfile, and writes
    have_metadata_file: bool = True  # whether there is a global index

    def usable(self, osts: int) -> Integers:
        """Return the OSTs that the subfiles are dealt to, of so many: int64."""
        every = range(osts if self.num_ost is None else self.num_ost)
        return np.array([ost for ost in every if ost not in self.osts_to_skip], np.int64)

    def groups(self, ranks: int, osts: int) -> Groups:
        """Return the groups of so many ranks on a file system with so many OSTs."""
        return split(ranks, self.num_aggregators or self.num_ost or osts)

    def memory(self, groups: Groups, size: Integers, variables: Variables) -> Integers:
        """Return the bytes that each rank needs beside its own buffer: int64 (ranks,).

        By brigade, one buffer as large as the largest block of the group, and two at the
        aggregator; by a gather, room for everything at the aggregator.

        Parameters
        ----------
        groups
            Of the ranks.
        size
            int64 (ranks,): bytes that each writes.
        variables
            What each writes.
        """
        needed = np.zeros_like(size)
        if self.brigade:
            largest = np.maximum.reduceat(size, groups.leader)
            needed[:] = np.where(groups.size > 1, largest, 0)[groups.of]
            needed[groups.leader] *= 2
        else:
            index = variables.index_sizes(groups.size) + FOOTER
            needed[groups.leader] = np.add.reduceat(size, groups.leader) + index
        return needed


_EAGER = 8 * KIB
"""Longest message that is sent ahead, before anybody asks for it (MPICH_GNI_MAX_EAGER_MSG_SIZE)."""

_OPENING = (Op.CREATE, Op.CLOSE, Op.OPEN, Op.CLOSE, Op.OPEN)
"""What opens a file: ADIOS with O_LOV_DELAY_CREATE, for its striping, then MPI-IO, twice.

MPI_File_open creates with the mode that is asked for, closes, and opens for what MPI allows
(ADIO_Open of ROMIO). Before that an old file is removed: where there is none its name is looked up.
"""

_CONTEXT = 256
"""Bytes of the allreduce in which a new communicator gets its number (MPICH)."""


def group_costs(
    writers: Writers, leader: Integers, size: Integers, name: str, message: int
) -> Floats:
    """Return what a collective of each contiguous group costs: float64 (groups,), in seconds."""
    node = writers.world.node
    shape = np.stack([node[leader + size - 1] - node[leader] + 1, size], axis=1)
    shapes, which = np.unique(shape, axis=0, return_inverse=True)
    costs = [getattr(Collectives(writers.mpi, *row), name)(message) for row in shapes.tolist()]
    return np.array(costs)[which.ravel()]


class MpiAggregate:
    """The method MPI_AGGREGATE: a subfile for each group of ranks, written by its aggregator."""

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

    def begin(self, step: int) -> dict[str, FileSet]:
        """Make the files of the output of a step; return them by name."""
        self._index = self._writers.filesystem.allocate(1, DEFAULT_STRIPING)
        self._files = self._subfiles()
        self._folder = self._writers.filesystem.allocate_names(1, name=f"bp.dir.{step}")
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
        batch.add(Op.STAT, first, file=self._index.first, timer=Timer.OPEN)
        if self._options.have_metadata_file:
            for kind in _OPENING:
                batch.add(kind, first, file=self._index.first, timer=Timer.OPEN)
        costs = writers.costs
        new_communicator = costs.allgather(8) + costs.allreduce(_CONTEXT)
        writers.meet(batch, costs.bcast(4) + 2 * new_communicator, Timer.OPEN)
        batch.add(Op.MKDIR, first, file=self._folder, timer=Timer.OPEN)
        self._meet_leaders(batch, self._leaders_costs.barrier(), Timer.OPEN)
        self._meet_thread(batch, Timer.OPEN)
        opener = self._thread if self._options.threading else self.aggregators
        for kind in (Op.STAT, *_OPENING):
            batch.add(kind, opener, file=self._file, timer=Timer.OPEN)

    def write(self, batch: Batch, size: Integers) -> None:
        """Copy what is written into buffers."""
        self._writers.fill_buffers(batch, size)

    def close(self, batch: Batch, size: Integers) -> None:
        """Gather the data of each group and write it; gather the indices and write them."""
        self._meet_groups(batch, self._group_costs("allgather", 8))
        total = np.bincount(self._groups.of, size).astype(np.int64)
        index = self._writers.variables.index_sizes(self._groups.size) + FOOTER
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
        nodes = len(np.unique(self._writers.world.node[self.aggregators]))
        return Collectives(self._writers.mpi, nodes, len(self.aggregators))

    def _group_costs(self, name: str, size: int) -> Floats:
        return group_costs(self._writers, self._groups.leader, self._groups.size, name, size)

    def _meet_groups(self, batch: Batch, seconds: Floats) -> None:
        """Add a collective of the ranks of each group."""
        self._writers.meet_in_groups(
            batch, self._groups.of, self._groups.size, self._together, seconds
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
        entry = int(writers.entries[-1])
        sent = self._group_costs("gather", 4) + self._group_costs("gather", entry)
        if entry > _EAGER:
            self._meet_groups(batch, sent)
        else:
            seconds = sent[groups.of]
            batch.add(Op.WORK, writers.world.owners, seconds=seconds, timer=Timer.AGGREGATE)
        taken = (groups.size - 1) * entry / writers.mpi.step_rate
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
        gathered = self._writers.variables.index_sizes(self._groups.size)
        gathering = self._leaders_costs.gatherv(int(gathered[1:].sum()))
        self._writers.write_global_index(batch, self._index.first, gathering)
