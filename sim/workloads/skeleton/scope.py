"""What the names in a skeleton's expressions stand for in one job, and the order of its phases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xc40io.config.errors import InputError, naming
from xc40io.config.text.arithmetic import Arithmetic
from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats, Integers
from xc40io.workloads.kernels.draws import draw
from xc40io.workloads.skeleton.skeleton_file import Draw, Phase, Skeleton

if TYPE_CHECKING:
    import numpy.typing as npt

    from xc40io.config.text.expressions import Expression


_MOST = 2**62

_MOST_STEPS = 100_000


class Scope(dict[str, Any]):
    """Names and their values; those that follow from others are evaluated when first asked for.

    Parameters
    ----------
    skeleton
        Whose names.
    options
        The values of its parameters.
    node
        int64 (ranks,): the node of each rank, from 0, ascending.
    seed
        Of the job: what is drawn follows from it.
    """

    def __init__(
        self, skeleton: Skeleton, options: Mapping[str, Any], node: Integers, seed: int
    ) -> None:
        ranks, nodes = len(node), int(node[-1]) + 1
        super().__init__(
            rank=np.arange(ranks),
            ranks=ranks,
            node=node,
            nodes=nodes,
            ppn=-(-ranks // nodes),
            local=np.arange(ranks) - np.searchsorted(node, node),
        )
        self.update({name: "" if value is None else value for name, value in options.items()})
        self.ranks = ranks
        self.counters: dict[str, int] = {}  # their present values, outer loops first
        self.where = ""  # the phase whose turn it is, as its path in the file
        self._skeleton = skeleton
        self._seed = seed
        self._arithmetic = Arithmetic(self)
        self._following: list[str] = []

    def __missing__(self, name: str) -> Any:
        """Return the value of a name of ``let`` or ``draws``, and keep it."""
        let, draws = self._skeleton.let, self._skeleton.draws
        if name in let:
            value = let[name].value(self._arithmetic)
        elif name in draws:
            with naming(f"draws.{name}"):
                value = self._drawn(name, draws[name])
        else:
            raise KeyError(name)
        self[name] = value
        self._following.append(name)
        return value

    def count(self, counter: str, turn: int) -> None:
        """Set a counter, and forget what may follow from it."""
        self.counters[counter] = self[counter] = turn
        self._forget()

    def stop(self, counter: str) -> None:
        """End a counter, if it ever began."""
        self.counters.pop(counter, None)
        self.pop(counter, None)
        self._forget()

    def _forget(self) -> None:
        for name in self._following:
            del self[name]
        self._following.clear()

    def word(self, text: str) -> str:
        """Return a word, or that of the parameter that it names: ``$distribution``."""
        return str(self[text[1:]]) if text.startswith("$") else text

    def one(self, expression: Expression, *, least: int = 0) -> int:
        """Return a whole number that is the same for all ranks, rounded down.

        Raises
        ------
        InputError
            If it is less than ``least``, or the ranks differ.
        """
        return int(_same(self.whole(expression, least=least), expression))

    def whole(self, expression: Expression, *, least: int = 0) -> Integers:
        """Return a whole number for each rank, rounded down: int64 (ranks,)."""
        value = self._number(expression)
        if not isinstance(value, int):  # which np.floor would round beyond 2^53
            value = np.floor(value)
        values = np.full(self.ranks, value, np.int64)
        if values.min() < least:
            raise InputError(f"{expression} is {values.min():,}; right would be at least {least}")
        return values

    def number(self, expression: Expression) -> Floats:
        """Return a number for each rank: float64 (ranks,)."""
        return np.full(self.ranks, self._number(expression), np.float64)

    def true(self, expression: Expression | None) -> npt.NDArray[np.bool_]:
        """Return for which ranks a condition holds: bool (ranks,); for all if there is none."""
        return np.full(self.ranks, expression is None or self._number(expression), bool)

    def holds(self, expression: Expression | None) -> bool:
        """Tell whether a condition holds, which must be the same for all ranks."""
        return expression is None or bool(_same(self.true(expression), expression))

    def stream(self, *name: str | int) -> np.random.Generator:
        """Return a random stream of the job, by name and the present value of all counters."""
        return stream(self._seed, "skeleton", *name, *self.counters.values())

    def _number(self, expression: Expression) -> Any:
        """Return the value of an expression, which must be no word."""
        value = expression.value(self._arithmetic)
        if isinstance(value, str):
            raise InputError(f"{expression} is a word; right would be a number")
        if not np.all(np.abs(value) <= _MOST):
            raise InputError(f"{expression} is larger than 2^62")
        return value

    def _drawn(self, name: str, what: Draw) -> Integers:
        """Draw a value of each rank, anew for each value of its counters."""
        per = {"rank": self["rank"], "node": self["node"], "job": np.zeros(self.ranks, np.int64)}
        owner = np.asarray(per[self.word(what.per)])
        count = int(owner[-1]) + 1
        first = np.searchsorted(owner, np.arange(count))
        turns = [self.counters.get(counter, 0) for counter in what.anew]
        drawn = draw(
            stream(self._seed, "skeleton", name, *turns),
            self.word(what.distribution),
            self.number(what.mean)[first],
            self.number(what.spread)[first],
            count,
        )
        multiple = self.whole(what.multiple, least=1)[first]
        drawn = np.maximum(drawn, self.number(what.least)[first])
        if what.most is not None:
            drawn = np.minimum(drawn, self.number(what.most)[first])
        whole = np.maximum(np.rint(drawn / multiple).astype(np.int64), 1) * multiple
        dealt: Integers = whole[owner]
        return dealt


def _same(values: npt.NDArray[Any], expression: Expression) -> Any:
    """Return the value that all ranks have."""
    if (values != values[0]).any():
        raise InputError(f"{expression} must be the same for all ranks")
    return values[0]


class Step(NamedTuple):
    """A phase whose turn it is."""

    phase: Phase  # what is to be done
    label: str  # the present value of the outermost counter; ``-`` outside all loops
    row: str  # what the table calls it


def walk(phases: list[Phase], scope: Scope, where: str) -> Iterator[Step]:
    """Return the phases in the order in which they come.

    The scope keeps the place and the counters.

    Raises
    ------
    InputError
        If there are too many.
    """
    for number, step in enumerate(_walk(phases, scope, where, None)):
        if number >= _MOST_STEPS:
            raise InputError(
                f"{where}: more than {_MOST_STEPS:,} phases, loops counted out; right would be "
                "fewer, with more calls in each"
            )
        yield step


def _walk(
    phases: list[Phase], scope: Scope, where: str, whole: tuple[str, str] | None
) -> Iterator[Step]:
    """Return phases; ``whole`` is the label and the row of the loop that is one row as a whole."""
    for index, phase in enumerate(phases):
        path = f"{where}.{index}"
        with naming(path):
            chosen = scope.holds(phase.when)
        if not chosen:
            continue
        label = next((str(value) for value in scope.counters.values()), "-")
        if phase.repeat is None:
            name = phase.row or f"{phase.verb} {getattr(phase.what, 'file', '')}".strip()
            scope.where = f"{path}.{phase.verb}"
            yield Step(phase, *(whole or (label, name)))
            continue
        with naming(f"{path}.repeat"):
            times = scope.one(phase.repeat.times)
        counter = phase.repeat.counter
        inner = whole or (None if phase.row is None else (label, phase.row))
        for turn in range(times):
            if counter is not None:
                scope.count(counter, turn)
            yield from _walk(phase.repeat.phases, scope, f"{path}.repeat.phases", inner)
        if counter is not None:
            scope.stop(counter)
