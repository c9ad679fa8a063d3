"""The collective calls of a trace: found row by row, checked, and put in an order."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.engine.types import Integers
from xc40io.workloads.trace import Trace, TraceBlock, TraceOp

ALONE = -1
"""In place of the name of a collective call: what a rank does by itself."""

FIRST_BARRIER = -2
"""The name of the first barrier; that of the next is one less, and so on."""

_ALLOWED = frozenset(TraceOp) - {TraceOp.STAT, TraceOp.UNLINK, TraceOp.MKDIR, TraceOp.COMPUTE}


class Calls:
    """Collective calls, numbered from 0 as they come; ``place`` is what messages call the trace."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._numbers: dict[int, int] = {}
        self._names: list[int] = []
        self._ops: list[int] = []
        self._files: list[int] = []

    @property
    def kinds(self) -> tuple[Integers, Integers]:
        """What each does to which file: int64 (calls,), int64 (calls,)."""
        return np.array(self._ops, np.int64), np.array(self._files, np.int64)

    def add(
        self, block: TraceBlock, name: Integers, which: npt.NDArray[np.bool_], turn: Integers
    ) -> Integers:
        """Return the number of the call of each row ``which`` is part of one: int64.

        New calls are numbered in the order of their first rows, as ``turn`` (rows,) has it. Raises
        InputError if rows of one call do different things, or something that is no collective call.
        """
        order = np.argsort(turn[which], kind="stable")
        names, earliest, of_order = np.unique(
            name[which][order], return_index=True, return_inverse=True
        )
        first = order[earliest]
        inverse = np.empty(len(order), np.int64)
        inverse[order] = of_order
        op, file = block.op[which], block.file[which]
        opens = (op == TraceOp.OPEN) | (op == TraceOp.CREATE)
        created = np.zeros(len(names), bool)
        np.logical_or.at(created, inverse[op == TraceOp.CREATE], True)
        plain = np.where(opens, int(TraceOp.OPEN), op)
        numbers = np.empty(len(names), np.int64)
        for place in np.argsort(earliest, kind="stable").tolist():
            row = int(first[place])
            numbers[place] = self._number(int(names[place]), int(plain[row]), int(file[row]))
        call = numbers[inverse]
        self._check_alike(plain, file, call)
        for number in numbers[created].tolist():
            self._ops[number] = int(TraceOp.CREATE)
        return call

    def _check_alike(self, op: npt.NDArray[Any], file: npt.NDArray[Any], call: Integers) -> None:
        """Raise InputError unless all rows of a call do the same to the same file."""
        known_op, known_file = self.kinds
        known_op[known_op == TraceOp.CREATE] = TraceOp.OPEN
        other = np.flatnonzero((op != known_op[call]) | (file != known_file[call]))
        if len(other):
            row = int(other[0])
            number = int(call[row])
            raise InputError(
                f"{self._place}: coll = {self._names[number]} is "
                f"{TraceOp(int(known_op[number])).name.lower()} in one row and "
                f"{TraceOp(int(op[row])).name.lower()} in another, or of another file; right would "
                "be the same operation and file in all rows of one collective call"
            )

    def check(self, rank: Integers, call: Integers, trace: Trace) -> None:
        """Check who, int64 (pairs,), takes part in which call, int64 (pairs,).

        Raises InputError if a rank takes part twice, does not belong there, or misses a barrier.
        """
        pairs, times = np.unique(call * trace.ranks + rank, return_counts=True)
        twice = pairs[times > 1]
        if len(twice):
            self._fail(int(twice[0]) // trace.ranks, int(twice[0]) % trace.ranks, "comes back to")
        members = np.bincount(pairs // trace.ranks, minlength=len(self._names))
        for number, (name, file) in enumerate(zip(self._names, self._files, strict=True)):
            if name <= FIRST_BARRIER and members[number] < trace.ranks:
                raise InputError(
                    f"{self._place}: barrier {FIRST_BARRIER - name + 1} has rows of "
                    f"{members[number]} ranks; right would be one row of each of the "
                    f"{trace.ranks} ranks"
                )
            ranks = trace.files[file].ranks if file >= 0 else None
            if ranks is not None and members[number]:
                first, stop = np.searchsorted(
                    pairs, [number * trace.ranks, (number + 1) * trace.ranks]
                )
                strange = np.setdiff1d(pairs[first:stop] % trace.ranks, ranks)
                if len(strange):
                    self._fail(number, int(strange[0]), "has not opened the file of")

    def _fail(self, number: int, rank: int, what: str) -> None:
        raise InputError(
            f"{self._place}: rank {rank} {what} coll = {self._names[number]}; right would be "
            "consecutive rows for the pieces of one call, of ranks that opened the file together"
        )

    def _number(self, name: int, op: int, file: int) -> int:
        """Return the number of a call; a new one if it is new."""
        if name not in self._numbers:
            if op not in _ALLOWED or (file < 0 and op != TraceOp.BARRIER):
                raise InputError(
                    f"{self._place}: coll = {name} is {TraceOp(op).name.lower()}"
                    f"{'' if file >= 0 else ' of no file'}; right would be a collective read, "
                    "write, open, create, close or fsync of a file"
                )
            self._numbers[name] = len(self._names)
            self._names.append(name)
            self._ops.append(op)
            self._files.append(file)
        return self._numbers[name]

    def order(self, rank: Integers, call: Integers) -> Integers:
        """Return the place of each call in an order that all ranks keep: int64 (calls,).

        ``rank`` (pairs,), ascending, takes part in ``call`` (pairs,), each rank's in its order.
        Raises InputError if two ranks make the same calls in different orders: they would wait for
        each other for ever.
        """
        calls = len(self._names)
        same = rank[1:] == rank[:-1]
        before, after = call[:-1][same], call[1:][same]
        if (before < after).all():
            return np.arange(calls)
        edges = np.unique(before * calls + after)
        sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(calls), ()))
        for edge in edges.tolist():
            sorter.add(edge % calls, edge // calls)
        try:
            order = np.array(list(sorter.static_order()), np.int64)
        except CycleError as error:
            cycle = [self._names[number] for number in error.args[1][:2]]
            named = " and ".join(f"coll = {name}" if name >= 0 else "a barrier" for name in cycle)
            raise InputError(
                f"{self._place}: {named} come in different orders at different ranks, which would "
                "wait for each other for ever; right would be collective calls in the same order "
                "at every rank"
            ) from None
        return np.argsort(order, kind="stable")
