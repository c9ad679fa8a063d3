"""A batch: what a number of programs are to do, put together by control."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Indices, Integers, as_bytes
from xc40io.plane.library_calls import ALONE, OWN, LibraryCall
from xc40io.plane.long_calls import cut_long_calls
from xc40io.plane.operations import Op, Operations, make_operations, no_operations


class Transfers(NamedTuple):
    """Bytes that go from node to node for the ``EXCHANGE`` operations of a batch."""

    # source, target: int32 (n,): nodes of the job
    source: Indices
    target: Indices
    size: Integers  # int64 (n,): bytes
    turn: Integers  # int64 (n,): the turn of the node in which it comes; -1: in any
    # bool (n,): the transfer waits until all those of its node's turns before have ended, as a rank
    # does that waits for its sends of one round before it turns to the next
    after: npt.NDArray[np.bool_]
    # int64 (n,): programs of the node that send it in `EXCHANGE` operations of their own: it waits
    # until all of them are there, and they for the end of all that they send in that turn. That is
    # how it is with aggregators, which first write what they have. Turns with and without such
    # senders have nothing to do with each other.
    senders: Integers


def refer_from(operations: Operations, first: int | Integers) -> None:
    """Add ``first`` to the numbers of the transfers that ``EXCHANGE`` operations name.

    That is one number for all operations, or int64 (operations,), one for each.
    """
    exchanges = np.flatnonzero(operations["kind"] == int(Op.EXCHANGE))
    first = np.broadcast_to(first, len(operations))[exchanges]
    operations["transfer"][exchanges] += first
    operations["sent_first"][exchanges] += first


def most_at_once(operations: Operations) -> int:
    """Return the most transfers that one ``EXCHANGE`` operation begins."""
    exchanges = operations[operations["kind"] == int(Op.EXCHANGE)]
    return int((exchanges["received"] + exchanges["sent"]).max(initial=0))


class Batch:
    """Operations of many programs, added step by step for all of them at once.

    ``programs`` are their numbers: int64 (n,).
    """

    def __init__(self, programs: Integers) -> None:
        self.programs = programs
        self.library_calls: list[LibraryCall] = []  # the first has the tag 1
        # calls that take no time, made as the batch begins: which, by whom, on which files
        self.noted: list[tuple[Op, Integers, Integers]] = []
        self._tag = OWN
        self._shift = 0
        self._tags: list[int] = []
        self._owners: list[Integers] = []
        self._operations: list[Operations] = []
        self._transfers: list[Transfers] = []
        self._transfer_count = 0

    def add(
        self, kind: Op | Integers, owner: Integers | None = None, **columns: npt.ArrayLike
    ) -> None:
        """Add an operation of each of some programs, or several.

        Parameters
        ----------
        kind
            Which operation; or int64 (m,), which of them each, if all have the same columns.
        owner
            int64 (m,): for each new operation the position of its program in ``programs``, those
            of one program in order; one for every program unless given.
        columns
            Columns of the operation (``xc40io.plane.operations.COLUMNS``), each a scalar or of
            shape (m,).

        Raises
        ------
        ValueError
            If one of the operations has no such column.
        """
        if owner is None:
            owner = np.arange(self._shift or len(self.programs))
        self.add_operations(make_operations(kind, len(owner), **columns), owner)

    def add_operations(self, operations: Operations, owner: Integers) -> None:
        """Add operations that have been made already: ``owner`` as for :meth:`add`."""
        self._owners.append(owner + self._shift if self._shift else owner)
        self._operations.append(operations)
        self._tags.append(self._tag)

    def note(self, kind: Op, owner: Integers, file: npt.ArrayLike) -> None:
        """Note a call of each of some programs that is not simulated, and so takes no time."""
        self.noted.append((kind, owner + self._shift, np.broadcast_to(file, owner.shape)))

    @contextmanager
    def calling(self, call: LibraryCall | None = None) -> Iterator[None]:
        """Make the operations that are added meanwhile parts of one call of a library.

        Without a ``call``, each of their reads, writes and others is a call of the library.
        """
        if call is not None:
            self.library_calls.append(call)
        self._tag = ALONE if call is None else len(self.library_calls)
        try:
            yield
        finally:
            self._tag = OWN

    @contextmanager
    def behind(self, shift: int) -> Iterator[None]:
        """Make the operations that are added meanwhile those of programs so much further behind.

        What a library has its ranks do is then done by threads of theirs, as if they were they.
        """
        self._shift = shift
        try:
            yield
        finally:
            self._shift = 0

    def listing(self) -> tuple[Operations, Integers]:
        """Return all operations, program after program, and the bounds of each program (n + 1).

        Calls that Linux would cut are cut.
        """
        counts = np.zeros(len(self.programs), np.int64)
        for owner in self._owners:
            np.add.at(counts, owner, 1)
        bounds = np.concatenate(([0], np.cumsum(counts)))
        operations, free = no_operations(int(bounds[-1])), bounds[:-1].copy()
        for owner, part, tag in zip(self._owners, self._operations, self._tags, strict=True):
            rows = _rows_behind(free, owner)
            as_bytes(operations)[rows] = as_bytes(part)
            if tag != OWN:
                operations["tag"][rows] = tag
        return cut_long_calls(operations, bounds)

    def hand_over(self) -> tuple[Operations, Integers]:
        """Return the :meth:`listing`, and forget all operations: they may take much memory."""
        listed = self.listing()
        for parts in (self._owners, self._operations, self._tags):
            parts.clear()
        return listed

    def add_transfers(
        self,
        source: npt.ArrayLike,
        target: npt.ArrayLike,
        size: npt.ArrayLike,
        turn: npt.ArrayLike = -1,
        after: npt.ArrayLike = True,
        senders: npt.ArrayLike = 0,
    ) -> int:
        """Add transfers for ``EXCHANGE`` operations; return the number of the first.

        The parameters are the columns of :class:`Transfers`, each a scalar or of shape (n,). The
        turns of one call of this method have nothing to do with those of another.
        """
        columns = np.broadcast_arrays(source, target, size, turn, after, senders)
        first = self._transfer_count
        self._transfers.append(
            Transfers(
                columns[0].astype(np.int32),
                columns[1].astype(np.int32),
                columns[2].astype(np.int64),
                columns[3].astype(np.int64),
                columns[4].astype(np.bool_),
                columns[5].astype(np.int64),
            )
        )
        self._transfer_count += columns[0].size
        return first

    @property
    def transfers(self) -> list[Transfers]:
        """All transfers, as they were added; they are numbered in this order."""
        return self._transfers


def _rows_behind(free: Integers, owner: Integers) -> Integers:
    """Return the rows of operations of some programs, by the first free one of each; take them."""
    if (owner[1:] > owner[:-1]).all():
        rows: Integers = free[owner]
        free[owner] += 1
        return rows
    order = np.argsort(owner, kind="stable")
    several = owner[order]
    rows = np.empty_like(owner)
    rows[order] = free[several] + np.arange(len(owner)) - np.searchsorted(several, several)
    np.add.at(free, owner, 1)
    return rows
