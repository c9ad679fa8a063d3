"""The score as an answer: by group and kind, what moved, and whether the change may land."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from operator import attrgetter
from typing import Any

from xc40io.studies.store import code_hash
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Columns,
    Listing,
    Table,
    Text,
    To,
    Unit,
    Values,
)
from xc40io.telling.data import record
from xc40io.telling.units import ANY, FACTOR, FLAG, NUMBER, RATIO, RECORD, ROWS, WORDS
from xc40io.topology.text import format_count
from xc40io.validation.comparison import RISE, SMALLEST_GROUP, Comparison
from xc40io.validation.number import DistinctNumber
from xc40io.validation.report import FAR, NEAR
from xc40io.validation.score import MOST, Score, Tally

_TITLE = (
    "|ln(simulated / measured)| of distinct simulated numbers; 0.10 is about 10 % off, and one\n"
    f"counts at most ln 4 = {MOST:.3f}. What several measurements read off one run is one number,\n"
    "with the geometric mean of its ratios."
)

_NEAR_AND_FAR = (
    "Near is a number to whose kind something was fitted, on its machine and in its study; far\n"
    "are the others. Kinds, then studies."
)

_WORTH_A_LINE = 0.005  # what changes a ratio in its second digit behind the point

_CHANGE = Unit("", float, lambda change: f"{round(change, 3) + 0.0:+.3f}")  # never -0.000

_TALLY: Columns = (
    Column("numbers", NUMBER),
    Column("median", FACTOR),
    Column("mean", FACTOR),
    Column(f"within_{NEAR:g}", NUMBER, attrgetter("near"), head=f"within {NEAR:g}"),
    Column(f"within_{FAR:g}", NUMBER, attrgetter("fair"), head=f"within {FAR:g}"),
)

_NAME = Column("name", WORDS, head="")
_ROW: Columns = (_NAME, *(replace(column, of=None) for column in _TALLY))
_HALF: Columns = (*_ROW, Column("mean_of_studies", FACTOR, head="mean of studies"))
_MEAN: Columns = (
    _NAME,
    Column("numbers", NUMBER),
    Column("before", FACTOR),
    Column("now", FACTOR),
    Column("by", _CHANGE),
)
_GAP = dict.fromkeys(column.name for column in (*_HALF, *_MEAN))
"""A row of these tables without anything in it."""

_READERS = Column("measurements", ANY, lambda one: _readers(one.number), to=To.JSON)
_SCORED: Columns = (
    Column("number", WORDS, to=To.PEOPLE),
    _READERS,
    Column("group", WORDS, attrgetter("number.group"), to=To.JSON),
    Column("kind", WORDS, attrgetter("number.kind.value"), to=To.JSON),
    *(
        Column(name, WORDS, attrgetter(f"number.place.{name}"), to=To.JSON)
        for name in ("half", "what", "study")
    ),
    Column("ratio", RATIO),
    Column("error", FACTOR, head="|ln|"),
    Column("said", WORDS, attrgetter("number.kind.value"), head="kind", to=To.PEOPLE),
    Column("kept", FLAG, to=To.JSON),
)
_PAIR: Columns = (
    Column("number", WORDS, to=To.PEOPLE),
    _READERS,
    Column("group", WORDS, attrgetter("number.group"), to=To.JSON),
    Column("before", FACTOR, attrgetter("before.ratio")),
    Column("now", FACTOR, attrgetter("now.ratio")),
    Column("change", _CHANGE, head="|ln| by"),
    Column("said", WORDS, attrgetter("number.group"), head="group", to=To.PEOPLE),
)
_TALLIES: Columns = tuple(Column(name, RECORD) for name in ("groups", "kinds", "total", "halves"))
_AGAINST: Columns = (
    Column("since", WORDS),
    Column("numbers", NUMBER),
    Column("moved", ROWS, inner=_PAIR),
    Column("before", RECORD, inner=_TALLIES),
    Column("now", RECORD, inner=_TALLIES),
    Column("put_differently", ANY),
    Column("without_result", ANY),
    Column("lands", FLAG),
    Column("verdict", WORDS),
)
_SCORE: Columns = (
    Column("version", WORDS),
    Column("code", WORDS),
    Column("numbers", ROWS, inner=_SCORED),
    Column("missing", ANY),
    Column("directions", RECORD),
    *_TALLIES,
)


def score_answer(
    score: Score, comparison: Comparison | None = None, *, since: str = "", everything: bool = False
) -> Answer:
    """Return a score as an answer.

    Its values are ``version``, ``code`` (a hash of the simulator's sources), ``numbers`` (each with
    the measurements that read it, its ratio, its ``|ln|`` as it counts, whether it is kept from
    another day), ``missing`` (those without a result), ``directions`` (whether each rule of users'
    guides holds), ``groups``, ``kinds`` and ``total`` (what they add up to), ``halves`` (near and
    far, each by ``what`` the numbers are of and by ``studies``, with ``mean_of_studies`` in which
    each study counts alike) and, if asked for, ``against`` (what moved since, the tallies before
    and now, and whether the change lands).

    Parameters
    ----------
    score
        The score.
    comparison
        With an earlier one, if that was asked for.
    since
        What the earlier one is called.
    everything
        Whether people see every number, those first that are furthest off, and whatever moved.
    """
    against = () if comparison is None else (Column("against", RECORD, inner=_AGAINST),)
    of = {
        "version": version("xc40io"),
        "code": code_hash(),
        "numbers": score.scored,
        "missing": list(map(_readers, score.missing)),
        "directions": score.directions,
        **_tallies(score),
        "against": comparison and _against(comparison, since),
    }
    blocks: list[Block] = [Text(_TITLE), _table(score)]
    if remarks := list(_remarks(score)):
        blocks.append(Text("\n".join(remarks)))
    blocks += [Text(_NEAR_AND_FAR), _by_half(score)]
    if score.directions:
        blocks.append(_directions(score.directions))
    if everything:
        furthest = sorted(score.scored, key=lambda one: -one.error)
        blocks.append(Table(_SCORED, lambda: furthest, most=len(furthest)))
    if comparison is not None:
        blocks += _compared(comparison, since, everything=everything)
    return Answer("Score", "", blocks, values=Values("score", (*_SCORE, *against), of))


def _readers(number: DistinctNumber) -> list[str]:
    return list(map(str, number.readers))


def _tallies(score: Score) -> dict[str, Any]:
    return {
        "groups": _by_name(score.groups),
        "kinds": _by_name(score.kinds),
        "total": record(_TALLY, score.total),
        "halves": {half.value: _half(found) for half, found in score.halves.items()},
    }


def _half(found: Score) -> dict[str, Any]:
    return {
        **record(_TALLY, found.total),
        "mean_of_studies": found.mean_of_studies,
        "what": _by_name(found.whats),
        "studies": _by_name(found.studies),
    }


def _by_name(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    return {name: record(_TALLY, tally) for name, tally in tallies.items()}


def _against(comparison: Comparison, since: str) -> dict[str, Any]:
    return {
        "since": since,
        "numbers": len(comparison.pairs),
        "moved": comparison.moved,
        "before": _tallies(comparison.before),
        "now": _tallies(comparison.now),
        "put_differently": comparison.unlike,
        "without_result": comparison.unknown,
        "lands": comparison.lands,
        "verdict": verdict(comparison, since),
    }


def _row(name: str, tally: Tally, studies: float | None = None) -> dict[str, Any]:
    return {"name": name, **record(_TALLY, tally), "mean_of_studies": studies}


def _table(score: Score) -> Table:
    """Return a row for each group, then one for each kind, and one for all."""
    groups = [_row(name, tally) for name, tally in score.groups.items()]
    kinds = [_row(name, tally) for name, tally in score.kinds.items() if tally.numbers]
    rows = [*groups, _GAP, *kinds, _row("all", score.total)]
    return Table(_ROW, lambda: rows)


def _by_half(score: Score) -> Table:
    """Return what each half adds up to: its kinds of numbers, and the studies that they are of."""
    studies = [
        _row(f"{half}, {name}", tally)
        for half, found in score.halves.items()
        for name, tally in found.studies.items()
    ]
    return Table(_HALF, lambda: [*_half_rows(score), _GAP, *studies])


def halves_table(score: Score) -> Table:
    """Return a row for each half, and for what its numbers are of.

    The last column is the mean in which each study counts alike.
    """
    return Table(_HALF, lambda: list(_half_rows(score)))


def _half_rows(score: Score) -> Iterator[dict[str, Any]]:
    for half, found in score.halves.items():
        parts = {half.value: found} | {f"{half}, {what}": found.of(what) for what in found.whats}
        for name, part in parts.items():
            if part.scored:
                yield _row(name, part.total, part.mean_of_studies)


def _directions(directions: Mapping[str, bool]) -> Text:
    """Say how many rules of users' guides hold, and which do not."""
    failing = ", ".join(name for name, holds in directions.items() if not holds)
    held = f"{sum(directions.values())} of {len(directions)} hold"
    return Text(f"Rules of users' guides: {held}{f'; not {failing}' if failing else ''}.")


def _remarks(score: Score) -> Iterator[str]:
    """Say which numbers are not of today, and which there are none of."""
    if score.kept:
        yield (
            f"{len(score.kept)} of {format_count(score.total.numbers, 'number')} kept from another "
            f"day, not simulated now (--full simulates all): {_names(score.kept)}."
        )
    if score.missing:
        yield f"Without a result, and not counted: {_names(score.missing)}."


def _names(numbers: Iterable[DistinctNumber]) -> str:
    return "; ".join(map(str, numbers))


def _compared(comparison: Comparison, since: str, *, everything: bool) -> Iterator[Block]:
    """Yield what moved, the groups before and after, and the verdict."""
    if comparison.moved:
        yield _moved(comparison, since, everything=everything)
        yield Table(_MEAN, lambda: _means(comparison), title="Means, before and now")
    said = [*_left_out(comparison, since), verdict(comparison, since)]
    yield Listing("Verdict", "\n".join(said))


def _moved(comparison: Comparison, since: str, *, everything: bool) -> Table:
    """Return the numbers that moved; of those that hardly did only how many they are."""
    moved = comparison.moved
    shown = [pair for pair in moved if everything or pair.shift >= _WORTH_A_LINE]
    numbers = format_count(len(comparison.pairs), "number")
    title = f"Against {since}, {len(moved)} of {numbers} moved"
    if len(shown) < len(moved):
        rest = len(moved) - len(shown)
        title += f", {rest} of them by less than {_WORTH_A_LINE:.1%} (--all lists them)"
    return Table(_PAIR, lambda: shown, title=title, most=len(shown))


def _means(comparison: Comparison) -> list[dict[str, Any]]:
    before, now = comparison.before, comparison.now
    return [
        *_mean_rows(before.groups, now.groups),
        _GAP,
        *_mean_rows(before.kinds, now.kinds),
        *_mean_rows(_half_means(before), _half_means(now)),
        *_mean_rows({"all": before.total}, {"all": now.total}),
    ]


def _half_means(score: Score) -> dict[str, Tally]:
    return {half.value: found.total for half, found in score.halves.items()}


def _mean_rows(before: Mapping[str, Tally], now: Mapping[str, Tally]) -> Iterator[dict[str, Any]]:
    for name, tally in now.items():
        was, mean = before[name].mean, tally.mean
        if was is not None and mean is not None:
            by = mean - was
            yield {"name": name, "numbers": tally.numbers, "before": was, "now": mean, "by": by}


def _left_out(comparison: Comparison, since: str) -> Iterator[str]:
    """Say which claims are not compared."""
    if comparison.unlike:
        yield f"Put differently in {since}, and not compared: {', '.join(comparison.unlike)}."
    if comparison.unknown:
        yield f"Without a result in {since}: {', '.join(comparison.unknown)}."


def verdict(comparison: Comparison, since: str) -> str:
    """Say in a sentence whether a change of physics lands."""
    numbers = format_count(len(comparison.pairs), "number")
    if not comparison.pairs:
        return f"Nothing to compare: no number here has a result in {since}."
    if not comparison.moved:
        return f"Nothing moved: {numbers} as in {since}."
    half = comparison.judged
    before, now = comparison.before.halves[half].total, comparison.now.halves[half].total
    over = f"the mean over {format_count(now.numbers, f'{half} number')}"
    means = f"from {before.mean:.4f} to {now.mean:.4f}"
    if comparison.lands:
        return (
            f"Lands: {over} falls {means}, and no near group of {SMALLEST_GROUP} or more rises by "
            f"more than {RISE:g}."
        )
    reasons = [f"{over} rises {means}"] if comparison.is_worse else []
    reasons += [] if comparison.is_worse or comparison.is_nearer else [f"{over} does not fall"]
    reasons += [
        f"near, {name} rises from {before.mean:.3f} to {now.mean:.3f}"
        for name, (before, now) in comparison.risen.items()
    ]
    return f"Does not land: {'; '.join(reasons)}."
