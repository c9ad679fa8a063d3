"""The metadata stress test of h5bench at work: everything is written, then everything is read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import simpy

from xc40io.engine.types import Floats, Integers
from xc40io.libraries.hdf5 import Dataset, Hdf5Properties
from xc40io.libraries.hdf5_objects import Group
from xc40io.libraries.hdf5_transfer import TransferProperties
from xc40io.libraries.selections import Hyperslab
from xc40io.plane.batch import Batch
from xc40io.workloads.h5bench.benchmarks import DOUBLE, Stress, StressTimes
from xc40io.workloads.h5bench.open_file import OpenFile
from xc40io.workloads.job import Job, Waiting

_Move: TypeAlias = Callable[[Batch, Dataset, Hyperslab], None]


class _Part(NamedTuple):
    """A dataset of the test: its names, and the arrays in it, each a pair of step and array."""

    group: str
    name: str
    places: Integers


def run_stress(
    task: Stress, job: Job, file: OpenFile, step: str
) -> Generator[simpy.Event, Any, StressTimes]:
    """Run one test as :mod:`xc40io.workloads.h5bench.pattern_run` does; return its times."""
    return (yield from _StressRun(task, job, file, step).run())


class _StressRun:
    """One test at work."""

    def __init__(self, task: Stress, job: Job, file: OpenFile, step: str) -> None:
        self._task, self._job, self._open, self._step = task, job, file, step
        transfer = TransferProperties(collective=task.collective)
        self._file = file.library(Hdf5Properties(release="1.10.2", transfer=transfer))
        self._groups: dict[str, Group] = {}
        self._datasets: list[Dataset] = []
        self._spent = {name: np.zeros(job.ranks) for name in ("create", "write", "read")}

    def run(self) -> Generator[simpy.Event, Any, StressTimes]:
        """Write and close, open and read."""
        clock = self._job.filesystem.environment
        began = float(clock.now)
        yield from self._call("create", self._file.create)
        for part in self._parts():
            yield from self._call("create", partial(self._create, part))
            yield from self._call("write", partial(self._move, part, -1, self._file.write))
        yield from self._open.do([self._file.close], "metadata")
        written = float(clock.now) - began
        self._open.tell(self._step, writing=True)
        self._record("write", began)
        again = float(clock.now)
        yield from self._open.do([self._file.open], "metadata")
        for number, part in enumerate(self._parts()):
            yield from self._call("read", partial(self._read, part, number))
        yield from self._open.do([self._file.close], "metadata")
        self._open.tell(self._step, writing=False)
        self._record("read", again)
        ended = float(clock.now)
        return StressTimes(
            wall=ended - began,
            file_size=self._file.size,
            write_phase=(written, written),
            create=_extremes(self._spent["create"]),
            write=_extremes(self._spent["write"]),
            read_phase=(ended - again, ended - again),
            read=_extremes(self._spent["read"]),
        )

    def _parts(self) -> Iterator[_Part]:
        """Yield the datasets in the order in which they are made."""
        task = self._task
        grid = np.indices((task.steps, task.arrays)).reshape(2, -1).T
        if task.rank == 4:
            yield _Part("", "dataset", grid)
            return
        slow = 0 if task.step_first else 1
        kind = "step" if task.step_first else "array"
        for number in range(task.steps if task.step_first else task.arrays):
            places = grid[grid[:, slow] == number]
            if task.rank == 3:
                yield _Part("", f"{kind}={number:06d}", places)
                continue
            other = "array" if task.step_first else "step"
            for inner, place in enumerate(places):
                yield _Part(f"{kind}={number:06d}", f"{other}={inner:06d}", place[None, :])

    def _create(self, part: _Part, batch: Batch) -> None:
        """Create a dataset, and its group if that is new."""
        task, group = self._task, None
        if part.group:
            if part.group not in self._groups:
                self._groups[part.group] = self._file.create_group(batch, part.group)
            group = self._groups[part.group]
        outer = self._outer()
        chunk = (*self._outer_chunk(), *task.tile) if task.chunked else None
        dims = (*outer, *task.whole)
        self._datasets.append(
            self._file.create_dataset(batch, part.name, dims, DOUBLE, chunk=chunk, group=group)
        )

    def _outer(self) -> tuple[int, ...]:
        """Return the dimensions of a dataset that come before an array's dimensions."""
        both = (self._task.steps, self._task.arrays)
        slow, fast = both if self._task.step_first else both[::-1]
        return {2: (), 3: (fast,), 4: (slow, fast)}[self._task.rank]

    def _outer_chunk(self) -> tuple[int, ...]:
        """Return the same of a chunk: with all arrays of a step in it where both are inside."""
        task = self._task
        if task.rank < 4:
            return (1,) * len(self._outer())
        return (1, task.arrays) if task.step_first else (task.arrays, 1)

    def _read(self, part: _Part, number: int, batch: Batch) -> None:
        """Open a dataset and read it."""
        self._file.open_dataset(batch, self._datasets[number])
        self._move(part, number, self._file.read, batch)

    def _move(self, part: _Part, number: int, move: _Move, batch: Batch) -> None:
        """Write or read all arrays of a dataset: independently, or one collective call for each."""
        dataset, places = self._datasets[number], part.places
        each = [places] if not self._task.collective else [one[None, :] for one in places]
        for some in each:
            move(batch, dataset, self._selection(some))

    def _selection(self, places: Integers) -> Hyperslab:
        """Return the tiles of all ranks in some arrays, rank after rank."""
        task, ranks = self._task, self._job.ranks
        rank = np.repeat(np.arange(ranks), len(places))
        outer = np.tile(places if task.step_first else places[:, ::-1], (ranks, 1))
        outer = outer[:, 2 - len(self._outer()) :]
        tile = np.array(task.tile)
        row, column = np.divmod(rank, task.process_columns)
        start = np.column_stack([outer, row * tile[0], column * tile[1]])
        block = np.column_stack([np.ones_like(outer), np.tile(tile, (len(rank), 1))])
        return Hyperslab.of(start, block, rank=rank)

    def _call(self, kind: str, call: Callable[[Batch], object]) -> Waiting:
        """Let all ranks make a call; add to what they have spent in calls of its kind."""
        yield from self._open.do([call], "metadata" if kind == "create" else kind)
        self._spent[kind] += self._open.seconds(1)[:, 0]

    def _record(self, phase: str, began: float) -> None:
        """Add the row of a phase."""
        job, ended = self._job, float(self._job.filesystem.environment.now)
        whole = np.full(job.ranks, began)
        job.record(
            self._step, phase, whole, np.full(job.ranks, ended), self._task.moved * job.ranks
        )


def _extremes(seconds: Floats) -> tuple[float, float]:
    return float(seconds.min()), float(seconds.max())
