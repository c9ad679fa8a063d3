"""Tables of OSU's micro-benchmarks and of Intel's (IMB): messages, and collectives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found, Measurement, OwnValue

_OSU = re.compile(r"# OSU MPI\S*\s+(.+?)(?: Latency)? Test(?:\s+v?(\S+))?")
_IMB = re.compile(r"# Benchmarking (\S+)")
_PROCESSES = re.compile(r"# #processes = ([0-9]+)")
_TITLES = re.compile(r"\s*#\s*(?:Size|bytes)\s+(.*)", re.IGNORECASE)
_ROW = re.compile(r"\s*([0-9]+)\s+([0-9.]+.*)")

_COLLECTIVES = ("allreduce", "bcast", "gather", "allgather", "alltoall")
"""The collectives whose cost a metric can tell."""

_LATENCIES = ("latency", "pingpong")
_BANDWIDTHS = {
    "bandwidth": "mpi.rank_rate",
    "pingpong": "mpi.rank_rate",
    "multiple bandwidth / message rate": "mpi.node_rate",
}
"""The tables whose highest rate is a value of the machine, and which."""

_SIZES = (8, 4096, 1 << 20)
"""Of a collective: the message sizes of which claims are made."""


@dataclass
class _Table:
    """One table."""

    program: str
    name: str
    processes: int | None = None
    titles: tuple[str, ...] = ()
    rows: dict[int, list[float]] = field(default_factory=dict)  # by bytes

    def column(self, *names: str) -> dict[int, float]:
        """Return the first column whose title begins so, by bytes; nothing if there is none."""
        for position, title in enumerate(self.titles):
            if title.startswith(names):
                return {size: cells[position] for size, cells in self.rows.items()}
        return {}


def recognises(document: Document) -> bool:
    """Tell whether it has such tables."""
    return any(_OSU.match(line) or _IMB.match(line) for line in document.lines)


def read(document: Document) -> Found:
    """Return values of the machine by messages of two ranks, and claims by collectives."""
    found = Found()
    with reading(document.path, "tables of OSU or IMB") as at:
        for table in _tables(document, at):
            values = list(_values(table, document))
            measured = list(_measured(table, document))
            found.values += values
            found.measurements += measured
            if not values and not measured:
                found.unheeded.append(f"{document.path}: {table.name}: no value of a machine")
    return found


def _tables(document: Document, at: Cursor) -> Iterator[_Table]:
    table = None
    for number, line in enumerate([*document.lines, "# Benchmarking end"], 1):
        at.line(number)
        osu, imb = _OSU.match(line), _IMB.match(line)
        if (osu or imb) and table is not None and table.rows:
            yield table
        if osu:
            table = _Table(f"OSU {osu[2] or ''}".strip(), osu[1].lower())
        elif imb:
            table = _Table("IMB", imb[1].lower())
        elif table is not None:
            _line(table, line, at)


def _line(table: _Table, line: str, at: Cursor) -> None:
    if found := _PROCESSES.match(line):
        table.processes = int(found[1])
    elif found := _TITLES.match(line):
        table.titles = tuple(re.split(r"\s{2,}", found[1].strip().lower()))
    elif table.titles and (found := _ROW.match(line)):
        cells = [at.number("cell", cell) for cell in found[2].split()]
        table.rows[at.count("bytes", found[1])] = cells[: len(table.titles)]


def _values(table: _Table, document: Document) -> Iterator[OwnValue]:
    """Yield what messages between two ranks say; these are taken to be on two nodes."""
    source = document.source(f"{table.program}, {table.name}, taken to be between two nodes")
    latency, rate = table.column("latency", "t["), table.column("bandwidth", "mb/s", "mbytes/sec")
    if table.name in _LATENCIES and latency:
        yield OwnValue("mpi.step_latency", f"{latency[min(latency)]:.5g} us", source)
    if table.name in _BANDWIDTHS and rate:
        yield OwnValue(_BANDWIDTHS[table.name], f"{max(rate.values()):.5g} MB/s", source)


def _measured(table: _Table, document: Document) -> Iterator[Measurement]:
    """Yield the times of a collective; OSU does not say how many processes took part."""
    times = table.column("avg", "t_avg")
    for size in _SIZES:
        if table.name in _COLLECTIVES and size in times:
            yield Measurement(
                run=None,
                metric=f"mpi({table.name}, {size} B)",
                name=f"{table.name}-{size}",
                values=(times[size],),
                unit="us",
                source=document.source(table.program),
                assumed=("one process on each node",),
                nodes=table.processes or 0,
            )
