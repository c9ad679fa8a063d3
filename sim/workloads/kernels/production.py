"""A job of which accounting knows little: bytes, files, the length of calls, how long it took.

It reads its input, then computes and writes in equal steps, as a simulation does that writes
checkpoints or results. Where its ranks take part in a step together they wait for each other.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Bytes, Count, Seconds, Size
from xc40io.engine.types import Integers
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.kernels.kernel import Kernel, KernelRun, Natural

if TYPE_CHECKING:
    import simpy

    from xc40io.machine.filesystem import FileSet
    from xc40io.workloads.job import Job, Waiting

LONGEST_CALL = 256 << 20
"""Bytes of a call that stands for several. A client asks for all pages of a call at once, so that
one of many gigabytes would drive its own pages out of the cache before it has got them."""

MOST_TIMES = 1_000_000
"""Files, opens, stats or steps: more would be hours of work."""

MOST_OPERATIONS = 50_000_000
"""Operations of all ranks in a step, which are made before it begins: some gigabytes."""

Times = Annotated[int, Field(gt=0, le=MOST_TIMES)]


_READING, _WRITING, _METADATA = 1, 2, 3  # timers

_BEGIN, _END = range(2)  # marks


class CumulatedSeconds(NamedTuple):
    """Seconds of all ranks together, as Darshan adds them up: in reads, writes, and the rest."""

    read: float
    write: float
    metadata: float


class Production(Kernel):
    """A job by its totals, as accounting and Darshan's summaries tell them."""

    name: ClassVar[str] = "production"

    read: Bytes = Field(0, description="Bytes that all ranks read together, at the beginning.")
    written: Bytes = Field(0, description="Bytes that all ranks write together, in equal steps.")
    read_call: Size = Field(2**20, description="Length of a read.")
    write_call: Size = Field(2**20, description="Length of a write.")
    read_layout: Literal["rank", "job"] = Field(
        "rank", description="Who shares a file that is read: nobody, or all ranks."
    )
    write_layout: Literal["rank", "job"] = Field(
        "rank", description="Who shares a file that is written: nobody, or all ranks."
    )
    io_ranks: Count | None = Field(
        None, description="Ranks that read and write, spread over all; all of them unless given."
    )
    files: Times = Field(
        1, description="Files of each of these ranks, or of all where they share: for each way."
    )
    opens: Times = Field(1, description="How often a rank opens and closes a file in a step.")
    stats: Annotated[int, Field(ge=0, le=MOST_TIMES)] = Field(
        0, description="Stats of each of these ranks, at the beginning."
    )
    steps: Times = Field(1, description="Steps of computing and writing.")
    compute: Seconds = Field(0.0, description="Seconds of computing, all steps together.")
    most_calls: Natural = Field(
        0,
        description="Most reads, writes, opens and stats that a rank does on a file in a step; "
        "where there are more, each stands for several. Their cost to the core is kept. 0: no "
        "limit.",
    )

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes that are read and written."""
        return self.read + self.written

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: ARG002
        """Raise InputError unless the operations of a step can be held."""
        ranks = self.ranks_at_work(scenario.nodes * scenario.ppn)
        each = self.times(self.stats) + 2 * self.files * self.times(self.opens)
        if ranks * each > MOST_OPERATIONS:
            raise InputError(
                f"kernel production: {ranks:,} ranks with {each:,} opens, closes and stats each in "
                f"a step are {ranks * each:,} operations; right would be at most "
                f"{MOST_OPERATIONS:,}: fewer ranks, files, opens or stats, or most_calls"
            )

    def ranks_at_work(self, ranks: int) -> int:
        """Return how many of so many ranks read and write."""
        return ranks if self.io_ranks is None else min(self.io_ranks, ranks)

    def times(self, count: int) -> int:
        """Return how many of so many opens or stats there are."""
        return count if self.most_calls == 0 else min(count, self.most_calls)

    def call(self, length: int, share: int) -> int:
        """Return the length of the calls that move ``share`` bytes, all in bytes.

        It is ``length``, or a multiple that makes no more than ``most_calls`` of them; none that is
        longer becomes longer than ``LONGEST_CALL``.
        """
        if self.most_calls == 0 or share <= length * self.most_calls:
            return length
        several = -(-share // (length * self.most_calls))
        return min(several, max(LONGEST_CALL // length, 1)) * length

    def run(self, job: Job) -> Generator[simpy.Event, Any, CumulatedSeconds]:
        """Read, then compute and write, step by step."""
        return (yield from _Run(self, job).run())


class _Ways(NamedTuple):
    """One way of moving bytes: what is moved, by which operation, into which files."""

    kind: Op
    label: str
    total: int
    call: int
    shared: bool
    timer: int


class _Run(KernelRun[Production]):
    """One run: the ranks that read and write, and their timers."""

    def __init__(self, options: Production, job: Job) -> None:
        super().__init__(options, job)
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
                self._job.meet(batch)  # the others open what the first has made
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


def _share(total: int, parts: int, number: int = 0) -> int:
    """Return the bytes of one of some equal parts: rounded up, and none beyond the total."""
    each = -(-total // parts)
    return max(min(each, total - number * each), 0)
