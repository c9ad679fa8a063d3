"""What was found out about a job, on the way to the skeleton that resembles it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sim.workloads.fitting.distributions import Fit
from sim.workloads.fitting.patterns import CallPattern

_OFF = 1.25  # how many times a distribution's mean may be off


@dataclass(frozen=True)
class Transfer:
    """What was found of the reads, or of the writes, of a set of files.

    Attributes
    ----------
    verb, files
        ``read`` or ``write``, and the set's name in the skeleton.
    samples, moved
        Sizes of ranks in steps, how many; bytes of all of them.
    mean
        Of the sizes, in bytes.
    pattern
        How it was done.
    fits
        The distributions, the best first.
    """

    verb: str
    files: str
    samples: int
    moved: int
    pattern: CallPattern
    fits: list[Fit]
    mean: float

    @property
    def chosen(self) -> Fit:
        """The best distribution of those that have about the mean that the sizes have.

        Another would not move the bytes of the job: the likeliest lognormal distribution of sizes
        of two kinds, say, has a mean far above all of them.
        """
        within = (self.mean / _OFF, self.mean * _OFF)
        return next((fit for fit in self.fits if within[0] <= fit.mean <= within[1]), self.fits[0])


@dataclass
class Proposal:
    """A skeleton, and what it was made of.

    Attributes
    ----------
    document
        What the YAML file is to hold.
    names
        Of each set in the skeleton, what its files were called.
    transfers
        What was found of reads and writes.
    bytes, all_bytes
        What the sets that are in the skeleton moved, and what the job moved.
    notes
        What the skeleton leaves out: a sentence each.
    ranks, nodes, ppn
        Of the job; None if unknown.
    """

    document: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)
    bytes: int = 0
    all_bytes: int = 0
    notes: list[str] = field(default_factory=list)
    ranks: int = 0
    nodes: int | None = None
    ppn: int | None = None
