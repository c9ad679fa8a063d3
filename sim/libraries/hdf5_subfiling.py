"""HDF5's subfiling driver: a few ranks read and write subfiles for all.

Every rank sends what it has of a file to the I/O concentrators (IOCs) whose subfiles it lies in
(:mod:`xc40io.libraries.hdf5_subfiles`): it asks for a thread of the IOC, which receives the data,
writes them by ``pwrite``, and tells the rank when it has. What a rank reads goes the other way. The
threads share the core of their rank, which goes on with its own work meanwhile. Metadata go as all
data do; nothing is collective, and nothing synced. Beside the subfiles there are a *stub*, the file
by its own name, in which rank 0 repeats what it writes of the superblock, and a configuration file,
which says how many subfiles there are. (HDF5 1.14: H5FDsubfiling.c, H5FDioc_int.c,
H5FDioc_threads.c, H5subfiling_common.c; checked against the calls that 1.14.5 made.)

In HDF5 an IOC's threads take requests as they come in. Here they are dealt to them beforehand, in
the order in which ranks ask that are equally fast: what comes late holds up what its thread is to
do next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xc40io.config.parts.mpi import Mpi
from xc40io.config.striping import StripeRequest
from xc40io.engine.types import Floats, Indices, Integers
from xc40io.libraries.hdf5_objects import SUPERBLOCK
from xc40io.libraries.hdf5_subfiles import Requests, Subfiling, ends_of, requests_of
from xc40io.libraries.mpi_driver import MpiDriver
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.file import MpiFile
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import POSTS, Op, mix_operations

if TYPE_CHECKING:
    from xc40io.machine.filesystem import FileSet, FileSystem

_INFO = 89  # bytes of the block that says how a file is subfiled, behind the superblock (sb_size)
_NAMED = 90  # bytes of the configuration file beside the names in it, about
_NAME = 40  # and of each of those
_CONTEXT = 256  # bytes of the allreduce in which a new communicator gets its number (MPICH)
_POLL = 10e-6  # s: half of what an IOC sleeps between two looks for requests


@dataclass(frozen=True, eq=False, kw_only=True)
class Place:
    """Where a subfiled file is, and who uses it."""

    told: Subfiling
    world: Communicator  # all ranks; threads of the IOCs follow them in batches
    filesystem: FileSystem
    striping: StripeRequest  # of each subfile
    meetings: Callable[[int], Integers]  # makes so many new meetings

    @cached_property
    def concentrators(self) -> Integers:
        """The ranks that are IOCs: int64."""
        return self.told.concentrators(self.world.node)

    @property
    def subfiles(self) -> int:
        """How many subfiles there are."""
        return self.told.subfiles or len(self.concentrators)


class SubfilingDriver(MpiDriver):
    """A file as HDF5 has it open through its subfiling driver; ``file`` is its stub."""

    takes_vectors = True

    def __init__(self, stub: MpiFile, mpi: Mpi, place: Place) -> None:
        self.place = place
        super().__init__(stub, mpi)
        self.info = _INFO + len(place.told.config_prefix) + bool(place.told.config_prefix)
        lustre = place.filesystem
        self._subfiles = lustre.allocate(place.subfiles, place.striping)
        self._config = lustre.allocate(1, StripeRequest(count=1))
        self._batch: Batch | None = None
        self._asked = 0  # requests of the batch so far
        self._dealt = np.zeros(len(place.concentrators), np.int64)  # those of each IOC
        self._meetings = np.zeros(0, np.int64)

    @property
    def files(self) -> dict[str, FileSet]:
        """The files beside the stub, by the end of their names."""
        return {"subfile": self._subfiles, "config": self._config}

    @property
    def communicator(self) -> Communicator:
        """The ranks."""
        return self.place.world

    def open(self, batch: Batch, *, create: bool, writing: bool) -> None:
        """Open or create the file: rank 0 its stub, the IOCs their subfiles.

        Who creates a file tries first to open it. Rank 0 asks where the subfiles end.
        """
        first, costs = self.communicator.owners[:1], self.costs
        fresh = create and not self._exists
        if fresh:
            batch.add(Op.STAT, first, file=self.file.number, timer=Timer.OPEN)
        self.file.open(batch, create=create, writing=writing, fresh=fresh)
        for _ in range(2):  # its size, and its number, which is part of the subfiles' names
            batch.add(Op.STAT, first, file=self.file.number, timer=Timer.OPEN)
        if not create:
            self._use_config(batch, self.ranks[:1], Op.OPEN, Op.READ)
        told = 2 * (costs.bcast(8) + costs.bcast(_NAME)) + costs.bcast(8) + costs.bcast(16)
        new_communicator = costs.allgather(8) + costs.allreduce(_CONTEXT)
        self.meet(batch, told + 2 * new_communicator + 4 * costs.allreduce(_CONTEXT))
        owner = self.communicator.owners[self._owner]
        order = np.argsort(owner, kind="stable")
        number = self._subfiles.first + order
        kind = Op.CREATE if fresh else Op.OPEN
        batch.add(kind, owner[order], file=number, timer=Timer.OPEN)
        if create:
            self._use_config(batch, self.place.concentrators[:1], kind, Op.WRITE)
        self.meet(batch, 2 * costs.allreduce(4))
        self._ask_size(batch)
        if create:
            self.size = 0
        self._exists, self._settled = True, 0

    def _use_config(self, batch: Batch, rank: Integers, opening: Op, moving: Op) -> None:
        """Let a rank look for the configuration file, and write or read it."""
        owner, number = self.communicator.owners[rank], self._config.first
        length, timer = self._config_length, Timer.OPEN
        for kind in (Op.STAT, opening):
            batch.add(kind, owner, file=number, timer=timer)
        batch.add(moving, owner, file=number, length=length, stride=length, count=1, timer=timer)
        batch.add(Op.CLOSE, owner, file=number, timer=timer)

    @property
    def _config_length(self) -> int:
        return _NAMED + _NAME * self.place.subfiles

    @cached_property
    def _owner(self) -> Integers:
        """The IOC of each subfile, as a rank: int64 (subfiles,)."""
        return np.resize(self.place.concentrators, self.place.subfiles)

    def close(self, batch: Batch) -> None:
        """Close the file: when nobody asks any more, the IOCs their subfiles, rank 0 the stub."""
        self.meet(batch, 2 * self.costs.barrier())
        owner = self.communicator.owners[self._owner]
        order = np.argsort(owner, kind="stable")
        number = self._subfiles.first + order
        batch.add(Op.CLOSE, owner[order], file=number, timer=Timer.OPEN)
        self.barrier(batch)
        self.file.close(batch)

    def write_all(self, batch: Batch, accesses: Accesses) -> None:
        """Write what all ranks have in one call: each by itself."""
        self.write(batch, accesses, each=False)

    def read_all(self, batch: Batch, accesses: Accesses) -> None:
        """Read what all ranks want in one call: each by itself."""
        self.read(batch, accesses, each=False)

    def write(self, batch: Batch, accesses: Accesses, *, each: bool) -> None:
        """Write, and repeat in the stub what rank 0 writes of the superblock."""
        asked, source, target = self._ask_for(accesses, each=each)
        transfer = batch.add_transfers(source, target, asked.length)
        calls = self._calls(asked, Timer.RAW_WRITE)
        received = self._received(transfer, len(source))
        calls["seconds"] = np.where(source == target, 0.0, 1.0 / self.mpi.fetch_rate)
        self._serve(batch, asked, {Op.EXCHANGE: received, Op.WRITE: calls})
        self._note(accesses)
        mirrored = (accesses.rank == 0) & (
            accesses.offset + accesses.length <= SUPERBLOCK + self.info
        )
        if mirrored.any():
            self.file.write_at(batch, Accesses(*(one[mirrored] for one in accesses)), each=True)

    def read(self, batch: Batch, accesses: Accesses, *, each: bool) -> None:
        """Read."""
        asked, target, source = self._ask_for(accesses, each=each)
        transfer = batch.add_transfers(source, target, asked.length)
        received = self._received(transfer, len(source))
        self._serve(
            batch, asked, {Op.READ: self._calls(asked, Timer.RAW_READ), Op.EXCHANGE: received}
        )

    def sync(self, batch: Batch) -> None:
        """Do nothing: the driver has no flush."""

    def truncate(self, batch: Batch, end: int, *, unasked: bool) -> None:  # noqa: ARG002
        """Cut the subfiles to the allocated space, if that has changed since the last time."""
        if end == self._settled:
            return
        self._ask_size(batch)
        self.barrier(batch)
        subfile, told = np.arange(self.place.subfiles), self.place.told
        order = np.argsort(self._owner, kind="stable")
        length = ends_of(end, told.stripe_size, len(subfile))[order]
        turn = np.zeros_like(subfile)
        asked = Requests(self._owner[order], turn, subfile[order], length, turn)
        cut = {"file": self._subfiles.first + asked.subfile, "offset": length}
        self._serve(batch, asked, {Op.TRUNCATE: cut | {"timer": Timer.OPEN}})
        self.barrier(batch)
        self._settled = end

    def settle(self, end: Integers) -> None:
        """Note where the stub, the configuration and the subfiles end."""
        end[self.file.number] = SUPERBLOCK + self.info
        end[self._config.first] = self._config_length
        lengths = ends_of(self.size, self.place.told.stripe_size, self.place.subfiles)
        end[self._subfiles.first : self._subfiles.first + len(lengths)] = lengths

    def _ask_size(self, batch: Batch) -> None:
        """Let rank 0 ask the IOCs where each subfile ends, and tell the others."""
        subfile = np.arange(self.place.subfiles)
        none = np.zeros_like(subfile)
        file = self._subfiles.first + subfile
        asked = Requests(none, none, subfile, none, none)
        self._serve(batch, asked, {Op.STAT: {"file": file, "timer": Timer.OPEN}})
        self.meet(batch, self.costs.bcast(8))

    def _ask_for(self, accesses: Accesses, *, each: bool) -> tuple[Requests, Indices, Indices]:
        """Return the requests for pieces; the nodes of who asks, and of the IOCs that are asked."""
        told, node = self.place.told, self.communicator.node
        asked = requests_of(accesses, told.stripe_size, self.place.subfiles, each=each)
        return asked, node[asked.rank], node[self._owner[asked.subfile]]

    def _calls(self, asked: Requests, timer: Timer) -> dict[str, npt.ArrayLike]:
        file, length = self._subfiles.first + asked.subfile, asked.length
        place = {"file": file, "offset": asked.offset, "length": length, "stride": length}
        return {**place, "count": 1, "timer": timer}

    @staticmethod
    def _received(first: int, count: int) -> dict[str, npt.ArrayLike]:
        return {"transfer": first + np.arange(count), "received": 1, "timer": Timer.EXCHANGE}

    def _serve(
        self, batch: Batch, asked: Requests, to_do: Mapping[Op, Mapping[str, npt.ArrayLike]]
    ) -> None:
        """Let ranks ask, and threads of the IOCs do what they are asked for.

        Parameters
        ----------
        batch, asked
            The requests; each thread serves its own by turn and rank.
        to_do
            What a thread does for each, in order: the columns of its operations, (requests,).
        """
        count = len(asked.rank)
        if not count:
            return
        begins = np.any(np.diff([asked.rank, asked.turn], axis=1, prepend=-1), axis=0)
        every = np.arange(count)
        entry = every - np.maximum.accumulate(np.where(begins, every, 0))
        served = np.lexsort((asked.rank, entry, asked.turn))
        thread = self._deal(batch, asked, served)
        meeting = self._meetings_for(count)
        there, back = self._latencies(asked)
        # A rank asks for all of a turn, and then waits for all of it.
        turn = np.cumsum(begins)
        order = np.lexsort((np.tile(every, 2), np.repeat([0, 1], count), np.tile(turn, 2)))
        batch.add(
            Op.MEET,
            self.communicator.owners[asked.rank[order % count]],
            meeting=meeting[order % count],
            members=2,
            within=1,
            seconds=np.concatenate((there, back))[order],
            timer=Timer.INDEPENDENT,
        )
        kinds = np.array([Op.MEET, *to_do, Op.MEET])
        row = np.repeat(served[np.argsort(thread[served], kind="stable")], len(kinds))
        end = np.tile(np.arange(len(kinds)) > 0, count)
        columns: dict[Op, dict[str, npt.ArrayLike]] = {
            kind: {name: np.broadcast_to(one, count)[row] for name, one in given.items()}
            for kind, given in to_do.items()
        }
        columns[Op.MEET] = {
            "meeting": meeting[row],
            "members": 2,
            "within": np.where(end, POSTS, 1),
            "seconds": np.where(end, back[row], there[row]),
        }
        batch.add_operations(mix_operations(np.tile(kinds, count), columns), thread[row])

    def _deal(self, batch: Batch, asked: Requests, served: Integers) -> Integers:
        """Return the thread of each request, as its position in the batch: int64 (requests,).

        The requests of an IOC, in the order in which they are ``served``, go to its threads one
        after the other.
        """
        if batch is not self._batch:
            self._batch, self._asked = batch, 0
            self._dealt[:] = 0
        threads, concentrators = self.place.told.threads, len(self._dealt)
        of, count = asked.subfile % concentrators, len(served)
        order = served[np.argsort(of[served], kind="stable")]
        before = np.empty(count, np.int64)
        before[order] = np.arange(count) - np.searchsorted(of[order], of[order])
        thread = (self._dealt[of] + before) % threads
        self._dealt += np.bincount(of, minlength=concentrators)
        return self.communicator.size + of * threads + thread

    def _meetings_for(self, count: int) -> Integers:
        """Return meetings that nobody else uses in this batch: int64 (count,)."""
        missing = self._asked + count - len(self._meetings)
        if missing > 0:
            self._meetings = np.concatenate((self._meetings, self.place.meetings(missing)))
        self._asked += count
        return self._meetings[self._asked - count : self._asked]

    def _latencies(self, asked: Requests) -> tuple[Floats, Floats]:
        """Return how long a request and its answer take, and how long the word that it is done."""
        node, mpi = self.communicator.node, self.mpi
        apart = node[asked.rank] != node[self._owner[asked.subfile]]
        message = np.where(apart, mpi.step_latency, mpi.local_latency) + mpi.message_time
        return 2 * message + _POLL, message
