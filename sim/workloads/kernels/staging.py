"""Staging: local SSDs, or a burst buffer, before Lustre, for output and for input.

*Out*: every rank writes each step of its output to a file on the SSD of its node; a helper thread
of the rank reads it back and writes it to Lustre, all helpers together into one file a step, as
HDF5's cache driver (vol-cache) does, or each into a file of its own, as SCR flushes checkpoints: in
the background while the application computes, or after its last step. The application sees the
local write; the data are safe when they are on Lustre. Both times are told. Helpers work on the
cores of their ranks or on idle ones, so they may delay what these compute, and their messages those
of the application. With ``partner`` each file is also copied to the SSD of another node.

*In*: what all nodes read again and again is copied once from Lustre to the SSD of each node, its
ranks a part each; then every rank reads its part there, as often as there are epochs.

With ``target: bb`` the burst buffer takes the place of the SSDs, and its service nodes themselves
move the files, each the stripes that it holds, a file for a file.

*Back*: the restart of a job whose first node failed and was replaced. The partner has the files of
that node; with ``partner`` all ranks then copy anew; and each reads its file.

``direct`` does the same work on Lustre alone, for comparison.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Count, Load, Seconds, Size, format_bytes
from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Communicator
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.plane.programs import FAILED
from xc40io.storage.places import LUSTRE, Storage
from xc40io.workloads.job_results import Figure, Trouble
from xc40io.workloads.kernels.application import Application
from xc40io.workloads.kernels.kernel import Kernel, KernelRun
from xc40io.workloads.kernels.partner_copies import PartnerCopies
from xc40io.workloads.kernels.shared_file import in_force_of, mpi_file
from xc40io.workloads.traits import FLUSH, PARTNER_COPY, STAGE_IN

if TYPE_CHECKING:
    import simpy

    from xc40io.machine.filesystem import FileSet
    from xc40io.workloads.job import Job, Waiting

_STAGERS = 4  # programs of a service node, so that reads and writes of stripes overlap
_BEGIN, _END = range(2)  # marks
_LOCAL = Storage(kind="ssd")
_FILE = "staged"
_REBUILD = "read from partner"
_ALONE = 8  # cycles that are computed with nothing beside them, at most


class Staging(Kernel):
    """Output through local SSDs or a burst buffer, flushed meanwhile; or input read ahead."""

    name: ClassVar[str] = "staging"

    mode: Literal["out", "in", "back"] = Field(
        "out", description="Output, input, or what a restart reads after a node has failed."
    )
    size: Size = Field(
        16 << 20, description="Bytes that a rank writes in a step, or reads in an epoch."
    )
    transfer: Size = Field(4 << 20, description="Bytes of a call of a rank on its local file.")
    steps: Count = Field(1, description="Steps of output, or epochs of input.")
    compute: Seconds = Field(0.0, description="Seconds that ranks compute after each step.")
    flush: Literal["background", "end"] = Field(
        "background", description="When output goes to Lustre: meanwhile, or after the last step."
    )
    direct: bool = Field(False, description="Write to Lustre, read from it: no staging.")
    layout: Literal["job", "rank"] = Field(
        "job", description="Output on Lustre: one file of all ranks a step, or one of each rank."
    )
    cycle: Seconds = Field(
        0.0, description="Seconds that ranks compute between two exchanges; 0: all of `compute`."
    )
    exchange: Load = Field(
        0.0, description="Bytes that a rank sends to its neighbours for a second of computing."
    )
    overlap: bool = Field(
        False,
        description="Ranks compute on, in cycles, until all is on Lustre, and then some cycles "
        "more: how much the flush slows them down.",
    )
    helper: Literal["rank", "idle"] = Field(
        "rank", description="The core of a helper: that of its rank, or one that has no rank."
    )
    partner: bool = Field(
        False, description="Each file is copied to the SSD of another node as well."
    )
    sync: bool = Field(True, description="Local writes are synced, as HDF5's cache driver does.")
    cache_steps: Count | None = Field(
        None,
        description="Steps of output that there is room for: one more waits until the oldest is on "
        "Lustre, as with SCR_CACHE_SIZE. Any number unless given.",
    )
    grace: Annotated[Seconds, Field(ge=0)] | None = Field(
        None,
        description="Seconds that the job goes on after the application's end; until all is safe "
        "unless given.",
    )

    def helpers(self) -> int:
        """One helper of each rank flushes."""
        return 1

    @property
    def helpers_apart(self) -> bool:
        """Whether helpers run on idle cores."""
        return self.helper == "idle"

    def stagers(self, scenario: Scenario) -> int:
        """Four programs on each service node move what it holds."""
        return _STAGERS if scenario.target.kind == "bb" and not self.direct else 0

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the machine has SSDs, and the target is left to the kernel."""
        target = scenario.target
        if target.kind == "home":
            raise InputError(
                "kernel staging: target = home: staging goes through SSDs; right would be ssd or bb"
            )
        if target.access == "private" and self.mode == "in":
            raise InputError(
                "kernel staging: target.access = private with mode: in: all nodes read the same "
                "input; right would be striped"
            )
        if machine.ssd is None and target.kind != "bb" and not self.direct:
            raise InputError(
                f"kernel staging: the machine file of {machine.name} has no section ssd; right "
                "would be target: bb, direct: true, or a machine with SSDs"
            )
        if self.mode == "in" and (self.grace is not None or self.flush != "background"):
            raise InputError(
                "kernel staging: flush and grace belong to mode: out; input is safe already"
            )
        if self.cache_steps and (self.mode == "in" or self.direct or self.flush != "background"):
            raise InputError(
                f"kernel staging: cache_steps = {self.cache_steps} belongs to output that is "
                "flushed in the background; right would be mode: out, flush: background and no "
                "direct"
            )
        if self.layout == "rank" and (self.mode == "in" or target.kind == "bb"):
            raise InputError(
                "kernel staging: layout = rank belongs to output through SSDs; input is one file, "
                "and a burst buffer moves the files of the ranks as they are; right would be job"
            )
        self._check_application(scenario)
        self._check_partner(scenario)

    def _check_application(self, scenario: Scenario) -> None:
        """Raise InputError if what ranks do beside the flush cannot be."""
        if self.mode != "out" and (self.exchange or self.overlap):
            raise InputError(
                "kernel staging: exchange and overlap belong to mode: out, where ranks compute "
                "while helpers flush"
            )
        if self.exchange and scenario.nodes == 1:
            raise InputError(
                "kernel staging: exchange with nodes = 1: no other node is there; right would be 2"
            )
        if self.overlap and (not self.cycle or self.direct or self.grace is not None):
            raise InputError(
                "kernel staging: overlap looks at a flush to its end, in cycles; right would be "
                "cycle: 1 s, and neither direct nor grace"
            )

    def _check_partner(self, scenario: Scenario) -> None:
        """Raise InputError if there is no partner with an SSD."""
        if not self.partner and self.mode != "back":
            return
        if scenario.nodes == 1 or scenario.target.kind == "bb" or self.direct or self.mode == "in":
            raise InputError(
                "kernel staging: partner, and mode: back, are about files on the SSDs of at least "
                "2 nodes; right would be target: lustre or ssd, mode: out, direct: false, nodes: 2"
            )

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that go to and from Lustre, about."""
        return self.size * ranks * (self.steps if self.mode == "out" or self.direct else 1)

    def run(self, job: Job) -> Waiting:
        """Write all steps, or read all epochs."""
        stages: dict[str, Callable[[Staging, Job], _Stage]]
        stages = {"out": _StageOut, "in": _StageIn, "back": _StageBack}
        yield from stages[self.mode](self, job).run()


class _Stage(KernelRun[Staging]):
    """What both ways have in common."""

    def __init__(self, options: Staging, job: Job) -> None:
        super().__init__(options, job)
        self._everyone = np.arange(job.ranks)
        self._partner = PartnerCopies(job, options.size, options.transfer)
        own = job.filesystem.storage
        self._near = own if own.kind == "bb" else _LOCAL
        self._started = float(job.filesystem.environment.now)

    @abstractmethod
    def run(self) -> Waiting:
        """Do all of it."""

    def _calls(self, batch: Batch, kind: Op, file: Integers, offset: Integers | int) -> None:
        """Add the calls in which every rank, or its helper, moves its bytes of a file."""
        size, transfer = self._options.size, self._options.transfer
        whole, rest = divmod(size, transfer)
        fields: dict[str, Any] = {"file": file, "stride": transfer}
        if whole:
            batch.add(kind, offset=offset, length=transfer, count=whole, **fields)
        if rest:
            batch.add(kind, offset=offset + whole * transfer, length=rest, count=1, **fields)

    def _begin(self) -> Batch:
        """Return a batch in which the ranks meet and note the time."""
        batch = self._job.batch()
        self._job.barrier(batch)
        batch.add(Op.MARK, mark=_BEGIN)
        return batch

    def _move_stripes(self, batch: Batch, source: FileSet, target: FileSet, size: int) -> None:
        """Move files of so many bytes by the service nodes, each what it holds of them.

        One of the two sets is on the burst buffer. A service node's programs take its stripes in
        turn; the one with the first stripe of a file on Lustre makes it, and syncs it.
        """
        job, near = self._job, self._near
        held = target if near.kind == "bb" and self._options.mode == "in" else source
        number = np.arange(held.first, held.first + len(held.osts))
        layout = held.layout()
        stripes = layout.stripe_at(size - 1) + 1
        server = job.filesystem.servers_of(number)
        file = np.repeat(np.arange(len(number)), stripes)
        stripe = np.tile(np.arange(stripes), len(number))
        place = np.searchsorted(np.sort(near.servers), server[file, layout.object_at(stripe)])
        place = np.argsort(near.servers, kind="stable")[place]
        each = job.stagers.shape[1]
        owner = place * each + (stripe // near.width + file) % each
        first = owner[stripe == 0]
        offset = layout.stripe_start(stripe)
        batch.add(Op.CREATE, first, file=target.first + np.arange(len(number)))
        batch.add(
            np.tile(np.array([Op.READ, Op.WRITE], np.int64), len(owner)),
            np.repeat(owner, 2),
            file=np.stack([source.first + file, target.first + file], axis=-1).ravel(),
            offset=np.repeat(offset, 2),
            length=np.repeat(np.minimum(layout.stripe_start(stripe + 1), size) - offset, 2),
            count=1,
        )
        batch.add(Op.FSYNC, first, file=target.first + np.arange(len(number)))

    def _copy_to_partners(self, step: str, files: Integers) -> Generator[simpy.Event, Any, FileSet]:
        """Copy a file of each rank to the SSD of the next node; return the copies, by sender."""
        job = self._job
        copies = job.filesystem.allocate(job.ranks, job.striping, on=_LOCAL)
        batch = self._partner.make(files, copies.first + self._everyone)
        yield from job.do(batch, PARTNER_COPY)
        self._row(step, PARTNER_COPY, job.programs)
        return copies

    def _row(self, step: str, phase: str, programs: Integers, of: int | None = None) -> None:
        """Add the row of what programs did in one step, with the files of so many ranks."""
        times = self._job.filesystem.marks(programs)
        moved = self._options.size * (self._job.ranks if of is None else of)
        self._job.record(step, phase, times[:, _BEGIN], times[:, _END], moved)

    def _stagers(self) -> Batch:
        """Return a batch of the programs of the service nodes, which note the time."""
        batch = Batch(self._job.stagers.ravel())
        batch.add(Op.MARK, mark=_BEGIN)
        return batch


class _StageOut(_Stage):
    """Output: local writes, and their flush by helpers."""

    def __init__(self, options: Staging, job: Job) -> None:
        super().__init__(options, job)
        self._in_force = in_force_of(job, _FILE)
        self._helpers = job.programs + 1
        self._whole = options.size * job.ranks
        self._application = Application(job, options.cycle, options.exchange)
        self._flushed: list[simpy.Process] = []
        self._flushed_at = self._started
        self._copied: list[tuple[FileSet, FileSet]] = []  # files of each step, and their copies
        self._safe = 0

    def run(self) -> Waiting:
        """Write all steps; wait until they are safe, or until the job ends."""
        options, clock = self._options, self._job.filesystem.environment
        waiting: list[tuple[int, FileSet]] = []
        for step in range(options.steps):
            if options.direct:
                yield from self._write_through(step)
            else:
                yield from self._make_room(step)
                files = yield from self._write_locally(step)
                if options.flush == "end":
                    waiting.append((step, files))
                else:
                    self._start_flush(step, files)
            yield from self._application.compute(options.compute)
        for step, files in waiting:
            self._start_flush(step, files)
        ended = float(clock.now)
        if options.overlap:
            yield from self._compute_beside(self._flushed[-1])
            self._conclude(ended, self._flushed_at)
            return
        if self._flushed:
            last, grace = self._flushed[-1], options.grace
            yield last if grace is None else last | clock.timeout(grace)
        self._conclude(ended, float(clock.now))

    def _compute_beside(self, flush: simpy.Process) -> Waiting:
        """Compute until a flush has ended, and a while alone; tell how much slower it was."""
        job, cycle, clock = self._job, self._options.cycle, self._job.filesystem.environment
        times, cycles = [float(clock.now)], 0
        while not flush.triggered:
            yield from self._application.cycle(cycle)
            cycles += 1
        times.append(float(clock.now))
        alone = min(max(cycles, 1), _ALONE)
        for _ in range(alone):
            yield from self._application.cycle(cycle)
        times.append(float(clock.now))
        begun, between, ended = times
        lost = between - begun - cycles * (ended - between) / alone
        share = lost / (self._flushed_at - begun) if cycles else 0.0
        slowed = {"slowed": Figure(share, "")}
        job.record("all", "beside flush", np.array([begun]), np.array([between]), 0, slowed)
        job.record("all", "alone", np.array([between]), np.array([ended]))

    def _make_room(self, step: int) -> Waiting:
        """Wait until there is room for a step: until an earlier one has been flushed."""
        job, most = self._job, self._options.cache_steps
        if most is None or step < most:
            return
        began = np.array([float(job.filesystem.environment.now)])
        yield self._flushed[step - most]
        job.record(str(step), "wait", began, np.array([float(job.filesystem.environment.now)]))

    def _start_flush(self, step: int, files: FileSet) -> None:
        """Start the flush of a step; it waits for the flush of the step before."""
        before = self._flushed[-1] if self._flushed else None
        process = self._job.filesystem.environment.process(self._flush(step, files, before))
        self._flushed.append(process)

    def _write_locally(self, step: int) -> Generator[simpy.Event, Any, FileSet]:
        """Write one step to the SSDs; return the files."""
        options, job = self._options, self._job
        files = job.filesystem.allocate(job.ranks, job.striping, on=self._near)
        number = files.first + self._everyone
        batch = self._begin()
        batch.add(Op.CREATE, file=number)
        self._calls(batch, Op.WRITE, number, 0)
        if options.sync:
            batch.add(Op.FSYNC, file=number)
        batch.add(Op.CLOSE, file=number)
        batch.add(Op.MARK, mark=_END)
        yield from job.do(batch, "write")
        self._row(str(step), "local write", job.programs)
        if options.partner:
            copies = yield from self._copy_to_partners(str(step), number)
            self._copied.append((files, copies))
        return files

    def _write_through(self, step: int) -> Waiting:
        """Write one step to Lustre."""
        job = self._job
        batch = self._begin()
        self._write_to_lustre(batch, job.world, step)
        batch.add(Op.MARK, mark=_END)
        yield from job.do(batch, "write")
        self._row(str(step), "write", job.programs)
        self._safe += self._whole

    def _flush(self, step: int, files: FileSet, before: simpy.Process | None) -> Waiting:
        """Bring a step from the SSDs to Lustre: the SimPy process of the helpers."""
        job = self._job
        if before is not None:
            yield before
        if self._near.kind == "bb":
            yield from self._stage_out(step, files)
            return
        world = job.world
        owners = np.arange(job.ranks)
        helpers = Communicator(owners, world.node, job.filesystem.meetings(), world.placement)
        number = files.first + self._everyone
        batch = Batch(self._helpers)
        batch.add(Op.MARK, mark=_BEGIN)
        self._calls(batch, Op.READ, number, 0)
        self._write_to_lustre(batch, helpers, step)
        for needless in self._needless(step, files):
            batch.add(Op.UNLINK, file=needless)
        batch.add(Op.MARK, mark=_END)
        failed = self._failed()
        yield job.filesystem.run(batch)
        self._row(str(step), FLUSH, self._helpers)
        self._safe += self._whole - (self._failed() - failed)
        self._flushed_at = float(job.filesystem.environment.now)

    def _needless(self, step: int, files: FileSet) -> Iterator[Integers]:
        """Yield the files that each helper removes when a step is on Lustre.

        The newest of those that have copies stay, for a restart.
        """
        if not self._options.partner:
            yield files.first + self._everyone
        elif step:
            own, copies = self._copied[step - 1]
            yield own.first + self._everyone
            yield copies.first + np.roll(self._everyone, self._partner.per_node)

    def _stage_out(self, step: int, files: FileSet) -> Waiting:
        """Bring a step from the burst buffer to Lustre: files for files."""
        job, options = self._job, self._options
        target = job.filesystem.allocate(job.ranks, job.striping, direct=True, on=LUSTRE)
        job.files[f"{_FILE}.{step}"] = target
        batch = self._stagers()
        self._move_stripes(batch, files, target, options.size)
        batch.add(Op.MARK, mark=_END)
        yield job.filesystem.run(batch)
        self._row(str(step), FLUSH, batch.programs)
        self._safe += self._whole
        self._flushed_at = float(job.filesystem.environment.now)

    def _failed(self) -> int:
        """Return the bytes that helpers could not read so far."""
        refused = self._job.filesystem.plane.refused
        return int(refused[self._helpers, FAILED].sum())

    def _write_to_lustre(self, batch: Batch, ranks: Communicator, step: int) -> None:
        """Write a step into one file on Lustre, collectively, or into one of each rank; sync it."""
        if self._options.layout == "job":
            self._write_collectively(batch, ranks, step)
            return
        job = self._job
        files = job.filesystem.allocate(job.ranks, job.striping, on=LUSTRE)
        job.files[f"{_FILE}.{step}"] = files
        number = files.first + self._everyone
        batch.add(Op.CREATE, file=number)
        self._calls(batch, Op.WRITE, number, 0)
        batch.add(Op.FSYNC, file=number)
        batch.add(Op.CLOSE, file=number)

    def _write_collectively(self, batch: Batch, ranks: Communicator, step: int) -> None:
        """Write a step into one file on Lustre, and sync it."""
        job, in_force, size = self._job, self._in_force, self._options.size
        files = job.filesystem.allocate(1, in_force.striping, on=LUSTRE)
        job.files[f"{_FILE}.{step}"] = files
        file = mpi_file(job, files, in_force.hints, ranks)
        file.open(batch, create=True)
        pieces = Accesses(self._everyone, self._everyone * size, np.full(job.ranks, size, np.int64))
        file.write_at_all(batch, pieces)
        file.sync(batch)
        file.close(batch)

    def _conclude(self, ended: float, now: float) -> None:
        """Tell when the application had ended, and when all was safe; if it was."""
        job, options = self._job, self._options
        start = np.array([self._started])
        total = self._whole * options.steps
        job.record("all", "application", start, np.array([ended]), total)
        figures = {"safe bytes": Figure(self._safe, "bytes")}
        job.record("all", "until safe", start, np.array([now]), self._safe, figures)
        unsafe = total - self._safe
        if unsafe:
            text = (
                f"UNSAFE: {format_bytes(unsafe)} of {format_bytes(total)} had not been flushed to "
                "Lustre when the job ended; the SSDs are wiped then."
            )
            job.troubles.append(Trouble("UNSAFE", unsafe, 0, text))


class _StageIn(_Stage):
    """Input: a copy on the SSD of each node, and epochs of reads."""

    def run(self) -> Waiting:
        """Copy what is read, unless it is to be read directly; read all epochs."""
        options, job = self._options, self._job
        node = job.world.node.astype(np.int64)
        turn = self._everyone - np.flatnonzero(np.diff(node, prepend=-1))[node]
        offset = turn * options.size
        every = int(np.bincount(node).max()) * options.size
        by_servers = self._near.kind == "bb" and not options.direct
        remote = job.filesystem.allocate(1, job.striping, size=every, direct=by_servers, on=LUSTRE)
        job.files["input"] = remote
        file = np.full(job.ranks, remote.first)
        if by_servers:
            copy = job.filesystem.allocate(1, job.striping, on=self._near)
            yield from self._stage_in(remote, copy, every)
            file = np.full(job.ranks, copy.first)
        elif not options.direct:
            copies = job.filesystem.allocate(job.world.nodes, job.striping, on=_LOCAL)
            yield from self._copy(file, copies.first + node, offset)
            file = copies.first + node
        for epoch in range(options.steps):
            batch = self._begin()
            batch.add(Op.OPEN, file=file)
            self._calls(batch, Op.READ, file, offset)
            batch.add(Op.CLOSE, file=file)
            batch.add(Op.MARK, mark=_END)
            yield from job.do(batch, "read", think=options.compute)
            self._row(str(epoch), "read", job.programs)
        start, end = np.array([self._started]), np.array([float(job.filesystem.environment.now)])
        job.record("all", "application", start, end, options.size * job.ranks * options.steps)

    def _stage_in(self, remote: FileSet, copy: FileSet, size: int) -> Waiting:
        """Read the input from Lustre by the service nodes."""
        job = self._job
        batch = self._stagers()
        self._move_stripes(batch, remote, copy, size)
        batch.add(Op.MARK, mark=_END)
        yield job.filesystem.run(batch)
        times = job.filesystem.marks(batch.programs)
        job.record("in", STAGE_IN, times[:, _BEGIN], times[:, _END], size)

    def _copy(self, remote: Integers, local: Integers, offset: Integers) -> Waiting:
        """Copy the input from Lustre to the SSD of each node, a part by each of its ranks."""
        options, job = self._options, self._job
        batch = self._begin()
        batch.add(Op.OPEN, file=remote)
        batch.add(Op.OPEN, file=local)
        for at in range(0, options.size, options.transfer):
            length = min(options.transfer, options.size - at)
            piece: dict[str, Any] = {"offset": offset + at, "length": length, "count": 1}
            batch.add(Op.READ, file=remote, **piece)
            batch.add(Op.WRITE, file=local, **piece)
        if options.sync:
            batch.add(Op.FSYNC, file=local)
        batch.add(Op.CLOSE, file=local)
        batch.add(Op.CLOSE, file=remote)
        batch.add(Op.MARK, mark=_END)
        yield from job.do(batch, STAGE_IN)
        self._row("in", STAGE_IN, job.programs)


class _StageBack(_Stage):
    """The restart of a job whose first node was lost, and is another one now."""

    def run(self) -> Waiting:
        """Bring the files of the lost node back, copy all anew if asked to, read them."""
        options, job, every = self._options, self._job, self._everyone
        filesystem = job.filesystem
        lost, left = every[: self._partner.per_node], every[self._partner.per_node :]
        there = filesystem.allocate(len(left), job.striping, size=options.size, on=_LOCAL)
        copies = filesystem.allocate(len(lost), job.striping, size=options.size, on=_LOCAL)
        new = filesystem.allocate(len(lost), job.striping, on=_LOCAL)
        batch = self._partner.fetch(copies.first + lost, new.first + lost)
        yield from job.do(batch, _REBUILD)
        self._row("0", _REBUILD, job.programs, of=len(lost))
        file = np.concatenate([new.first + lost, there.first + left - len(lost)])
        if options.partner:
            yield from self._copy_to_partners("0", file)
        batch = self._begin()
        batch.add(Op.OPEN, file=file)
        self._calls(batch, Op.READ, file, 0)
        batch.add(Op.CLOSE, file=file)
        batch.add(Op.MARK, mark=_END)
        yield from job.do(batch, "read")
        self._row("0", "read", job.programs)
