"""What a claim looks at in its runs: ``write(large)``, ``time(a) / time(b)``, ``write``.

A metric is a product of terms. A term is a number, or a function of a run, which is named in its
brackets; the functions and what they return are listed in :data:`FUNCTIONS`. Without a run, or with
``*`` in its place, the metric is that of each run of the claim: ``write``, ``write(*) / write(a)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.config.errors import InputError
from validation.quantity import BYTES, NUMBER, PER_SECOND, RATE, SECONDS, Dimension

EACH = "*"
"""In place of a run: each run of the claim."""


@dataclass(frozen=True)
class Function:
    """A function of a run.

    Attributes
    ----------
    dimension
        Of what it returns.
    needed, most
        How many words it takes after the run, at least and at most.
    meaning
        What it is, in a phrase.
    of_machine
        Whether it is a function of a machine and a number of nodes, not of a run, and all its words
        are its own.
    """

    dimension: Dimension
    needed: int
    most: int
    meaning: str
    of_machine: bool = False


FUNCTIONS = {
    "write": Function(RATE, 0, 0, "IOR: bytes/s of the write, the best of the repetitions"),
    "read": Function(RATE, 0, 0, "IOR: bytes/s of the read, the best of the repetitions"),
    "raw_write": Function(RATE, 0, 0, "bytes/s of the aggregators' own write calls"),
    "raw_read": Function(RATE, 0, 0, "bytes/s of the aggregators' own read calls"),
    "time": Function(SECONDS, 0, 1, "IOR: seconds of the write (or of the phase named), the least"),
    "open": Function(SECONDS, 0, 1, "IOR: seconds of its opens, the least"),
    "io": Function(SECONDS, 0, 1, "IOR: seconds of its transfers, the least"),
    "close": Function(SECONDS, 0, 1, "IOR: seconds of its closes, the least"),
    "operations": Function(PER_SECOND, 0, 1, "IOR: calls/s of the transfers, the most"),
    "phase": Function(RATE, 1, 2, "kernel: bytes/s of a phase, the best of its steps, or of one"),
    "seconds": Function(SECONDS, 1, 2, "kernel: seconds of a phase, the least, or of one step"),
    "memory": Function(BYTES, 1, 2, "kernel: bytes of memory that a phase took, the most"),
    "part": Function(SECONDS, 2, 3, "kernel: seconds of a part of a phase, as adios tells them"),
    "timer": Function(
        SECONDS, 1, 2, "seconds of MPI-IO's timer in a write (or read), mean of ranks"
    ),
    "aggregators": Function(
        NUMBER, 0, 0, "ranks that write or read for others, the most of a file"
    ),
    "stat": Function(NUMBER, 1, 1, "a count of the locks and page caches; sizes in bytes"),
    "wait": Function(SECONDS, 1, 1, "seconds that a rank waited for a cause, on average"),
    "simulated": Function(SECONDS, 0, 0, "seconds of the whole run"),
    "mpi": Function(SECONDS, 2, 2, "seconds of a collective of so many bytes", of_machine=True),
}
"""The functions by name."""

Look = Callable[[str, str, tuple[str, ...]], float]
"""Returns what a function is of a run: called with function, run and the words after the run."""

_TERM = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*)|(?P<name>[a-z_]+)\s*(?:\(\s*(?P<words>[^()]*?)\s*\))?)\s*"
)


@dataclass(frozen=True)
class Term:
    """One factor of a metric; ``power`` is 1, or -1 where it is divided by.

    ``function`` is empty for a plain number, which is ``factor``.
    """

    power: int
    function: str = ""
    run: str = EACH
    words: tuple[str, ...] = ()
    factor: float = 1.0


@dataclass(frozen=True)
class Metric:
    """A product of functions of runs.

    Attributes
    ----------
    text
        As written.
    terms
        Its factors.
    """

    text: str
    terms: tuple[Term, ...]

    @property
    def dimension(self) -> Dimension:
        """What the metric measures."""
        found = NUMBER
        for term in self.terms:
            if term.function:
                found = found.over(term.power, FUNCTIONS[term.function].dimension)
        return found

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that it names, each once; ``*`` if it looks at each."""
        return tuple(dict.fromkeys(term.run for term in self.terms if term.function))

    @property
    def of_machine(self) -> bool:
        """Whether it is about a machine and a number of nodes, and not about runs."""
        return any(FUNCTIONS[term.function].of_machine for term in self.terms if term.function)

    @property
    def of_each(self) -> bool:
        """Whether it is a number for each run, and not one number."""
        return EACH in self.runs

    def value(self, look: Look, each: str = EACH) -> float:
        """Return the metric; ``each`` is the run that stands for ``*``."""
        product = 1.0
        for term in self.terms:
            run = each if term.run == EACH else term.run
            found = look(term.function, run, term.words) if term.function else term.factor
            product = product * found if term.power > 0 else _quotient(product, found)
        return product


def _quotient(above: float, below: float) -> float:
    return above / below if below else float("inf")


def parse_metric(text: object) -> Metric:
    """Read a metric.

    Raises
    ------
    InputError
        If it is not a product of functions of runs.
    """
    if isinstance(text, Metric):
        return text
    if not isinstance(text, str):
        raise InputError(
            f"{text!r} is not a metric; right would be write(RUN) or write(A) / read(B)"
        )
    terms, at, power = [], 0, 1
    while True:
        match = _TERM.match(text, at)
        if match is None:
            raise InputError(
                f"{text!r} is not a metric, from {text[at:]!r} on; right would be write(RUN) or "
                "write(A) / read(B)"
            )
        terms.append(_term(power, match))
        at = match.end()
        if at == len(text):
            return Metric(text, tuple(terms))
        if text[at] not in "*/":
            raise InputError(f"{text!r} is not a metric: {text[at]!r} is neither * nor /")
        power, at = (1 if text[at] == "*" else -1), at + 1


def _term(power: int, match: re.Match[str]) -> Term:
    """Return one factor, its function known and its words as many as the function takes."""
    if match["number"]:
        return Term(power, factor=float(match["number"]))
    name, written = match["name"], match["words"]
    if name not in FUNCTIONS:
        raise InputError(f"{name!r} is no metric; there are {', '.join(FUNCTIONS)}")
    function = FUNCTIONS[name]
    words = [word.strip() for word in written.split(",")] if written else []
    run = EACH if function.of_machine or not words else words.pop(0)
    if not run or not function.needed <= len(words) <= function.most:
        takes = ", ".join([*([] if function.of_machine else ["RUN"]), *["WORD"] * function.needed])
        raise InputError(f"{match[0].strip()!r}: right would be {name}({takes})")
    return Term(power, name, run, tuple(words))


def check_runs(metric: Metric, runs: Sequence[str]) -> None:
    """Raise InputError if a metric names a run that there is not."""
    for run in metric.runs:
        if run != EACH and run not in runs:
            raise InputError(
                f"metric {metric.text!r} names the run {run!r}; there are {', '.join(runs)}"
            )
