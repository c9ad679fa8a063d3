"""How the calls of a file were reconstructed, in sentences for the user."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.config.units import format_bytes
from sim.workloads.darshan_log.counters import SHARED, Counters, Direction
from sim.workloads.darshan_log.mpiio import MpiFileCalls, mpi_counted
from sim.workloads.darshan_log.posix import DIRECTIONS, counted
from sim.workloads.darshan_log.sharing import active_ranks
from sim.workloads.darshan_log.sizes import sizes_of


def of_dxt(layer: str, segments: int, lacking: int) -> tuple[str, ...]:
    """Tell that DXT has every call, or most of them."""
    said = [f"{segments:,} reads and writes of {layer} as DXT recorded them, with their times."]
    if lacking:
        said.append(
            f"DXT had no room for {lacking:,} more calls that the counters know of: each rank goes "
            "on with calls of the mean of the bytes that are left."
        )
    return tuple(said)


def dxt_unused(segments: int) -> tuple[str, ...]:
    """Tell that the segments of collective calls were of no use."""
    return (
        f"DXT has {segments:,} calls, but not those of all ranks in the collective calls, which "
        "cannot be put together: the counters are used.",
    )


def of_hints(hints: Mapping[str, str], why: str) -> tuple[str, ...]:
    """Tell which hints MPI-IO must have had, and what shows it."""
    listed = ", ".join(f"{name}={value}" for name, value in hints.items())
    return (f"Hints {listed}: {why}.",)


def of_posix(records: Counters, ranks: int) -> tuple[str, ...]:
    """Tell how the calls of a file through POSIX were made."""
    shared = bool((records.rank == SHARED).any())
    said = []
    for direction, _ in DIRECTIONS:
        known = counted(records, direction)
        if known.calls:
            kind = f"{direction.lower()}s"
            said.append(
                f"{known.calls:,} {kind} of {format_bytes(known.bytes, 4)}: "
                f"{records.total(f'CONSEC_{direction}S'):,} consecutive, "
                f"{records.total(f'SEQ_{direction}S'):,} sequential, up to byte "
                f"{max(known.extent - 1, 0):,}; sizes by class and by the most frequent ones."
            )
    if shared:
        active = len(active_ranks(records, ranks))
        said.append(
            f"One record for all ranks: by the variance of their bytes {active:,} of {ranks:,} "
            "ranks read and write."
        )
    switches = records.total("RW_SWITCHES")
    if switches:
        said.append(f"Reads and writes take turns {switches:,} times where they overlap in time.")
    said.append(_metadata(records))
    return tuple(said)


def _metadata(records: Counters) -> str:
    """Tell of the calls that move no data."""
    counts = ", ".join(
        f"{records.total(name):,} {name.lower()}" for name in ("OPENS", "STATS", "FSYNCS")
    )
    return f"{counts}; {records.total('SEEKS'):,} seeks cost nothing and are left out."


def of_mpiio(calls: MpiFileCalls) -> tuple[str, ...]:
    """Tell how the calls of a file through MPI-IO were made; after its rows have been."""
    said = [sentence for direction, _ in DIRECTIONS for sentence in _direction(calls, direction)]
    opens, members = calls.record.total("COLL_OPENS"), len(calls.members)
    said.append(
        f"{opens:,} collective opens by {members:,} ranks, "
        f"{calls.record.total('INDEP_OPENS'):,} independent ones, "
        f"{calls.record.total('SYNCS'):,} syncs."
    )
    return tuple(said)


def _direction(calls: MpiFileCalls, direction: Direction) -> list[str]:
    """Tell how the reads or the writes were made."""
    known = mpi_counted(calls.record, direction)
    if not known.collective + known.independent:
        return []
    kind, members = f"{direction.lower()}s", len(calls.members)
    said = []
    if known.collective:
        sizes = sizes_of(
            calls.record,
            direction,
            known.collective + known.independent,
            known.bytes,
        )[known.independent :]
        said.append(
            f"{known.collective:,} collective {kind}: {known.collective // members:,} calls of "
            f"{members:,} ranks, of {format_bytes(int(np.min(sizes)), 4)} to "
            f"{format_bytes(int(np.max(sizes)), 4)} each rank, one after the other in the file."
        )
    if known.independent:
        said.append(
            f"{known.independent:,} independent {kind}, taken to be the smallest"
            f"{'' if known.independent >= members else ', of rank 0 alone'}."
        )
    holes, below = calls.holes.get(direction), counted(calls.below, direction)
    if holes is not None:
        said.append(
            f"Below, POSIX moved {format_bytes(below.bytes, 4)} for {format_bytes(known.bytes, 4)} "
            f"of data: windows with holes. Data is {100 * holes.density:.0f} % of the bytes, in "
            f"runs {format_bytes(round(holes.period), 4)} apart, the ranks' pieces in turn."
        )
    elif below.extent > 1.01 * known.bytes > 0 and direction in calls.holed:
        said.append(
            f"The last byte is number {below.extent - 1:,} for {known.bytes:,} bytes of data: "
            f"{calls.holed[direction]}."
        )
    elif not below.calls:
        said.append(
            f"There is no record of POSIX below the {kind}: the pieces are taken to lie side by "
            "side, without holes."
        )
    return said
