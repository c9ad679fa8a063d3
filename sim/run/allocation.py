"""What a job gets of the machine: compute nodes, and OSTs for its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.config.kept import kept
from sim.config.striping import StripeRequest
from sim.engine.types import Indices, Integers
from sim.lustre.striping import Allocator


@kept
class Allocation(NamedTuple):
    """What a job has got.

    Attributes
    ----------
    nodes
        int32 (nodes,): its compute nodes.
    osts
        int64 (files, stripe count) each: the OSTs of the files that it makes, in order.
    """

    nodes: Indices
    osts: Sequence[Integers]

    @property
    def all_osts(self) -> frozenset[int]:
        """The OSTs that hold any of the files."""
        return frozenset(ost for files in self.osts for ost in np.unique(files).tolist())


class JobAllocator(Allocator):
    """The allocator of the file system as one job sees it.

    Parameters
    ----------
    shared
        The allocator of all jobs.
    again
        What the job got in an earlier run, in order: it gets the same, as long as it asks for the
        same, so that two runs of the job differ in nothing but what else there is.

    Attributes
    ----------
    given
        int64 (files, stripe count) each: what the job has got so far.
    """

    def __init__(self, shared: Allocator, again: Sequence[Integers] = ()) -> None:
        self._shared = shared
        self._again = list(again)
        self.given: list[Integers] = []

    def resolve(self, request: StripeRequest) -> tuple[int, int]:
        """Return stripe count and stripe size of a file, with the defaults filled in."""
        return self._shared.resolve(request)

    def allocate_many(self, files: int, request: StripeRequest) -> Integers:
        """Create many files: return the OSTs of each, int64 (files, stripe count)."""
        asked = (files, self.resolve(request)[0])
        number = len(self.given)
        if number < len(self._again) and self._again[number].shape == asked:
            osts = self._again[number]
        else:
            osts = self._shared.allocate_many(files, request)
        self.given.append(osts)
        return osts
