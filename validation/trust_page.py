"""The page on how far to trust the simulator, its annex and tables, made from kept results.

::

    xc40io validate --full --json > report.json
    python -m xc40io.validation.trust_page report.json    # keeps the results, writes the documents
    python -m xc40io.validation.trust_page                # writes the documents from what is kept

Several reports may be given, each of some of the claims. The sentences stand in
``trust_page.md`` and ``trust_annex.md``, with words in double braces where a figure belongs:

* ``{{simulated B02}}``, ``{{measured B02}}``, ``{{ratio B02}}``, ``{{role B02}}``;
* ``{{row B02 B01 | what they are}}``: a row of a table, of one claim or of several;
* ``{{compared Theta}}``: which comparisons of runs hold that were published of a machine;
* ``{{nearness}}``, ``{{counts}}``, ``{{predictions}}``: what all claims add up to;
* ``{{weights}}``, ``{{chances}}``: what intervals are made of, and whether chances hold
  (``xc40io.validation.coverage``); ``{{covered_all}}`` and ``{{chances_all}}`` say of both in a
  sentence whether they hold;
* ``{{advised}}``: whether advice holds (``xc40io.validation.closed_loop``).

Long tables stand in the files of :data:`TABLES`.

A line that begins with ``{{if B04 B05 hold}}`` is left out unless they all do; one that begins with
``{{if B09 fails}}``, unless it, or one of several, does not. What stands between the marks of
``xc40io.validation.shared_blocks`` is written into other documents, too.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from textwrap import fill

from xc40io.archive.whole_files import write_whole
from xc40io.config.errors import InputError
from xc40io.telling.cells import written
from xc40io.telling.data import csv_lines
from xc40io.topology.text import format_count
from xc40io.trust.model_error import model_errors
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.closed_loop.report import advice_rows, summary
from xc40io.validation.closed_loop.report import kept as kept_trials
from xc40io.validation.coverage import Coverage, chance_rows, coverage_rows, left_out_rows
from xc40io.validation.cross_answer import by_group, number_words
from xc40io.validation.cross_validation import CrossValidation, kept_cross_validation
from xc40io.validation.directions import kept_directions
from xc40io.validation.directions import rows as direction_rows
from xc40io.validation.fold import FOLDS, By
from xc40io.validation.half import near_claims
from xc40io.validation.kept import Result, keep, load_kept, results_of
from xc40io.validation.prediction import needed_runs, predictions
from xc40io.validation.report import FAR, KINDS, NEAR, Nearness, kinds_of
from xc40io.validation.report_answer import NEARNESS_WORDS, median_words, nearness_words
from xc40io.validation.score import counting, score
from xc40io.validation.score_answer import halves_table
from xc40io.validation.shared_blocks import blocks_of, with_blocks
from xc40io.validation.target import FOLDER

_ROOT = FOLDER.parent
PAGE = _ROOT / "docs" / "how-far-to-trust-it.md"
ANNEX = _ROOT / "docs" / "trust-annex.md"
TEMPLATES = {PAGE: FOLDER / "trust_page.md", ANNEX: FOLDER / "trust_annex.md"}
"""The template of each page."""

TABLES = {
    name: ANNEX.parent / "trust" / f"{name}.csv"
    for name in ("claims", "groups", "left-out", "score", "rules", "advice")
}
"""The tables that the annex has beside it, but for two that nothing makes."""

SHARING = (
    _ROOT / "README.md",
    _ROOT / "docs" / "quick-start.md",
    _ROOT / "docs" / "what-is-modelled.md",
)
"""Documents that show blocks of the page."""

_WIDTH = 118  # of the lines of documents

_SIZES = {
    "nodes": "nodes",
    "ranks_a_node": "ranks a node",
    "bytes_a_rank": "bytes a rank",
    "call": "bytes a call",
}
"""What the sizes of runs are called that :class:`~xc40io.trust.near_errors.Weights` has."""

_SLOT = re.compile(r"\{\{([^{}]+)\}\}")
_CONDITION = re.compile(r"\{\{if (?P<claims>[^{}|]+) (?P<verb>holds?|fails?)\}\} (?P<line>.*)")


class Results:
    """Claims with what came of them.

    Parameters
    ----------
    claims
        All of them.
    kept
        What came of those that were run.
    """

    def __init__(self, claims: Mapping[str, Claim], kept: Mapping[str, Result]) -> None:
        self._claims = claims
        self._kept = {name: found for name, found in kept.items() if name in claims}
        self._predicted = predictions(claims)

    def fill(self, template: str) -> str:
        """Return a template with its figures.

        Raises
        ------
        InputError
            If it asks for what there is not.
        """
        lines = (self._line(line) for line in template.split("\n"))
        return "\n".join(line for line in lines if line is not None)

    def _line(self, line: str) -> str | None:
        """Return a line with its figures; None if its condition is not met."""
        condition = _CONDITION.fullmatch(line)
        if condition is not None:
            names = condition["claims"].split()
            held = all(self._found(name, line)[1].verdict == "pass" for name in names)
            if held != condition["verb"].startswith("hold"):
                return None
            line = condition["line"]
        return _SLOT.sub(lambda slot: self._word(slot[1]), line)

    def _word(self, slot: str) -> str:
        """Return what stands in place of a slot."""
        name, _, rest = slot.strip().partition(" ")
        blocks = {
            "nearness": self._nearness,
            "counts": self._counts,
            "chances": self._chances,
            "covered_all": self._covered_all,
            "chances_all": self._chances_all,
            "advised": self._advised,
            "predictions": self._predictions,
            "weights": self._weights,
        }
        if name in blocks and not rest:
            return "\n".join(blocks[name]())
        if name == "compared":
            return self._compared(rest.strip())
        identities, _, text = (part.strip() for part in rest.partition("|"))
        if name == "row":
            return self._row(identities.split(), text, slot)
        claim, result = self._found(identities, slot)
        words = {
            "simulated": result.simulated,
            "measured": claim.relation.words if claim.relation else "",
            "ratio": _ratio(result),
            "role": self._role(claim),
        }
        if name not in words:
            raise InputError(
                f"a template: {{{{{slot}}}}}: right would be {', '.join([*words, *blocks])}, "
                "row or compared"
            )
        return words[name]

    def _found(self, identity: str, slot: str) -> tuple[Claim, Result]:
        if identity not in self._kept:
            raise InputError(
                f"a template: {{{{{slot}}}}}: no result of {identity} is kept; right would be "
                "a claim that was run"
            )
        return self._claims[identity], self._kept[identity]

    def _role(self, claim: Claim) -> str:
        numbers = claim.relation is not None and claim.relation.has_values
        predicted = numbers and claim.id in self._predicted
        return "prediction" if predicted else str(claim.role)

    def _row(self, names: list[str], text: str, slot: str) -> str:
        """Return a row of a table: of each claim what was measured, and what comes out."""
        found = [self._found(name, slot) for name in names]
        measured = [claim.relation.words if claim.relation else "" for claim, _ in found]
        simulated = [result.simulated for _, result in found]
        ratios = [_ratio(result) for _, result in found]
        roles = dict.fromkeys(self._role(claim) for claim, _ in found)
        told = (text, _side_by_side(measured), _side_by_side(simulated), ", ".join(ratios))
        return _cells((", ".join(f"`{name}`" for name in names), *told, ", ".join(roles)))

    def _compared(self, system: str) -> str:
        """Say how many comparisons of runs hold that were published of a system, and which do not.

        ``Cori`` is both kinds of its nodes.
        """
        claims = self._claims
        comparing = [name for name in self._kept if _compares(claims[name])]
        names = [name for name in comparing if claims[name].target.system.startswith(system)]
        held = self._count(names, "pass")
        failed = [f"`{name}`" for name in names if self._kept[name].verdict == "fail"]
        if not held and not failed:
            raise InputError(f"a template: {{{{compared {system}}}}}: nothing of it is kept")
        without = f", not {', '.join(failed)}" if failed else ""
        return f"{held} of {held + len(failed)} hold{without}"

    def _halves(self) -> Iterator[tuple[str, ...]]:
        """Yield the score of what something was fitted near, and of the rest."""
        claims = {claim.id: claim for claim in counting(self._claims.values())}
        near = near_claims(self._claims, self._predicted)
        found = score(claims, self._predicted, self._kept, near=near)
        told = written(halves_table(found))
        yield from (tuple(told.heads), *map(tuple, told.rows))

    def tables(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the rows of :data:`TABLES`, of each the head first."""
        return {
            "claims": list(self._rows()),
            "groups": list(_beside(self._groups(), self._crossed(), self._covered())),
            "left-out": list(left_out_rows(self._coverage)),
            "score": list(self._halves()),
            "rules": list(direction_rows(kept_directions())),
            "advice": list(advice_rows(kept_trials().values())),
        }

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """Yield what came of each claim."""
        yield "claim", "group", "what", "measured", "simulated", "ratio", "role", "verdict"
        for name, result in self._kept.items():
            claim = self._claims[name]
            measured = claim.relation.words if claim.relation else ""
            told = (name, claim.family, claim.title, measured, result.simulated, _ratio(result))
            yield (*told, self._role(claim), result.verdict)

    def _groups(self) -> Iterator[tuple[str, ...]]:
        """Yield how many claims of each group hold, how far they are off, and the same of all."""
        yield "group", "hold", "fail", *KINDS
        groups: dict[str, list[str]] = {}
        for name in self._kept:
            groups.setdefault(self._claims[name].family, []).append(name)
        for group, names in [*groups.items(), ("all", list(self._kept))]:
            held = [str(self._count(names, verdict)) for verdict in ("pass", "fail")]
            yield group, *held, *(median_words(self._near(names, kind)) for kind in KINDS)

    def _count(self, names: list[str], verdict: str) -> int:
        return sum(1 for name in names if self._kept[name].verdict == verdict)

    def _near(self, names: list[str], kind: str) -> Nearness:
        return Nearness.of(
            [
                number.error
                for name in names
                if kind in kinds_of(self._claims[name], self._predicted)
                for number in self._kept[name].numbers
                if number.counts
            ]
        )

    def _nearness(self) -> Iterator[str]:
        for kind in KINDS:
            yield f"* {NEARNESS_WORDS[kind]}: {nearness_words(self._near(list(self._kept), kind))}."

    def _predictions(self) -> Iterator[str]:
        near = self._near(list(self._kept), "prediction")
        if near.median is None:
            return
        yield from textwrap.wrap(
            f"Of {format_count(near.numbers, 'number')} that the simulator was never shown, "
            f"half come out within a factor of {math.exp(near.median):.2f}, {near.off} are beyond "
            f"{NEAR:g} and {near.far} beyond {FAR:g}.",
            _WIDTH,
        )

    def _counts(self) -> Iterator[str]:
        names = list(self._kept)
        held, failed = self._count(names, "pass"), self._count(names, "fail")
        without = sum(1 for claim in self._claims.values() if claim.not_expressed)
        yield (
            f"{held} of {held + failed} claims with a verdict hold; {without} rows cannot "
            "be compared with runs"
        )

    def _crossed(self) -> Iterator[tuple[str, ...]]:
        """Yield errors of each group as fitted and as cross-validated."""
        tables = {by: by_group(crossed) for by, crossed in self._by.items()}
        yield "group", "as it is", *(f"without its {by}" for by in tables)
        for group, (fitted, _) in tables["series"].items():
            crossed = (number_words(table[group][1].median) for table in tables.values())
            yield group, f"{number_words(fitted.median)} ({fitted.numbers})", *crossed

    def _covered(self) -> Iterator[tuple[str, ...]]:
        """Yield how many measured numbers of each group lie in their intervals."""
        yield from coverage_rows(self._coverage.covered())

    def _weights(self) -> Iterator[str]:
        """Yield at which difference of each kind a measured run counts e times less."""
        weights = model_errors().weights.model_dump()
        halves = {name: math.exp(1.0 / math.sqrt(weights[name])) for name in _SIZES}
        said = (
            f"A run of another kind counts {math.exp(weights['kind']):.0f} times less than yours "
            f"would, one on another machine {math.exp(weights['machine']):.1f} times, and e times "
            "less one that has "
            + ", ".join(f"{times:.0f} times the {_SIZES[name]}" for name, times in halves.items())
        )
        yield fill(f"{said}.", _WIDTH, break_long_words=False, break_on_hyphens=False)

    def _chances(self) -> Iterator[str]:
        """Yield a table of chances beside how often they came out."""
        yield from _table(chance_rows(self._coverage.chances()))

    def _covered_all(self) -> Iterator[str]:
        """Yield how many measured numbers lie in their intervals."""
        (told,) = (row for row in self._covered() if row[0] == "all")
        _, inside, numbers, width = told
        yield (
            f"{inside} of {numbers} lie in their interval, whose high end is {width} times its low "
            "end at the median"
        )

    def _chances_all(self) -> Iterator[str]:
        """Yield how often the likelier of two runs was the faster one."""
        *_, (_, pairs, said, was) = chance_rows(self._coverage.chances())
        yield (
            f"Of {pairs} pairs of measured runs {was} came out as simulated; the chances had said "
            f"{said} on average."
        )

    def _advised(self) -> Iterator[str]:
        """Yield what came of following advice, in sentences."""
        told = summary(kept_trials().values())
        yield fill(told, _WIDTH, break_long_words=False, break_on_hyphens=False)

    @cached_property
    def _coverage(self) -> Coverage:
        return Coverage(self._by["series"])

    @cached_property
    def _by(self) -> dict[By, CrossValidation]:
        """The cross-validations, by what is left out at a time."""
        return {by: kept_cross_validation(self._claims, self._kept, by) for by in FOLDS}


def _compares(claim: Claim) -> bool:
    """Return whether a claim sets runs beside each other, in a trend or by a ratio.

    The runs of an input confirm nothing.
    """
    if not claim.runs or claim.relation is None or claim.role == "input":
        return False
    return claim.relation.is_trend or len(needed_runs(claim)) > 1


def _side_by_side(quantities: list[str]) -> str:
    """Write quantities with the unit that they have in common once: ``15, 60 GB/s``."""
    numbers, units = zip(*(quantity.rpartition(" ")[::2] for quantity in quantities), strict=True)
    if len(set(units)) > 1 or not all(numbers):
        return ", ".join(quantities)
    return f"{', '.join(numbers)} {units[0]}"


def _ratio(result: Result) -> str:
    return f"{result.numbers[0].ratio:.2f}" if len(result.numbers) == 1 else ""


def _cells(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table whose first row is its head."""
    head = next(rows)
    yield from (_cells(head), _rule(len(head)), *map(_cells, rows))


def _rule(columns: int) -> str:
    """Return what stands between the head of a table and its rows."""
    return f"|{'---|' * columns}"


def _beside(*tables: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield tables beside each other, by what stands first in their rows; empty where one has none.

    Each table begins with its head.
    """
    by_name: dict[str, dict[int, tuple[str, ...]]] = {}
    empty: list[tuple[str, ...]] = []
    for number, table in enumerate(tables):
        for name, *cells in table:
            by_name.setdefault(name, {})[number] = tuple(cells)
        empty.append(("",) * len(cells))
    for name, found in by_name.items():
        sides = (found.get(number, none) for number, none in enumerate(empty))
        yield (name, *chain.from_iterable(sides))


def trust_pages(claims: Mapping[str, Claim], kept: Mapping[str, Result]) -> dict[Path, str]:
    """Return the texts of the page, its annex and the tables."""
    results = Results(claims, kept)
    pages = {
        page: results.fill(template.read_text(encoding="utf-8"))
        for page, template in TEMPLATES.items()
    }
    return pages | {TABLES[name]: csv_lines(rows) for name, rows in results.tables().items()}


def documents(pages: Mapping[Path, str]) -> dict[Path, str]:
    """Return the texts of all documents that show kept results: the pages, and who shares blocks.

    Raises
    ------
    InputError
        If one of them asks for a block that the page does not have.
    """
    blocks = blocks_of(pages[PAGE])
    return {**pages} | {document: with_blocks(document, blocks) for document in SHARING}


def main(reports: list[str]) -> None:
    """Keep the results of some reports, and write the documents."""
    claims = load_claims()
    kept = load_kept()
    for report in reports:
        kept |= results_of(Path(report))
    if reports:
        keep(kept, claims)
    for document, text in documents(trust_pages(claims, load_kept())).items():
        write_whole(document, text, "document")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"trust_page: {error}")
