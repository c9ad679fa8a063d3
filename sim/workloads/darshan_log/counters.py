"""The counters of a module of Darshan: a table with a row for each record.

A record is about one file and one rank; or, with the rank -1, about one file that all ranks opened:
its counters are then those of all ranks together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Integers

SHARED = -1
"""The rank of a record that is about all ranks together."""

BIN_NAMES = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"),
    *("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"),
)
"""What Darshan calls its classes of sizes."""

BIN_LOW = np.array(
    [
        0,
        101,
        1025,
        10_241,
        102_401,
        2**20 + 1,
        2**22 + 1,
        10 * 2**20 + 1,
        100 * 2**20 + 1,
        2**30 + 1,
    ]
)
"""The smallest size of each class, in bytes (DARSHAN_BUCKET_INC in darshan-common.h)."""

BIN_HIGH = np.append(BIN_LOW[1:] - 1, 2**40)
"""The largest size of each class, in bytes; the last class has none in Darshan."""

Direction = Literal["READ", "WRITE"]

Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Counters:
    """Records of a module.

    Attributes
    ----------
    prefix
        Of the names of its counters: ``POSIX``, ``MPIIO``.
    number
        uint64 (records,): which file.
    rank
        int64 (records,): which rank, or -1 for all.
    integers, floats
        (records, counters): the counters, and those with ``F_`` in their names: seconds.
    columns
        The column of each counter by its name without the prefix.
    """

    prefix: str
    number: Numbers
    rank: Integers
    integers: Integers
    floats: Floats
    columns: dict[str, int]

    @staticmethod
    def of(
        prefix: str, number: Numbers, rank: Integers, tables: tuple[Any, Any], names: Sequence[str]
    ) -> Counters:
        """Make a table of what the reader found: names of all integers, then of all floats."""
        integers, floats = tables
        short = [name.removeprefix(f"{prefix}_") for name in names]
        width = integers.shape[1]
        columns = {name: at if at < width else at - width for at, name in enumerate(short)}
        return Counters(prefix, number, rank, integers, np.nan_to_num(floats), columns)

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return one counter of all records, as in ``posix["BYTES_READ"]``; 0 if unknown."""
        column = self.columns.get(name)
        if column is None:
            return np.zeros(len(self), np.int64)
        table = self.floats if name.startswith("F_") else self.integers
        return np.asarray(table[:, column])

    def take(self, which: npt.NDArray[Any]) -> Counters:
        """Return some of the records."""
        return Counters(
            self.prefix,
            self.number[which],
            self.rank[which],
            self.integers[which],
            self.floats[which],
            self.columns,
        )

    def total(self, name: str) -> int:
        """Return the sum of a counter over all records."""
        return int(np.maximum(self[name], 0).sum())

    def seconds(self, name: str) -> float:
        """Return the sum of a counter of seconds over all records."""
        return float(np.maximum(self[name], 0.0).sum())

    def largest(self, name: str) -> int:
        """Return the largest value of a counter; 0 if there is no record."""
        return max(0, int(self[name].max(initial=0)))

    def window(self, what: str) -> tuple[float, float] | None:
        """Return when the first call of a kind began and when the last one ended.

        ``what`` is ``OPEN``, ``READ``, ``WRITE`` or ``CLOSE``; None if there was none. In seconds
        since the job began.
        """
        start, end = self[f"F_{what}_START_TIMESTAMP"], self[f"F_{what}_END_TIMESTAMP"]
        there = end > 0.0
        if not there.any():
            return None
        first = float(start[there].min())
        return max(0.0, first), max(first, float(end[there].max()))

    def bins(self, direction: Direction) -> Integers:
        """Return how many calls there are in each class of sizes: int64 (10,)."""
        middle = "SIZE_{}_" if self.prefix == "POSIX" else "SIZE_{}_AGG_"
        start = middle.format(direction)
        return np.array([self.total(start + name) for name in BIN_NAMES])

    def common_sizes(self) -> dict[int, int]:
        """Return the most frequent sizes, reads and writes together: bytes to calls."""
        return self._common("ACCESS")

    def common_strides(self) -> dict[int, int]:
        """Return the most frequent gaps between one call and the next: bytes to how often."""
        return self._common("STRIDE")

    def _common(self, what: str) -> dict[int, int]:
        found: dict[int, int] = {}
        for place in range(1, 5):
            sizes, counts = self[f"{what}{place}_{what}"], self[f"{what}{place}_COUNT"]
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                if count > 0 and size >= 0:
                    found[size] = found.get(size, 0) + count
        return found


class ByFile:
    """The records of a module, found by the number of their file."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._order = np.argsort(counters.number, kind="stable")
        self.numbers, first = np.unique(counters.number[self._order], return_index=True)
        self._bounds = np.append(first, len(counters))
        self._place = {int(number): place for place, number in enumerate(self.numbers)}

    def of(self, number: int) -> Counters:
        """Return the records of a file; none if there are none."""
        place = self._place.get(number)
        if place is None:
            return self._counters.take(np.zeros(0, np.int64))
        return self._counters.take(self._order[self._bounds[place] : self._bounds[place + 1]])


def bin_of(size: int) -> int:
    """Return the class that a size belongs to."""
    return int(np.searchsorted(BIN_LOW, size, side="right")) - 1
