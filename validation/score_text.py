"""The score as text: a table by group and kind, what moved, and whether the change may land."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xc40io.telling.text import format_columns
from xc40io.topology.text import format_count
from xc40io.validation.comparison import RISE, SMALLEST_GROUP, Comparison
from xc40io.validation.number import DistinctNumber
from xc40io.validation.report import FAR, NEAR
from xc40io.validation.score import MOST, Score, Tally

_TITLE = (
    "|ln(simulated / measured)| of distinct simulated numbers; 0.10 is about 10 % off, and one\n"
    f"counts at most ln 4 = {MOST:.3f}. What several measurements read off one run is one number,\n"
    "with the geometric mean of its ratios.\n"
)

_NEAR_AND_FAR = (
    "Near is a number to whose kind something was fitted, on its machine and in its study; far\n"
    "are the others. Kinds, then studies.\n"
)

_HEAD = ("", "numbers", "median", "mean", f"within {NEAR:g}", f"within {FAR:g}")

_WORTH_A_LINE = 0.005  # what changes a ratio in its second digit behind the point


def format_score(
    score: Score, comparison: Comparison | None = None, *, since: str = "", everything: bool = False
) -> str:
    """Print a score.

    Parameters
    ----------
    score
        The score.
    comparison
        With an earlier one, if that was asked for.
    since
        What the earlier one is called.
    everything
        Whether to list every number, those first that are furthest off, and whatever moved.
    """
    parts = [f"{_TITLE}\n{_table(score)}{_remarks(score)}", _halves(score)]
    if score.directions:
        parts.append(_directions(score.directions))
    if everything:
        parts.append(_numbers(score))
    if comparison is not None:
        parts += _comparison(comparison, since, everything=everything)
    return "\n".join(parts)


def _table(score: Score) -> str:
    """Print a row for each group, then one for each kind, and one for all."""
    groups = [_row(name, tally) for name, tally in score.groups.items()]
    kinds = [_row(name, tally) for name, tally in score.kinds.items() if tally.numbers]
    nothing = ("",) * len(_HEAD)
    return format_columns([_HEAD, *groups, nothing, *kinds, _row("all", score.total)])


def _halves(score: Score) -> str:
    """Print what each half adds up to: its kinds of numbers, and the studies that they are of."""
    studies = [
        (*_row(f"{half}, {name}", tally), "")
        for half, found in score.halves.items()
        for name, tally in found.studies.items()
    ]
    head, *rows = half_rows(score)
    return f"{_NEAR_AND_FAR}\n{format_columns([head, *rows, ('',) * len(head), *studies])}"


def _directions(directions: Mapping[str, bool]) -> str:
    """Say how many rules of users' guides hold, and which do not."""
    failing = ", ".join(name for name, holds in directions.items() if not holds)
    held = f"{sum(directions.values())} of {len(directions)} hold"
    return f"Rules of users' guides: {held}{f'; not {failing}' if failing else ''}.\n"


def half_rows(score: Score) -> Iterator[tuple[str, ...]]:
    """Yield a row for each half, and for what its numbers are of, with the head of the table.

    The last column is the mean in which each study counts alike.
    """
    yield *_HEAD, "mean of studies"
    for half, found in score.halves.items():
        parts = {half.value: found} | {f"{half}, {what}": found.of(what) for what in found.whats}
        for name, part in parts.items():
            if part.scored:
                yield *_row(name, part.total), _error(part.mean_of_studies)


def _row(name: str, tally: Tally) -> tuple[str, ...]:
    counts = (str(count) for count in (tally.near, tally.fair))
    return name, str(tally.numbers), _error(tally.median), _error(tally.mean), *counts


def _error(error: float | None) -> str:
    return "" if error is None else f"{error:.3f}"


def _remarks(score: Score) -> str:
    """Say which numbers are not of today, and which there are none of."""
    remarks = ""
    if score.kept:
        remarks += (
            f"{len(score.kept)} of {format_count(score.total.numbers, 'number')} kept from another "
            f"day, not simulated now (--full simulates all): {_names(score.kept)}.\n"
        )
    if score.missing:
        remarks += f"Without a result, and not counted: {_names(score.missing)}.\n"
    return remarks


def _names(numbers: Iterable[DistinctNumber]) -> str:
    return "; ".join(map(str, numbers))


def _numbers(score: Score) -> str:
    """Print every number, those first that are furthest off."""
    head = ("number", "ratio", "|ln|", "kind")
    rows = [
        (str(one.number), f"{one.ratio:.2f}", f"{one.error:.3f}", one.number.kind.value)
        for one in sorted(score.scored, key=lambda one: -one.error)
    ]
    return format_columns([head, *rows], left=(0, 3))


def _comparison(comparison: Comparison, since: str, *, everything: bool) -> Iterator[str]:
    """Yield what moved, the groups before and after, and the verdict."""
    if comparison.moved:
        yield f"Against {since}, {_moved(comparison, everything=everything)}"
        yield f"Means, before and now\n{_means(comparison)}"
    yield "".join(_left_out(comparison, since)) + f"{verdict(comparison, since)}\n"


def _moved(comparison: Comparison, *, everything: bool) -> str:
    """Print the numbers that moved; of those that hardly did only how many they are."""
    head = ("number", "before", "now", "|ln| by", "group")
    moved = comparison.moved
    shown = [pair for pair in moved if everything or pair.shift >= _WORTH_A_LINE]
    title = f"{len(moved)} of {format_count(len(comparison.pairs), 'number')} moved"
    if len(shown) < len(moved):
        rest = len(moved) - len(shown)
        title += f", {rest} of them by less than {_WORTH_A_LINE:.1%} (--all lists them)"
    rows = [
        (
            str(pair.number),
            f"{pair.before.ratio:.3f}",
            f"{pair.now.ratio:.3f}",
            _signed(pair.change),
            pair.number.group,
        )
        for pair in shown
    ]
    return f"{title}\n{format_columns([head, *rows], left=(0, 4))}"


def _means(comparison: Comparison) -> str:
    before, now = comparison.before, comparison.now
    rows: list[tuple[str, ...]] = [("", "numbers", "before", "now", "by")]
    rows += _mean_rows(before.groups, now.groups)
    rows.append(("",) * len(rows[0]))
    rows += _mean_rows(before.kinds, now.kinds)
    rows += _mean_rows(_half_means(before), _half_means(now))
    rows += _mean_rows({"all": before.total}, {"all": now.total})
    return format_columns(rows)


def _half_means(score: Score) -> dict[str, Tally]:
    return {half.value: found.total for half, found in score.halves.items()}


def _mean_rows(before: Mapping[str, Tally], now: Mapping[str, Tally]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            str(tally.numbers),
            f"{was:.3f}",
            f"{tally.mean:.3f}",
            _signed(tally.mean - was),
        )
        for name, tally in now.items()
        if tally.mean is not None and (was := before[name].mean) is not None
    ]


def _signed(change: float) -> str:
    return f"{round(change, 3) + 0.0:+.3f}"  # never -0.000


def _left_out(comparison: Comparison, since: str) -> Iterator[str]:
    """Say which claims are not compared."""
    if comparison.unlike:
        yield f"Put differently in {since}, and not compared: {', '.join(comparison.unlike)}.\n"
    if comparison.unknown:
        yield f"Without a result in {since}: {', '.join(comparison.unknown)}.\n"


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
