"""What MPI-IO has to tell of a file, from when it was opened to when it was closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sim.config.kept import kept
from sim.engine.types import Floats, Integers
from sim.mpi.communicator import Communicator
from sim.mpi.hints import InForce
from sim.mpi.stats import AccessCounts


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class MpiRecord:
    """A file that was opened, written or read, and closed; or the first of several alike.

    Attributes
    ----------
    file_name
        As it was given to ``MPI_File_open``.
    files
        How many files there are of which the same could be told.
    writing
        Whether it was opened to be written, else to be read; what was done besides is told too.
    given, in_force
        The hints that the program passed, by name, and those in force for the file.
    communicator, aggregators
        The ranks that had it open, and int64 (aggregators,) the ranks that wrote or read for
        the others in collective calls, in the order of their file domains.
    counts
        What was done to it.
    timers
        float64 (ranks, timers): seconds that each rank spent in each part of its I/O, by
        :class:`~sim.mpi.timers.Timer`.
    """

    file_name: str
    files: int
    writing: bool
    given: Mapping[str, str]
    in_force: InForce
    communicator: Communicator
    aggregators: Integers
    counts: AccessCounts
    timers: Floats
