"""mdtest at work: iterations of phases, with a barrier of all ranks behind each (mdtest 4.1)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.mpi.communicator import Collectives
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.job_results import Figure, Row, stretch_of
from xc40io.workloads.mdtest.names import (
    OF_NAMES,
    Items,
    Names,
    Namespace,
    add_steps,
    add_steps_until,
    create_steps,
    name_steps,
    naming_of,
    ordered_items,
    read_steps,
    walk,
    walked_items,
)
from xc40io.workloads.mdtest.options import MdtestCommand
from xc40io.workloads.mdtest.outcome import MdtestOutcome, MdtestPhase, MdtestRun, MdtestWall
from xc40io.workloads.mdtest.parameters import (
    DIRECTORY_OPERATIONS,
    FILE_OPERATIONS,
    MdtestTest,
    Operation,
)
from xc40io.workloads.mdtest.untimed import UntimedCalls
from xc40io.workloads.settling import Settling

_START, _END, _SYNCED = range(3)  # marks

_SHIFTS = {
    Operation.DIRECTORY_STAT: 1,
    Operation.DIRECTORY_RENAME: 1,
    Operation.DIRECTORY_REMOVAL: 3,
    Operation.FILE_STAT: 1,
    Operation.FILE_READ: 2,
    Operation.FILE_REMOVAL: 3,
}
"""By how many strides the ranks are shifted in each phase, from those who made the items."""


def run(command: MdtestCommand, job: Job) -> Generator[simpy.Event, Any, MdtestOutcome]:
    """Run a command with each number of ranks that it asks for: a SimPy process."""
    test, runs = command.test, []
    per_node, stride = min(job.all_ranks.per_node, job.ranks), _stride(test, job)
    done = _Done(job, test.item_operations(job.ranks))
    job.share_done.append(done.share)
    untimed = UntimedCalls(job, test, {})
    untimed.begin()
    for part, tasks in enumerate(test.tasks(job.ranks)):
        one = _Run(job, test, tasks, part, stride, {}, untimed, done=done)
        runs.append((yield from one.run()))
    untimed.end()
    return MdtestOutcome(
        command=command,
        nodes=-(-job.ranks // per_node),
        tasks=job.ranks,
        per_node=per_node,
        stride=stride,
        runs=tuple(runs),
    )


def run_test(
    test: MdtestTest, job: Job, made: Namespace, settling: Settling | None = None
) -> Generator[simpy.Event, Any, MdtestRun]:
    """Run one command of several that are about the same names: a part of a SimPy process.

    ``made`` is what earlier commands have made; ``settling`` ends creates with a deadline before
    it, once they go on at one pace.
    """
    untimed = UntimedCalls(job, test, made.folders)
    untimed.begin()
    stride = _stride(test, job)
    one = _Run(job, test, job.ranks, 0, stride, made.names, untimed, settling)
    done = yield from one.run()
    untimed.end()
    return done


class _Done:
    """How much of what a job does with items is done; it never becomes less."""

    def __init__(self, job: Job, operations: int) -> None:
        self._job, self._all = job, max(operations, 1)
        self._behind = self._now = 0  # operations in the phases before, and in the present one
        self._steps = 0  # that its programs had to do when it was looked at first
        self._share = 0.0

    def begin(self, operations: int) -> None:
        """Note that a phase of so many operations begins."""
        self._behind, self._now, self._steps = self._behind + self._now, operations, 0

    def share(self) -> float:
        """Return how much is done, 0 to 1."""
        left = self._job.filesystem.plane.operations_left(self._job.all_ranks.programs)
        self._steps = max(self._steps, left)
        here = self._now * (1.0 - left / self._steps) if self._steps else 0.0
        self._share = max(self._share, (self._behind + here) / self._all)
        return self._share


def _stride(test: MdtestTest, job: Job) -> int:
    """Return by how many ranks the items of the next phase are shifted.

    Where neighbours share a node a stride counts nodes, so that no cache is of use.
    """
    per_node = min(job.all_ranks.per_node, job.ranks)
    return test.stride * (per_node if job.ranks > per_node else 1)


class _Run:
    """All iterations with some number of ranks, the first of a job."""

    def __init__(
        self,
        job: Job,
        test: MdtestTest,
        tasks: int,
        part: int,  # place of this number of ranks among the command's numbers, from 0
        stride: int,  # ranks by which the items of the next phase are shifted
        made: dict[str, Names],
        untimed: UntimedCalls,
        settling: Settling | None = None,
        done: _Done | None = None,
    ) -> None:
        self._job = job
        self._done = done
        self._test = test
        self._part = part
        self._stride = stride % tasks  # as far as it shifts anything
        self._names = made
        self._untimed = untimed
        self._settling = settling
        self._ranks = job.all_ranks.first(tasks)
        nodes = len(np.unique(job.world.node[:tasks]))
        self._barrier = Collectives(job.machine.mpi, nodes, tasks).barrier()
        self._phases: list[MdtestPhase] = []
        self._made = test.rank_items
        self._wall: MdtestWall | None = None

    def run(self) -> Generator[simpy.Event, Any, MdtestRun]:
        """Run all iterations."""
        for iteration in range(self._test.iterations):
            self._untimed.before(iteration)
            yield from self._iteration(iteration)
            self._untimed.after(iteration)
        return MdtestRun(tasks=len(self._ranks), phases=tuple(self._phases))

    def _iteration(self, iteration: int) -> Waiting:
        """Run the phases of one iteration, one after the other."""
        job, test, tasks = self._job, self._test, len(self._ranks)
        operations = test.operations
        self._made = test.rank_items
        folder = f"{test.paths[0]}/test-dir.{iteration}-0"
        name = f"{folder}/file.mdtest"
        if folder not in self._names:
            naming = naming_of(test, tasks, self._stride, iteration)
            self._names[folder] = Names(job.filesystem, test, tasks, naming)
        known = self._names[folder]
        self._trees = known.trees
        for kind, of_kind in ((None, DIRECTORY_OPERATIONS), (name, FILE_OPERATIONS)):
            asked = [operation for operation in operations if operation in of_kind]
            if kind is None and Operation.TREE_CREATION in operations:
                yield from self._phase(Operation.TREE_CREATION, iteration, None)
            if asked:
                yield job.filesystem.environment.timeout(test.delay)
                if kind not in known.items:
                    known.items[kind] = Items(job, test, tasks, known.naming, kind)
                items = known.items[kind]
                for operation in asked:
                    yield from self._phase(operation, iteration, items)
        if Operation.TREE_REMOVAL in operations:
            yield from self._phase(Operation.TREE_REMOVAL, iteration, None)

    def _phase(self, operation: Operation, iteration: int, items: Items | None) -> Waiting:
        """Run a phase and tell of it."""
        plane = self._job.filesystem.plane
        before = self._ranks.waited(plane)
        self._wall = None
        if self._done is not None and items is not None:
            self._done.begin(self._test.rank_items * len(self._ranks))
        batch = self._ranks.batch()
        batch.add(Op.MARK, mark=_START)
        if items is None:
            self._add_trees(batch, operation)
        elif operation is Operation.FILE_CREATION:
            batch = yield from self._create(batch, items)
        else:
            self._add_items(batch, operation, items)
        batch.add(Op.MARK, mark=_END)
        if self._test.call_sync and operation is Operation.FILE_CREATION:
            assert items is not None
            own = items.number(self._ranks.all, np.zeros_like(self._ranks.all))
            batch.add(Op.WRITE_OUT, file=own, count=self._made)
        batch.add(Op.MARK, mark=_SYNCED)
        yield self._job.filesystem.run(batch)
        waited = self._ranks.waited(plane).since(before)
        times = self._job.filesystem.marks(self._ranks.programs)
        phase = MdtestPhase(
            operation=operation,
            iteration=iteration,
            items=self._made if items is not None else self._test.tree_directories,
            start=times[:, _START],
            end=times[:, _END],
            synced=times[:, _SYNCED],
            barrier=self._barrier,
            stonewall=self._wall,
        )
        self._tell(phase)
        stretch = stretch_of(float(phase.start.min()), phase.synced, waited)
        if stretch.end > stretch.start:  # a rank without items or others to wait for takes no time
            self._job.add_stretch(operation.phase, stretch, self._part)
        yield self._job.filesystem.environment.timeout(self._barrier)

    def _tell(self, phase: MdtestPhase) -> None:
        """Keep a phase, and tell of it as all workloads do."""
        self._phases.append(phase)
        test, ranks, operation = self._test, len(self._ranks), phase.operation
        size = {
            Operation.FILE_CREATION: test.write_bytes * (1 + test.verify_write),
            Operation.FILE_READ: test.read_bytes,
        }
        of_trees = operation not in (*DIRECTORY_OPERATIONS, *FILE_OPERATIONS)
        row = Row(
            step=str(phase.iteration),
            phase=operation.phase,
            start=float(phase.start.min()),
            end=float(phase.synced.max()) + phase.barrier,
            longest=float(phase.own_seconds.max()),
            bytes=size.get(operation, 0) * phase.items * ranks,
            figures={
                "items": Figure(phase.items * (self._trees.count if of_trees else ranks), ""),
                "items/s": Figure(phase.rate, ""),
            },
            part=self._part,
            operations=phase.rate,
        )
        self._job.rows.append(row)
        if operation is Operation.DIRECTORY_CREATION and 0 < test.deadline < row.longest:
            raise InputError(
                f"-W {test.deadline}: the directories take {row.longest:.3g} s to create; mdtest "
                "would stop and then miss those that it has not made; right would be -F, or a "
                "smaller -n"
            )

    def _add_trees(self, batch: Batch, operation: Operation) -> None:
        """Let rank 0 make or remove the tree of all, or every rank its own.

        With ``-u`` and ``-c`` rank 0 does it for every rank.
        """
        test, trees = self._test, self._trees
        order = walk(test, upwards=operation is Operation.TREE_REMOVAL)
        tree = np.repeat(np.arange(trees.count * test.loops), len(order))
        rank = np.zeros_like(tree) if test.collective else tree % trees.count
        numbers = trees.number(tree, np.tile(order, trees.count * test.loops))
        add_steps(batch, rank, numbers, name_steps(operation))

    def _add_items(self, batch: Batch, operation: Operation, items: Items) -> None:
        """Let the ranks make, stat, read, rename or remove items."""
        test, ranks = self._test, self._ranks.all
        changes = OF_NAMES.get(operation) in (Op.MKDIR, Op.UNLINK)
        if changes:
            order = np.tile(walked_items(test)[: self._made], (len(ranks), 1))
        else:
            order = ordered_items(test, len(ranks), self._made, self._job.seed)
        if operation is Operation.FILE_REMOVAL and test.shared_file:
            ranks, order = ranks[:1], order[:1]
        owner = (ranks + _SHIFTS.get(operation, 0) * self._stride) % len(self._ranks)
        rank, file = np.repeat(ranks, order.shape[1]), items.number(owner[:, None], order)
        if operation is Operation.DIRECTORY_RENAME:
            file = items.renamed(owner)
        if changes and test.collective:  # for one rank after the other, in each test directory
            rank, each = np.zeros_like(rank), file.reshape(len(ranks), test.loops, -1)
            file = each.transpose(1, 0, 2)
        steps = read_steps(test) if operation is Operation.FILE_READ else name_steps(operation)
        add_steps(batch, rank, file.ravel(), steps)

    def _create(self, batch: Batch, items: Items) -> Generator[simpy.Event, Any, Batch]:
        """Let the ranks make files; return the batch that is to be gone on with."""
        test, ranks = self._test, self._ranks.all
        order = walked_items(test)
        rank = np.repeat(ranks, len(order))
        file = items.number(ranks[:, None], order).ravel()
        if test.shared_file:  # who comes first makes it: rank 0 stands for whoever that is
            first = rank == 0
            add_steps(batch, rank[first], file[first], create_steps(test))
            add_steps(batch, rank[~first], file[~first], create_steps(test, Op.OPEN))
            return batch
        if test.collective:
            return (yield from self._create_for_all(batch, items))
        if not test.deadline or not len(file):
            add_steps(batch, rank, file, create_steps(test))
            return batch
        return (yield from self._create_until(batch, rank, file))

    def _create_for_all(self, batch: Batch, items: Items) -> Generator[simpy.Event, Any, Batch]:
        """Let rank 0 make the files of all, which they open then: one directory after the other."""
        test, ranks, made = self._test, self._ranks.all, create_steps(self._test)
        alone = made._replace(kinds=tuple({made.kinds[0]: None, made.kinds[-1]: None}))
        for order in walked_items(test).reshape(test.loops, -1):
            rank = np.repeat(ranks, len(order))
            file = items.number(ranks[:, None], order).ravel()
            add_steps(batch, np.zeros_like(rank), file, alone)
            batch = yield from self._meet(batch)
            add_steps(batch, rank, file, create_steps(test, Op.OPEN))
        return batch

    def _create_until(
        self, batch: Batch, rank: Integers, file: Integers
    ) -> Generator[simpy.Event, Any, Batch]:
        """Let the ranks make files until the deadline, and then as many as the fastest has."""
        test, steps = self._test, create_steps(self._test)
        add_steps_until(batch, rank, file, steps, mark=_START, seconds=test.deadline)
        settling, each = self._settling, 1 + steps.calls
        if settling is not None:
            room = test.rank_items * each
            watch = settling.watch(self._job.filesystem, self._ranks.programs, room)
            self._job.filesystem.environment.process(watch)
        batch = yield from self._meet(batch)
        if settling is not None:
            settling.end()
        calls = self._job.filesystem.calls(self._ranks.programs)
        done = calls // each
        most, mean = int(done.max()), float(done.mean())
        if int(mean) == test.rank_items:
            return batch
        self._wall = MdtestWall(least=int(done.min()), most=most, mean=mean)
        self._made = most
        item = np.tile(np.arange(test.rank_items), len(done))
        missing = (item >= done[rank]) & (item < most)
        add_steps(batch, rank[missing], file[missing], steps)
        return batch

    def _meet(self, batch: Batch) -> Generator[simpy.Event, Any, Batch]:
        """Run a batch and the barrier behind it; return the next one of the same phase."""
        yield self._job.filesystem.run(batch)
        yield self._job.filesystem.environment.timeout(self._barrier)
        return self._ranks.batch()
