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
    """

    def __init__(self, environment: Environment, plane: LustrePlane, allocator: Allocator) -> None:
        self.environment = environment
        self.plane = plane
        self._allocator = allocator

    def allocate(self, files: int, request: StripeRequest) -> FileSet:
        """Choose layouts for new files of one shape.

        The cost of creating them is in the ``CREATE`` operation of the program that does it.
        """
        count, size = self._allocator.resolve(request)
        osts = self._allocator.allocate_many(files, request)
        first = self.plane.add_files(count, size, osts.astype(np.int32))
        return FileSet(first, count, size, osts)

    def run(self, batch: Batch) -> simpy.Event:
        """Start the programs of a batch; return the event that comes when all have ended."""
        number = self.plane.submit(batch.programs, *batch.listing(), self.environment.now)
        return self.environment.batch_event(number)

    def marks(self, programs: Integers) -> Floats:
        """Return the times that programs have noted: float64 (programs, marks), a copy."""
        return self.plane.tables.marks[programs]

    def calls(self, programs: Integers) -> Integers:
        """Return how many reads and writes each program made in its latest batch."""
        calls: Integers = self.plane.tables.programs.calls[programs]
        return calls
