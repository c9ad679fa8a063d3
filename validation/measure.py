"""The functions of metrics: from what is kept of a run to one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.config.machine import Machine
from sim.config.units import parse_bytes
from validation.metric import FUNCTIONS
from validation.record import Library, Phase, RunRecord

_Measure = Callable[[RunRecord, Sequence[str]], float]


def measure(record: RunRecord, function: str, words: Sequence[str] = ()) -> float:
    """Return what a function is of a run.

    Parameters
    ----------
    record
        Of the run.
    function
        A name of :data:`~validation.metric.FUNCTIONS`.
    words
        What it takes besides the run.

    Returns
    -------
    float
        In bytes, seconds, bytes/s or operations/s.

    Raises
    ------
    InputError
        If the run has no such phase, count or cause.
    """
    return _MEASURES[function](record, words)


def _phases(record: RunRecord, words: Sequence[str]) -> list[Phase]:
    """Return the phases of a name, and of a step if there is a second word."""
    name, step = [*words, ""][:2]
    found = [phase for phase in record.phases if phase.name == name]
    chosen = [phase for phase in found if not step or phase.step == step]
    if not found:
        names = list(dict.fromkeys(phase.name for phase in record.phases))
        raise InputError(_missing("phase", name, names))
    if not chosen:
        raise InputError(_missing("step", step, [phase.step for phase in found]))
    return chosen


def measure_collective(machine: Machine, nodes: int, words: Sequence[str]) -> float:
    """Return the seconds of a collective of MPI among one rank of each of some nodes.

    Parameters
    ----------
    machine
        Whose MPI.
    nodes
        How many.
    words
        The collective, as ``allreduce``, and the bytes that each rank has, as ``4 KiB``.

    Raises
    ------
    InputError
        If there is no such collective, or the second word is no size.
    """
    from sim.mpi.collectives import Collectives

    costs = Collectives(machine.mpi, nodes, nodes)
    known = {"bcast": costs.bcast, "allreduce": costs.allreduce, "gather": costs.gather}
    known |= {"allgather": costs.allgather, "alltoall": costs.alltoall}
    name, size = words
    if name not in known:
        raise InputError(f"{name!r} is no collective; there are {', '.join(known)}")
    return known[name](parse_bytes(size))


def _missing(noun: str, name: str, names: Sequence[str]) -> str:
    return f"the run has no {noun} {name!r}{nearest(name, names)}; there are {', '.join(names)}"


def _library(record: RunRecord) -> tuple[Library, ...]:
    """Return what MPI-IO had to tell of the files."""
    if not record.library:
        raise InputError("MPI-IO took no part in the run")
    return record.library


def _raw(access: str) -> _Measure:
    """Return a function: the best rate of the aggregators' own calls."""

    def best(record: RunRecord, _: Sequence[str]) -> float:
        rates = [told.raw_rate for told in _library(record) if told.access == access]
        if not any(rates):
            raise InputError(f"no aggregator of the run makes calls to {access}")
        return max(rates)

    return best


def _of(counts: Mapping[str, float], noun: str, words: Sequence[str]) -> float:
    """Return one of several numbers by its name."""
    name = words[-1].lower()
    if name not in counts:
        raise InputError(_missing(noun, name, list(counts)))
    return float(counts[name])


def _rate(record: RunRecord, words: Sequence[str]) -> float:
    return max(phase.bandwidth for phase in _phases(record, words))


def _seconds(record: RunRecord, words: Sequence[str]) -> float:
    return min(phase.seconds for phase in _phases(record, words or ["write"]))


def _part(name: str) -> _Measure:
    """Return a function: the least seconds of a part of an IOR phase."""

    def least(record: RunRecord, words: Sequence[str]) -> float:
        return min(
            _of(phase.parts, "part", [name]) for phase in _phases(record, words or ["write"])
        )

    return least


def _named_part(record: RunRecord, words: Sequence[str]) -> float:
    phase, name, *step = words
    return min(_of(found.parts, "part", [name]) for found in _phases(record, [phase, *step]))


def _memory(record: RunRecord, words: Sequence[str]) -> float:
    return max(_of(phase.parts, "part", ["memory"]) for phase in _phases(record, words))


def _timer(record: RunRecord, words: Sequence[str]) -> float:
    """Return the least mean seconds of a timer, 0 if it never ran, of files open to be written."""
    name, access = [*words, "write"][:2]
    found = [told for told in _library(record) if told.access == access]
    if not found:
        raise InputError(f"no file was open to {access}")
    return min(told.timers.get(name.lower(), 0.0) for told in found)


_MEASURES: dict[str, _Measure] = {
    "write": lambda record, _: _rate(record, ["write"]),
    "read": lambda record, _: _rate(record, ["read"]),
    "raw_write": _raw("write"),
    "raw_read": _raw("read"),
    "time": _seconds,
    "open": _part("open"),
    "io": _part("io"),
    "close": _part("close"),
    "operations": lambda record, words: max(
        phase.operations for phase in _phases(record, words or ["write"])
    ),
    "phase": _rate,
    "seconds": _seconds,
    "part": _named_part,
    "memory": _memory,
    "timer": _timer,
    "aggregators": lambda record, _: max(told.aggregators for told in _library(record)),
    "stat": lambda record, words: _of(record.stats, "count", words),
    "wait": lambda record, words: _of(record.waits, "cause", words),
    "simulated": lambda record, _: record.simulated,
}
assert _MEASURES.keys() == {name for name in FUNCTIONS if not FUNCTIONS[name].of_machine}
