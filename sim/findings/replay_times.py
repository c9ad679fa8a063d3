"""A replay beside the log: times of each file by layer and phase, recorded and simulated.

And how far a replay can be trusted, by itself: what it made of calls below MPI-IO, and its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Floats, Integers
from xc40io.mpi.stats import Timer
from xc40io.run.result import Result
from xc40io.workloads.darshan.module_counters import Layer, Measured, Phase, Table, recorded
from xc40io.workloads.darshan.reconstruction import Reconstruction
from xc40io.workloads.replay.intake import COLLECTIVE, INDEPENDENT, POSIX
from xc40io.workloads.replay.outcome import Call, ReplayOutcome, counted
from xc40io.workloads.trace import TraceOp

KINDS: dict[tuple[Layer, Phase], tuple[Call, ...]] = {
    (Layer.POSIX, Phase.META): (Call.POSIX_META,),
    (Layer.POSIX, Phase.READ): (Call.POSIX_READ,),
    (Layer.POSIX, Phase.WRITE): (Call.POSIX_WRITE, Call.POSIX_SYNC),
    (Layer.MPIIO, Phase.META): (Call.MPI_META,),
    (Layer.MPIIO, Phase.READ): (Call.MPI_READ, Call.MPI_COLL_READ),
    (Layer.MPIIO, Phase.WRITE): (Call.MPI_WRITE, Call.MPI_COLL_WRITE, Call.MPI_SYNC),
}
"""The kinds of calls that make up a phase of a layer."""

_OPENS = (TraceOp.OPEN, TraceOp.CREATE, TraceOp.STAT)
_READS = (Call.MPI_READ, Call.MPI_COLL_READ)
_WRITES = (Call.MPI_WRITE, Call.MPI_COLL_WRITE, Call.MPI_SYNC)
_BELOW: dict[Phase, tuple[tuple[tuple[Call, ...], tuple[Timer, ...]], ...]] = {
    # the reads of a read-modify-write are reads of POSIX, as Darshan counts them
    Phase.READ: (
        (_READS, (Timer.RAW_READ, Timer.INDEPENDENT)),
        (_WRITES, (Timer.MODIFY_READ,)),
    ),
    Phase.WRITE: ((_WRITES, (Timer.RAW_WRITE, Timer.INDEPENDENT, Timer.SYNC)),),
}


ALIKE = 0.05
"""By which part counts may differ before it is warned of."""

_MOSTLY = 0.5  # of the ranks' time: computing that was recorded makes the end

_NOTHING = Measured(0, 0, 0.0, 0)


@kept
@dataclass(frozen=True)
class FileTimes:
    """One file, or several together."""

    name: str
    bytes: int  # what the job read and wrote there
    recorded: Table  # what the log says
    runs: tuple[Table, ...]  # what each run says, in their order

    @property
    def keys(self) -> list[tuple[Layer, Phase]]:
        """The layers and phases in which anything happened, in their order."""
        tables = (self.recorded, *self.runs)
        return [
            (layer, phase)
            for layer in Layer
            for phase in Phase
            if any(
                (found := table.get((layer, phase))) and (found.calls or found.seconds)
                for table in tables
            )
        ]


def outcome_of(result: Result) -> ReplayOutcome:
    """Return the outcome of a run that was a replay."""
    assert isinstance(result.outcome, ReplayOutcome)
    return result.outcome


def file_times(found: Reconstruction, runs: Sequence[Result]) -> list[FileTimes]:
    """Return the times of all files, the one with most bytes first."""
    tables = [simulated(outcome_of(run)) for run in runs]
    files = [
        _one_file(found, position, tuple(table[position] for table in tables))
        for position in range(len(found.numbers))
    ]
    return sorted(files, key=lambda file: -file.bytes)


def _one_file(found: Reconstruction, position: int, runs: tuple[Table, ...]) -> FileTimes:
    log, number = found.log, found.numbers[position]
    known = recorded(log.mpiio.of_file(number), log.calls.of_file(number), log.ranks)
    moved = sum(of.bytes for (layer, _), of in known.items() if layer is not Layer.BELOW)
    return FileTimes(found.trace.files[position].name, moved, known, runs)


def simulated(outcome: ReplayOutcome) -> list[Table]:
    """Return calls, bytes and seconds of each file; opens and closes count once, as in the log."""
    files = len(outcome.files)
    tables: list[Table] = [{} for _ in range(files)]
    for (layer, phase), calls in KINDS.items():
        seconds, ranks = _seconds(outcome, ((calls, None),))
        for position in range(files):
            made, moved = _counted(outcome, calls, position)
            if made or seconds[position]:
                tables[position][layer, phase] = Measured(
                    made, moved, float(seconds[position]), int(ranks[position])
                )
    for phase, parts in _BELOW.items():
        seconds, ranks = _seconds(outcome, parts)
        for position, file in enumerate(outcome.files):
            made, moved = _below(outcome, phase, position) if file.mpi else (0, 0)
            if made:
                tables[position][Layer.BELOW, phase] = Measured(
                    made, moved, float(seconds[position]), int(ranks[position])
                )
    return tables


def _below(outcome: ReplayOutcome, phase: Phase, position: int) -> tuple[int, int]:
    """Return the POSIX calls that MPI-IO made for the calls on a file, and their bytes.

    A read before a write is a call; its bytes, which may be past the end of the file, are left out.
    """
    counts = outcome.mpi.get(position)
    if counts is None:  # no collective calls: each independent one is one of POSIX
        return counted(outcome, Call.MPI_READ if phase is Phase.READ else Call.MPI_WRITE, position)
    if phase is Phase.READ:
        return counts.reads.system + counts.writes.modified, counts.reads.system_bytes
    return counts.writes.system, counts.writes.system_bytes


def _counted(outcome: ReplayOutcome, calls: tuple[Call, ...], position: int) -> tuple[int, int]:
    """Return the calls of a file that Darshan counts, no closes or syncs, and their bytes."""
    if calls[0] in (Call.POSIX_META, Call.MPI_META):
        ways = [POSIX] if calls[0] is Call.POSIX_META else [INDEPENDENT, COLLECTIVE]
        table = outcome.totals.calls[position]
        return int(table[[int(op) for op in _OPENS]][:, ways].sum()), 0
    data = [call for call in calls if call not in (Call.POSIX_SYNC, Call.MPI_SYNC)]
    made, moved = zip(*(counted(outcome, call, position) for call in data), strict=True)
    return sum(made), sum(moved)


def _seconds(
    outcome: ReplayOutcome,
    parts: Sequence[tuple[tuple[Call, ...], Sequence[Timer] | None]],
) -> tuple[Floats, Integers]:
    """Return the seconds of each file in parts of calls, and the number of ranks."""
    spent = outcome.spent
    which = np.zeros(len(spent.rank), bool)
    for calls, timers in parts:
        mine = np.isin(spent.call, [int(call) for call in calls])
        if timers is not None:
            mine &= np.isin(spent.part, [int(timer) for timer in timers])
        which |= mine
    which &= (spent.file >= 0) & (spent.seconds > 0.0)
    file, files = spent.file[which], len(outcome.files)
    seconds = np.bincount(file, spent.seconds[which], files).astype(np.float64)
    pairs = np.unique(file * len(outcome.end) + spent.rank[which])
    ranks: Integers = np.bincount(pairs // max(1, len(outcome.end)), minlength=files)
    return seconds, ranks


def together(files: Sequence[FileTimes], name: str) -> FileTimes:
    """Return several files as one: their calls, bytes and seconds are added up."""
    tables = zip(*((file.recorded, *file.runs) for file in files), strict=True)
    first, *others = (_sum(of) for of in tables)
    return FileTimes(name, sum(file.bytes for file in files), first, tuple(others))


def _sum(tables: Sequence[Table]) -> Table:
    keys = {key for table in tables for key in table}
    return {key: _added([table[key] for table in tables if key in table]) for key in keys}


def _added(parts: Sequence[Measured]) -> Measured:
    return Measured(
        sum(part.calls for part in parts),
        sum(part.bytes for part in parts),
        sum(part.seconds for part in parts),
        max(part.ranks for part in parts),
    )


def differences(files: Sequence[FileTimes]) -> list[str]:
    """Return a sentence for each file whose calls or bytes in the first run differ from the log.

    Only the application's own calls count; the simulation decides what MPI-IO makes of them.
    """
    found = []
    for file in files:
        for key in file.keys:
            if key[0] is Layer.BELOW:
                continue
            known, run = (table.get(key, _NOTHING) for table in (file.recorded, file.runs[0]))
            if (known.calls, known.bytes) != (run.calls, run.bytes):
                found.append(
                    f"{file.name}: {key[0]} {key[1]}: the log has {known.calls:,} calls and "
                    f"{known.bytes:,} bytes, the replay {run.calls:,} and {run.bytes:,}"
                )
    return found


class BelowMpi(NamedTuple):
    """The POSIX calls that MPI-IO made for the application's calls, on one file."""

    file: str  # its name
    phase: Phase  # reads or writes
    recorded: int  # calls that the log has
    simulated: int  # calls that came about in the replay
    complete: bool  # whether the log has all of them: what is written above is written below

    @property
    def differs(self) -> bool:
        """Whether a warning is needed."""
        most = max(self.recorded, self.simulated)
        return self.complete and abs(self.simulated - self.recorded) > ALIKE * most

    @property
    def ratio(self) -> float | None:
        """Simulated calls to recorded ones; None if there is nothing to compare."""
        return self.simulated / self.recorded if self.recorded and self.complete else None


def below_mpi(files: Sequence[FileTimes]) -> list[BelowMpi]:
    """Return the reads and writes below MPI-IO of each file, of the first run."""
    return [
        _made(file, phase)
        for file in files
        for phase in (Phase.READ, Phase.WRITE)
        if (Layer.BELOW, phase) in file.keys
    ]


def _made(file: FileTimes, phase: Phase) -> BelowMpi:
    above = file.recorded.get((Layer.MPIIO, phase), _NOTHING)
    known = file.recorded.get((Layer.BELOW, phase), _NOTHING)
    made = file.runs[0].get((Layer.BELOW, phase), _NOTHING)
    complete = phase is not Phase.WRITE or known.bytes >= 0.99 * above.bytes
    return BelowMpi(file.name, phase, known.calls, made.calls, complete)


def warnings_of(below: Sequence[BelowMpi]) -> Iterator[str]:
    """Yield a warning for each file whose calls below MPI-IO did not come about as recorded."""
    for of in below:
        if of.differs:
            ratio = f" ({of.ratio:,.3g} times as many)" if of.ratio else ""
            yield (
                f"{of.file}: below MPI-IO {of.simulated:,} {of.phase}s were simulated where the "
                f"log has {of.recorded:,}{ratio}, so their times say little about the machine; "
                "--recorded hints=... and striping.count=... supply what the log does not show"
            )


def computing_share(run: Result) -> float:
    """Return which part of its ranks' time a run computed between calls, as recorded."""
    outcome = outcome_of(run)
    whole = float((outcome.end - outcome.start).sum())
    return float(outcome.seconds_in(Call.COMPUTE).sum()) / whole if whole > 0.0 else 0.0


def end_line(runs: Sequence[Result], last_call: float) -> str:
    """Say when the last call ended, and how much of that is recorded time that was replayed."""
    times = [f"log {last_call:,.6g} s"] if last_call else []
    times += [
        f"{name} {outcome_of(run).seconds:,.6g} s"
        for name, run in zip(("replay", "what-if"), runs, strict=False)
    ]
    share = computing_share(runs[0])
    said = f"From the job's start to its last call: {', '.join(times)}"
    if share < 0.005:
        return said
    said += f". {100 * share:.3g} % of the ranks' time in the replay is computing as recorded"
    return f"{said}, so the end says little about the I/O" if share >= _MOSTLY else said
