"""What the phases of a workload are: how ranks share files, which way bytes go, in which calls.

The program that knows says so once, before anything runs
(:meth:`~xc40io.workloads.workload.Workload.phase_traits`), and a result carries it: nobody else
reads a command line to find it out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import gcd
from typing import Final, Literal

from xc40io.config.kept import NOT_KEPT, kept

OWN, SHARED, COLLECTIVE = "own files", "shared file", "collective"
"""A file for each rank; one file, each rank by itself; one file, through MPI-IO's aggregators."""

APPLICATION = "application"
"""Whatever a program does that does not say whether its calls are collective."""

SUBFILES = "subfiles"
"""One file for whoever opens it, in subfiles that some ranks write for all."""

MIXED = "several tests"
"""Of phases that share their files in several of these ways."""

METADATA: Final = "metadata"
"""What phases do that make, look at and remove files."""

Access = Literal["write", "read", "metadata"]

COPIES = FLUSH, PARTNER_COPY, STAGE_IN = "flush", "partner copy", "stage in"
"""Phases that move once more what was written, or what is to be read."""


def access_of(phase: str) -> Access:
    """Return ``read`` of a phase with this word in its name, else ``write``."""
    return "read" if "read" in phase.lower() else "write"


@kept
@dataclass(frozen=True, kw_only=True)
class PhaseTraits:
    """What phases of one kind are."""

    begins: str = ""  # how their names begin; empty of all that have no entry of their own
    part: int = 0  # of the workload, from 0: the test in an IOR command
    # what they do; None: as the name of each says, ``read`` with this word in it
    access: Access | None = None
    sharing: str = APPLICATION  # how the ranks share their files, one of the words above
    bytes_a_rank: int = 0  # that each rank moves in one of them, about
    # bytes of a call, and those that a rank has one behind the other; None where it is not known
    call: int | None = None
    block: int | None = None
    # whether each call goes past the page cache, and whether an fsync follows it
    direct: bool = False
    synced: bool = False
    # whether calls come in no order, and what lies beside them is nowhere at hand
    scattered: bool = field(default=False, metadata=NOT_KEPT)
    over_mpi: bool = False  # whether it goes through MPI-IO, so that collective calls are a choice
    hinted: bool = False  # whether the program hands hints of its own to MPI-IO, be they none
    shifted: bool = False  # whether ranks read what others wrote
    own_directory: bool = False  # whether each rank has a directory of its own
    # that the program itself asks for; 0 for none
    stripe_count: int = 0
    stripe_size: int = 0
    path: str | None = None  # the file that is written, or its folder, where the workload names it

    def osts_met(self, ranks: int, stripe_size: int, osts: int) -> int:
        """Return on how many of its OSTs the calls lie that all ranks make at once on one file.

        That may be few where blocks are a multiple of stripes apart; all where it is not known.
        """
        if not self.call or not self.block:
            return osts
        turn = stripe_size * osts
        apart = turn // gcd(self.block, turn)  # blocks, until they begin at the same place again
        met: set[int] = set()
        for rank in range(min(ranks, apart)):
            first = rank * self.block // stripe_size
            last = (rank * self.block + self.call - 1) // stripe_size
            met |= {stripe % osts for stripe in range(first, min(last, first + osts - 1) + 1)}
            if len(met) == osts:
                break
        return len(met)


@kept
@dataclass(frozen=True, kw_only=True)
class Traits:
    """What the phases of a job are."""

    where: str = "lustre"  # the target of its files: ``lustre``, ``ssd``, ``bb``, ``home``
    bytes: int = 0  # that all ranks move in all phases, about; 0 also where only the run can tell
    phases: tuple[PhaseTraits, ...] = ()  # those that differ, in their order

    @property
    def sharing(self) -> str:
        """How the ranks share their files, in all phases that have no name of their own."""
        found = {one.sharing for one in self.phases if not one.begins} or {APPLICATION}
        return found.pop() if len(found) == 1 else MIXED

    @property
    def parts(self) -> tuple[PhaseTraits, ...]:
        """The first phase of each part whose calls are known."""
        first: dict[int, PhaseTraits] = {}
        for one in self.phases:
            if one.call is not None:
                first.setdefault(one.part, one)
        return tuple(first.values())

    @property
    def direct(self) -> bool:
        """Whether all calls, where they are known, go past the page cache."""
        return bool(self.parts) and all(one.direct for one in self.parts)

    @property
    def path(self) -> str | None:
        """The file that is written, or its folder, where the workload names it."""
        return next((one.path for one in self.phases if one.path is not None), None)

    def of(self, phase: str) -> PhaseTraits:
        """Return what a phase is, by its name; of several of that name the larger sizes."""
        named = [one for one in self.phases if one.begins and phase.startswith(one.begins)]
        own = named or [one for one in self.phases if not one.begins] or [PhaseTraits()]
        access = own[0].access if own[0].access == METADATA else access_of(phase)
        same = [one for one in own if one.access in (access, None)] or own
        sharing = {one.sharing for one in own}
        return replace(
            same[0],
            access=access,
            sharing=sharing.pop() if len(sharing) == 1 else MIXED,
            bytes_a_rank=max(one.bytes_a_rank for one in same),
            call=max((one.call for one in same if one.call is not None), default=None),
        )
