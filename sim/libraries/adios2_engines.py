"""ADIOS 2: what ranks do to write steps through the engines BP4 and BP5.

An output is a directory: subfiles with the data, ``md.0`` with the metadata of all ranks,
``md.idx`` which says where those of each step are, and with BP5 ``mmd.0``, their form. A step goes
to its end in ``EndStep``: the data are written, then rank 0 gathers the metadata and writes them.
The order is that of ADIOS 2.12.1 (source/adios2/engine/bp4 and bp5).

BP5 writes the data in one of three ways. *EveryoneWrites*: the ranks of a subfile stand in a chain;
each tells the next one where it ends, and writes; *EveryoneWritesSerial* first writes, then tells.
*TwoLevelShm*: an aggregator writes its own data, then those of the ranks of its node, which one
after the other copy them into one of two buffers in shared memory; where several aggregators share
a subfile, each tells the next one where it ends before it writes. With ``AsyncWrite`` a thread of
each rank does so after ``EndStep``, and the next ``BeginStep`` waits for it; only then rank 0
writes ``md.idx``.

BP4 passes the data from hand to hand to the aggregator, as the brigade of ADIOS 1 does
(``MPIChain::IExchange``); what a rank receives goes on while it writes.

A message that says where to go on is a meeting of two ranks: the one that tells also waits for the
other, which MPI does not ask of it; ranks that enter ``EndStep`` together do not notice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.libraries import adios2_format as form
from xc40io.libraries.adios2_layout import Grouping, Parameters, aligned, grouping
from xc40io.libraries.adios_aggregate import Brigade, group_costs
from xc40io.libraries.adios_output import Writers, write_once
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

if TYPE_CHECKING:
    from xc40io.machine.filesystem import FileSet

Calls: TypeAlias = Sequence[Sequence[int]]
"""Of each rank: the bytes of the calls in which its data are written."""


class Engine(ABC):
    """An output through BP4 or BP5, from ``Open`` to ``Close``."""

    _names: ClassVar[tuple[str, ...]] = ("md.0", "md.idx", "profiling.json")
    _active, _profiled = form.ACTIVE_4, form.PROFILE_4

    def __init__(self, writers: Writers, parameters: Parameters) -> None:
        self._writers, self._told = writers, parameters
        self._groups = grouping(parameters, writers.world.node)
        ranks = writers.world.size
        meetings = writers.meetings(3 * ranks + len(self._groups.leader))
        self._pairs = meetings[:ranks]  # where each rank meets the one before it in a chain
        self._buffers = meetings[ranks : 2 * ranks]  # where it is told that a buffer is free
        self._threads = meetings[2 * ranks : 3 * ranks]  # each rank and its thread
        self._together = meetings[3 * ranks :]  # where each group meets
        self._end = np.zeros(self._groups.subfiles, np.int64)  # of each subfile so far
        self._steps, self._ends = 0, dict.fromkeys(self._names, 0)  # steps; bytes of rank 0's files

    @property
    def subfiles(self) -> int:
        """How many files of data there are."""
        return self._groups.subfiles

    def memory(self, size: Integers) -> Integers:
        """Return the bytes of buffers of each rank: int64 (ranks,), as ``size``, what each puts."""
        return self._told.memory(self._groups, size, self._writers.variables.count)

    def begin(self) -> dict[str, FileSet]:
        """Make the files, all in one folder and so striped alike; return them by name."""
        writers = self._writers
        self._folder = writers.filesystem.allocate_names(1, name="out.bp")
        named = {name: writers.filesystem.allocate(1, writers.striping) for name in self._names}
        self._named = {name: files.first for name, files in named.items()}
        data = writers.filesystem.allocate(self.subfiles, writers.striping)
        self._data = data.first
        return {"data": data, **named}

    def helped(self) -> Integers | None:
        """Return the ranks that have a thread: int64; None if there are none."""
        return self._writers.world.owners if self._told.async_write else None

    @abstractmethod
    def open(self, batch: Batch) -> None:
        """Add ``Open`` to a batch in which rank r has position r."""

    def put(self, batch: Batch, size: Integers) -> None:
        """Copy what has to be copied: ``size`` is int64 (ranks,), what each puts."""
        copied = self._told.copied(size, self._writers.variables.count)
        self._writers.fill_buffers(batch, copied)

    @abstractmethod
    def end_step(self, batch: Batch, size: Integers) -> None:
        """Add ``EndStep``: ``size`` is int64 (ranks,), what each has put."""

    @abstractmethod
    def wait(self, batch: Batch) -> None:
        """Add what the next ``BeginStep`` waits for."""

    @abstractmethod
    def close(self, batch: Batch) -> None:
        """Add ``Close``."""

    @property
    def _root(self) -> Integers:
        return self._writers.world.owners[:1]

    @property
    def _file(self) -> Integers:
        """The subfile of each rank: int64 (ranks,)."""
        return self._data + self._groups.subfile[self._groups.of]

    def _put(self, batch: Batch, kind: Op, name: str, timer: Timer = Timer.METADATA) -> None:
        """Add a call of rank 0 on one of its own files."""
        batch.add(kind, self._root, file=self._named[name], timer=timer)

    def _append(self, batch: Batch, name: str, *lengths: int) -> None:
        """Add writes of rank 0 at the end of one of its own files."""
        for length in lengths:
            self._write_root(batch, name, self._ends[name], length)
            self._ends[name] += length

    def _write_root(self, batch: Batch, name: str, offset: int, length: int) -> None:
        file, where, long = self._named[name], np.array([offset]), np.array([length])
        write_once(batch, self._root, np.array([file]), where, long, Timer.METADATA)

    def _make_folder(self, batch: Batch) -> None:
        """Rank 0 looks for the directory and makes it; all wait for that."""
        for kind in (Op.STAT, Op.MKDIR):
            batch.add(kind, self._root, file=self._folder, timer=Timer.OPEN)
        self._writers.meet(batch, self._writers.costs.barrier(), Timer.OPEN)

    def _clean_folder(self, batch: Batch) -> None:
        """Rank 0 looks for files of an earlier run; all wait for that."""
        batch.add(Op.READDIR, self._root, file=self._folder, timer=Timer.OPEN)
        self._writers.meet(batch, self._writers.costs.barrier(), Timer.OPEN)

    def _say_ended(self, batch: Batch) -> None:
        """Rank 0 writes that nobody writes any more."""
        self._write_root(batch, "md.idx", self._active, 1)
        self._put(batch, Op.STAT, "md.idx")

    def _profile(self, batch: Batch) -> None:
        """Gather what took how long at rank 0, which writes it."""
        length = self._writers.world.size * self._profiled
        seconds = self._writers.costs.gatherv(length)
        batch.add(Op.WORK, self._root, seconds=seconds, timer=Timer.AGGREGATE)
        self._put(batch, Op.CREATE, "profiling.json")
        self._append(batch, "profiling.json", length)
        self._put(batch, Op.CLOSE, "profiling.json")

    def _meet_groups(self, batch: Batch, seconds: Floats) -> None:
        """Add a collective of the ranks of each group."""
        self._writers.meet_in_groups(
            batch, self._groups.of, self._groups.size, self._together, seconds
        )

    def _chain(
        self,
        batch: Batch,
        ranks: Integers,
        chain: Integers,
        act: Callable[[], None] = lambda: None,
        hands: int = 0,
        timer: Timer = Timer.AGGREGATE,
    ) -> None:
        """Let ranks act one after the other, each when the one before it in its chain has told it.

        ``ranks`` and ``chain`` are int64 (n,), chain after chain. ``hands`` more are the positions
        of their threads.
        """
        later = np.flatnonzero(np.diff(chain, prepend=-1) == 0)
        meeting, behind = self._pairs[ranks[later]], ranks[later] + hands
        hop = self._writers.mpi.message_time
        batch.add(Op.MEET, behind, meeting=meeting, members=2, seconds=hop, timer=timer)
        act()
        before = ranks[later - 1] + hands
        batch.add(Op.MEET, before, meeting=meeting, members=2, seconds=hop, timer=timer)

    def _tell_first(self, batch: Batch, ranks: Integers, chain: Integers) -> None:
        """Let the last rank of each chain tell the first one where it ended."""
        first = np.flatnonzero(np.diff(chain, prepend=-1))
        last = np.flatnonzero(np.diff(chain, append=-1))
        long = first != last
        meeting = self._pairs[ranks[first[long]]]
        for owner in (ranks[last[long]], ranks[first[long]]):
            batch.add(Op.MEET, owner, meeting=meeting, members=2, timer=Timer.AGGREGATE)

    def _write_own(
        self, batch: Batch, ranks: Integers, start: Integers, calls: Calls, hands: int
    ) -> None:
        """Let ranks write their own data, int64 (n,), each from ``start`` on."""
        count = np.array([len(calls[rank]) for rank in ranks.tolist()])
        length = np.array([call for rank in ranks.tolist() for call in calls[rank]], np.int64)
        behind = np.cumsum(length) - length
        offset = behind + np.repeat(start - behind[np.cumsum(count) - count], count)
        self._write(batch, np.repeat(ranks, count), offset, length, hands)

    def _write(
        self, batch: Batch, rank: Integers, offset: Integers, length: Integers, hands: int = 0
    ) -> None:
        """Let ranks, or their threads, write to their subfiles: int64 (n,), one call each."""
        write_once(batch, rank + hands, self._file[rank], offset, length, Timer.RAW_WRITE)


class Bp5(Engine):
    """The engine BP5."""

    _names = ("mmd.0", "md.0", "md.idx", "profiling.json")
    _active, _profiled = form.ACTIVE_5, form.PROFILE_5

    @property
    def _hands(self) -> int:
        """Where the thread of a rank stands, behind the rank, if it writes."""
        return self._writers.world.size if self._told.async_write else 0

    def open(self, batch: Batch) -> None:
        """Rank 0 makes the directory and opens its files; groups form, and open the subfiles."""
        self._make_folder(batch)
        for name in ("mmd.0", "md.0", "md.idx"):
            self._put(batch, Op.CREATE, name, Timer.OPEN)
        self._writers.meet(batch, self._writers.costs.allgather(8), Timer.OPEN)
        self._clean_folder(batch)
        ranks, file = self._openers, self._file[self._openers]
        kind = np.where(np.diff(file, prepend=-1) != 0, Op.CREATE, Op.OPEN).astype(np.int64)
        self._chain(
            batch,
            ranks,
            file,
            lambda: batch.add(kind, ranks, file=file, timer=Timer.OPEN),
            timer=Timer.OPEN,
        )

    @property
    def _openers(self) -> Integers:
        """The ranks that write: int64 (n,), subfile after subfile."""
        return self._writers.world.owners if self._told.all_write else self._groups.leader

    def end_step(self, batch: Batch, size: Integers) -> None:
        """Write the data, or start the threads that do; gather the metadata and write them."""
        self._write_data(batch, size)
        self._gather(batch)
        if not self._told.async_write:
            self._write_index(batch)
        self._steps += 1

    def wait(self, batch: Batch) -> None:
        """Wait for the threads, if they write."""
        if not self._told.async_write:
            return
        self._meet_threads(batch, Timer.RAW_WRITE)
        self._writers.meet(batch, self._writers.costs.barrier(), Timer.RAW_WRITE)
        self._write_index(batch)

    def close(self, batch: Batch) -> None:
        """Close all; rank 0 says that nobody writes any more, and writes the profile."""
        ranks, told = self._openers, self._told
        if told.async_write:
            self._meet_threads(batch, Timer.RAW_WRITE)
        batch.add(Op.CLOSE, ranks, file=self._file[ranks], timer=Timer.OPEN)
        for name in ("md.0", "mmd.0"):
            self._put(batch, Op.CLOSE, name)
        if told.async_write:
            self._writers.meet(batch, self._writers.costs.barrier(), Timer.RAW_WRITE)
            self._write_index(batch)
        self._say_ended(batch)
        self._put(batch, Op.CLOSE, "md.idx")
        self._profile(batch)

    def _meet_threads(self, batch: Batch, timer: Timer) -> None:
        """Start the threads of all ranks, or wait until they have done their work."""
        ranks = self._writers.world.owners
        for owner in (ranks, ranks + self._hands):
            batch.add(Op.MEET, owner, meeting=self._threads, members=2, timer=timer)

    def _write_data(self, batch: Batch, size: Integers) -> None:
        groups, owners = self._groups, self._writers.world.owners
        count = self._writers.variables.count
        calls = [self._told.calls(each // count, count) for each in size.tolist()]
        size = np.array([sum(each) for each in calls], np.int64)
        if self._told.all_write:
            start = self._places(owners, size)
            self._write_all(batch, start, calls)
            return
        total = np.add.reduceat(size, groups.leader)
        start = self._places(groups.leader, total)
        gathered = group_costs(self._writers, groups.leader, groups.size, "gather", 8)
        self._meet_groups(batch, 2 * gathered)  # of how much there is, and for shared memory
        self._chain(batch, groups.leader, groups.subfile)
        if self._hands:
            self._tell_first(batch, groups.leader, groups.subfile)
            self._meet_threads(batch, Timer.RAW_WRITE)
        self._write_own(batch, groups.leader, start, calls, self._hands)
        self._write_others(batch, start, size)
        if not self._hands:
            self._tell_first(batch, groups.leader, groups.subfile)
            self._meet_groups(batch, np.zeros(len(total)))

    def _places(self, ranks: Integers, length: Integers) -> Integers:
        """Return where each of some ranks writes so many bytes, aligned, and go on behind them."""
        start, told = np.empty_like(length), self._told.data_alignment
        subfile = self._groups.subfile[self._groups.of[ranks]]
        for index, (file, size) in enumerate(zip(subfile.tolist(), length.tolist(), strict=True)):
            start[index] = aligned(int(self._end[file]), told)
            self._end[file] = start[index] + size
        return start

    def _write_all(self, batch: Batch, start: Integers, calls: Calls) -> None:
        """Let all ranks write to their subfiles, at once or one after the other."""
        ranks, chain = self._writers.world.owners, self._groups.of
        serial = self._told.aggregation_type == "EveryoneWritesSerial"

        def write() -> None:
            self._write_own(batch, ranks, start, calls, self._hands)

        if self._hands:
            self._chain(batch, ranks, chain)
            self._meet_threads(batch, Timer.RAW_WRITE)
            node = self._writers.world.node
            together = np.cumsum(
                (np.diff(chain, prepend=-1) != 0) | (np.diff(node, prepend=-1) != 0)
            )
            self._chain(batch, ranks, together if serial else ranks, write, self._hands)
        elif serial:
            self._chain(batch, ranks, chain, write)
        else:
            self._chain(batch, ranks, chain)
            write()
        self._tell_first(batch, ranks, chain)

    def _write_others(self, batch: Batch, start: Integers, size: Integers) -> None:
        """Let the ranks of each aggregator copy their data into shared memory, and it write them.

        Turn for turn: one rank copies, while the aggregator writes what was copied before. They and
        the rank that is next meet when both have ended: then one buffer is full, and one is free.
        """
        groups, hands, copy = self._groups, self._hands, self._writers.mpi.copy_rate
        turn = _turns(groups, size, self._told)
        place = start + size[groups.leader]
        for number in range(turn.shape[1]):
            rank, length = turn[:, number].T
            group = np.flatnonzero(rank >= 0)
            rank, length = rank[group], length[group]
            following = turn[group, number + 1, 0] if number + 1 < turn.shape[1] else -rank - 1
            leader = groups.leader[group]
            batch.add(Op.WORK, rank + hands, seconds=length / copy, timer=Timer.AGGREGATE)
            handed = (following >= 0) & (following != rank)
            self._hand_over(batch, leader, rank, np.where(handed, following, -1), first=not number)
            self._write(batch, leader, place[group], length, hands)
            place[group] += length

    def _hand_over(
        self, batch: Batch, leader: Integers, rank: Integers, following: Integers, *, first: bool
    ) -> None:
        """Let an aggregator have a full buffer of ``rank``, and let ``following`` go on.

        All are int64 (n,); -1 where nobody follows. The second buffer is free from the start, so
        that the second rank need not wait for the aggregator.
        """
        others = following >= 0
        if first:
            pair = (rank[others], following[others])
            for owner in pair:
                meeting = self._buffers[pair[1]]
                self._meet_pair(batch, owner, meeting, 2)
            others = np.zeros_like(others)
        meeting = np.where(others, self._buffers[following], self._buffers[rank])
        for owner in (leader, rank):
            self._meet_pair(batch, owner, meeting, 2 + others)
        self._meet_pair(batch, following[others], meeting[others], 3)

    def _meet_pair(
        self, batch: Batch, owner: Integers, meeting: Integers, members: npt.ArrayLike
    ) -> None:
        timer, hands = Timer.AGGREGATE, self._hands
        batch.add(Op.MEET, owner + hands, meeting=meeting, members=members, timer=timer)

    def _gather(self, batch: Batch) -> None:
        """Gather the metadata of all ranks at the first one, which writes them."""
        writers, costs, ranks = self._writers, self._writers.costs, self._writers.world.size
        own = form.metadata(writers.variables.count)
        told = costs.gatherv(ranks * form.CONTRIBUTION) + costs.bcast(8 * ranks)
        writers.meet(batch, told, Timer.AGGREGATE)
        sent, merged = costs.gather(own), costs.gatherv(ranks * own)
        seconds = np.where(writers.world.owners == 0, merged, sent)
        batch.add(Op.WORK, writers.world.owners, seconds=seconds, timer=Timer.AGGREGATE)
        if not self._steps:
            self._append(batch, "mmd.0", *form.descriptions(writers.variables.count))
        self._append(batch, "md.0", 8 + ranks * (16 + own))

    def _write_index(self, batch: Batch) -> None:
        """Write where the metadata and the data of a step are."""
        first = not self._ends["md.idx"]
        self._append(batch, "md.idx", form.metadata_index(self._writers.world.size, first=first))


def _turns(groups: Grouping, size: Integers, told: Parameters) -> Integers:
    """Return who copies how many bytes into shared memory, turn for turn: int64 (groups, n, 2).

    -1 where a group has no more to copy.
    """
    found: list[list[tuple[int, int]]] = []
    for leader, members in zip(groups.leader.tolist(), groups.size.tolist(), strict=True):
        sizes = size[leader : leader + members].tolist()
        block = told.shm_block(max(sizes))
        found.append(
            [
                (leader + place, min(block, each - done))
                for place, each in enumerate(sizes[1:], 1)
                for done in range(0, each, block)
            ]
        )
    turns = np.full((len(found), max(map(len, found)), 2), -1, np.int64)
    for group, line in enumerate(found):
        turns[group, : len(line)] = np.array(line, np.int64).reshape(-1, 2)
    return turns


class Bp4(Engine):
    """The engine BP4."""

    def open(self, batch: Batch) -> None:
        """Rank 0 makes the directory; the aggregators open their subfiles, and it its own files."""
        self._make_folder(batch)
        self._clean_folder(batch)
        leaders = self._groups.leader
        batch.add(Op.CREATE, leaders, file=self._file[leaders], timer=Timer.OPEN)
        for name in ("md.0", "md.idx"):
            self._put(batch, Op.CREATE, name, Timer.OPEN)

    def end_step(self, batch: Batch, size: Integers) -> None:
        """Pass the data on to the aggregators, which write them; write the metadata."""
        writers, groups, step = self._writers, self._groups, self._steps
        variables = writers.variables.count
        whole = size + form.group_bytes(variables, step)
        whole[groups.leader] += form.writer_bytes(step)
        hop = writers.mpi.message_time
        for members in np.unique(groups.size).tolist():
            which = np.flatnonzero(groups.size == members)
            brigade = Brigade(groups.leader[which], members, threaded=True, handshake=hop)
            file, base = self._data + which, self._end[which]
            brigade.close(batch, writers.world.node, whole, self._pairs, file, base)
        self._end += np.add.reduceat(whole, groups.leader)
        length = form.collective_metadata(variables, writers.world.size, step)
        gathering = writers.costs.gatherv(length) + writers.merge_time(writers.world.size)
        writers.meet(batch, writers.costs.gather(8), Timer.AGGREGATE)
        batch.add(Op.WORK, self._root, seconds=gathering, timer=Timer.AGGREGATE)
        self._append(batch, "md.0", length)
        self._append(batch, "md.idx", form.HEADER * (1 if step else 2))
        self._steps += 1

    def wait(self, batch: Batch) -> None:
        """Go on: nobody waits."""

    def close(self, batch: Batch) -> None:
        """Close all; rank 0 writes the profile, and that nobody writes any more."""
        leaders = self._groups.leader
        batch.add(Op.CLOSE, leaders, file=self._file[leaders], timer=Timer.OPEN)
        self._profile(batch)
        self._say_ended(batch)
        for name in ("md.0", "md.idx"):
            self._put(batch, Op.CLOSE, name)
