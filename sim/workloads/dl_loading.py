"""Deep learning: the samples of a training set, read again and again, each time in a new order.

The training set is either one file for each sample, as an image collection is when it is unpacked,
or packed: a few large binary files that hold many samples each (TFRecord, WebDataset). What the
difference costs is opens: an epoch of one sample a file asks the metadata server for every sample.
(The pattern is that of DLIO, argonne-lcf/dlio_benchmark; a sample of ImageNet has about 110 kB.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Seconds, Size, format_bytes
from sim.workloads.kernel import Kernel
from sim.workloads.skeleton.draws import Distribution

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

_MOST_SAMPLES = 5_000_000


class DlLoading(Kernel):
    """Ranks that load samples in batches, several epochs, and compute between.

    Every epoch deals the samples to the ranks anew. With packed files the order of the files is
    shuffled, and a rank reads its part of it from end to end, or all samples are, and each is read
    where it lies. Loading and computing take turns: nothing is loaded ahead.
    """

    name: ClassVar[str] = "dl-loading"
    runtime: ClassVar[str] = "sim.workloads.dl_loading_run"

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
