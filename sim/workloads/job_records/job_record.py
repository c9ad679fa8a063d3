"""One job as accounting has it: most of it may be missing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from xc40io.config.jobs import Name
from xc40io.config.model import Model
from xc40io.config.units import Bytes, Count, Seconds, Size
from xc40io.workloads.job_records.endings import Ended
from xc40io.workloads.kernels.production import MOST_TIMES

Layout = Literal["rank", "job"]
"""Who shares a file: nobody, or all ranks."""

Times = Annotated[int, Field(ge=0, le=MOST_TIMES)]


class JobRecord(Model):
    """What is known of a job; None where nothing is."""

    name: Name  # what it is called
    application: str | None = None  # what its owner calls what it runs
    ended: Ended | None = None  # how it ended
    # compute nodes, and ranks on all of them
    nodes: Count | None = None
    ranks: Count | None = None
    # seconds from the first submission of the table to its own; to its begin, where the queue is
    # ``recorded``
    start: Seconds = 0.0
    # seconds that it asked for, and that it took
    walltime: Annotated[Seconds, Field(gt=0)] | None = None
    runtime: Seconds | None = None
    read: Bytes = 0  # of all ranks
    written: Bytes = 0
    read_call: Size | None = None  # bytes of a call
    write_call: Size | None = None
    read_layout: Layout | None = None  # who shares a file
    write_layout: Layout | None = None
    # of a rank, or of all where they share
    files: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None
    io_ranks: Count | None = None  # ranks that read and write
    # opens of a rank and file, in all steps together, and stats of a rank
    opens: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None
    stats: Times | None = None
    steps: Annotated[int, Field(gt=0, le=MOST_TIMES)] | None = None  # in which it writes
    # of its files
    stripe_count: Annotated[int, Field(ge=-1)] | None = None
    stripe_size: Size | None = None
    # measured, of all ranks together, as Darshan adds them up: what a simulation is compared with,
    # and nothing is inferred from it
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
    def shares(self) -> bool:
        """Whether ranks share the files of the way in which more is moved."""
        return (self.write_layout if self.written >= self.read else self.read_layout) == "job"

    @property
    def measured(self) -> float | None:
        """Seconds of all ranks together in I/O, as they were measured; None if they were not."""
        known = [
            seconds
            for seconds in (self.read_seconds, self.write_seconds, self.metadata_seconds)
            if seconds is not None
        ]
        return sum(known) if known else None
