"""The loading of samples at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sim.config.striping import StripeRequest
from sim.engine.randomness import stream
from sim.engine.types import Integers
from sim.plane.operations import Op
from sim.plane.stations import StationKind
from sim.storage.places import Storage
from sim.workloads.dl_loading import DlLoading
from sim.workloads.dl_order import Loading, Order
from sim.workloads.job import Job
from sim.workloads.row import Figure
from sim.workloads.skeleton.draws import draw

if TYPE_CHECKING:
    from sim.workloads.job import Waiting

Table: TypeAlias = tuple[Integers, Integers, Integers]
"""Sizes, files and places of all samples: int64 (samples,) each."""

_BEGIN, _END = range(2)  # marks


def run(kernel: DlLoading, job: Job) -> Waiting:
    """Read every sample, once in each epoch."""
    yield from DlLoadingRun(kernel, job).run()


class DlLoadingRun:
    """One run of the kernel.

    Parameters
    ----------
    options
        What it is to do.
    job
        Where.
    """

    def __init__(self, options: DlLoading, job: Job) -> None:
        self._options = options
        self._job = job

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

    def _keep(self, order: Order, table: Table) -> Table:
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

    def _epoch(self, order: Order, epoch: int, table: Table, kept: Table | None) -> Waiting:
        """Read every sample once; ``kept`` says where they are on the SSDs of the nodes."""
        options, job = self._options, self._job
        rank, sample = self._order(order, epoch, table[1])
        batch, every = job.batch(), np.arange(job.ranks)
        batch.add(Op.MARK, every, mark=_BEGIN)
        size, file, offset = table if kept is None or epoch == 0 else kept
        loading = Loading(batch, rank, size[sample], file[sample], offset[sample], options.batch)
        opens = 0
        if epoch > 0 and options.cache == "node":
            loading.copy(job.machine.mpi.copy_rate, options.compute)
        elif epoch > 0 and options.cache == "ssd":
            loading.each_sample(options.compute)
        elif options.layout == "files":
            opens = loading.each_file(options.compute)
        elif options.shuffle == "files":
            opens = loading.through(options.transfer, options.compute)
        else:
            opens = loading.each_sample(options.compute)
        if kept is not None and epoch == 0:
            size, file, offset = kept
            Loading(batch, rank, size[sample], file[sample], offset[sample], options.batch).store()
        batch.add(Op.MARK, every, mark=_END)
        before, busy = job.filesystem.timers(job.programs), _mds_seconds(job)
        yield from job.do(batch, "read")
        spent = job.filesystem.timers(job.programs) - before
        self._add_row(epoch, opens, float(spent[:, loading.OPENING].mean()), busy)

    def _add_row(self, epoch: int, opens: int, opening: float, busy: float) -> None:
        """Add the row of an epoch."""
        job = self._job
        times = job.marks()
        seconds = float(times[:, _END].max() - times[:, _BEGIN].min())
        figures = {
            "opens": Figure(opens, ""),
            "in opens": Figure(opening, "seconds"),
            "MDS busy": Figure(_mds_seconds(job) - busy, "seconds"),
            "images/s": Figure(self._options.samples / seconds, ""),
        }
        moved = int(self._sizes().sum())
        job.record(str(epoch), "load", times[:, _BEGIN], times[:, _END], moved, figures)


def _mds_seconds(job: Job) -> float:
    """Return the seconds for which the metadata servers have worked so far, for all jobs."""
    stations = job.filesystem.plane.stations
    return float(stations.busy[stations.kind == StationKind.MDS].sum())
