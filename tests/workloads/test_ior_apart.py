"""A file per process over MPI-IO: what the first rank does, all do, each to its own file."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Task, runs
from xc40io.workloads.ior.options import parse_arguments
from xc40io.workloads.ior.over_mpi import ApartBackend, first_of
from xc40io.workloads.ior.parameters import Access
from xc40io.workloads.ior.pattern import file_indices, offsets, pretend_ranks
from xc40io.workloads.job import Ranks

RANKS, FIRST_FILE = 6, 40
NODE = np.arange(RANKS, dtype=np.int32) // 2


def task_of(line: str, access: Access = Access.WRITE) -> Task:
    (test,) = parse_arguments(line.split()).tests
    pretend = pretend_ranks(test, access, RANKS, 2)
    return Task(
        ranks=Ranks(np.arange(RANKS) * 3, 2),
        test=test,
        access=access,
        pattern=offsets(test, pretend),
        pretend=pretend,
        file=FIRST_FILE + file_indices(test, pretend),
        fresh=True,
    )


class Stub:
    """A backend of one rank: it opens, meets, exchanges two pieces with itself and writes."""

    counted = False
    pieces = 1

    def __init__(self, task: Task) -> None:
        self.task = task

    def open(self, batch: Batch) -> None:
        batch.add(Op.CREATE, self.task.ranks.all, file=self.task.file)
        batch.add(Op.MEET, self.task.ranks.all, meeting=7, members=1)

    def transfer(
        self, batch: Batch, begin: Integers, end: Integers, *, limit: float | None = None
    ) -> None:
        assert limit is None
        rank, _, offset = self.task.calls(begin, end)
        for call in range(len(rank)):
            first = batch.add_transfers(source=[0, 0], target=[0, 0], size=[10 + call, 20], turn=0)
            batch.add(Op.EXCHANGE, rank[:1], transfer=first, received=2)
            batch.add(Op.WRITE, rank[:1], file=self.task.file, offset=offset[call], length=8)

    def sync(self, batch: Batch) -> None:
        """Have nothing to do."""

    def close(self, batch: Batch) -> None:
        batch.add(Op.CLOSE, self.task.ranks.all, file=self.task.file)

    def recount(self, calls: Integers) -> None:
        raise AssertionError(calls)

    def record(self, timers: Floats) -> None:
        assert len(timers) == 1


def made(step: str, *arguments: Integers) -> tuple[Batch, list[np.ndarray]]:
    """Return the batch of a step, and the operations of every rank."""
    task = task_of("-a HDF5 -F -b 16 -t 8")
    backend = ApartBackend(task, Stub(first_of(task)), NODE)
    batch = task.ranks.batch()
    batch.add(Op.MARK, task.ranks.all)
    getattr(backend, step)(batch, *arguments)
    operations, bounds = batch.listing()
    return batch, [operations[a:b][1:] for a, b in pairwise(bounds)]


def test_every_rank_opens_its_own_file_and_meets_alone() -> None:
    _, of_rank = made("open")
    for rank, operations in enumerate(of_rank):
        assert operations["kind"].tolist() == [Op.CREATE, Op.MEET]
        assert operations[0]["file"] == FIRST_FILE + rank
        assert (operations[1]["meeting"], operations[1]["members"]) == (7, 1)


def test_every_rank_has_transfers_of_its_own_on_its_own_node() -> None:
    calls = np.zeros(RANKS, np.int64), np.full(RANKS, 2)
    batch, of_rank = made("transfer", *calls)
    source, target, size, *_ = (
        np.concatenate(parts) for parts in zip(*batch.transfers, strict=True)
    )
    assert (source == target).all()
    seen: list[int] = []
    for rank, operations in enumerate(of_rank):
        assert operations["kind"].tolist() == [Op.EXCHANGE, Op.WRITE] * 2
        assert operations["offset"][1::2].tolist() == [0, 8]
        for call, first in enumerate(operations["transfer"][::2].tolist()):
            assert source[first : first + 2].tolist() == [NODE[rank]] * 2
            assert size[first : first + 2].tolist() == [10 + call, 20]
            seen += [first, first + 1]
    assert sorted(seen) == list(range(len(size)))


def test_a_step_in_which_nothing_happens_adds_nothing() -> None:
    _, of_rank = made("sync")
    assert not any(len(operations) for operations in of_rank)


def test_the_first_part_of_a_task_is_that_of_rank_0() -> None:
    task = task_of("-a MPIIO -F -C -b 32 -t 8 -s 3", Access.READ)
    first = first_of(task)
    assert len(first.ranks) == 1
    assert first.file.tolist() == task.file[:1].tolist() == [FIRST_FILE + 2]
    everything = np.zeros(1, np.int64), np.full(1, 12)
    rank, turn, offset = first.calls(*everything)
    assert turn.tolist() == list(range(12))
    assert offset.tolist() == list(range(0, 96, 8))
    assert not rank.any()


def test_calls_are_listed_rank_after_rank() -> None:
    task = task_of("-b 32 -t 8 -s 2")
    begin, end = np.arange(RANKS), np.full(RANKS, 4)
    rank, turn, offset = task.calls(begin, end)
    assert rank.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]  # ranks 4 and 5 have made theirs
    assert turn.tolist() == [0, 1, 2, 3, 0, 1, 2, 0, 1, 0]
    assert offset.tolist() == [0, 8, 16, 24, 40, 48, 56, 80, 88, 120]


def test_calls_that_follow_each_other_are_runs() -> None:
    owner = np.array([0, 0, 0, 1, 1])
    start, calls = runs(owner, np.array([0, 8, 24, 32, 40]), 8)
    assert (start.tolist(), calls.tolist()) == ([0, 2, 3], [2, 1, 2])
