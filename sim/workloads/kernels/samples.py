"""In which order samples are loaded, and what a rank, or its workers, do to load its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from xc40io.engine.randomness import stream
from xc40io.engine.types import Indices, Integers
from xc40io.mpi.stats import Timer
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op, mix_operations


class Order:
    """Which rank loads which samples in an epoch, and in which order.

    ``node`` is int32 (ranks,), the node of each rank, ascending; with ``fixed`` every node has the
    same samples in all epochs.
    """

    def __init__(self, samples: int, node: Indices, seed: int, *, fixed: bool) -> None:
        self._samples = samples
        self._node = np.unique(node, return_inverse=True)[1]
        self._seed = seed
        self._fixed = fixed

    def of_epoch(self, epoch: int, file: Integers | None = None) -> tuple[Integers, Integers]:
        """Return the rank and the number of every sample: int64 (samples,), ascending by rank.

        Epochs count from 0; ``file`` is int64 (samples,), the file of each sample, if whole files
        are shuffled.
        """
        draws = stream(self._seed, "sample order", 0 if self._fixed else epoch)
        order = _shuffled(draws, self._samples, file)
        ranks = len(self._node)
        rank = np.arange(self._samples) * ranks // self._samples
        if self._fixed and epoch > 0:
            again = stream(self._seed, "sample order", epoch).random(self._samples)
            order = order[np.lexsort((again, self._node[rank]))]
        return rank, order


def _shuffled(draws: np.random.Generator, count: int, file: Integers | None) -> Integers:
    """Return the samples in random order, the samples of one file together if they have files."""
    if file is None:
        return draws.permutation(count)
    _, number = np.unique(file, return_inverse=True)
    place = draws.permutation(int(number.max()) + 1)
    return np.argsort(place[number], kind="stable")


@dataclass(frozen=True, eq=False)
class Ahead:
    """What workers look at who load a rank's batches before it needs them.

    A worker begins a batch when the rank has taken all but so many of those before it: the
    ``prefetch_factor`` of PyTorch's loader for each of its workers.
    """

    program: Integers  # (samples,): of the rank
    taken: Integers  # (samples,): batches that it must have taken


@dataclass(frozen=True, eq=False)
class Loading:
    """Samples that are to be loaded, in order, rank after rank; or worker after worker."""

    OPENING: ClassVar[Timer] = Timer.OPEN
    WAITING: ClassVar[Timer] = Timer.FINISH

    batch: Batch  # takes the operations; rank r has position r
    rank: Integers  # (samples,), ascending: who loads each
    size: Integers  # (samples,): bytes
    file: Integers  # (samples,): in the data plane
    offset: Integers  # (samples,): where it begins in its file
    together: int  # samples after which a rank computes, and a worker says that it has them
    ahead: Ahead | None = None  # of workers

    @property
    def _turn(self) -> Integers:
        """The number of each sample among its rank's samples, from 0."""
        return np.arange(len(self.rank)) - np.searchsorted(self.rank, self.rank)

    def by_workers(self, workers: int, prefetch: int, programs: Integers) -> Loading:
        """Return the same samples dealt to workers: worker ``i % workers`` of a rank has batch i.

        ``programs`` is int64 (ranks,), the program of each rank. In place of ranks stand their
        workers, ``rank * workers`` and following.
        """
        turn = self._turn
        batch = turn // self.together
        worker = self.rank * workers + batch % workers
        order = np.argsort(worker, kind="stable")
        taken = np.maximum(batch - prefetch * workers + 1, 0)[order]
        ahead = Ahead(programs[self.rank][order], taken)
        size, file, offset = self.size[order], self.file[order], self.offset[order]
        return Loading(self.batch, worker[order], size, file, offset, self.together, ahead)

    def take(self, workers: int, programs: Integers, compute: float) -> None:
        """Let ranks take each batch when the worker that loads it has it, and compute."""
        ends = self._ends
        rank, batch = self.rank[ends], self._turn[ends] // self.together
        kinds = np.tile(np.array([Op.AWAIT, Op.POST, Op.COMPUTE]), len(rank))
        operations = mix_operations(
            kinds,
            {
                Op.AWAIT: {
                    "program": np.repeat(programs[rank] + 1 + batch % workers, 3),
                    "count": np.repeat(batch // workers + 1, 3),
                    "timer": self.WAITING,
                },
                Op.COMPUTE: {"seconds": compute},
            },
        )
        self.batch.add_operations(operations, np.repeat(rank, 3))

    def each_file(self, compute: float) -> int:
        """Open, read and close a file for every sample; return how many are opened."""
        kinds = [Op.OPEN, Op.READ, Op.CLOSE, Op.THINK]
        self._add(kinds, np.ones((len(self.rank), 3), bool), compute)
        return len(self.rank)

    def each_sample(self, compute: float) -> int:
        """Read every sample where it lies; a rank opens a file when it first needs it."""
        pair = self.rank * (int(self.file.max()) + 1) + self.file
        needed = np.zeros(len(pair), bool)
        needed[np.unique(pair, return_index=True)[1]] = True
        chosen = np.stack([needed, np.ones_like(needed)], axis=1)
        self._add([Op.OPEN, Op.READ, Op.THINK], chosen, compute)
        self.batch.add(Op.CLOSE, self.rank[needed], file=self.file[needed], timer=self.OPENING)
        return int(needed.sum())

    def through(self, transfer: int, compute: float) -> int:
        """Read through the files, a batch of samples after the other; return how many are opened.

        A batch is read in calls of at most ``transfer`` bytes, and ends where the file does.
        """
        number = self._turn // self.together
        other_file = (np.diff(self.file, prepend=-1) != 0) | (np.diff(self.rank, prepend=-1) != 0)
        begins = other_file | (np.diff(number, prepend=-1) != 0)
        first = np.flatnonzero(begins)
        whole = Loading(
            self.batch,
            self.rank[first],
            np.add.reduceat(self.size, first),
            self.file[first],
            self.offset[first],
            1,
            self.ahead and Ahead(self.ahead.program[first], self.ahead.taken[first]),
        )
        opens = other_file[first]
        closes = np.append(opens[1:], True)
        ends = np.append(number[first][1:] != number[first][:-1], True)
        ends |= np.append(np.diff(self.rank[first]) != 0, True)
        calls, rest = whole.size // transfer, whole.size % transfer
        thinks = ends & self._tells(compute)
        chosen = np.stack([opens, calls > 0, rest > 0, closes, thinks], axis=1)
        whole._add_chosen(
            [Op.OPEN, Op.READ, Op.READ, Op.CLOSE, Op.THINK],
            chosen,
            offset=np.stack([whole.offset, whole.offset + calls * transfer], axis=1),
            length=np.stack([np.full_like(calls, transfer), rest], axis=1),
            count=np.stack([calls, np.ones_like(calls)], axis=1),
            compute=compute,
            begins=np.append(True, ends[:-1]),
        )
        return int(opens.sum())

    def copy(self, rate: float, compute: float) -> None:
        """Copy every sample from the node's memory, at so many bytes/s."""
        computing = np.where(self._ends, compute, 0.0)
        kinds = np.tile(np.array([Op.WORK, Op.THINK]), len(self.rank))
        seconds = np.stack([self.size / rate, computing], axis=1).ravel()
        wanted = seconds > 0
        self.batch.add(kinds[wanted], np.repeat(self.rank, 2)[wanted], seconds=seconds[wanted])

    def store(self) -> None:
        """Write what a rank has loaded, one sample after the other, where it lies in its file."""
        self.batch.add(
            Op.WRITE,
            self.rank,
            file=self.file,
            offset=self.offset,
            length=self.size,
            count=1,
            timer=Timer.INDEPENDENT,
        )

    @property
    def _ends(self) -> npt.NDArray[np.bool_]:
        """Whether a batch ends with each sample."""
        last = np.append(np.diff(self.rank) != 0, True)
        ends: npt.NDArray[np.bool_] = ((self._turn + 1) % self.together == 0) | last
        return ends

    def _tells(self, compute: float) -> bool:
        """Whether something is to be done behind each batch: a rank computes, a worker counts."""
        return compute > 0 or self.ahead is not None

    def _add(self, kinds: list[Op], chosen: npt.NDArray[np.bool_], compute: float) -> None:
        """Add operations for every sample, the last of them computing."""
        thinks = self._ends & self._tells(compute)
        self._add_chosen(
            kinds,
            np.concatenate([chosen, thinks[:, None]], axis=1),
            offset=self.offset[:, None],
            length=self.size[:, None],
            count=np.ones((len(self.rank), 1), np.int64),
            compute=compute,
            begins=self._turn % self.together == 0,
        )

    def _add_chosen(
        self,
        kinds: list[Op],
        chosen: npt.NDArray[np.bool_],
        *,
        offset: Integers,
        length: Integers,
        count: Integers,
        compute: float,
        begins: npt.NDArray[np.bool_],
    ) -> None:
        """Add those operations of each sample that are chosen: bool (samples, kinds).

        ``offset``, ``length`` and ``count`` have a column for each READ among the kinds. The last
        kind is what ends a batch; ``begins`` says where one begins.
        """
        waits: dict[str, npt.ArrayLike] = {}
        if self.ahead is not None:
            kinds = [Op.AWAIT, *kinds[:-1], Op.POST]
            chosen = np.concatenate([begins[:, None], chosen], axis=1)
            waits = {
                name: np.broadcast_to(values[:, None], chosen.shape)[chosen]
                for name, values in (("program", self.ahead.program), ("count", self.ahead.taken))
            }
        shape = chosen.shape
        reads = [place for place, kind in enumerate(kinds) if kind == Op.READ]
        columns = {name: np.zeros(shape, np.int64) for name in ("offset", "length", "count")}
        for place, number in enumerate(reads):
            for name, given in (("offset", offset), ("length", length), ("count", count)):
                columns[name][:, number] = given[:, place]
        opening: dict[str, npt.ArrayLike] = {
            "file": np.broadcast_to(self.file[:, None], shape)[chosen],
            "timer": self.OPENING,
        }
        calls: dict[str, npt.ArrayLike] = {name: column[chosen] for name, column in columns.items()}
        calls |= {"stride": calls["length"], "timer": Timer.INDEPENDENT}
        operations = mix_operations(
            np.broadcast_to(np.array(kinds), shape)[chosen],
            {
                Op.OPEN: opening,
                Op.READ: opening | calls,
                Op.CLOSE: opening,
                Op.THINK: {"seconds": compute, "timer": Timer.NONE},
                Op.AWAIT: waits,
            },
        )
        rank = np.broadcast_to(self.rank[:, None], shape)[chosen]
        self.batch.add_operations(operations, rank)
