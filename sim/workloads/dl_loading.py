"""Deep learning: the samples of a training set, read again and again, each time in a new order.

The training set is either one file for each sample, as an image collection is when it is unpacked,
or packed: a few large binary files that hold many samples each (TFRecord, WebDataset). What the
difference costs is opens: an epoch of one sample a file asks the metadata server for every sample.
(The pattern is that of DLIO, argonne-lcf/dlio_benchmark; a sample of ImageNet has about 110 kB.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Seconds, Size, format_bytes
from sim.workloads.kernel import Kernel
from sim.workloads.row import Figure
from sim.workloads.skeleton.draws import Distribution, draw

if TYPE_CHECKING:
    from sim.config.scenario import Scenario
    from sim.engine.types import Integers
    from sim.workloads.dl_order import Order
    from sim.workloads.job import Job, Waiting

Table: TypeAlias = "tuple[Integers, Integers, Integers]"
"""Sizes, files and places of all samples: int64 (samples,) each."""

_MOST_SAMPLES = 5_000_000
_BEGIN, _END = range(2)  # marks


class DlLoading(Kernel):
    """Ranks that load samples in batches, several epochs, and compute between.

    Every epoch deals the samples to the ranks anew. With packed files the order of the files is
    shuffled, and a rank reads its part of it from end to end, or all samples are, and each is read
    where it lies. Loading and computing take turns: nothing is loaded ahead.
    """

    name: ClassVar[str] = "dl-loading"

    samples: Annotated[int, Field(gt=0, le=_MOST_SAMPLES)] = Field(
        131_072, description="Samples of the training set."
    )
    size: Size = Field(110_000, description="Bytes of a sample, on average.")
    distribution: Distribution = Field(
        "lognormal", description="How the sizes of the samples are distributed."
    )
    spread: Annotated[float, Field(ge=0, le=1)] = Field(
        0.4, description="Standard deviation of the sizes as a share of their mean."
    )
    layout: Literal["files", "packed"] = Field(
        "files", description="One file for each sample, or many samples in each."
    )
    per_file: Count = Field(1024, description="Samples in a packed file.")
    shuffle: Literal["files", "samples"] = Field(
        "files", description="What is shuffled of packed files."
    )
    transfer: Size = Field(2**20, description="Largest call on a packed file that is read through.")
    epochs: Count = Field(2, description="Times that every sample is read.")
    batch: Count = Field(32, description="Samples that a rank loads before it computes.")
    compute: Seconds = Field(0.0, description="Computing after each batch.")
    cache: Literal["none", "node", "ssd"] = Field(
        "none",
        description="Where samples are kept after the first epoch: a node keeps its own, in memory "
        "or on its local SSD.",
    )

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes that are read from the file system, about."""
        return self.samples * self.size * (self.epochs if self.cache == "none" else 1)

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless what is to be kept fits into the nodes."""
        share = -(-self.samples // scenario.nodes) * self.size
        room = {"none": share, "node": machine.nodes.memory}
        if machine.ssd is not None:
            room["ssd"] = machine.ssd.capacity
        if self.cache not in room:
            raise InputError(
                f"kernel dl-loading: cache = ssd: the nodes of {machine.name} have no SSDs; right "
                "would be none or node"
            )
        if share > room[self.cache]:
            raise InputError(
                f"kernel dl-loading: a node's samples take {format_bytes(share, 3)}; where a node "
                f"of {machine.name} is to keep them there are {format_bytes(room[self.cache], 3)}; "
                "right would be more nodes or cache = none"
            )
        if self.samples < scenario.nodes * scenario.ppn:
            raise InputError(
                f"kernel dl-loading: samples = {self.samples:,} are fewer than the "
                f"{scenario.nodes * scenario.ppn:,} ranks"
            )

    def run(self, job: Job) -> Waiting:
        """Read every sample, once in each epoch."""
        from sim.workloads.dl_order import Order

        order = Order(self.samples, job.world.node, job.seed, fixed=self.cache != "none")
        sizes = self.sizes(job.seed)
        first, file, offset = self._make_files(job, sizes)
        table = sizes, first + file, offset
        kept = self._keep(job, order, table) if self.cache == "ssd" else None
        for epoch in range(self.epochs):
            yield from self._epoch(job, order, epoch, table, kept)

    def sizes(self, seed: int) -> Integers:
        """Return the bytes of every sample: int64 (samples,)."""
        import numpy as np

        from sim.engine.randomness import stream

        mean = np.full(self.samples, float(self.size))
        drawn = draw(stream(seed, "samples"), self.distribution, mean, self.spread, self.samples)
        return np.maximum(np.rint(drawn), 1).astype(np.int64)

    def _make_files(self, job: Job, sizes: Integers) -> tuple[int, Integers, Integers]:
        """Make the files; return the first, and of each sample the file from it and the place."""
        import numpy as np

        each = 1 if self.layout == "files" else self.per_file
        file = np.arange(self.samples) // each
        count = int(file[-1]) + 1
        job.files["samples"] = made = job.filesystem.allocate(count, job.striping)
        starts = np.arange(count) * each
        before = np.cumsum(sizes) - sizes
        ends = np.add.reduceat(sizes, starts)
        job.filesystem.plane.tables.files.end[made.first : made.first + count] = ends
        return made.first, file, before - before[starts][file]

    def _order(self, order: Order, epoch: int, file: Integers) -> tuple[Integers, Integers]:
        """Return the rank and the number of every sample in an epoch: int64 (samples,)."""
        whole_files = self.layout == "packed" and self.shuffle == "files"
        return order.of_epoch(epoch, file if whole_files else None)

    def _keep(self, job: Job, order: Order, table: Table) -> Table:
        """Make a file on the SSD of each node; return sizes, files and places of all samples there.

        They lie in the order in which the first epoch loads them, rank after rank.
        """
        import numpy as np

        from sim.config.striping import StripeRequest
        from sim.lustre.storage import Storage

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

    def _epoch(
        self, job: Job, order: Order, epoch: int, table: Table, kept: Table | None
    ) -> Waiting:
        """Read every sample once; ``kept`` says where they are on the SSDs of the nodes."""
        import numpy as np

        from sim.lustre.tables import Op
        from sim.workloads.dl_order import Loading

        rank, sample = self._order(order, epoch, table[1])
        batch, every = job.batch(), np.arange(job.ranks)
        batch.add(Op.MARK, every, offset=_BEGIN)
        size, file, offset = table if kept is None or epoch == 0 else kept
        loading = Loading(batch, rank, size[sample], file[sample], offset[sample], self.batch)
        opens = 0
        if epoch > 0 and self.cache == "node":
            loading.copy(job.machine.mpi.copy_rate, self.compute)
        elif epoch > 0 and self.cache == "ssd":
            loading.each_sample(self.compute)
        elif self.layout == "files":
            opens = loading.each_file(self.compute)
        elif self.shuffle == "files":
            opens = loading.through(self.transfer, self.compute)
        else:
            opens = loading.each_sample(self.compute)
        if kept is not None and epoch == 0:
            size, file, offset = kept
            Loading(batch, rank, size[sample], file[sample], offset[sample], self.batch).store()
        batch.add(Op.MARK, every, offset=_END)
        before, busy = job.filesystem.timers(job.programs), _mds_seconds(job)
        yield from job.do(batch, "read")
        spent = job.filesystem.timers(job.programs) - before
        self._add_row(job, epoch, opens, float(spent[:, loading.OPENING].mean()), busy)

    def _add_row(self, job: Job, epoch: int, opens: int, opening: float, busy: float) -> None:
        """Add the row of an epoch."""
        times = job.marks()
        seconds = float(times[:, _END].max() - times[:, _BEGIN].min())
        figures = {
            "opens": Figure(opens, ""),
            "in opens": Figure(opening, "seconds"),
            "MDS busy": Figure(_mds_seconds(job) - busy, "seconds"),
            "images/s": Figure(self.samples / seconds, ""),
        }
        moved = int(self.sizes(job.seed).sum())
        job.record(str(epoch), "load", times[:, _BEGIN], times[:, _END], moved, figures)


def _mds_seconds(job: Job) -> float:
    """Return the seconds for which the metadata servers have worked so far, for all jobs."""
    from sim.lustre.tables import StationKind

    stations = job.filesystem.plane.tables.network.stations
    return float(stations.busy[stations.kind == StationKind.MDS].sum())
