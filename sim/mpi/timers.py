"""What the timers of a rank measure."""

from __future__ import annotations

from enum import IntEnum


class Timer(IntEnum):
    """Columns of the data plane's timers: seconds that a rank spent in each part of its I/O."""

    NONE = 0
    OPEN = 1  # MPI_File_open, close, set_size, preallocate
    PLAN = 2  # offsets and request lists of a collective call: phase 0 of two-phase
    EXCHANGE = 3  # data between ranks and aggregators
    RAW_WRITE = 4  # an aggregator's write calls ("raw file write")
    RAW_READ = 5  # an aggregator's read calls
    MODIFY_READ = 6  # the reads of windows with holes, before they are written (read-modify-write)
    LOCK = 7  # group locks, lock-ahead
    FINISH = 8  # the collective that ends a collective call: waiting for the slowest aggregator
    INDEPENDENT = 9  # reads and writes of the rank itself
    SYNC = 10  # MPI_File_sync
    AGGREGATE = 11  # a library's own gathering of data (ADIOS)
    METADATA = 12  # a library's own metadata (HDF5, PnetCDF, ADIOS)
