"""What only IOR leaves of a run: its tests, with the clock readings of their phases.

In a phase every rank reads the clock six times: around the open, around its transfers (with the
final fsync of ``-e``) and around the close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sim.machine.filesystem import FileSet
from sim.workloads.ior.options import IorCommand
from sim.workloads.ior.parameters import Access, IorTest
from sim.workloads.job_results import Stretch

if TYPE_CHECKING:
    from sim.mpi.record import MpiRecord

_Times = NDArray[np.float64]


@dataclass(frozen=True)
class Stonewall:
    """What had been moved when the deadline (``-D``) stopped the ranks.

    Only with ``stoneWallingWearOut``, where the ranks then go on until all have made as many calls
    as the fastest.
    """

    time: float  # seconds from the start of the transfers until rank 0 stopped
    # calls of the slowest and of the fastest rank by then
    calls_min: int
    calls_max: int
    # bytes of the slowest rank, and of all ranks on average
    bytes_min: int
    bytes_mean: int


@dataclass(frozen=True, kw_only=True)
class Removal:
    """The removal of the files of one repetition."""

    repetition: int  # counted from 0
    seconds: float  # from when all ranks begin until the last one is done


@dataclass(frozen=True, eq=False, kw_only=True)
class PhaseRecord:
    """One phase of one repetition, as the simulator hands it over."""

    access: Access  # what the phase did
    repetition: int  # counted from 0
    # float64[ranks]: the readings of each rank, in seconds of one common clock
    open_start: _Times
    open_end: _Times
    io_start: _Times
    io_end: _Times
    close_start: _Times
    close_end: _Times
    calls: NDArray[np.int64]  # int64[ranks]: transfers that each rank made
    bytes_moved: int  # bytes that all ranks moved together
    # from the first open to the last close, and what the ranks waited for meanwhile
    stretch: Stretch
    stonewall: Stonewall | None = None  # the state at the deadline, if the ranks then wore on
    mpi: MpiRecord | None = None  # what MPI-IO has to tell of the file, if it took part


@dataclass(frozen=True, eq=False, kw_only=True)
class FinishedTest:
    """One test of an IOR command."""

    test: IorTest  # what was asked
    tasks: int  # how many ranks took part
    started: float  # when it began, in simulated seconds
    records: tuple[PhaseRecord, ...]  # what the ranks noted in each phase, in order
    files: FileSet  # those of the latest phase
    removals: tuple[Removal, ...] = ()  # of the files, after each repetition, unless they were kept


@dataclass(frozen=True, eq=False, kw_only=True)
class IorOutcome:
    """A finished IOR command."""

    command: IorCommand  # as it was understood
    tests: tuple[FinishedTest, ...]  # in the order of the command
