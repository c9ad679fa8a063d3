"""What a claim looks at in its runs: ``write(large)``, ``time(a) / time(b)``, ``write``.

A metric is an expression of numbers and of functions of runs, multiplied or divided. A run is named
in the brackets of the function, and behind it stand what words the function takes, all without
quotes: ``write(56 x 8m)`` is read as ``write("56 x 8m")``. The functions are those of
:mod:`xc40io.validation.measure`. Without a run, or with ``*`` in its place, the metric is that of
each run of the claim: ``write``, ``write(*) / write(a)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from simpleeval import SimpleEval

from xc40io.config.errors import InputError
from xc40io.config.text.expressions import Expression, Grammar
from xc40io.validation.measure import FUNCTIONS
from xc40io.validation.quantity import NUMBER, PRODUCTS, Dimension

EACH = "*"
"""In place of a run: each run of the claim."""


Look = Callable[[str, str, tuple[str, ...]], float]
"""Returns what a function is of a run: called with function, run and the words after the run."""


@dataclass(frozen=True)
class Metric:
    """A product of functions of runs."""

    # As written and as parsed: every function has the run and its words as arguments.
    expression: Expression

    @property
    def text(self) -> str:
        """The metric as written."""
        return self.expression.text

    @property
    def dimension(self) -> Dimension:
        """What the metric measures."""
        found = self._evaluated(lambda function, *_: FUNCTIONS[function].dimension)
        return found if isinstance(found, Dimension) else NUMBER

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that it names, each once; ``*`` if it looks at each."""
        return tuple(dict.fromkeys(run for _, (run, *_) in self.expression.calls))

    @property
    def of_machine(self) -> bool:
        """Whether it is about a machine and a number of nodes, and not about runs."""
        return any(FUNCTIONS[function].of_machine for function, _ in self.expression.calls)

    @property
    def of_each(self) -> bool:
        """Whether it is a number for each run, and not one number."""
        return EACH in self.runs

    def value(self, look: Look, each: str = EACH) -> float:
        """Return the metric; ``each`` is the run that stands for ``*``."""

        def looked(function: str, run: str, *words: str) -> float:
            return look(function, each if run == EACH else run, words)

        return float(self._evaluated(looked))

    def _evaluated(self, function: Callable[..., Any]) -> Any:
        """Return the product; ``function`` is called with a function's name, the run and words."""
        functions = {name: partial(function, name) for name in FUNCTIONS}
        return self.expression.value(SimpleEval(PRODUCTS, functions, {}))


def parse_metric(text: object) -> Metric:
    """Read a metric.

    Raises
    ------
    InputError
        If it is not a product of functions of runs.
    """
    if isinstance(text, Metric):
        return text
    expression = _METRICS.parse(text)
    for name, (run, *words) in expression.calls:
        if not run or not FUNCTIONS[name].takes(words):
            raise InputError(f"{text!r}: right would be {name}{FUNCTIONS[name].usage}")
    return Metric(expression)


_TERM = re.compile(r"(?<![\w.])(?P<name>[a-z_]+)\s*(\((?P<words>[^()]*)\))?")


def _quoted(match: re.Match[str]) -> str:
    """Return a function of a run as Python has it: with the run, and with quotes."""
    name, written = match["name"], (match["words"] or "").strip()
    words = [word.strip() for word in written.split(",")] if written else []
    if not words or (name in FUNCTIONS and FUNCTIONS[name].of_machine):
        words.insert(0, EACH)
    return f"{name}({', '.join(map(repr, words))})"


_METRICS = Grammar(
    noun="a metric",
    example=f"write(RUN) or write(A) / read(B); the functions are {', '.join(FUNCTIONS)}",
    operators=PRODUCTS,
    functions=dict.fromkeys(FUNCTIONS, range(1, 9)),
    spell=partial(_TERM.sub, _quoted),
)


def check_runs(metric: Metric, runs: Sequence[str]) -> None:
    """Raise InputError if a metric names a run that there is not."""
    for run in metric.runs:
        if run != EACH and run not in runs:
            raise InputError(
                f"metric {metric.text!r} names the run {run!r}; there are {', '.join(runs)}"
            )
