"""What the ranks note in one phase of an IOR test.

In a phase every rank reads the clock six times: around the open, around its transfers (with the
final fsync of ``-e``) and around the close.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sim.config.kept import kept
from sim.workloads.ior.parameters import Access
from sim.workloads.job_results import Stretch

if TYPE_CHECKING:
    from sim.mpi.record import MpiRecord

_Times = NDArray[np.float64]


@kept
@dataclass(frozen=True)
class Stonewall:
    """What had been moved when the deadline (``-D``) stopped the ranks.

    Only with ``stoneWallingWearOut``, where the ranks then go on until all have made as many calls
    as the fastest.

    Attributes
    ----------
    time
        Seconds from the start of the transfers until rank 0 stopped.
    calls_min, calls_max
        Calls of the slowest and of the fastest rank by then.
    bytes_min, bytes_mean
        Bytes of the slowest rank, and of all ranks on average.
    """

    time: float
    calls_min: int
    calls_max: int
    bytes_min: int
    bytes_mean: int


@kept
@dataclass(frozen=True, kw_only=True)
class Removal:
    """The removal of the files of one repetition.

    Attributes
    ----------
    repetition
        Counted from 0.
    seconds
        From when all ranks begin until the last one is done.
    """

    repetition: int
    seconds: float


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class PhaseRecord:
    """One phase of one repetition, as the simulator hands it over.

    Attributes
    ----------
    access
        What the phase did.
    repetition
        Counted from 0.
    open_start, open_end, io_start, io_end, close_start, close_end
        float64[ranks]: the readings of each rank, in seconds of one common clock.
    calls
        int64[ranks]: transfers that each rank made.
    bytes_moved
        Bytes that all ranks moved together.
    stretch
        From the first open to the last close, and what the ranks waited for meanwhile.
    stonewall
        The state at the deadline, if the ranks then wore on.
    mpi
        What MPI-IO has to tell of the file, if it took part.
    """

    access: Access
    repetition: int
    open_start: _Times
    open_end: _Times
    io_start: _Times
    io_end: _Times
    close_start: _Times
    close_end: _Times
    calls: NDArray[np.int64]
    bytes_moved: int
    stretch: Stretch
    stonewall: Stonewall | None = None
    mpi: MpiRecord | None = None
