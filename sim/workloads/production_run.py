"""A job by its totals, at work."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import simpy

from sim.engine.types import Integers
from sim.machine.filesystem import FileSet
from sim.plane.batch import Batch
from sim.plane.operations import Op
from sim.workloads.job import Job
from sim.workloads.production import Production

if TYPE_CHECKING:
    from sim.workloads.job import Waiting

_READING, _WRITING, _METADATA = 1, 2, 3  # timers

_BEGIN, _END = range(2)  # marks


class CumulatedSeconds(NamedTuple):
    """Seconds of all ranks together, as Darshan adds them up: in reads, writes, and the rest."""

    read: float
    write: float
    metadata: float


class _Ways(NamedTuple):
    """One way of moving bytes: what is moved, by which operation, into which files."""

    kind: Op
    label: str
    total: int
    call: int
    shared: bool
    timer: int


def run(kernel: Production, job: Job) -> Generator[simpy.Event, Any, CumulatedSeconds]:
    """Do everything; return what it leaves, :class:`CumulatedSeconds`."""
    return (yield from ProductionRun(kernel, job).run())


class ProductionRun:
    """One run of the kernel.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: Production, job: Job) -> None:
        self._options = options
        self._job = job
        at_work = options.ranks_at_work(job.ranks)
        self._ranks: Integers = np.arange(at_work, dtype=np.int64) * job.ranks // at_work
        self._timers = job.filesystem.timers(job.programs)

    def run(self) -> Generator[simpy.Event, Any, CumulatedSeconds]:
        """Read, then compute and write, step by step."""
        options = self._options
        if options.read or options.stats:
            shared = options.read_layout == "job"
            way = _Ways(Op.READ, "read", options.read, options.read_call, shared, _READING)
            yield from self._move("-", way, self._make_files(way, held=True), 0, options.stats)
        way = _Ways(
            *(Op.WRITE, "write", options.written, options.write_call),
            *(options.write_layout == "job", _WRITING),
        )
        made = self._make_files(way, held=False) if options.written else None
        for step in range(options.steps):
            if options.compute > 0.0:
                yield from self._compute(options.compute / options.steps)
            if made is not None:
                yield from self._move(str(step), way, made, step, 0)
        spent = (self._job.filesystem.timers(self._job.programs) - self._timers).sum(axis=0)
        return CumulatedSeconds(
            float(spent[_READING]), float(spent[_WRITING]), float(spent[_METADATA])
        )

    def _compute(self, seconds: float) -> Waiting:
        """Let all ranks compute."""
        batch = self._job.batch()
        batch.add(Op.THINK, seconds=seconds)
        yield self._job.filesystem.run(batch)

    def _make_files(self, way: _Ways, *, held: bool) -> FileSet:
        """Make the files that are read or written; what is read they hold already."""
        count = self._options.files * (1 if way.shared else len(self._ranks))
        size = -(-way.total // count) if held else 0
        made = self._job.filesystem.allocate(count, self._job.striping, size=size)
        self._job.files[way.label] = made
        return made

    def _move(self, step: str, way: _Ways, files: FileSet, number: int, stats: int) -> Waiting:
        """Let the ranks that do so move a step's bytes, file after file."""
        job, options, ranks = self._job, self._options, self._ranks
        steps = options.steps if way.kind == Op.WRITE else 1
        share = _share(_share(way.total, steps, number), options.files * len(ranks))
        batch = job.batch()
        batch.add(Op.MARK, mark=_BEGIN)
        position = np.arange(len(ranks))
        for _ in range(options.times(stats)):
            at = files.first + (0 if way.shared else position * options.files)
            batch.add(Op.STAT, ranks, file=at, timer=_METADATA)
        for one in range(options.files):
            file = files.first + one + (0 * position if way.shared else position * options.files)
            before = number + (steps * position if way.shared else 0 * position)
            self._open(batch, way, file, first=number == 0)
            self._add_calls(batch, way, file, share * before, share)
            batch.add(Op.CLOSE, ranks, file=file, timer=_METADATA)
        batch.add(Op.MARK, mark=_END)
        yield from job.do(batch, way.label)
        marks = job.marks()
        moved = share * options.files * len(ranks)
        job.record(step, way.label, marks[ranks, _BEGIN], marks[ranks, _END], moved)

    def _open(self, batch: Batch, way: _Ways, file: Integers, *, first: bool) -> None:
        """Open a file so often as it is opened in a step, and close it between."""
        ranks = self._ranks
        for time in range(self._options.times(self._options.opens)):
            if time > 0:
                batch.add(Op.CLOSE, ranks, file=file, timer=_METADATA)
            if first and time == 0 and way.kind == Op.WRITE:
                maker = ranks[:1] if way.shared else ranks
                batch.add(Op.CREATE, maker, file=file[: len(maker)], timer=_METADATA)
                if len(maker) == len(ranks):
                    continue
                self._meet(batch)
                batch.add(Op.OPEN, ranks[1:], file=file[1:], timer=_METADATA)
            else:
                batch.add(Op.OPEN, ranks, file=file, timer=_METADATA)

    def _add_calls(
        self, batch: Batch, way: _Ways, file: Integers, offset: Integers, share: int
    ) -> None:
        """Add the calls that move ``share`` bytes of each rank from ``offset`` on.

        Where one stands for several, what the others cost the core whatever their size is worked
        off before.
        """
        call = self._options.call(way.call, share)
        saved = -(-share // way.call) - -(-share // call)
        if saved:
            seconds = saved * self._job.machine.nodes.call_time
            batch.add(Op.WORK, self._ranks, seconds=seconds, timer=way.timer)
        calls, rest = divmod(share, call)
        for count, length, done in ((calls, call, 0), (min(rest, 1), rest, calls * call)):
            if count:
                batch.add(
                    way.kind,
                    self._ranks,
                    file=file,
                    offset=offset + done,
                    length=length,
                    stride=length,
                    count=count,
                    timer=way.timer,
                )

    def _meet(self, batch: Batch) -> None:
        """Let all ranks wait for each other: the others open what the first has made."""
        world = self._job.world
        batch.add(Op.MEET, world.owners, meeting=world.meeting, members=world.size, seconds=0.0)


def _share(total: int, parts: int, number: int = 0) -> int:
    """Return the bytes of one of some equal parts: rounded up, and none beyond the total."""
    each = -(-total // parts)
    return max(min(each, total - number * each), 0)
