"""Layouts: how the bytes of a file are dealt to objects on several OSTs.

Lustre stores a file as `stripe_count` *objects*, each on another OST. The file is cut into stripes
of `stripe_size` bytes, dealt to the objects in turn like cards: with 4 objects, stripes 0, 4, 8...
lie end to end in the first object, stripes 1, 5, 9... in the second. The layer that knows this is
called LOV; on the metadata server LOD chooses the OSTs when the file is created.

A *composite* layout (progressive file layout, PFL, Lustre 2.10) has components, each of which deals
a part of the file to objects of its own. Which objects there are by now, the data plane knows
(:mod:`xc40io.plane.files`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.config.parts.lustre import Lustre
from xc40io.config.setstripe import EOF, ComponentRequest
from xc40io.config.striping import StripeRequest
from xc40io.config.units import MIB, format_bytes
from xc40io.engine.randomness import stream
from xc40io.engine.types import Integers

Offsets = TypeVar("Offsets", int, Integers)

# LOD draws a new start after (2000 // osts + 30) * osts files (Lustre 2.7 lod_qos.c).
_RESEED_MIN = 2000
_RESEED_ROUNDS = 30

_PLAIN = ComponentRequest()

__all__ = ["EOF", "Allocator", "Layout", "LayoutComponent", "StripeRequest"]


@kept
class Component(NamedTuple):
    """A component of a layout, of many files that are alike."""

    end: int  # one past its last byte, or EOF
    stripe_size: int  # bytes that go to one object before the next one's turn
    stripe_count: int  # its objects
    request: ComponentRequest  # as it was asked for


@dataclass(frozen=True)
class LayoutComponent:
    """A part of a file, dealt in stripes to objects (RAID 0)."""

    start: int  # its first byte in the file
    end: int  # one past its last byte, or EOF
    stripe_size: int  # bytes that go to one object before the next one's turn
    osts: tuple[int, ...]  # of each object, in the order of the stripes
    request: ComponentRequest = _PLAIN  # as it was asked for

    def __post_init__(self) -> None:
        if len(set(self.osts)) < len(self.osts) and not self.request.overstriped:
            raise ValueError(f"two objects of a component on one OST: {self.osts}")
        if not self.osts or self.stripe_size < 1:
            raise ValueError(f"{len(self.osts)} stripes of {self.stripe_size} bytes: no layout")


@dataclass(frozen=True)
class Layout:
    """Where the bytes of one file lie: in components that follow one another.

    Offsets and lengths are in bytes. The stripes of a file are numbered from 0, from its begin on.
    The data plane has the same rules for itself (:mod:`xc40io.plane.files`).

    MPI-IO asks for a plain layout, and Lustre tells it the last component that there is: of a file
    without a byte the last of all (Lustre 2.12 lov_pack.c, lov_getstripe). So stripe count, size
    and OSTs are those of the last one.
    """

    components: tuple[LayoutComponent, ...]

    @classmethod
    def striped(cls, stripe_size: int, osts: Iterable[int]) -> Layout:
        """Return the layout of a file that is dealt to its objects alike from begin to end."""
        return cls((LayoutComponent(0, EOF, stripe_size, tuple(osts)),))

    @classmethod
    def composed(cls, components: Iterable[Component], osts: Sequence[int]) -> Layout:
        """Return the layout of a file from its components and the OSTs of all their objects."""
        found, start, first = [], 0, 0
        for part in components:
            last = first + part.stripe_count
            own = tuple(osts[first:last])
            found.append(LayoutComponent(start, part.end, part.stripe_size, own, part.request))
            start, first = part.end, last
        return cls(tuple(found))

    @property
    def stripe_count(self) -> int:
        """Over how many objects the file is striped, as MPI-IO is told."""
        return len(self.components[-1].osts)

    @property
    def stripe_size(self) -> int:
        """Bytes of a stripe, as MPI-IO is told."""
        return self.components[-1].stripe_size

    @property
    def osts(self) -> tuple[int, ...]:
        """The OST of each object, in the order of the stripes."""
        return self.components[-1].osts

    def stripe_at(self, offset: Offsets) -> Offsets:
        """Return the number of the stripe that has the byte at an offset: of one, or of many."""
        return offset // self.stripe_size

    def stripe_start(self, stripe: Offsets) -> Offsets:
        """Return the offset at which a stripe begins, and the one before it ends."""
        return stripe * self.stripe_size

    def object_at(self, stripe: Offsets) -> Offsets:
        """Return the index of the object that a stripe lies in."""
        return stripe % self.stripe_count


class _RoundRobin:
    """Deals files to some OSTs in turn, as LOD does while all of them are equally full.

    A file starts on the OST after the last one of the file before it. Two refinements keep files
    with several stripes from always starting on the same OSTs: after each round over the OSTs the
    start moves on by one, and after some thousand files the start is drawn anew (Lustre 2.7
    lod_qos.c, lod_alloc_rr; the weighting by free space, lod_alloc_qos, is left out).
    """

    def __init__(self, osts: int, random: np.random.Generator) -> None:
        self._osts = osts
        self._random = random
        self._start = 0  # next OST of the round-robin, before the shift
        self._shift = 0  # by how many OSTs the rounds have moved on
        self._files_to_reseed = 0

    def first(self, files: int, count: int) -> Integers:
        """Return the place of the first OST of so many files of ``count`` stripes each."""
        first, done = np.empty(files, np.int64), 0
        while done < files:
            run = self._run(files - done, count)
            first[done : done + len(run)] = run
            done += len(run)
        return first

    def _run(self, files: int, count: int) -> Integers:
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


class Allocator:
    """Chooses the OSTs of new files, round-robin over all OSTs, or over those of a pool.

    The random starts follow from the scenario's ``seed``. ``default`` is the striping of the
    directory, inherited by a file that asks for none: 1 x 1 MiB unless given. The OSTs of a
    composite layout's components are chosen one after another when the file is made; LOD chooses
    those of a component as it is instantiated.
    """

    def __init__(
        self,
        osts: int,
        seed: int,
        default: StripeRequest | None = None,
        pool: Callable[[str], tuple[int, ...]] | None = None,
    ) -> None:
        inherited = default or StripeRequest()
        inherited.check(osts)
        self._osts = osts
        self._seed = seed
        self._default_count = inherited.count or 1
        self._default_size = inherited.size or MIB
        self._pool = pool
        self._turns = {"": _RoundRobin(osts, stream(seed, "ost allocator"))}

    @classmethod
    def of(cls, lustre: Lustre, seed: int) -> Allocator:
        """Return the allocator of a machine's file system."""
        return cls(lustre.osts, seed, lustre.default_striping, lustre.pool)

    def resolve(self, request: StripeRequest) -> tuple[Component, ...]:
        """Return the components of a file, with the defaults filled in.

        Raises
        ------
        InputError
            If the file system has fewer OSTs than the request needs.
        """
        request.check(self._osts)
        return tuple(map(self._resolved, request.components))

    def _resolved(self, asked: ComponentRequest) -> Component:
        if asked.on_mdt:
            return Component(asked.end, asked.end, 1, asked)
        count = len(asked.osts) or asked.count or self._default_count
        if count == -1:
            count = len(self._of_pool(asked.pool))
        size = asked.size or self._default_size
        if asked.end != EOF and asked.end % size:
            raise InputError(
                f"-E {format_bytes(asked.end)} with stripes of {format_bytes(size)}; right would "
                "be an end that is a multiple of the stripe size"
            )
        return Component(asked.end, size, count, asked)

    def allocate(self, files: int, request: StripeRequest) -> Integers:
        """Create many files, one after the other.

        Returns
        -------
        int64[files, objects]
            OSTs of each file, in the order of its stripes, component after component; -1 of one
            that is on the MDT.

        Raises
        ------
        InputError
            As :meth:`resolve` does.
        """
        parts = [self._osts_of(files, component) for component in self.resolve(request)]
        return np.concatenate(parts, axis=1)

    def _osts_of(self, files: int, component: Component) -> Integers:
        """Return the OSTs of one component of many files: int64 (files, stripes)."""
        asked, count = component.request, component.stripe_count
        if asked.on_mdt:
            return np.full((files, 1), -1)
        if asked.osts:
            return np.tile(np.array(asked.osts), (files, 1))
        osts = np.array(self._of_pool(asked.pool))
        if asked.offset >= 0:
            (place,) = np.flatnonzero(osts == asked.offset)
            first = np.full(files, place)
        else:
            if asked.pool not in self._turns:
                random = stream(self._seed, "ost allocator", asked.pool)
                self._turns[asked.pool] = _RoundRobin(len(osts), random)
            first = self._turns[asked.pool].first(files, count)
        chosen: Integers = osts[(first[:, np.newaxis] + np.arange(count)) % len(osts)]
        return chosen

    def _of_pool(self, pool: str) -> Sequence[int]:
        """Return the OSTs to choose from."""
        return self._pool(pool) if pool and self._pool is not None else range(self._osts)
