"""A cross-validation as an answer: errors by group, and what fixes each parameter."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from xc40io.telling.answer import Answer, Block, Text, plain_table
from xc40io.topology.text import format_count
from xc40io.validation.cross_validation import CrossNumber, CrossValidation, How, LeftOut
from xc40io.validation.score import Tally
from xc40io.validation.sensitivity import row_of

_NOTE = """\
|ln(simulated / measured)|, each simulated number once and for at most ln 4 in a mean; 0.10 is about
10 % off. Crossed: with the parameters that its {what} helped to fix fitted again without it."""


def tally(pairs: Iterable[tuple[str, float]]) -> Tally:
    """Return how far numbers are off, given with their ``ln(simulated / measured)``.

    Of several measurements of one number the geometric mean counts.
    """
    logs: dict[str, list[float]] = {}
    for number, log in pairs:
        logs.setdefault(number, []).append(log)
    return Tally.of(abs(statistics.fmean(some)) for some in logs.values())


def by_group(crossed: CrossValidation) -> dict[str, tuple[Tally, Tally]]:
    """Return how far the numbers of each group of claims are off, as fitted and as crossed.

    The last entry is ``all``.
    """
    groups: dict[str, list[CrossNumber]] = {}
    for number in crossed.numbers:
        groups.setdefault(crossed.claims[number.claim].family, []).append(number)
    groups["all"] = list(crossed.numbers)
    return {
        name: (
            tally((one.number, one.fitted) for one in some),
            tally((one.number, one.crossed) for one in some),
        )
        for name, some in groups.items()
    }


def cross_answer(crossed: CrossValidation, whole: Mapping[str, tuple[str, ...]]) -> Answer:
    """Tell the errors by group, the parameters, and what is not known.

    Parameters
    ----------
    crossed
        What to tell.
    whole
        The calibrations that cannot be crossed, with their parameters.
    """
    head = ["group", "numbers", "fitted: median", "mean", "crossed: median", "mean"]
    rows = [[name, *_cells(*pair)] for name, pair in by_group(crossed).items()]
    fixed = ["parameter", "fixed by", "", "without", "becomes"]
    blocks: list[Block] = [
        plain_table("", head, rows),
        Text(_NOTE.format(what=crossed.by)),
        plain_table("", fixed, list(_parameters(crossed)), words=range(len(fixed))),
        Text("\n".join(_sentences(crossed, whole))),
    ]
    return Answer("Cross-validation", "", blocks)


def _cells(fitted: Tally, crossed: Tally) -> list[str]:
    numbers = (fitted.median, fitted.mean, crossed.median, crossed.mean)
    return [str(fitted.numbers), *map(number_words, numbers)]


def number_words(number: float | None) -> str:
    """Write an error; a dash without any."""
    return "-" if number is None else f"{number:.3f}"


def _parameters(crossed: CrossValidation) -> Iterator[list[str]]:
    """Yield for each parameter and each fold that it loses rows with what becomes of it."""
    for name, parameter in crossed.parameters.items():
        fixing = crossed.fixing[name]
        alone = crossed.lone.get(name)
        said = f"only {alone}" if alone else _listed(fixing)
        first = [name, said, f"now {parameter.show(parameter.value)}"]
        for out in crossed.left_out.values():
            if name in out.moved:
                value = parameter.value * math.exp(out.moved[name])
                yield [*first, _label(crossed, out.fold), parameter.show(value) + _why(name, out)]
                first = ["", "", ""]
        if first[0]:
            yield [*first, "", "no row with a number sees it"]


def _why(name: str, out: LeftOut) -> str:
    """Say where a parameter is that lost all its rows."""
    if name not in out.ignorant:
        return ""
    untried = _listed(out.ignorant[name])
    return f", the middle: {f'not tried are {untried}' if untried else 'no row is left'}"


def _label(crossed: CrossValidation, fold: str) -> str:
    """Return what a fold is called: a study by its name, a series by its rows."""
    if crossed.by == "study":
        return fold
    return _listed([claim.id for claim in crossed.folds[fold]])


def _listed(claims: Sequence[str]) -> str:
    """Name the rows of some claims, the first ones of many."""
    rows = list(dict.fromkeys(map(row_of, claims)))
    return ", ".join(rows) if len(rows) <= _NAMED else f"{rows[0]}, {rows[1]} ... {rows[-1]}"


_NAMED = 4  # rows; of more, the first ones and the last


def _sentences(crossed: CrossValidation, whole: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for how in get_args(How):
        count = sum(1 for number in crossed.numbers if number.how == how)
        if count:
            yield f"{format_count(count, 'measured number')} {how}."
    if whole:
        paths = sorted({path for some in whole.values() for path in some})
        yield f"Fitted through {', '.join(paths)}, which no fit moves: {', '.join(whole)}."
    pairs = sum(map(len, crossed.untried.values()))
    if pairs:
        claims = format_count(len(crossed.untried), "claim")
        yield f"Not tried, taken as nothing: {pairs:,} elasticities of {claims}; see --measure."
