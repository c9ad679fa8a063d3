"""What must hold between the parts of a skeleton: every name means something, every word is known.

It is found out when the file is read, so that a misspelt name does not end a run half way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.workloads.skeleton.draws import DISTRIBUTIONS
from sim.workloads.skeleton.expressions import FUNCTIONS, Expression
from sim.workloads.skeleton.model import BUILTIN, PATTERNS, Files, Phase, Skeleton

WORDS = {
    "distribution": DISTRIBUTIONS,
    "pattern": PATTERNS,
    "api": ("posix", "mpiio", "hdf5"),
    "directory": ("shared", "own"),
    "mode": ("read", "write"),
}
"""Fields that hold one of some words, or ``$NAME`` of a parameter that does."""

_PER = {"draws": ("rank", "node", "job"), "files": ("rank", "node", "job", "group")}


class Place(NamedTuple):
    """A value and the dotted path of its field."""

    path: str
    value: Any


def check(skeleton: Skeleton) -> None:
    """Raise InputError unless the parts of a skeleton go together."""
    places = list(_walk(skeleton, ""))
    phases = [place.value for place in places if isinstance(place.value, Phase)]
    _check_names(skeleton, phases)
    known = {*BUILTIN, *skeleton.parameters, *skeleton.let, *skeleton.draws, *_counters(phases)}
    for path, value in places:
        if isinstance(value, Expression):
            for name in value.names():
                if name not in known:
                    raise InputError(
                        f"{path} = {value.text!r}: there is no {name}{nearest(name, known)}"
                    )
        _check_word(path, value, skeleton)
    _check_circles(skeleton)
    for path, phase in places:
        if isinstance(phase, Phase):
            _check_phase(path, phase, skeleton)
    for name, files in skeleton.files.items():
        _check_files(f"files.{name}", files)


def _walk(part: Any, path: str) -> Iterator[Place]:
    """Return everything below a part, with its path."""
    yield Place(path, part)
    below: Iterable[tuple[Any, Any]] = ()
    if isinstance(part, BaseModel):
        below = ((name, getattr(part, name)) for name in type(part).model_fields)
    elif isinstance(part, dict):
        below = part.items()
    elif isinstance(part, list):
        below = enumerate(part)
    for name, value in below:
        if value is not None:
            yield from _walk(value, f"{path}.{name}" if path else str(name))


def _counters(phases: list[Phase]) -> list[str]:
    return [phase.repeat.counter for phase in phases if phase.repeat and phase.repeat.counter]


def _check_names(skeleton: Skeleton, phases: list[Phase]) -> None:
    """Raise InputError if a name means two things."""
    seen: dict[str, str] = dict.fromkeys((*BUILTIN, *FUNCTIONS), "a name that is there already")
    groups = {
        "parameters": list(skeleton.parameters),
        "let": list(skeleton.let),
        "draws": list(skeleton.draws),
        "a counter": sorted(set(_counters(phases))),
    }
    for where, names in groups.items():
        for name in names:
            if name in seen:
                raise InputError(f"{where}: {name} is also {seen[name]}; each needs its own name")
            seen[name] = f"in {where}"
    for name, draw in skeleton.draws.items():
        for counter in draw.anew:
            if counter not in groups["a counter"]:
                raise InputError(
                    f"draws.{name}.anew: {counter} is the counter of no repeat"
                    f"{nearest(counter, groups['a counter'])}"
                )


def _check_word(path: str, value: Any, skeleton: Skeleton) -> None:
    """Raise InputError if a field that holds one of some words holds another."""
    first, _, field = path.rpartition(".")
    allowed = WORDS.get(field)
    if field == "per":
        allowed = _PER.get(first.partition(".")[0])
    if allowed is None or not isinstance(value, str) or first.startswith("parameters"):
        return
    if not value.startswith("$"):
        if value not in allowed:
            raise InputError(
                f"{path} = {value!r}: right would be {', '.join(allowed)}, or $NAME of a parameter"
                f"{nearest(value, allowed)}"
            )
        return
    parameter = skeleton.parameters.get(value[1:])
    if parameter is None or not set(parameter.choices) <= set(allowed) or not parameter.choices:
        raise InputError(
            f"{path} = {value!r}: right would be a parameter with unit: choice and some of "
            f"{', '.join(allowed)}"
        )


def _check_circles(skeleton: Skeleton) -> None:
    """Raise InputError if a value follows from itself."""
    needs: dict[str, set[str]] = {
        name: set(expression.names()) for name, expression in skeleton.let.items()
    }
    for name, draw in skeleton.draws.items():
        parts = [value for _, value in _walk(draw, "") if isinstance(value, Expression)]
        needs[name] = {one for part in parts for one in part.names()}
    done: set[str] = set()
    while rest := needs.keys() - done:
        ready = {name for name in rest if not (needs[name] & rest)}
        if not ready:
            raise InputError(f"{', '.join(sorted(rest))}: each needs the value of another of them")
        done |= ready


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
    if needs_hdf5 and files.api not in ("hdf5",):
        raise InputError(f"{path}.{verb}: files {name} have api: {files.api}; right would be hdf5")
    if verb in ("read", "write") and files.api == "hdf5" and what.dataset is None:
        raise InputError(f"{path}.{verb}.dataset is missing: files {name} have api: hdf5")


def _check_files(path: str, files: Files) -> None:
    """Raise InputError if groups have no size, or others have."""
    if not files.per.startswith("$") and (files.per == "group") != (files.ranks is not None):
        raise InputError(f"{path}: right would be per: group with ranks: HOW MANY, or neither")
