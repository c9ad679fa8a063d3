"""What must hold between the parts of a skeleton: every name means something, every word is known.

It is found out when the file is read, so that a misspelt name does not end a run half way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from pydantic import BaseModel

from xc40io.config.errors import InputError, nearest
from xc40io.config.text.expressions import ARITHMETIC, Expression
from xc40io.workloads.kernels.draws import DISTRIBUTIONS
from xc40io.workloads.skeleton.skeleton_file import (
    BUILTIN,
    PATTERNS,
    Blocks,
    Draw,
    Files,
    Move,
    Open,
    Phase,
    Skeleton,
)

WORDS: dict[tuple[type, str], tuple[str, ...]] = {
    (Draw, "distribution"): DISTRIBUTIONS,
    (Draw, "per"): ("rank", "node", "job"),
    (Files, "per"): ("rank", "node", "job", "group"),
    (Files, "api"): ("posix", "mpiio", "hdf5"),
    (Files, "directory"): ("shared", "own"),
    (Open, "mode"): ("read", "write"),
    (Move, "pattern"): PATTERNS,
    (Blocks, "numbering"): ("c", "fortran"),
}
"""Fields that hold one of some words, or ``$NAME`` of a parameter that does."""


class _Place(NamedTuple):
    """A value, the dotted path of its field, and the words that may stand there."""

    path: str
    value: Any
    words: tuple[str, ...] = ()


def check(skeleton: Skeleton) -> None:
    """Raise InputError unless the parts of a skeleton go together."""
    places = list(_below(skeleton, ""))
    repeats = [place.value.repeat for place in places if isinstance(place.value, Phase)]
    counters = sorted({repeat.counter for repeat in repeats if repeat and repeat.counter})
    _check_names(skeleton, counters)
    known = [*BUILTIN, *skeleton.parameters, *skeleton.let, *skeleton.draws, *counters]
    for path, value, words in places:
        if isinstance(value, Expression):
            _check_expression(path, value, known)
        elif isinstance(value, Phase):
            _check_phase(path, value, skeleton)
        elif isinstance(value, Files):
            _check_files(path, value)
        elif words:
            _check_word(path, value, words, skeleton)
    _check_circles(skeleton)


def _below(part: Any, path: str) -> Iterator[_Place]:
    """Return everything below a part, with its path."""
    fields: Iterable[tuple[str | int, Any]] = ()
    if isinstance(part, BaseModel):
        fields = ((name, getattr(part, name)) for name in type(part).model_fields)
    elif isinstance(part, dict):
        fields = part.items()
    elif isinstance(part, list):
        fields = enumerate(part)
    for name, value in fields:
        if value is not None:
            place = f"{path}.{name}".lstrip(".")
            yield _Place(place, value, WORDS.get((type(part), str(name)), ()))
            yield from _below(value, place)


def _check_names(skeleton: Skeleton, counters: list[str]) -> None:
    """Raise InputError if a name means two things, or a draw names no counter."""
    taken = dict.fromkeys([*BUILTIN, *ARITHMETIC.functions], "a name that is there already")
    groups: dict[str, Iterable[str]] = {
        "parameters": skeleton.parameters,
        "let": skeleton.let,
        "draws": skeleton.draws,
        "a counter": counters,
    }
    for where, names in groups.items():
        for name in names:
            if name in taken:
                raise InputError(f"{where}: {name} is also {taken[name]}; each needs its own name")
            taken[name] = f"in {where}"
    for name, draw in skeleton.draws.items():
        for counter in set(draw.anew).difference(counters):
            hint = nearest(counter, counters)
            raise InputError(f"draws.{name}.anew: no repeat has the counter {counter}{hint}")


def _check_expression(path: str, expression: Expression, known: list[str]) -> None:
    """Raise InputError if an expression has a name that means nothing."""
    for name in expression.names():
        if name not in known:
            raise InputError(
                f"{path} = {expression.text!r}: there is no {name}{nearest(name, known)}"
            )


def _check_word(path: str, value: str, words: tuple[str, ...], skeleton: Skeleton) -> None:
    """Raise InputError if a field that holds one of some words holds another."""
    right = ", ".join(words)
    if not value.startswith("$"):
        if value not in words:
            raise InputError(
                f"{path} = {value!r}: right would be {right}, or $NAME of a parameter"
                f"{nearest(value, words)}"
            )
        return
    parameter = skeleton.parameters.get(value[1:])
    if parameter is None or not parameter.choices or not set(parameter.choices) <= set(words):
        raise InputError(
            f"{path} = {value!r}: right would be a parameter with unit: choice and some of {right}"
        )


def _check_circles(skeleton: Skeleton) -> None:
    """Raise InputError if a value follows from itself."""
    parts = {**skeleton.let, **skeleton.draws}
    needs: dict[str, set[str]] = {}
    for name, part in parts.items():
        inside = [_Place(name, part), *_below(part, name)]
        expressions = [one.value for one in inside if isinstance(one.value, Expression)]
        needs[name] = {other for one in expressions for other in one.names() if other in parts}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        names = ", ".join(sorted(set(circle.args[1])))
        raise InputError(f"{names}: each needs the value of another of them") from None


def _check_phase(path: str, phase: Phase, skeleton: Skeleton) -> None:
    """Raise InputError if a phase names a file that there is not, or asks too much of it."""
    what, verb = phase.what, phase.verb
    name = getattr(what, "file", None)
    if name is None:
        return
    files = skeleton.files.get(name)
    if files is None:
        raise InputError(
            f"{path}.{verb}.file: there are no files {name}{nearest(name, skeleton.files)}"
        )
    needs_hdf5 = verb in ("group", "dataset") or getattr(what, "dataset", None) is not None
    if needs_hdf5 and files.api != "hdf5":
        raise InputError(f"{path}.{verb}: files {name} have api: {files.api}; right would be hdf5")
    if verb == "list" and files.api in ("mpiio", "hdf5"):
        raise InputError(f"{path}.list: files {name} have api: {files.api}; right would be posix")
    if verb == "truncate" and files.api == "hdf5":
        raise InputError(f"{path}.truncate: files {name} have api: hdf5, which sets sizes itself")
    if verb in ("read", "write") and files.api == "hdf5" and what.dataset is None:
        raise InputError(f"{path}.{verb}.dataset is missing: files {name} have api: hdf5")


def _check_files(path: str, files: Files) -> None:
    """Raise InputError if groups have no size, or others have."""
    if not files.per.startswith("$") and (files.per == "group") != (files.ranks is not None):
        raise InputError(f"{path}: right would be per: group with ranks: HOW MANY, or neither")
