"""Striping: how the bytes of a file are dealt to objects on several OSTs.

Lustre stores a file as `stripe_count` *objects*, each on another OST. The file is cut into stripes
of `stripe_size` bytes, dealt to the objects in turn like cards: with 4 objects, stripes 0, 4, 8...
lie end to end in the first object, stripes 1, 5, 9... in the second. The layer that knows this is
called LOV; on the metadata server LOD chooses the OSTs when the file is created. The layout of a
file never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sim.config.lustre import Lustre
from sim.config.striping import StripeRequest
from sim.config.units import MIB
from sim.engine.randomness import stream

Integers = npt.NDArray[np.int64]
Offsets = TypeVar("Offsets", int, Integers)

# LOD draws a new start after (2000 // osts + 30) * osts files (Lustre 2.7 lod_qos.c).
_RESEED_MIN = 2000
_RESEED_ROUNDS = 30

__all__ = ["Allocator", "Layout", "StripeRequest", "getstripe_text"]


@dataclass(frozen=True)
class Layout:
    """Where the bytes of one file lie.

    Offsets and lengths are in bytes. A *stripe index* numbers the objects of the file from 0; it
    is not the number of an OST: ``layout.osts[index]`` is. The methods take one offset or an array.

    Parameters
    ----------
    stripe_count : int
        Objects of the file.
    stripe_size : int
        Bytes that go to one object before the next one's turn.
    osts : tuple of int
        OST of each object, in the order of the stripes.
    """

    stripe_count: int
    stripe_size: int
    osts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.osts)) != self.stripe_count or len(self.osts) != self.stripe_count:
            raise ValueError(
                f"{self.stripe_count} stripes need as many different OSTs: {self.osts}"
            )
        if self.stripe_count < 1 or self.stripe_size < 1:
            raise ValueError(
                f"{self.stripe_count} stripes of {self.stripe_size} bytes are no layout"
            )

    def object_of(self, offset: Offsets) -> Offsets:
        """Return the stripe index of the object that holds the byte at `offset` of the file."""
        return offset // self.stripe_size % self.stripe_count

    def object_offset(self, offset: Offsets) -> Offsets:
        """Return where in its object the byte at `offset` of the file lies."""
        width = self.stripe_size * self.stripe_count
        return offset // width * self.stripe_size + offset % self.stripe_size

    def file_offset(self, stripe: Offsets, object_offset: Offsets) -> Offsets:
        """Return where in the file the byte at `object_offset` of object `stripe` lies."""
        turns = object_offset // self.stripe_size
        stripes_before = turns * self.stripe_count + stripe
        return stripes_before * self.stripe_size + object_offset % self.stripe_size

    def object_sizes(self, file_size: int) -> Integers:
        """Return the size of each object of a file that is written from 0 to `file_size`."""
        turns, rest = divmod(file_size, self.stripe_size * self.stripe_count)
        tail = rest - np.arange(self.stripe_count) * self.stripe_size
        return turns * self.stripe_size + np.clip(tail, 0, self.stripe_size)

    def chunks(self, offset: int, length: int) -> tuple[Integers, Integers, Integers]:
        """Cut one read or write call at the stripe boundaries.

        A call is worked off in such chunks, one after the other (Lustre 2.7 lov_io.c): each lies
        in one stripe, and so is one contiguous extent of one object.

        Returns
        -------
        stripe, object_offset, length : int64[chunks]
            The object of each chunk, where it starts there, and its bytes, in file order.
        """
        _, stripe, object_offset, lengths = self.chunks_of_calls([offset], [length])
        return stripe, object_offset, lengths

    def chunks_of_calls(
        self, offsets: npt.ArrayLike, lengths: npt.ArrayLike
    ) -> tuple[Integers, Integers, Integers, Integers]:
        """Cut many calls at the stripe boundaries at once.

        Parameters
        ----------
        offsets, lengths : int[calls]
            Where in the file each call starts, and its bytes.

        Returns
        -------
        call, stripe, object_offset, length : int64[chunks]
            As :meth:`chunks`, call by call; `call` is the number of the call.
        """
        start = np.asarray(offsets, np.int64)
        stop = start + np.asarray(lengths, np.int64)
        first = start // self.stripe_size
        count = np.where(stop > start, -(-stop // self.stripe_size) - first, 0)
        call = np.repeat(np.arange(len(start)), count)
        index_in_call = np.arange(len(call)) - np.repeat(np.cumsum(count) - count, count)
        stripe_start = (first[call] + index_in_call) * self.stripe_size
        chunk_start = np.maximum(stripe_start, start[call])
        chunk_stop = np.minimum(stripe_start + self.stripe_size, stop[call])
        return (
            call,
            self.object_of(chunk_start),
            self.object_offset(chunk_start),
            chunk_stop - chunk_start,
        )


class Allocator:
    """Chooses the OSTs of new files, round-robin, as LOD does while all OSTs are equally full.

    A file starts on the OST after the last one of the file before it. Two refinements keep files
    with several stripes from always starting on the same OSTs: after each round over the OSTs the
    start moves on by one, and after some thousand files the start is drawn anew (Lustre 2.7
    lod_qos.c, lod_alloc_rr; the weighting by free space, lod_alloc_qos, is left out).

    Parameters
    ----------
    osts : int
        OSTs of the file system.
    seed : int
        Seed of the scenario; the random starts follow from it.
    default : StripeRequest, optional
        Striping of the directory, inherited by a file that asks for none: 1 x 1 MiB unless given.
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
        default = StripeRequest(count=lustre.default_stripe_count, size=lustre.default_stripe_size)
        return cls(lustre.osts, seed, default)

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

    def allocate(self, request: StripeRequest) -> Layout:
        """Create one file: return its layout, or raise InputError as :meth:`resolve` does."""
        count, size = self.resolve(request)
        osts = self.allocate_many(1, request)[0]
        return Layout(count, size, tuple(osts.tolist()))

    def allocate_many(self, files: int, request: StripeRequest) -> Integers:
        """Create many files, as :meth:`allocate` would one after the other.

        Returns
        -------
        int64[files, stripe count]
            OSTs of each file, in the order of its stripes.
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
