"""Where two lists of calls differ, aspect by aspect, and in how many calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recordings import Calls, Refused, Row

DATA = "data"
ASPECTS = {
    DATA: frozenset({"read", "write"}),
    "sync": frozenset({"sync"}),
    "open": frozenset({"open", "close"}),
    "size": frozenset({"truncate"}),
    "lock": frozenset({"lock", "unlock"}),
    "name": frozenset({"unlink", "mkdir", "rename", "readdir"}),
    "stat": frozenset({"stat"}),
}
"""What is looked at by itself. Others come of these: `data order` and `data ranks` where the same
calls come in another order, or from other ranks; `order` where every aspect that does not differ by
itself is equal and the calls of all of them are mixed otherwise; `file names`; `nameless`, where
the model does not record on which file it works; `refused`."""


_STEM = re.compile(r"[^.\d]+(\.[^.\d]+)?")  # of the name of a file: up to its numbers


class Difference(NamedTuple):
    """An aspect in which two differ: in how many calls, ranks or names, and the first of them."""

    aspect: str
    size: int
    example: str


def differences(
    real: Calls | Refused, model: Calls | Refused, any_name: bool = False
) -> list[Difference]:
    """Return in which aspects the calls differ; files may be said to have any names."""
    if isinstance(real, Refused) or isinstance(model, Refused):
        return list(_refusals(real, model))
    found = []
    nameless = {row.op for rows in model.values() for row in rows if not row.file}
    if nameless:
        real, model = _without_names(real, nameless), _without_names(model, nameless)
        count = sum(not row.file for rows in model.values() for row in rows)
        found.append(Difference("nameless", count, f"the model says no file of {sorted(nameless)}"))
    names = _same_files(real, model, any_name)
    model = {
        rank: [row._replace(file=names.get(row.file, row.file)) for row in rows]
        for rank, rows in model.items()
    }
    found += _by_aspect(real, model)
    other = {mine: theirs for mine, theirs in names.items() if mine != theirs}
    if other and not any_name:
        mine, theirs = next(iter(other.items()))
        found.append(Difference("file names", len(other), f"real {theirs}, model {mine}"))
    return found


def _refusals(real: Calls | Refused, model: Calls | Refused) -> Iterator[Difference]:
    if not isinstance(model, Refused):
        assert isinstance(real, Refused)
        yield Difference("refused", 1, f"only the real program refuses: {real.sentence}")
    elif not isinstance(real, Refused):
        yield Difference("refused", 1, f"only the model refuses: {model.sentence}")


def _by_aspect(real: Calls, model: Calls) -> Iterator[Difference]:
    ranks = sorted(real.keys() | model.keys())
    alike: set[str] = set()
    for aspect, ops in ASPECTS.items():
        ours = {rank: [row for row in model.get(rank, []) if row.op in ops] for rank in ranks}
        theirs = {rank: [row for row in real.get(rank, []) if row.op in ops] for rank in ranks}
        found = (_data if aspect == DATA else _counted)(theirs, ours, aspect)
        if found is None:
            alike |= ops
        else:
            yield found
    mixed = [
        rank
        for rank in ranks
        if _only(real.get(rank, []), alike) != _only(model.get(rank, []), alike)
    ]
    if mixed:
        rank = mixed[0]
        example = _parting(_only(real.get(rank, []), alike), _only(model.get(rank, []), alike))
        yield Difference("order", len(mixed), f"rank {rank}: {example}")


def _data(real: Calls, model: Calls, aspect: str) -> Difference | None:
    """Return how reads and writes differ: their order is part of what is compared."""
    parted = [rank for rank in real if real[rank] != model[rank]]
    if not parted:
        return None
    rank = parted[0]
    example = f"rank {rank}: {_parting(real[rank], model[rank])}"
    if all(Counter(real[rank]) == Counter(model[rank]) for rank in parted):
        return Difference("data order", len(parted), example)
    if _all(real) == _all(model):
        return Difference("data ranks", _apart(real, model), example)
    return Difference(aspect, _apart(real, model), example)


def _counted(real: Calls, model: Calls, aspect: str) -> Difference | None:
    apart = _apart(real, model)
    if not apart:
        return None
    rank = next(rank for rank in real if Counter(real[rank]) != Counter(model[rank]))
    return Difference(
        aspect, apart, f"rank {rank}: real {_tally(real[rank])}, model {_tally(model[rank])}"
    )


def _apart(real: Calls, model: Calls) -> int:
    """Return how many calls of ranks one has and the other has not."""
    total = 0
    for rank in real:
        ours, theirs = Counter(model[rank]), Counter(real[rank])
        total += (theirs - ours).total() + (ours - theirs).total()
    return total


def _all(calls: Calls) -> Counter[Row]:
    return Counter(row for rows in calls.values() for row in rows)


def _only(rows: Iterable[Row], ops: set[str]) -> list[Row]:
    return [row for row in rows if row.op in ops]


def _tally(rows: list[Row]) -> str:
    found = Counter(row.op for row in rows)
    return " ".join(f"{count} {op}" for op, count in sorted(found.items())) or "none"


def _parting(real: list[Row], model: list[Row]) -> str:
    """Return the first calls that differ, with their place."""
    at = next(
        (place for place, pair in enumerate(zip(real, model, strict=False)) if pair[0] != pair[1]),
        min(len(real), len(model)),
    )
    theirs, ours = (", ".join(map(_said, rows[at : at + 3])) or "-" for rows in (real, model))
    return f"from call {at} of {len(real)} and {len(model)}: real {theirs} | model {ours}"


def _said(row: Row) -> str:
    return f"{row.op} {row.bytes} at {row.offset}" if row.bytes else f"{row.op} {row.file}"


def _without_names(calls: Calls, ops: set[str]) -> Calls:
    return {
        rank: [row._replace(file="") if row.op in ops else row for row in rows]
        for rank, rows in calls.items()
    }


def _same_files(real: Calls, model: Calls, any_name: bool) -> dict[str, str]:
    """Return what the real program calls each file of the model, as far as that can be told.

    Files that a rank makes and opens, directories included, are paired in their order, those of
    like names with one another, or all that it opens, and all that it makes, if they may have any.
    If that would pair a file with two others, none is paired.
    """
    found: dict[str, str] = {}
    back: dict[str, str] = {}
    for rank in sorted(real.keys() & model.keys()):
        ours, theirs = _opened(model[rank], any_name), _opened(real[rank], any_name)
        for stem, names in ours.items():
            for mine, their in zip(names, theirs.get(stem, []), strict=False):
                if found.setdefault(mine, their) != their or back.setdefault(their, mine) != mine:
                    return {}
    return found


def _opened(rows: list[Row], any_name: bool) -> dict[str, list[str]]:
    """Return the files that a rank opens or makes, each once, by names without numbers."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.op in ("open", "mkdir"):
            stem = _STEM.match(row.file.rpartition("/")[2])
            names = found.setdefault(row.op if any_name or not stem else stem[0], [])
            if row.file and row.file not in names:
                names.append(row.file)
    return found
