"""File domains: which aggregator reads or writes which bytes for the others, and in which round.

In a collective call the file is cut into *file windows*, each what one aggregator reads or writes
in one go through its collective buffer. The windows of an aggregator are its *file domain*. On
Lustre a window is a stripe and the aggregators take the stripes in turn, so that each object has
one writer (MPICH ad_lustre_aggregate.c, ``ADIOI_LUSTRE_Calc_aggregator``). Where there are m times
as many aggregators as objects, m of them take turns with the stripes of one object. ROMIO's reads
know nothing of stripes: every domain is one even part of what is read
(``ADIOI_Calc_file_domains``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from xc40io.config.parts.mpi import Mpi
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.striping import Layout
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives, Communicator

if TYPE_CHECKING:
    from xc40io.mpi.hints import Hints


@dataclass(frozen=True, eq=False)
class CollectiveFile:
    """An open file, as its collective reads and writes see it."""

    number: int  # of the file in the data plane
    layout: Layout  # where its bytes lie
    communicator: Communicator  # the ranks that have it open
    # int64 (aggregators,): the ranks that read and write for all, in the order of their file
    # domains
    aggregators: Integers
    # hints, mpi, costs: the hints in force; what the MPI library costs; what its collectives cost
    # among `communicator`
    hints: Hints
    mpi: Mpi
    costs: Collectives
    # the number of a second meeting in the data plane, for a part of the ranks to meet at while the
    # others wait at `communicator.meeting`
    inner_meeting: int
    # windows in which one-sided writes have found holes: once there are any, they read whatever
    # they write before (`romio_onesided_always_rmw`)
    holes: set[int] = field(default_factory=set)
    # first and last byte of the extents that each aggregator last asked to lock ahead, by its
    # position among the aggregators; lock mode 2 keeps its books here from call to call
    locked: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def owners(self) -> Integers:
        """The positions of the aggregators' programs in the batches of the job."""
        return self.communicator.owners[self.aggregators]

    @property
    def nodes(self) -> Indices:
        """The nodes of the aggregators."""
        return self.communicator.node[self.aggregators]

    @property
    def buffer_stripes(self) -> int:
        """Stripes that an aggregator collects in its buffer by one-sided writes.

        One under Cray's MPI, whatever ``cb_buffer_size`` says; as many as fit into
        ``cb_buffer_size`` under plain ROMIO, and no less than one.
        """
        if self.mpi.library == "cray":
            return 1
        return max(1, self.hints.cb_buffer_size // self.layout.stripe_size)


class Domains(Protocol):
    """A partition of the file into windows, numbered in the order of the file."""

    def window_of(self, offset: Integers) -> Integers:
        """Return the window of the bytes at these offsets."""
        ...

    def start_of(self, window: Integers) -> Integers:
        """Return where windows begin, in bytes; a window ends where the next one begins."""
        ...

    def domain_of(self, window: Integers) -> Integers:
        """Return to which aggregator's domain windows belong, by position."""
        ...

    def round_of(self, window: Integers) -> Integers:
        """Return in which round windows have their turn, from 0."""
        ...


@dataclass(frozen=True)
class StripedDomains:
    """Stripes dealt to the aggregators in turn."""

    layout: Layout  # of the file; a window is one stripe
    aggregators: int  # how many there are
    stripes_per_round: int  # stripes of one aggregator in one round
    first: int  # the stripe with which the first round begins
    origin: int = 0  # a stripe of the first aggregator

    def window_of(self, offset: Integers) -> Integers:
        return self.layout.stripe_at(offset)

    def start_of(self, window: Integers) -> Integers:
        return self.layout.stripe_start(window)

    def domain_of(self, window: Integers) -> Integers:
        return (window - self.origin) % self.aggregators

    def round_of(self, window: Integers) -> Integers:
        return (window - self.first) // (self.aggregators * self.stripes_per_round)


@dataclass(frozen=True, eq=False)
class EvenDomains:
    """Even parts of what is read, each cut into buffers from the first byte that is asked for."""

    start: Integers  # int64 (windows,): where they begin, in bytes, ascending
    # domain, round: int64 (windows,): whose they are, and when their turn is
    domain: Integers
    round: Integers

    def window_of(self, offset: Integers) -> Integers:
        return np.searchsorted(self.start, offset, side="right") - 1

    def start_of(self, window: Integers) -> Integers:
        return np.append(self.start, np.iinfo(np.int64).max)[window]

    def domain_of(self, window: Integers) -> Integers:
        return self.domain[window]

    def round_of(self, window: Integers) -> Integers:
        return self.round[window]


def striped_domains(
    target: CollectiveFile,
    accesses: Accesses,
    *,
    stripes_per_round: int = 1,
    from_first: bool = False,
) -> StripedDomains:
    """Return the stripe-cyclic domains of a call; its first round begins with its first stripe.

    With ``from_first`` that is one of the first aggregator, whichever object it lies in. Two-phase
    moves one stripe an aggregator in each round, whatever ``cb_buffer_size`` says: so does every
    release of ROMIO's Lustre driver (ADIOI_LUSTRE_Exch_and_write, ``step_size``).
    """
    first = target.layout.stripe_at(int(accesses.offset.min()))
    return StripedDomains(
        layout=target.layout,
        aggregators=len(target.aggregators),
        stripes_per_round=stripes_per_round,
        first=first,
        origin=first if from_first else 0,
    )


def even_domains(target: CollectiveFile, accesses: Accesses) -> EvenDomains:
    """Return the domains of a read by plain ROMIO, cut into buffers of ``cb_buffer_size``.

    The borders between the domains go to the nearest multiple of the stripe size
    (``ADIOI_Calc_file_domains``); a domain's buffers begin with the first byte asked for in it
    (``ADIOI_Read_and_exch``).
    """
    ends = accesses.offset + accesses.length
    low, high = int(accesses.offset.min()), int(ends.max())
    size = -(-(high - low) // len(target.aggregators))
    borders = low + size * np.arange(1, len(target.aggregators))
    layout = target.layout
    borders = layout.stripe_start(layout.stripe_at(borders + layout.stripe_size // 2))
    borders = np.concatenate(([low], np.clip(borders, low, high), [high]))
    starts, stops = _asked_for(borders, accesses.offset, ends)
    buffers = np.maximum(-(-(stops - starts) // target.hints.cb_buffer_size), 0)
    within = _count_up(buffers)
    domain = np.repeat(np.arange(len(buffers)), buffers)
    return EvenDomains(starts[domain] + within * target.hints.cb_buffer_size, domain, within)


def _asked_for(borders: Integers, offset: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Return from and to where pieces ask for bytes between each two borders; 0, 0: nowhere."""
    parts = len(borders) - 1
    first = np.searchsorted(borders[1:], offset, side="right")
    last = np.searchsorted(borders[1:], end - 1, side="right")
    starts, stops = borders[1:].copy(), borders[:-1].copy()
    np.minimum.at(starts, first, offset)
    np.maximum.at(stops, last, end)
    # A piece that goes on beyond a border asks for all bytes on both sides of it.
    crossed = np.cumsum(
        np.bincount(first, minlength=parts + 1) - np.bincount(last, minlength=parts + 1)
    )
    inner = np.flatnonzero(crossed[: parts - 1] > 0)
    stops[inner] = borders[inner + 1]
    starts[inner + 1] = borders[inner + 1]
    asked = starts < stops
    return np.where(asked, starts, 0), np.where(asked, stops, 0)


def _count_up(counts: Integers) -> Integers:
    """Return 0, 1, ... ``counts[0] - 1``, 0, 1, ... ``counts[1] - 1`` and so on."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def cut(pieces: Accesses, domains: Domains) -> tuple[Accesses, Integers]:
    """Cut pieces where windows begin; return the parts, in order, and the window of each."""
    end = pieces.offset + pieces.length
    window = domains.window_of(pieces.offset)
    parts = domains.window_of(end - 1) - window + 1
    if not (parts > 1).any():
        return pieces, window
    window = np.repeat(window, parts) + _count_up(parts)
    offset = np.maximum(np.repeat(pieces.offset, parts), domains.start_of(window))
    end = np.minimum(np.repeat(end, parts), domains.start_of(window + 1))
    return Accesses(np.repeat(pieces.rank, parts), offset, end - offset), window


def union(offset: Integers, length: Integers) -> tuple[Integers, Integers]:
    """Return the contiguous runs of bytes that pieces cover: offsets, ascending, and lengths."""
    if (offset[1:] < offset[:-1]).any():
        order = np.argsort(offset, kind="stable")
        offset, length = offset[order], length[order]
    end = offset + length
    np.maximum.accumulate(end, out=end)
    first = np.concatenate(([0], np.flatnonzero(offset[1:] > end[:-1]) + 1))
    start = offset[first]
    return start, end[np.append(first[1:], len(offset)) - 1] - start


class FileWindows(NamedTuple):
    """The file windows in which something is asked for or given: rows in the order of the file."""

    # number, domain, round: int64 (windows,): see Domains
    number: Integers
    domain: Integers
    round: Integers
    # low, high: int64: the first byte, and one past the last byte, of what is asked for or given
    low: Integers
    high: Integers
    covered: Integers  # int64: bytes of it. Less than `high - low`: there are holes.
    # int64 (windows + 1,): where the runs of each window begin in the columns below
    first_run: Integers
    # run_offset, run_length: int64 (runs,): contiguous runs of bytes, none across the border of a
    # window
    run_offset: Integers
    run_length: Integers

    def filled_up(self, domains: Domains) -> FileWindows:
        """Return all windows from the first to the last; they leave out nothing in between.

        Each reaches from border to border, but for the beginning of the first and the end of the
        last one. Those that are new cover nothing.
        """
        number = np.arange(self.number[0], self.number[-1] + 1)
        at = self.number - number[0]
        runs, covered = np.zeros((2, len(number)), np.int64)
        runs[at], covered[at] = np.diff(self.first_run), self.covered
        return self._replace(
            number=number,
            domain=domains.domain_of(number),
            round=domains.round_of(number),
            low=np.maximum(domains.start_of(number), self.low[0]),
            high=np.minimum(domains.start_of(number + 1), self.high[-1]),
            covered=covered,
            first_run=np.concatenate(([0], np.cumsum(runs))),
        )


def file_windows_of(start: Integers, length: Integers, domains: Domains) -> FileWindows:
    """Return the windows that contiguous runs of bytes, as from :func:`union`, fall into."""
    parts, window = cut(Accesses(np.zeros_like(start), start, length), domains)
    first = np.concatenate(([0], np.flatnonzero(window[1:] != window[:-1]) + 1))
    bounds = np.append(first, len(window))
    number = window[first]
    return FileWindows(
        number=number,
        domain=domains.domain_of(number),
        round=domains.round_of(number),
        low=parts.offset[first],
        high=(parts.offset + parts.length)[bounds[1:] - 1],
        covered=np.add.reduceat(parts.length, first),
        first_run=bounds,
        run_offset=parts.offset,
        run_length=parts.length,
    )


class Requests(NamedTuple):
    """What each rank has in each window: rows sorted by rank, then window."""

    # rank, window: int64 (requests,)
    rank: Integers
    window: Integers
    # bytes, pieces: int64: how much, in how many pieces
    bytes: Integers
    pieces: Integers


def requests_of(accesses: Accesses, domains: Domains) -> Requests:
    """Cut what the ranks access at the windows; return what each has in each of them."""
    parts, window = cut(accesses, domains)
    changes = (window[1:] != window[:-1]) | (parts.rank[1:] != parts.rank[:-1])
    first = np.concatenate(([0], np.flatnonzero(changes) + 1))
    return Requests(
        rank=parts.rank[first],
        window=window[first],
        bytes=np.add.reduceat(parts.length, first),
        pieces=np.diff(np.append(first, len(window))),
    )


def sum_by(key: Integers, *values: Integers) -> tuple[Integers, ...]:
    """Return the different keys, ascending, and for each column of values its sum for each key.

    Keys are not negative, and sums below 2**53.
    """
    if int(key.max()) < 2 * len(key):  # counting is quicker than sorting, where there is room
        found = np.flatnonzero(np.bincount(key))
        sums = (np.bincount(key, column)[found] for column in values)
        return found, *(column.astype(np.int64) for column in sums)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    return ordered[first], *(np.add.reduceat(column[order], first) for column in values)
