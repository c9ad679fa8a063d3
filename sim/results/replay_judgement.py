"""How far a replay can be trusted, by itself: what it made of calls below MPI-IO, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.results.replay_times import FileTimes, outcome_of
from sim.run.result import Result
from sim.workloads.darshan.counters import Layer, Measured, Phase
from sim.workloads.replay.outcome import Call

ALIKE = 0.05
"""By which part counts may differ before it is warned of."""

_MOSTLY = 0.5  # of the ranks' time: computing that was recorded makes the end

_NOTHING = Measured(0, 0, 0.0, 0)


class BelowMpi(NamedTuple):
    """Calls that MPI-IO made of those of the application, on one file.

    Attributes
    ----------
    file
        Its name.
    phase
        Reads or writes.
    recorded, simulated
        How many the log has, and how many came about in the replay.
    complete
        Whether the log has the records of all of them: what is written above is written below.
    """

    file: str
    phase: Phase
    recorded: int
    simulated: int
    complete: bool

    @property
    def differs(self) -> bool:
        """Whether it is to be warned of."""
        most = max(self.recorded, self.simulated)
        return self.complete and abs(self.simulated - self.recorded) > ALIKE * most

    @property
    def ratio(self) -> float | None:
        """Simulated calls to recorded ones; None if there is nothing to compare."""
        return self.simulated / self.recorded if self.recorded and self.complete else None


def below_mpi(files: Sequence[FileTimes]) -> list[BelowMpi]:
    """Return the reads and writes below MPI-IO of each file, of the first run."""
    return [
        _below(file, phase)
        for file in files
        for phase in (Phase.READ, Phase.WRITE)
        if (Layer.BELOW, phase) in file.keys
    ]


def _below(file: FileTimes, phase: Phase) -> BelowMpi:
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
                f"log has {of.recorded:,}{ratio}: their times test the machine little. What the "
                "log does not show, --recorded hints=... and striping.count=... can tell"
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
    said = f"From the job's begin to its last call: {', '.join(times)}"
    if share < 0.005:
        return said
    said += f". {100 * share:.3g} % of the ranks' time in the replay is computing as recorded"
    return f"{said}: the end tests the I/O little" if share >= _MOSTLY else said
