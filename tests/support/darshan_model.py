"""What Darshan's runtime does, call after call, in plain Python: slow, and easy to check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from xc40io.plane.library_calls import LibraryOp
from xc40io.results.darshan_log.layers import STAT

CLASSES = (
    (100, "0_100"),
    (1 << 10, "100_1K"),
    (10 << 10, "1K_10K"),
    (100 << 10, "10K_100K"),
    (1 << 20, "100K_1M"),
    (4 << 20, "1M_4M"),
    (10 << 20, "4M_10M"),
    (100 << 20, "10M_100M"),
    (1 << 30, "100M_1G"),
    (1 << 62, "1G_PLUS"),
)


@dataclass
class FileRecord:
    """A record of POSIX while the job runs, with what is known besides its counters."""

    counters: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    gaps: Counter[int] = field(default_factory=Counter)
    last_byte: dict[str, int] = field(default_factory=lambda: {"READ": 0, "WRITE": 0})
    busy_until: dict[str, float] = field(
        default_factory=lambda: {"READ": 0.0, "WRITE": 0.0, "META": 0.0}
    )
    last_way: str = ""

    def see(self, call: Any, alignment: int) -> None:
        """Count one call."""
        op, start, end = int(call["op"]), float(call["start"]), float(call["end"])
        if op in (LibraryOp.READ, LibraryOp.WRITE):
            self._move(LibraryOp(op).name, int(call["offset"]), int(call["bytes"]), start, end)
            self.counters["FILE_NOT_ALIGNED"] += int(call["offset"]) % alignment != 0
        elif op == LibraryOp.SYNC:
            self.counters["FSYNCS"] += 1
            self._spend("WRITE", start, end)
        elif op == STAT:
            self.counters["STATS"] += 1
            self._spend("META", start, end)
        else:
            self.counters["OPENS"] += op == LibraryOp.OPEN
            self._note("OPEN" if op == LibraryOp.OPEN else "CLOSE", start, end)
            self._spend("META", start, end)

    def _move(self, way: str, offset: int, size: int, start: float, end: float) -> None:
        moved = "READ" if way == "READ" else "WRITTEN"
        last, counters = self.last_byte[way], self.counters
        counters[f"{way}S"] += 1
        counters[f"BYTES_{moved}"] += size
        counters[f"SEQ_{way}S"] += offset > last
        counters[f"CONSEC_{way}S"] += offset == last + 1
        if offset > last > 0:
            self.gaps[offset - last - 1] += 1
        self.last_byte[way] = offset + size - 1
        counters[f"MAX_BYTE_{moved}"] = max(counters[f"MAX_BYTE_{moved}"], offset + size - 1)
        counters[f"SIZE_{way}_{next(name for most, name in CLASSES if size <= most)}"] += 1
        self.sizes[size] += 1
        counters["RW_SWITCHES"] += self.last_way not in ("", way)
        self.last_way = way
        if end - start > counters[f"F_MAX_{way}_TIME"]:
            counters[f"F_MAX_{way}_TIME"] = end - start  # type: ignore[assignment]
            counters[f"MAX_{way}_TIME_SIZE"] = size
        self._note(way, start, end)
        self._spend(way, start, end)

    def _note(self, what: str, start: float, end: float) -> None:
        first = self.counters.get(f"F_{what}_START_TIMESTAMP")
        self.counters[f"F_{what}_START_TIMESTAMP"] = min(first or start, start)  # type: ignore
        self.counters[f"F_{what}_END_TIMESTAMP"] = end  # type: ignore[assignment]

    def _spend(self, what: str, start: float, end: float) -> None:
        self.counters[f"F_{what}_TIME"] += end - max(start, self.busy_until[what])  # type: ignore
        self.busy_until[what] = end


def most_frequent(values: Counter[int]) -> list[tuple[int, int]]:
    """Return the four most frequent values and their counts; of equals the larger first."""
    known = [(value, times) for value, times in values.items() if value != 0]
    found = sorted(known, key=lambda pair: (-pair[1], -pair[0]))[:4]
    return found + [(0, 0)] * (4 - len(found))


def seen(calls: Any, alignment: int) -> dict[tuple[int, int], FileRecord]:
    """Return the record of each file and rank, from calls in the order in which they ended."""
    records: dict[tuple[int, int], FileRecord] = {}
    for call in sorted(calls, key=lambda call: float(call["end"])):
        key = int(call["file"]), int(call["rank"])
        records.setdefault(key, FileRecord()).see(call, alignment)
    return records
