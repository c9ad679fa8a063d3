"""The file system as control sees it: files to create, batches to run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import simpy

from sim.engine.environment import Environment
from sim.engine.types import Floats, Integers
from sim.lustre.batch import Batch
from sim.lustre.plane import LustrePlane
from sim.lustre.striping import Allocator, Layout, StripeRequest


class FileSet(NamedTuple):
    """Files of one shape: numbers ``first`` to ``first + len(osts) - 1``."""

    first: int
    stripe_count: int
    stripe_size: int
    osts: Integers

    def layout(self, index: int) -> Layout:
        """Return the layout of the ``index``-th file of the set."""
        return Layout(self.stripe_count, self.stripe_size, tuple(self.osts[index].tolist()))


class FileSystem:
    """Lustre for the control plane.

    Parameters
    ----------
    environment
        The clock.
    plane
        The data plane.
    allocator
        Chooses the OSTs of new files.
    mdts
        Metadata targets in use.
    """

    def __init__(
        self, environment: Environment, plane: LustrePlane, allocator: Allocator, mdts: int
    ) -> None:
        self.environment = environment
        self.plane = plane
        self._allocator = allocator
        self._mdts = mdts

    def allocate(
        self,
        files: int,
        request: StripeRequest,
        *,
        size: int = 0,
        direct: bool = False,
        shared_directory: bool = True,
    ) -> FileSet:
        """Choose layouts for new files of one shape.

        The cost of creating them is in the ``CREATE`` operation of the program that does it.
        Directories of their own are dealt to the metadata targets in turn (DNE).

        Parameters
        ----------
        files, request
            How many, and their striping.
        size
            Bytes that each holds already.
        direct
            Whether they are opened with O_DIRECT.
        shared_directory
            Whether they are in one directory.
        """
        count, stripe_size = self._allocator.resolve(request)
        osts = self._allocator.allocate_many(files, request)
        first = self.plane.add_files(
            count,
            stripe_size,
            osts.astype(np.int32),
            size=size,
            mdts=None if shared_directory else np.arange(files, dtype=np.int32) % self._mdts,
            direct=direct,
            shared_directory=shared_directory,
        )
        return FileSet(first, count, stripe_size, osts)

    def run(self, batch: Batch) -> simpy.Event:
        """Start the programs of a batch; return the event that comes when all have ended."""
        now = self.environment.now
        number = self.plane.submit(batch.programs, *batch.listing(), now, batch.transfers)
        return self.environment.batch_event(number)

    def meetings(self, count: int = 1) -> int:
        """Return the number of the first of new meetings, one for each communicator."""
        return self.plane.add_meetings(count)

    def timers(self, programs: Integers) -> Floats:
        """Return what the timers of programs show: float64 (programs, ``TIMERS``), a copy."""
        return self.plane.tables.timers[programs]

    def marks(self, programs: Integers) -> Floats:
        """Return the times that programs have noted: float64 (programs, marks), a copy."""
        return self.plane.tables.marks[programs]

    def calls(self, programs: Integers) -> Integers:
        """Return how many reads and writes each program made in its latest batch."""
        calls: Integers = self.plane.tables.programs.calls[programs]
        return calls
