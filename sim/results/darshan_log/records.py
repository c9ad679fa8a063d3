"""Records of a module of Darshan: counters by file and rank, or by file if all ranks share it.

What :func:`share` does is what Darshan's runtime does at the end of a job: a file that every rank
has opened gets one record in place of theirs, of rank -1. Its counters are the sums of theirs; it
tells who was fastest and slowest, and how far the ranks were apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.workloads.darshan.module_counters import BIN_LOW, BIN_NAMES, SHARED

Mask = npt.NDArray[np.bool_]
Values = npt.NDArray[Any]

FREQUENT = 4
"""Values that Darshan names with their counts."""

_LARGEST = ("MAX_BYTE_", "F_MAX_", "MODE", "MEM_ALIGNMENT", "FILE_ALIGNMENT")
"""Counters of which a shared record has the largest; of times of an end, too."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records of a module."""

    file: Integers  # int64 (records,): its number
    rank: Integers  # int64 (records,): -1 for all ranks
    # Each (records,), by its name without the module's: int64, float64 if it begins with `F_`.
    counters: Mapping[str, Values]

    def __len__(self) -> int:
        return len(self.file)


class Groups:
    """Calls by record.

    ``calls`` are ``LAYER_CALL`` records, sorted by Darshan record and then by their ends; ``of``,
    int64 (calls,), is the number of the Darshan record of each call, ascending.
    """

    def __init__(self, calls: npt.NDArray[Any], of: Integers, count: int) -> None:
        self.calls, self.of, self.count = calls, of, count

    def number(self, which: Mask) -> Integers:
        """Return how many of some calls each record has: int64 (records,)."""
        return np.bincount(self.of[which], minlength=self.count)

    def total(self, column: str, which: Mask) -> Integers:
        """Return the sum of a column over some calls: int64 (records,)."""
        return _sums(self.calls[column][which], self.of[which], self.count)

    def latest(self, column: str, which: Mask) -> Floats:
        """Return the largest value of a column of times: float64 (records,); 0 of no calls."""
        return _largest(self.calls[column][which], self.of[which], self.count)

    def earliest(self, column: str, which: Mask) -> Floats:
        """Return the smallest value of a column of times: float64 (records,); 0 of no calls."""
        return _smallest(self.calls[column][which], self.of[which], self.count)

    def furthest(self, which: Mask) -> Integers:
        """Return the last byte that some calls touched: int64 (records,); 0 of no calls."""
        last = (self.calls["offset"] + self.calls["bytes"])[which] - 1
        return _largest(last, self.of[which], self.count)

    def seconds(self, which: Mask) -> Floats:
        """Return the seconds that some calls took: float64 (records,).

        Where calls of a rank overlap, as calls of its threads do, no second counts twice.
        """
        of, start, end = self.of[which], self.calls["start"][which], self.calls["end"][which]
        before = np.where(self.follows(which), np.append(0.0, end[:-1])[: len(end)], 0.0)
        took = np.bincount(of, end - np.maximum(start, before), self.count)
        return took.astype(np.float64)  # of no calls, NumPy answers integers

    def slowest(self, which: Mask) -> tuple[Floats, Integers]:
        """Return the seconds and bytes of each record's longest call, the first of several."""
        of, calls = self.of[which], self.calls[which]
        took = calls["end"] - calls["start"]
        first = _first_of_each(-took, of)
        seconds, size = np.zeros(self.count), np.zeros(self.count, np.int64)
        seconds[of[first]], size[of[first]] = took[first], calls["bytes"][first]
        return seconds, size

    def follows(self, which: Mask) -> Mask:
        """Tell of some calls whether the one before, among them, is of the same record."""
        of = self.of[which]
        follows: Mask = np.append(False, of[1:] == of[:-1])[: len(of)]
        return follows


def _sums(values: Values, of: Integers, count: int) -> Values:
    """Return the sum of the values of each of ``count`` records; ``of`` says whose each is."""
    sums = np.zeros(count, values.dtype)
    np.add.at(sums, of, values)
    return sums


def _largest(values: Values, of: Integers, count: int) -> Values:
    """Return the largest of the values of each record; 0 if there is none."""
    found = np.zeros(count, values.dtype)
    np.maximum.at(found, of, values)
    return found


def _smallest(values: Values, of: Integers, count: int) -> Floats:
    """Return the smallest of the values of each record; 0 if there is none."""
    found = np.full(count, np.inf)
    np.minimum.at(found, of, values)
    return np.where(np.isfinite(found), found, 0.0)


def _first_of_each(key: Values, of: Integers) -> Integers:
    """Return the row of each record whose key is smallest; the first of several."""
    order = np.lexsort((np.arange(len(of)), key, of))
    return order[np.diff(of[order], prepend=-1) > 0]


def frequent(what: str, of: Integers, values: Integers, count: int) -> dict[str, Values]:
    """Return the most frequent values of each of ``count`` records: ``ACCESS1_COUNT`` and so on.

    ``of`` and ``values`` are int64 (n,): the record of each value, and the values; 0 is no value.
    The most frequent one comes first; of two that are equally frequent, the larger one.
    """
    of, values = of[values != 0], values[values != 0]
    order = np.lexsort((values, of))
    of, values = of[order], values[order]
    new = np.append(True, (of[1:] != of[:-1]) | (values[1:] != values[:-1]))[: len(of)]
    first = np.flatnonzero(new)
    times = np.diff(np.append(first, len(of)))
    of, values = of[first], values[first]
    order = np.lexsort((-values, -times, of))
    of, values, times = of[order], values[order], times[order]
    turn = np.arange(len(of)) - np.searchsorted(of, of)
    counters: dict[str, Values] = {}
    for place in range(FREQUENT):
        mine = turn == place
        for kind, found in ((what, values), ("COUNT", times)):
            counter = np.zeros(count, np.int64)
            counter[of[mine]] = found[mine]
            counters[f"{what}{place + 1}_{kind}"] = counter
    return counters


def bins(sizes: Integers, of: Integers, count: int, prefix: str) -> dict[str, Values]:
    """Return how many sizes of each record are in each of Darshan's classes, by counter."""
    place = np.searchsorted(BIN_LOW, sizes, side="right") - 1
    table = np.zeros((len(BIN_NAMES), count), np.int64)
    np.add.at(table, (place, of), 1)
    return {f"{prefix}{name}": row for name, row in zip(BIN_NAMES, table, strict=True)}


def share(own: Records, frequent: Mapping[str, Values], ranks: int) -> Records:
    """Replace the records of files that all ranks of the job opened by one for each of them.

    ``own`` has a record for each file and rank, sorted by both, ``frequent`` the most frequent
    values by file, as counters: each (files,), in the order of the files.
    """
    files, of, opened_by = np.unique(own.file, return_inverse=True, return_counts=True)
    shared = (opened_by == ranks) & (ranks > 1)
    if not shared.any():
        return own
    left = ~shared[of]
    row = np.cumsum(shared) - 1  # of each file among the shared ones
    members, count = np.flatnonzero(~left), int(shared.sum())
    of = row[of[members]]
    counters = {
        name: np.concatenate([values[left], _reduced(name, values[members], of, count)])
        for name, values in own.counters.items()
    }
    common = {name: values[shared] for name, values in frequent.items()}
    mine = {name: values[members] for name, values in own.counters.items()}
    for name, values in {**common, **_extremes(mine, own.rank[members], of, count)}.items():
        counters[name][-count:] = values
    return Records(
        np.concatenate([own.file[left], files[shared]]),
        np.concatenate([own.rank[left], np.full(count, SHARED)]),
        counters,
    )


def _reduced(name: str, values: Values, of: Integers, count: int) -> Values:
    """Return a counter of files from that of each rank; ``of`` says which file."""
    if name.endswith("_END_TIMESTAMP") or name.startswith(_LARGEST):
        return _largest(values, of, count)
    if name.endswith("_START_TIMESTAMP"):
        return _smallest(values[values > 0.0], of[values > 0.0], count)
    return _sums(values, of, count)


def _extremes(
    mine: Mapping[str, Values], rank: Integers, of: Integers, count: int
) -> dict[str, Values]:
    """Return which rank was fastest and slowest, how far they were apart, and the longest calls.

    ``mine`` are the counters of each rank, sorted by file; ``rank`` and ``of``, int64 (records,),
    are the rank and the file of each.
    """
    took = mine["F_READ_TIME"] + mine["F_WRITE_TIME"] + mine["F_META_TIME"]
    moved = mine["BYTES_READ"] + mine["BYTES_WRITTEN"]
    found: dict[str, Values] = {}
    for name, key in (("FASTEST", took), ("SLOWEST", -took)):
        first = _first_of_each(key, of)
        found[f"{name}_RANK"] = rank[first]
        found[f"{name}_RANK_BYTES"] = moved[first]
        found[f"F_{name}_RANK_TIME"] = took[first]
    for way in ("READ", "WRITE"):
        longest = _first_of_each(-mine[f"F_MAX_{way}_TIME"], of)
        found[f"MAX_{way}_TIME_SIZE"] = mine[f"MAX_{way}_TIME_SIZE"][longest]
    found["F_VARIANCE_RANK_TIME"] = _variance(took, of, count)
    found["F_VARIANCE_RANK_BYTES"] = _variance(moved.astype(np.float64), of, count)
    return found


def _variance(values: Values, of: Integers, count: int) -> Values:
    """Return the variance of the ranks' values of each file."""
    members = np.bincount(of, minlength=count)
    mean = np.bincount(of, values, count) / members
    return np.bincount(of, (values - mean[of]) ** 2, count) / members
