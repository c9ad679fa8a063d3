"""One job as accounting has it: most of it may be missing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from xc40io.config.jobs import Name
from xc40io.config.model import Model
from xc40io.config.units import Bytes, Count, Seconds, Size
from xc40io.workloads.kernels.production import MOST_TIMES

Layout = Literal["rank", "job"]
"""Who shares a file: nobody, or all ranks."""

Times = Annotated[int, Field(ge=0, le=MOST_TIMES)]


class JobRecord(Model):
    """What is known of a job; None where nothing is.

    Attributes
    ----------
    name
        What it is called.
    nodes, ranks
        Compute nodes, and ranks on all of them.
    start
        Seconds from the first submission of the table to its own; to its begin, where the queue
        is ``recorded``.
    walltime, runtime
        Seconds that it asked for, and that it took.
    read, written
        Bytes of all ranks.
    read_call, write_call
        Bytes of a call.
    read_layout, write_layout
        Who shares a file.
    files
        Of a rank, or of all where they share.
    io_ranks
        Ranks that read and write.
    opens, stats
        Opens of a rank and file, in all steps together, and stats of a rank.
    steps
        In which it writes.
    stripe_count, stripe_size
        Of its files.
    read_seconds, write_seconds, metadata_seconds
        Measured: seconds of all ranks together, as Darshan adds them up. They are what a simulation
        is compared with, and nothing is inferred from them.
    """

    name: Name
    nodes: Count | None = None
    ranks: Count | None = None
    start: Seconds = 0.0
    walltime: Annotated[Seconds, Field(gt=0)] | None = None
    runtime: Seconds | None = None
    read: Bytes = 0
    written: Bytes = 0
    read_call: Size | None = None
    write_call: Size | None = None
    read_layout: Layout | None = None
    write_layout: Layout | None = None
    files: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None
    io_ranks: Count | None = None
    opens: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None
    stats: Times | None = None
    steps: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None
    stripe_count: Annotated[int, Field(ge=-1)] | None = None
    stripe_size: Size | None = None
    read_seconds: Seconds | None = None
    write_seconds: Seconds | None = None
    metadata_seconds: Seconds | None = None

    @model_validator(mode="after")
    def _ranks_are_enough(self) -> JobRecord:
        if self.nodes is None and self.ranks is None:
            raise ValueError(
                "neither nodes nor ranks are given; right would be one of them at least"
            )
        if self.io_ranks is not None and self.ranks is not None and self.io_ranks > self.ranks:
            raise ValueError(
                f"io_ranks = {self.io_ranks:,} of {self.ranks:,} ranks; right would be at most "
                "that many"
            )
        return self

    @property
    def measured(self) -> float | None:
        """Seconds of all ranks together in I/O, as they were measured; None if they were not."""
        known = [
            seconds
            for seconds in (self.read_seconds, self.write_seconds, self.metadata_seconds)
            if seconds is not None
        ]
        return sum(known) if known else None
