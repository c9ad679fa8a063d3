"""Deep learning: the samples of a training set, read again and again, each time in a new order.

The training set is either one file for each sample, as an image collection is when it is unpacked,
or packed: a few large binary files that hold many samples each (TFRecord, WebDataset). What the
difference costs is opens: an epoch of one sample a file asks the metadata server for every sample.
(The pattern is that of DLIO, argonne-lcf/dlio_benchmark; a sample of ImageNet has about 110 kB.)

Workers load ahead, as those of PyTorch's loader, which DLIO has as well: each loads every
``workers``-th batch of its rank, at most ``prefetch`` of them before the rank takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.config.units import Count, Seconds, Size, format_bytes
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind
from xc40io.storage.places import Storage
from xc40io.workloads.job_results import Figure
from xc40io.workloads.kernels.draws import Distribution, draw
from xc40io.workloads.kernels.kernel import MOST_PROGRAMS, Kernel, KernelRun, Natural, Share
from xc40io.workloads.kernels.samples import Loading, Order

if TYPE_CHECKING:
    from xc40io.workloads.job import Job, Waiting

_MOST_SAMPLES = 5_000_000
_BEGIN, _END = range(2)  # marks


class DlLoading(Kernel):
    """Ranks that load samples in batches, several epochs, and compute between.

    Every epoch deals the samples to the ranks anew. With packed files the order of the files is
    shuffled, and a rank reads its part of it from end to end, or all samples are, and each is read
    where it lies. Loading and computing take turns; or workers of each rank load ahead.
    """

    name: ClassVar[str] = "dl-loading"

    samples: Annotated[int, Field(gt=0, le=_MOST_SAMPLES)] = Field(
        131_072, description="Samples of the training set."
    )
    size: Size = Field(110_000, description="Bytes of a sample, on average.")
    distribution: Distribution = Field(
        "lognormal", description="How the sizes of the samples are distributed."
    )
    spread: Share = Field(
        0.4, description="Standard deviation of the sizes as a share of their mean."
    )
    layout: Literal["files", "packed"] = Field(
        "files", description="One file for each sample, or many samples in each."
    )
    per_file: Count = Field(1024, description="Samples in a packed file.")
    shuffle: Literal["files", "samples"] = Field(
        "files", description="What is shuffled in packed files."
    )
    transfer: Size = Field(2**20, description="Largest call on a packed file that is read through.")
    epochs: Count = Field(2, description="Times that every sample is read.")
    batch: Count = Field(32, description="Samples that a rank loads before it computes.")
    compute: Seconds = Field(0.0, description="Computing after each batch.")
    workers: Natural = Field(
        0, description="Threads of a rank that load ahead; 0: the rank loads by itself."
    )
    prefetch: Count = Field(
        2, description="Batches that each of them loads before the rank takes the first of them."
    )
    cache: Literal["none", "node", "ssd"] = Field(
        "none",
        description="Where samples are kept after the first epoch: a node keeps its own, in memory "
        "or on its local SSD.",
    )

    def helpers(self) -> int:
        """Return how many helper threads each rank has: its workers."""
        return self.workers

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes that are read from the file system, about."""
        return self.samples * self.size * (self.epochs if self.cache == "none" else 1)

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless what is to be kept fits into the nodes."""
        share = -(-self.samples // scenario.nodes) * self.size
        room = {"none": share, "node": machine.nodes.memory}
        if machine.ssd is not None:
            room["ssd"] = machine.ssd.capacity
        ranks = scenario.nodes * scenario.ppn
        if self.workers and self.cache != "none":
            raise InputError(
                f"kernel dl-loading: workers = {self.workers} with cache = {self.cache}: what is "
                "kept on a node is not loaded ahead; right would be one of both"
            )
        if ranks * (self.workers + 1) > MOST_PROGRAMS:
            raise InputError(
                f"kernel dl-loading: {ranks:,} ranks with workers = {self.workers} make too many "
                f"threads to simulate; right would be at most {MOST_PROGRAMS:,} in all"
            )
        if self.cache not in room:
            raise InputError(
                f"kernel dl-loading: cache = ssd: the nodes of {machine.name} have no SSDs; right "
                "would be none or node"
            )
        if share > room[self.cache]:
            raise InputError(
                f"kernel dl-loading: a node's samples take {format_bytes(share, 3)}; a node of "
                f"{machine.name} has room for {format_bytes(room[self.cache], 3)} of them; "
                "right would be more nodes or cache = none"
            )
        if self.samples < ranks:
            raise InputError(
                f"kernel dl-loading: samples = {self.samples:,} are fewer than the {ranks:,} ranks"
            )

    def run(self, job: Job) -> Waiting:
        """Read every sample, once in each epoch."""
        yield from _Run(self, job).run()


_Table: TypeAlias = tuple[Integers, Integers, Integers]
"""Sizes, files and places of all samples: int64 (samples,) each."""


class _Run(KernelRun[DlLoading]):
    """One run of the kernel."""

    def run(self) -> Waiting:
        """Read every sample, once in each epoch."""
        options, job = self._options, self._job
        order = Order(
            options.samples,
            job.world.node,
            job.seed,
            fixed=options.cache != "none",
        )
        sizes = self._sizes()
        first, file, offset = self._make_files(sizes)
        table = sizes, first + file, offset
        kept = self._keep(order, table) if options.cache == "ssd" else None
        for epoch in range(options.epochs):
            yield from self._epoch(order, epoch, table, kept)

    def _sizes(self) -> Integers:
        """Return the bytes of every sample: int64 (samples,)."""
        options = self._options
        mean = np.full(options.samples, float(options.size))
        drawn = draw(
            stream(self._job.seed, "samples"),
            options.distribution,
            mean,
            options.spread,
            options.samples,
        )
        return np.maximum(np.rint(drawn), 1).astype(np.int64)

    def _make_files(self, sizes: Integers) -> tuple[int, Integers, Integers]:
        """Make the files; return the first, and of each sample the file from it and the place."""
        options, job = self._options, self._job
        each = 1 if options.layout == "files" else options.per_file
        file = np.arange(options.samples) // each
        count = int(file[-1]) + 1
        job.files["samples"] = made = job.filesystem.allocate(count, job.striping)
        starts = np.arange(count) * each
        before = np.cumsum(sizes) - sizes
        ends = np.add.reduceat(sizes, starts)
        job.filesystem.plane.files.end[made.first : made.first + count] = ends
        return made.first, file, before - before[starts][file]

    def _order(self, order: Order, epoch: int, file: Integers) -> tuple[Integers, Integers]:
        """Return the rank and the number of every sample in an epoch: int64 (samples,)."""
        options = self._options
        whole_files = options.layout == "packed" and options.shuffle == "files"
        return order.of_epoch(epoch, file if whole_files else None)

    def _keep(self, order: Order, table: _Table) -> _Table:
        """Make a file on the SSD of each node; return sizes, files and places of all samples there.

        They lie in the order in which the first epoch loads them, rank after rank.
        """
        job = self._job
        rank, sample = self._order(order, 0, table[1])
        node = np.unique(job.world.node, return_inverse=True)[1][rank]
        ssd = Storage(kind="ssd")
        made = job.filesystem.allocate(int(node[-1]) + 1, StripeRequest(), on=ssd)
        size = table[0][sample]
        before = np.cumsum(size) - size
        file, place = np.empty_like(table[1]), np.empty_like(table[2])
        file[sample] = made.first + node
        place[sample] = before - before[np.searchsorted(node, node)]
        return table[0], file, place

    def _epoch(self, order: Order, epoch: int, table: _Table, kept: _Table | None) -> Waiting:
        """Read every sample once; ``kept`` says where they are on the SSDs of the nodes."""
        options, job = self._options, self._job
        rank, sample = self._order(order, epoch, table[1])
        every = np.arange(job.ranks)
        batch = job.batch(every if options.workers else None)
        batch.add(Op.MARK, mark=_BEGIN)
        size, file, offset = table if kept is None or epoch == 0 else kept
        loading = Loading(batch, rank, size[sample], file[sample], offset[sample], options.batch)
        if options.workers:
            opens = self._load_ahead(loading)
        elif epoch > 0 and options.cache == "node":
            opens = 0
            loading.copy(job.machine.mpi.copy_rate, options.compute)
        elif epoch > 0 and options.cache == "ssd":
            opens = 0
            loading.each_sample(options.compute)
        else:
            opens = self._load(loading, options.compute)
        if kept is not None and epoch == 0:
            size, file, offset = kept
            Loading(batch, rank, size[sample], file[sample], offset[sample], options.batch).store()
        batch.add(Op.MARK, every, mark=_END)
        before, busy = job.filesystem.timers(batch.programs), _mds_seconds(job)
        yield from job.do(batch, "read")
        spent = job.filesystem.timers(batch.programs) - before
        loaders = slice(job.ranks, None) if options.workers else slice(None)
        figures = {"in opens": Figure(float(spent[loaders, loading.OPENING].mean()), "seconds")}
        if options.workers:
            waited = float(spent[: job.ranks, loading.WAITING].mean())
            figures["waiting"] = Figure(waited, "seconds")
        self._add_row(epoch, {"opens": Figure(opens, "")} | figures, busy)

    def _load(self, loading: Loading, compute: float) -> int:
        """Load all samples as they lie in files; return how many are opened."""
        options = self._options
        if options.layout == "files":
            return loading.each_file(compute)
        if options.shuffle == "files":
            return loading.through(options.transfer, compute)
        return loading.each_sample(compute)

    def _load_ahead(self, loading: Loading) -> int:
        """Let the workers of the ranks load all samples, and the ranks take them in turn."""
        job, workers = self._job, self._options.workers
        with loading.batch.behind(job.ranks):
            opens = self._load(loading.by_workers(workers, self._options.prefetch, job.programs), 0)
        loading.take(workers, job.programs, self._options.compute)
        return opens

    def _add_row(self, epoch: int, loaded: dict[str, Figure], busy: float) -> None:
        """Add the row of an epoch: how it was ``loaded``, and more."""
        job = self._job
        times = job.marks()
        seconds = float(times[:, _END].max() - times[:, _BEGIN].min())
        figures = loaded | {
            "MDS busy": Figure(_mds_seconds(job) - busy, "seconds"),
            "images/s": Figure(self._options.samples / seconds, ""),
        }
        moved = int(self._sizes().sum())
        job.record(str(epoch), "load", times[:, _BEGIN], times[:, _END], moved, figures)


def _mds_seconds(job: Job) -> float:
    """Return the seconds for which the metadata servers have worked so far, for all jobs."""
    stations = job.filesystem.plane.stations
    return float(stations.busy[stations.kind == StationKind.MDS].sum())
