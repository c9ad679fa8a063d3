"""The functions of metrics: from what is kept of a run to one number."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING

from xc40io.config.errors import InputError, nearest
from xc40io.config.units import parse_bytes
from xc40io.studies.record import Library, Phase, RunRecord
from xc40io.validation.quantity import BYTES, NUMBER, PER_SECOND, RATE, SECONDS, Dimension

if TYPE_CHECKING:
    from xc40io.mpi.communicator import Collectives


@dataclass(frozen=True)
class Function:
    """A function of metrics."""

    dimension: Dimension  # Of what it returns.
    # Called with what is kept of a run, and with the words behind the run.
    measure: Callable[..., float]
    meaning: str  # What it returns, in a phrase.
    # Whether it is called with the collectives of a machine's MPI in place of a run.
    of_machine: bool = False
    # The phase that it looks at, where no word says which.
    phase: str = ""
    of_mpi: bool = False  # Whether it looks at what MPI-IO has to tell.

    def takes(self, words: Sequence[str]) -> bool:
        """Tell whether it takes so many words, none of them empty."""
        try:
            signature(self.measure).bind(None, *words)
        except TypeError:
            return False
        return all(words)

    def phase_of(self, words: Sequence[str]) -> str:
        """Return the phase that it looks at with these words behind the run; empty for none."""
        bound = signature(self.measure).bind(None, *words)
        bound.apply_defaults()
        return str(bound.arguments.get("phase", self.phase))

    @property
    def usage(self) -> str:
        """What stands in its brackets, and what it returns."""
        run, *words = signature(self.measure).parameters.values()
        needed = [word.name.upper() for word in words if word.default is Parameter.empty]
        more = "".join(f"[, {word.name.upper()}]" for word in words[len(needed) :])
        first = [] if self.of_machine else [run.name.upper()]
        return f"({', '.join([*first, *needed])}{more}), {self.meaning}"


def measure(subject: RunRecord | Collectives, function: str, words: Iterable[str] = ()) -> float:
    """Return what a function is of a run.

    Parameters
    ----------
    subject
        What is kept of the run; for a function of a machine, its collectives among some nodes.
    function
        A name of :data:`FUNCTIONS`.
    words
        What it takes besides the run.

    Returns
    -------
    float
        In bytes, seconds, bytes/s or operations/s.

    Raises
    ------
    InputError
        If the run has no such phase, count or cause, or MPI no such collective.
    """
    return FUNCTIONS[function].measure(subject, *words)


def _phases(record: RunRecord, name: str, step: str = "") -> list[Phase]:
    """Return the phases of a name, and of a step if there is one."""
    found = [phase for phase in record.phases if phase.name == name]
    if not found:
        names = list(dict.fromkeys(phase.name for phase in record.phases))
        raise InputError(missing("phase", name, names))
    chosen = [phase for phase in found if step in ("", phase.step)]
    if not chosen:
        raise InputError(missing("step", step, [phase.step for phase in found]))
    return chosen


def _best_rate(record: RunRecord, access: str, rate: str, who: str) -> float:
    """Return the best rate of a name that MPI-IO had to tell; ``who`` makes the calls."""
    rates = [getattr(told, rate) for told in _library(record) if told.access == access]
    if not any(rates):
        raise InputError(f"no {who} of the run makes calls to {access}")
    return float(max(rates))


def _library(record: RunRecord) -> tuple[Library, ...]:
    """Return what MPI-IO had to tell of the files."""
    if not record.library:
        raise InputError("MPI-IO took no part in the run")
    return record.library


def _of(counts: Mapping[str, float], noun: str, written: str) -> float:
    """Return one of several numbers by its name."""
    name = written.lower()
    if name not in counts:
        raise InputError(missing(noun, name, list(counts)))
    return float(counts[name])


def missing(noun: str, name: str, names: Sequence[str]) -> str:
    """Say that a run does not have what a metric asks for, and what it has."""
    return f"the run has no {noun} {name!r}{nearest(name, names)}; there are {', '.join(names)}"


def _rate(run: RunRecord, phase: str, step: str = "") -> float:
    return max(found.bandwidth for found in _phases(run, phase, step))


def _median(run: RunRecord, phase: str) -> float:
    return statistics.median(found.bandwidth for found in _phases(run, phase))


def _seconds(run: RunRecord, phase: str, step: str = "") -> float:
    return min(found.seconds for found in _phases(run, phase, step))


def _part(run: RunRecord, phase: str, part: str, step: str = "") -> float:
    return min(_of(found.parts, "part", part) for found in _phases(run, phase, step))


def _operations(run: RunRecord, phase: str = "write") -> float:
    return max(found.operations for found in _phases(run, phase))


def _memory(run: RunRecord, phase: str, step: str = "") -> float:
    return max(_of(found.parts, "part", "memory") for found in _phases(run, phase, step))


def _timer(run: RunRecord, timer: str, access: str = "write") -> float:
    found = [told for told in _library(run) if told.access == access]
    if not found:
        raise InputError(f"no file was open to {access}")
    return min(told.timers.get(timer.lower(), 0.0) for told in found)


def _mpi(costs: Collectives, collective: str, size: str) -> float:
    known = {"bcast": costs.bcast, "allreduce": costs.allreduce, "gather": costs.gather}
    known |= {"allgather": costs.allgather, "alltoall": costs.alltoall}
    if collective not in known:
        raise InputError(f"{collective!r} is not a collective; there are {', '.join(known)}")
    return known[collective](parse_bytes(size))


_BEST = "IOR: bytes/s, the best repetition"

FUNCTIONS = {
    "write": Function(RATE, lambda run: _rate(run, "write"), _BEST, phase="write"),
    "read": Function(RATE, lambda run: _rate(run, "read"), _BEST, phase="read"),
    "median": Function(RATE, _median, "IOR: bytes/s of a phase, the median of its repetitions"),
    "raw_write": Function(
        RATE,
        lambda run: _best_rate(run, "write", "raw_rate", "aggregator"),
        "bytes/s of the aggregators' own write calls",
        of_mpi=True,
    ),
    "raw_read": Function(
        RATE,
        lambda run: _best_rate(run, "read", "raw_rate", "aggregator"),
        "bytes/s of the aggregators' own read calls",
        of_mpi=True,
    ),
    "slowest_write": Function(
        RATE,
        lambda run: _best_rate(run, "write", "slowest_rate", "rank"),
        "bytes/s by the write calls of the slowest rank, as Darshan tells them",
        of_mpi=True,
    ),
    "slowest_read": Function(
        RATE,
        lambda run: _best_rate(run, "read", "slowest_rate", "rank"),
        "bytes/s by the read calls of the slowest rank, as Darshan tells them",
        of_mpi=True,
    ),
    "time": Function(
        SECONDS, lambda run, phase="write": _seconds(run, phase), "IOR: seconds, the least"
    ),
    "open": Function(
        SECONDS, lambda run, phase="write": _part(run, phase, "open"), "IOR: seconds of its opens"
    ),
    "io": Function(
        SECONDS, lambda run, phase="write": _part(run, phase, "io"), "IOR: seconds of transfers"
    ),
    "close": Function(
        SECONDS, lambda run, phase="write": _part(run, phase, "close"), "IOR: seconds of its closes"
    ),
    "operations": Function(PER_SECOND, _operations, "IOR: calls/s of the transfers, the most"),
    "phase": Function(RATE, _rate, "kernel: bytes/s of a phase, the best of its steps"),
    "seconds": Function(SECONDS, _seconds, "kernel: seconds of a phase, the least of its steps"),
    "memory": Function(BYTES, _memory, "kernel: bytes of memory that a phase took, the most"),
    "part": Function(SECONDS, _part, "kernel: seconds of a part of a phase, as adios tells them"),
    "timer": Function(
        SECONDS, _timer, "seconds of MPI-IO's timer, the mean of the ranks", of_mpi=True
    ),
    "aggregators": Function(
        NUMBER,
        lambda run: max(told.aggregators for told in _library(run)),
        "ranks that write or read for others, the most of a file",
        of_mpi=True,
    ),
    "stat": Function(
        NUMBER,
        lambda run, count: _of(run.stats, "count", count),
        "a count of the locks and page caches; sizes in bytes",
    ),
    "wait": Function(
        SECONDS,
        lambda run, cause: _of(run.waits, "cause", cause),
        "seconds that a rank waited for a cause, on average",
    ),
    "moved": Function(
        BYTES,
        lambda run: float(sum(phase.bytes for phase in run.phases)),
        "bytes that the phases of a run moved, all together",
    ),
    "simulated": Function(SECONDS, lambda run: run.simulated, "seconds of the whole run"),
    "mpi": Function(SECONDS, _mpi, "seconds of a collective of so many bytes", of_machine=True),
}
"""The functions by name."""
