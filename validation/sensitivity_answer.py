"""Sensitivities as an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np

from xc40io.telling.answer import CELL, Answer, Block, Column, Table, Text, plain_table
from xc40io.topology.text import format_count
from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.sensitivity import BLIND, Sensitivity, row_of

_UNSEEN, _UNSURE, _OTHER_MACHINE = ".", "?", ""
_MOST = 5  # readings that are named beside a parameter
_KEY = f"""\
Elasticity d ln(metric) / d ln(parameter): 1 where 1 % more of the parameter is 1 % more of the
metric. Beside each parameter the published rows that see it, those first that see it best; below,
claims by parameters: {_UNSEEN} is less than {BLIND:g} either way; a number with {_UNSURE} may be
chance; an empty cell is a parameter of another machine."""


def sensitivity_answer(sensitivity: Sensitivity) -> Answer:
    """Tell claims by parameters, and what follows from the table.

    A claim with several numbers has one row, in which each parameter stands with the elasticity
    that is furthest from zero. The table of the answer has every number on a line of its own, with
    its standard error over the seeds.
    """
    parameters = sensitivity.parameters
    numbers = [str(number) for number, _ in enumerate(parameters, start=1)]
    legend = [
        [f"{number}.", each.name, f"= {each.show(each.value)}", *_seen(sensitivity, each)]
        for number, each in zip(numbers, parameters, strict=True)
    ]
    rows = [[claim, *_row(sensitivity, claim)] for claim in _claims(sensitivity)]
    heads = ("", "parameter", "value", "seen by", "best by")
    blocks: list[Block] = [
        Text(_KEY),
        plain_table("", heads, legend, words=(0, 1, 2, 4)),
        plain_table("", ["claim", *numbers], rows),
        Text("\n".join(_conclusions(sensitivity))),
    ]
    table = Table(_NUMBERS, lambda: list(_numbers(sensitivity)))
    return Answer("Sensitivity", "", blocks, table=table)


_NUMBERS = tuple(
    Column(name, CELL, itemgetter(place))
    for place, name in enumerate(
        ("claim", "run", "parameter", "machines", "elasticity", "error", "seen")
    )
)


def _numbers(sensitivity: Sensitivity) -> Iterator[tuple[str | int, ...]]:
    visible = sensitivity.visible
    for row, reading in enumerate(sensitivity.readings):
        for column, parameter in enumerate(sensitivity.parameters):
            elasticity = float(sensitivity.elasticity[row, column])
            if not math.isnan(elasticity):
                error = float(sensitivity.error[row, column])
                of = (reading.claim, reading.run, parameter.path, " ".join(parameter.machines))
                yield *of, f"{elasticity:.4f}", f"{error:.4f}", int(visible[row, column])


def _claims(sensitivity: Sensitivity) -> list[str]:
    return list(dict.fromkeys(reading.claim for reading in sensitivity.readings))


def _seen(sensitivity: Sensitivity, parameter: FreeParameter) -> tuple[str, str]:
    """Return how many rows see a parameter, and the claims of those that see it best."""
    column = sensitivity.parameters.index(parameter)
    best: dict[str, tuple[str, float]] = {}
    for number in np.flatnonzero(sensitivity.visible[:, column]):
        claim = sensitivity.readings[number].claim
        elasticity = float(sensitivity.elasticity[number, column])
        if abs(elasticity) > abs(best.get(row_of(claim), ("", 0.0))[1]):
            best[row_of(claim)] = claim, elasticity
    ordered = sorted(best.values(), key=lambda each: -abs(each[1]))
    named = [f"{claim} {elasticity:+.2f}" for claim, elasticity in ordered[:_MOST]]
    more = ["..."] if len(ordered) > _MOST else []
    return format_count(len(best), "row"), ", ".join(named + more)


def _row(sensitivity: Sensitivity, claim: str) -> list[str]:
    """Return the cells of a claim."""
    mine = [row for row, reading in enumerate(sensitivity.readings) if reading.claim == claim]
    sizes = np.abs(np.nan_to_num(sensitivity.elasticity[mine]))
    cells = []
    for column, largest in enumerate(sizes.argmax(axis=0)):
        row = mine[int(largest)]
        cells.append(_cell(sensitivity.elasticity[row, column], sensitivity.visible[row, column]))
    return cells


def _cell(elasticity: float, visible: bool) -> str:
    if math.isnan(elasticity):
        return _OTHER_MACHINE
    if abs(elasticity) < BLIND:
        return _UNSEEN
    return f"{elasticity:+.2f}{'' if visible else _UNSURE}"


def _conclusions(sensitivity: Sensitivity) -> list[str]:
    """Return what must not be fitted, and whether a claim has a parameter of its own."""
    lone = sensitivity.lone
    unseen = [p for p in sensitivity.parameters if not sensitivity.seen_by(p)]
    sentences = []
    if unseen:
        sentences.append(f"Seen by no claim, not to be fitted to them: {_names(unseen)}.")
    sentences += [f"Only {row} sees {parameter.name}." for parameter, row in lone.items()]
    alone = sensitivity.fitted_alone
    sentences += [
        f"{claim} was fitted through {_names(own)}, which no other row sees."
        for claim, own in alone.items()
    ]
    sentences += [
        f"{claim} does not see {_names(unseen)}, which is said to be fitted to it."
        for claim, unseen in sensitivity.fitted_blindly.items()
    ]
    if not alone:
        sentences.append("No claim was fitted through a parameter that only its row sees.")
    return sentences


def _names(parameters: Sequence[FreeParameter]) -> str:
    return ", ".join(parameter.name for parameter in parameters)
