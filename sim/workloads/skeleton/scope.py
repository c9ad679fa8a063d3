"""What the names in a skeleton's expressions stand for in one job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.config.errors import InputError
from sim.engine.randomness import stream
from sim.engine.types import Floats, Integers
from sim.workloads.skeleton.draws import draw
from sim.workloads.skeleton.expressions import Expression
from sim.workloads.skeleton.model import Draw, Skeleton

if TYPE_CHECKING:
    import numpy.typing as npt

    from sim.workloads.skeleton.expressions import Value

_MOST = 2**62


class Scope(Mapping[str, Any]):
    """Names and their values, some of them worked out only when they are needed.

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
        self._skeleton = skeleton
        self._seed = seed
        self.ranks = len(node)
        first = np.searchsorted(node, node)
        nodes = int(node[-1]) + 1
        self._known: dict[str, Value] = {
            "rank": np.arange(self.ranks),
            "ranks": self.ranks,
            "node": node,
            "nodes": nodes,
            "ppn": -(-self.ranks // nodes),
            "local": np.arange(self.ranks) - first,
            **{name: "" if value is None else value for name, value in options.items()},
        }
        self.counters: dict[str, int] = {}
        self._cache: dict[str, tuple[dict[str, int], Value]] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        if name in self.counters:
            return self.counters[name]
        cached = self._cache.get(name)
        if cached is not None and cached[0] == self.counters:
            return cached[1]
        if name in self._skeleton.let:
            value = self._skeleton.let[name].value(self)
        elif name in self._skeleton.draws:
            value = self._drawn(name, self._skeleton.draws[name])
        else:
            raise KeyError(name)
        self._cache[name] = (dict(self.counters), value)
        return value

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        yield from self.counters
        yield from self._skeleton.let
        yield from self._skeleton.draws

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def word(self, text: str) -> str:
        """Return a word, or that of the parameter that it names: ``$distribution``."""
        return str(self._known[text[1:]]) if text.startswith("$") else text

    def one(self, expression: Expression, where: str, *, least: int = 0) -> int:
        """Return a whole number that is the same for all ranks, rounded down.

        Raises
        ------
        InputError
            If it is less than ``least``, or the ranks differ.
        """
        values = self.whole(expression, where, least=least)
        if (values != values[0]).any():
            raise InputError(f"{where} = {expression.text!r} must be the same for all ranks")
        return int(values[0])

    def whole(self, expression: Expression, where: str, *, least: int = 0) -> Integers:
        """Return a whole number for each rank, rounded down: int64 (ranks,)."""
        values = np.floor(self.number(expression, where) + 0.0)
        if values.min() < least:
            raise InputError(
                f"{where} = {expression.text!r} is {values.min():,.0f}; right would be at least "
                f"{least}"
            )
        exact = expression.value(self)
        if isinstance(exact, int):  # beyond 2^53 a float would not do
            return np.full(self.ranks, exact, np.int64)
        return np.floor(exact).astype(np.int64) if np.ndim(exact) else values.astype(np.int64)

    def number(self, expression: Expression, where: str) -> Floats:
        """Return a number for each rank: float64 (ranks,)."""
        value = expression.value(self)
        if isinstance(value, str):
            raise InputError(f"{where} = {expression.text!r} is a word; right would be a number")
        values = np.broadcast_to(np.asarray(value, np.float64), self.ranks)
        if not (np.abs(values) <= _MOST).all():
            raise InputError(f"{where} = {expression.text!r} is larger than 2^62")
        return values

    def true(self, expression: Expression | None, where: str) -> npt.NDArray[np.bool_]:
        """Return for which ranks a condition holds: bool (ranks,); for all if there is none."""
        if expression is None:
            return np.ones(self.ranks, bool)
        value = expression.value(self)
        if isinstance(value, str):
            raise InputError(f"{where} = {expression.text!r} is a word; right would be a condition")
        return np.broadcast_to(np.asarray(value, bool), self.ranks)

    def holds(self, expression: Expression | None, where: str) -> bool:
        """Tell whether a condition holds, which must be the same for all ranks."""
        values = self.true(expression, where)
        if (values != values[0]).any():
            raise InputError(
                f"{where} = {expression.text if expression else ''!r} must be the same for all "
                "ranks"
            )
        return bool(values[0])

    def stream(self, *name: str | int) -> np.random.Generator:
        """Return a random stream of the job, by name and the present value of all counters."""
        return stream(self._seed, "skeleton", *name, *self.counters.values())

    def _drawn(self, name: str, what: Draw) -> Integers:
        """Draw a value of each rank, anew for each value of its counters."""
        where = f"draws.{name}"
        per = {"rank": self["rank"], "node": self["node"], "job": np.zeros(self.ranks, np.int64)}
        owner = np.asarray(per[self.word(what.per)])
        count = int(owner[-1]) + 1
        first = np.searchsorted(owner, np.arange(count))
        turns = [self.counters.get(counter, 0) for counter in what.anew]
        drawn = draw(
            stream(self._seed, "skeleton", name, *turns),
            self.word(what.distribution),
            self.number(what.mean, f"{where}.mean")[first],
            self.number(what.spread, f"{where}.spread")[first],
            count,
        )
        multiple = self.whole(what.multiple, f"{where}.multiple", least=1)[first]
        least = self.number(what.least, f"{where}.least")[first]
        drawn = np.maximum(drawn, least)
        if what.most is not None:
            drawn = np.minimum(drawn, self.number(what.most, f"{where}.most")[first])
        whole = np.maximum(np.rint(drawn / multiple).astype(np.int64), 1) * multiple
        dealt: Integers = whole[owner]
        return dealt
