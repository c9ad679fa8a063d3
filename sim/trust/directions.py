"""What users' guides teach, and whether the simulator says the same: ``configs/directions.yaml``.

``python -m xc40io.validation.directions`` writes it, from the claims that such rules are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from xc40io.config.files import read_mapping, shipped_file
from xc40io.config.model import Model, explain
from xc40io.config.units import SHORT_SIZES, parse_bytes
from xc40io.trust.turns import SIZES, Turn, Value, crosses

FILE = "directions.yaml"


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class When(Model):
    """Of which runs a direction is taught; what is not said may be either.

    Attributes
    ----------
    sharing
        ``shared`` files, or a file of its ``own`` for each rank.
    op
        What is done: ``write``, ``read``, ``metadata``.
    locks
        Of aggregators: how they lock. Guides mean extent locks unless they say otherwise.
    """

    sharing: Literal["shared", "own"] | None = None
    op: Literal["write", "read", "metadata"] | None = None
    locks: Literal["extent", "group", "ahead"] = "extent"

    def met(self, turn: Turn) -> bool:
        """Tell whether a change is made in such a run."""
        shared = not turn.sharing or self.sharing in (None, turn.sharing)
        locked = turn.locks in ("", self.locks)
        return shared and locked and self.op in (None, turn.op)


class Direction(Model):
    """A rule of guides: a run is faster with one value of a knob than with another.

    Attributes
    ----------
    claim, machine
        Which claim it is, of which machine; empty where it is of none.
    change
        The knob, as ``tune`` calls it.
    before, after
        The values; in the file ``from`` and ``to``.
    when
        In which runs.
    holds
        Whether the simulator says the same.
    published
        Times as fast, where that was measured; below 1 where guides warn of the change.
    simulated
        The same, as simulated.
    """

    model_config = ConfigDict(extra="ignore")  # what else is told of a claim is for people

    claim: str = ""
    machine: str = ""
    change: str
    before: int | float | str = Field(alias="from")
    after: int | float | str = Field(alias="to")
    when: When = When()
    holds: bool
    published: int | float | None = None
    simulated: Annotated[tuple[int | float, ...], BeforeValidator(_tuple)] = ()

    @property
    def way(self) -> tuple[Value, Value]:
        """From which value to which one a run gets faster, as guides have it."""
        faster = self.published is None or self.published >= 1
        return (self.before, self.after) if faster else (self.after, self.before)

    def concerns(self, turn: Turn) -> bool:
        """Tell whether it is about such a change, whichever way."""
        return turn.knob == self.change and self.when.met(turn)

    def contradicts(self, turn: Turn) -> bool:
        """Tell whether guides say the opposite of what made a simulated run faster."""
        return self.concerns(turn) and crosses(turn, *map(self._end, self.way))

    def _end(self, value: Value) -> Value:
        """Return a value as knobs have it: bytes of a size, and more OSTs than any for all."""
        if self.change in SIZES:
            return parse_bytes(value)
        return math.inf if value == -1 else value

    @property
    def words(self) -> str:
        """The rule: ``stripe-count 8 in place of 1 for shared files, write: 2.5 times as fast``."""
        worse, better = (self._written(value) for value in self.way)
        runs = ", ".join(
            filter(None, (self.when.sharing and f"{self.when.sharing} files", self.when.op))
        )
        times = "" if self.published is None else max(self.published, 1 / self.published)
        measured = f": {times:.3g} times as fast" if times else ""
        return f"{self.change} {better} in place of {worse}{f' ({runs})' if runs else ''}{measured}"

    def _written(self, value: Value) -> str:
        if self.change in SIZES:
            return SHORT_SIZES.write(parse_bytes(value))
        return "all" if value == -1 else str(value)


class _Directions(Model):
    """What :data:`FILE` holds."""

    source: str
    directions: Annotated[tuple[Direction, ...], BeforeValidator(_tuple)]


@cache
def directions() -> tuple[Direction, ...]:
    """Read the directions that guides teach; none where there is no such file.

    Raises
    ------
    InputError
        If the file does not say what it should.
    """
    path = shipped_file(FILE)
    if not path.exists():
        return ()
    try:
        return _Directions.model_validate(read_mapping(path)).directions
    except ValidationError as error:
        raise explain(error, str(path), _Directions) from error


def contradicted(
    turns: Iterable[Turn], machine: str, known: Sequence[Direction]
) -> Direction | None:
    """Return the first rule that the simulator does not follow, and that some change is against.

    Rules of the machine itself come before those of others, which count where it has none.
    """
    for turn in turns:
        rules = [one for one in known if one.concerns(turn)]
        own = [one for one in rules if one.machine == machine]
        for one in own or rules:
            if not one.holds and one.contradicts(turn):
                return one
    return None
