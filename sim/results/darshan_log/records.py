"""Records of a module of Darshan: counters by file and rank, or by file if all ranks share it.

What follows is what Darshan's runtime does at the end of a job: a file that every rank has opened
gets one record in place of theirs, of rank -1. Its counters are the sums of theirs; it tells who
was fastest and slowest, and how far the ranks were apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.engine.types import Integers
from sim.results.darshan_log.groups import FREQUENT, Frequent
from sim.workloads.darshan_log.counters import BIN_LOW, BIN_NAMES, SHARED

Values = npt.NDArray[Any]

_LARGEST = ("MAX_BYTE_", "F_MAX_", "MODE", "MEM_ALIGNMENT", "FILE_ALIGNMENT")
"""Counters of which a shared record has the largest; of times of an end, too."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records of a module."""

    file: Integers  # int64 (records,): the number of the file
    rank: Integers  # int64 (records,): -1 for all ranks
    counters: Mapping[str, Values]
    """Each (records,), by its name without the module's: int64, and float64 where it begins with
    ``F_``."""

    def __len__(self) -> int:
        return len(self.file)


def bins(sizes: Integers, of: Integers, count: int, prefix: str) -> dict[str, Values]:
    """Return how many sizes of each record are in each of Darshan's classes, by counter."""
    place = np.searchsorted(BIN_LOW, sizes, side="right") - 1
    table = np.zeros((len(BIN_NAMES), count), np.int64)
    np.add.at(table, (place, of), 1)
    return {f"{prefix}{name}": row for name, row in zip(BIN_NAMES, table, strict=True)}


def named(found: Frequent, what: str) -> dict[str, Values]:
    """Return the most frequent values as counters: ``ACCESS1_ACCESS``, ``ACCESS1_COUNT``."""
    counters: dict[str, Values] = {}
    for place in range(FREQUENT):
        counters[f"{what}{place + 1}_{what}"] = found.values[place]
        counters[f"{what}{place + 1}_COUNT"] = found.counts[place]
    return counters


def share(own: Records, frequent: Mapping[str, Values], ranks: int) -> Records:
    """Replace the records of files that all ranks opened by one for each of them.

    ``own``: a record for each file and rank, sorted by both. ``frequent``: the most frequent values
    by file, as counters: each (files,), in the order of the files. ``ranks``: of the job.
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
        largest = np.zeros(count, values.dtype)
        np.maximum.at(largest, of, values)
        return largest
    if name.endswith("_START_TIMESTAMP"):
        there = values > 0.0
        first = np.full(count, np.inf)
        np.minimum.at(first, of[there], values[there])
        return np.where(np.isfinite(first), first, 0.0)
    sums = np.zeros(count, values.dtype)
    np.add.at(sums, of, values)
    return sums


def _extremes(
    mine: Mapping[str, Values], rank: Integers, of: Integers, count: int
) -> dict[str, Values]:
    """Return which rank was fastest and slowest, how far they were apart, and the longest calls.

    ``mine``: the counters of each rank, those of a file one behind the other. ``rank`` and ``of``:
    int64 (records,): whose they are, and of which file. ``count``: how many files there are.
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


def _first_of_each(key: Values, of: Integers) -> Integers:
    """Return the row of each file whose key is smallest; the first of several."""
    order = np.lexsort((np.arange(len(of)), key, of))
    return order[np.diff(of[order], prepend=-1) > 0]


def _variance(values: Values, of: Integers, count: int) -> Values:
    """Return the variance of the ranks' values of each file."""
    members = np.bincount(of, minlength=count)
    mean = np.bincount(of, values, count) / members
    return np.bincount(of, (values - mean[of]) ** 2, count) / members
