"""Layouts: how the bytes of a file are dealt to objects on several OSTs.

Lustre stores a file as `stripe_count` *objects*, each on another OST. The file is cut into stripes
of `stripe_size` bytes, dealt to the objects in turn like cards: with 4 objects, stripes 0, 4, 8...
lie end to end in the first object, stripes 1, 5, 9... in the second. The layer that knows this is
called LOV; on the metadata server LOD chooses the OSTs when the file is created. The layout of a
file never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from xc40io.config.parts.lustre import Lustre
from xc40io.config.striping import StripeRequest
from xc40io.config.units import MIB
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers

Offsets = TypeVar("Offsets", int, Integers)

# LOD draws a new start after (2000 // osts + 30) * osts files (Lustre 2.7 lod_qos.c).
_RESEED_MIN = 2000
_RESEED_ROUNDS = 30

EOF = 2**63 - 1
"""Where a component ends that has no end (LUSTRE_EOF)."""

__all__ = ["Allocator", "Layout", "StripeRequest", "getstripe_text"]


@dataclass(frozen=True)
class LayoutComponent:
    """A part of a file, dealt in stripes to objects (RAID 0)."""

    start: int  # its first byte in the file
    end: int  # one past its last byte, or EOF
    stripe_size: int  # bytes that go to one object before the next one's turn
    osts: tuple[int, ...]  # of each object, in the order of the stripes

    def __post_init__(self) -> None:
        if len(set(self.osts)) < len(self.osts):
            raise ValueError(f"two objects of a file on one OST: {self.osts}")
        if not self.osts or self.stripe_size < 1:
            raise ValueError(f"{len(self.osts)} stripes of {self.stripe_size} bytes: no layout")


@dataclass(frozen=True)
class Layout:
    """Where the bytes of one file lie: in components, one today, that follow one another.

    Offsets and lengths are in bytes. The stripes of a file are numbered from 0, from its begin on.
    The data plane has the same rules for itself (:mod:`xc40io.plane.files`).
    """

    components: tuple[LayoutComponent]

    @classmethod
    def striped(cls, stripe_size: int, osts: Iterable[int]) -> Layout:
        """Return the layout of a file that is dealt to its objects alike from begin to end."""
        return cls((LayoutComponent(0, EOF, stripe_size, tuple(osts)),))

    @property
    def stripe_count(self) -> int:
        """Over how many objects the file is striped, as MPI-IO and ``lfs getstripe`` are told."""
        return len(self.components[0].osts)

    @property
    def stripe_size(self) -> int:
        """Bytes of a stripe, as MPI-IO and ``lfs getstripe`` are told."""
        return self.components[0].stripe_size

    @property
    def osts(self) -> tuple[int, ...]:
        """The OST of each object, in the order of the stripes."""
        return self.components[0].osts

    def stripe_at(self, offset: Offsets) -> Offsets:
        """Return the number of the stripe that has the byte at an offset: of one, or of many."""
        return offset // self.stripe_size

    def stripe_start(self, stripe: Offsets) -> Offsets:
        """Return the offset at which a stripe begins, and the one before it ends."""
        return stripe * self.stripe_size

    def object_at(self, stripe: Offsets) -> Offsets:
        """Return the index of the object that a stripe lies in."""
        return stripe % self.stripe_count


class Allocator:
    """Chooses the OSTs of new files, round-robin, as LOD does while all OSTs are equally full.

    A file starts on the OST after the last one of the file before it. Two refinements keep files
    with several stripes from always starting on the same OSTs: after each round over the OSTs the
    start moves on by one, and after some thousand files the start is drawn anew (Lustre 2.7
    lod_qos.c, lod_alloc_rr; the weighting by free space, lod_alloc_qos, is left out).

    The random starts follow from the scenario's ``seed``. ``default`` is the striping of the
    directory, inherited by a file that asks for none: 1 x 1 MiB unless given.
    """

    def __init__(self, osts: int, seed: int, default: StripeRequest | None = None) -> None:
        inherited = default or StripeRequest()
        inherited.check(osts)
        self._osts = osts
        self._default_count = inherited.count or 1
        self._default_size = inherited.size or MIB
        self._random = stream(seed, "ost allocator")
        self._start = 0  # next OST of the round-robin, before the shift
        self._shift = 0  # by how many OSTs the rounds have moved on
        self._files_to_reseed = 0

    @classmethod
    def of(cls, lustre: Lustre, seed: int) -> Allocator:
        """Return the allocator of a machine's file system."""
        return cls(lustre.osts, seed, lustre.default_striping)

    def resolve(self, request: StripeRequest) -> tuple[int, int]:
        """Return stripe count and stripe size of a file, with the defaults filled in.

        Raises
        ------
        InputError
            If the file system has fewer OSTs than the request needs.
        """
        request.check(self._osts)
        count = request.count or self._default_count
        return self._osts if count == -1 else count, request.size or self._default_size

    def allocate(self, files: int, request: StripeRequest) -> Integers:
        """Create many files, one after the other.

        Returns
        -------
        int64[files, stripe count]
            OSTs of each file, in the order of its stripes.

        Raises
        ------
        InputError
            As :meth:`resolve` does.
        """
        count, _ = self.resolve(request)
        if request.offset >= 0:
            first = np.full(files, request.offset)
        else:
            first = np.empty(files, np.int64)
            done = 0
            while done < files:
                run = self._round_robin(files - done, count)
                first[done : done + len(run)] = run
                done += len(run)
        return (first[:, np.newaxis] + np.arange(count)) % self._osts

    def _round_robin(self, files: int, count: int) -> Integers:
        """Return the first OST of up to `files` files: as many as come before the next reseed."""
        osts = self._osts
        self._files_to_reseed -= 1
        fresh = self._files_to_reseed <= 0
        if fresh:
            self._start = int(self._random.integers(osts))
            self._files_to_reseed = (_RESEED_MIN // osts + _RESEED_ROUNDS) * osts
        run = min(files, self._files_to_reseed)
        self._files_to_reseed -= run - 1
        index = np.arange(run)
        position = self._start + index * count
        # A round ends when the file before has passed the last OST, and with every file that takes
        # all of them. The shift is not needed where the rounds themselves do not come out even.
        if count == osts:
            rounds = index + (not fresh)
            self._start = self._start % osts + osts
        else:
            rounds = np.maximum(position - 1, 0) // osts
            self._start = int(position[-1] - rounds[-1] * osts) + count
        shift = self._shift + rounds * (count > 1 and osts % count != 1)
        self._shift = int(shift[-1])
        return (position + shift) % osts


def getstripe_text(path: str, layout: Layout, objects: Sequence[int] | None = None) -> str:
    """Return what ``lfs getstripe PATH`` prints for a file.

    Parameters
    ----------
    path : str
        Name of the file.
    layout : Layout
        Its layout.
    objects : sequence of int, optional
        Number of the file's object on each of its OSTs. A simulated file system keeps no object
        numbers; the default is the first object of an empty OST, 1.

    Notes
    -----
    ``lmm_pattern`` 1 is RAID 0, the only pattern of Lustre 2.7; the generation of a layout that
    was never changed is 0, and so is the group of an object created by the first MDT.
    """
    numbers = [1] * layout.stripe_count if objects is None else objects
    lines = [
        path,
        f"lmm_stripe_count:   {layout.stripe_count}",
        f"lmm_stripe_size:    {layout.stripe_size}",
        "lmm_pattern:        1",
        "lmm_layout_gen:     0",
        f"lmm_stripe_offset:  {layout.osts[0]}",
        "\tobdidx\t\t objid\t\t objid\t\t group",
        *(
            f"\t{ost:6d}\t{number:14d}\t{number:#13x}\t{0:14d}"
            for ost, number in zip(layout.osts, numbers, strict=True)
        ),
    ]
    return "\n".join(lines) + "\n"
