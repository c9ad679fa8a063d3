"""The page on how far to trust the simulator, made from a template and kept results.

::

    xc40io validate --full --json > report.json
    python -m validation.trust_page report.json    # keeps the results, writes the page
    python -m validation.trust_page                # writes the page from what is kept

Several reports may be given, each of some of the claims. The sentences stand in
``trust_page.md``, with words in double braces where a figure belongs:

* ``{{simulated B02}}``, ``{{measured B02}}``, ``{{ratio B02}}``, ``{{role B02}}``;
* ``{{row B02 | what it is}}``, alone on a line: a row of a table if the claim holds;
* ``{{groups}}``, ``{{nearness}}``, ``{{failures}}``, ``{{counts}}``: what all claims add up to;
* ``{{crossed}}``, ``{{alone}}``: the numbers predicted without the measurements around them
  (``validation.cross``), and the parameters that one row alone fixes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill

from sim.archive.files import write_whole
from sim.config.errors import InputError
from validation.claim import Claim, load_claims
from validation.cross_text import by_group, lone_words, number_words
from validation.cross_validation import CrossValidation, kept_cross_validation
from validation.fold import FOLDS, By, whole_alone
from validation.free_parameter import load_free_parameters
from validation.kept import Result, keep, load_kept, results_of
from validation.prediction import predictions
from validation.report import KINDS, Nearness, kinds_of
from validation.report_text import NEARNESS_WORDS, median_words, nearness_words
from validation.target import FOLDER

TEMPLATE = FOLDER / "trust_page.md"
PAGE = FOLDER.parent / "docs" / "how-far-to-trust-it.md"

_WIDTH = 118
_SLOT = re.compile(r"\{\{([^{}]+)\}\}")


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
        lines = (_SLOT.sub(lambda slot: self._word(slot[1]), line) for line in template.split("\n"))
        dropped = (line for line in lines if line != _DROPPED)
        return "\n".join(dropped)

    def _word(self, slot: str) -> str:
        """Return what stands in place of a slot."""
        name, _, rest = slot.strip().partition(" ")
        blocks = {
            "groups": self._groups,
            "nearness": self._nearness,
            "failures": self._failures,
            "counts": self._counts,
            "crossed": self._crossed,
            "alone": self._alone,
        }
        if name in blocks and not rest:
            return "\n".join(blocks[name]())
        identity, _, text = (part.strip() for part in rest.partition("|"))
        claim, result = self._found(identity, slot)
        words = {
            "simulated": result.simulated,
            "measured": claim.relation.words if claim.relation else "",
            "ratio": _ratio(result),
            "role": self._role(claim),
        }
        if name == "row":
            return self._row(claim, result, text)
        if name not in words:
            raise InputError(f"{TEMPLATE.name}: {{{{{slot}}}}}: right would be {', '.join(words)}")
        return words[name]

    def _found(self, identity: str, slot: str) -> tuple[Claim, Result]:
        if identity not in self._kept:
            raise InputError(
                f"{TEMPLATE.name}: {{{{{slot}}}}}: no result of {identity} is kept; right would be "
                "a claim that was run"
            )
        return self._claims[identity], self._kept[identity]

    def _role(self, claim: Claim) -> str:
        numbers = claim.relation is not None and claim.relation.has_values
        predicted = numbers and claim.id in self._predicted
        return "prediction" if predicted else str(claim.role)

    def _row(self, claim: Claim, result: Result, text: str) -> str:
        """Return a row of a table; nothing of a claim that fails, which is among the failures."""
        if result.verdict == "fail":
            return _DROPPED
        measured = claim.relation.words if claim.relation else ""
        cells = (f"`{claim.id}`", text, measured, result.simulated, self._role(claim))
        return _cells(cells)

    def _groups(self) -> Iterator[str]:
        """Yield a row for each group, and one for all."""
        yield _cells(("group", "hold", "fail", *KINDS))
        yield _rule(3 + len(KINDS))
        groups: dict[str, list[str]] = {}
        for name in self._kept:
            groups.setdefault(self._claims[name].family, []).append(name)
        for group, names in [*groups.items(), ("all", list(self._kept))]:
            held = [str(self._count(names, verdict)) for verdict in ("pass", "fail")]
            near = [median_words(self._near(names, kind)) for kind in KINDS]
            yield _cells((group, *held, *near))

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

    def _failures(self) -> Iterator[str]:
        """Yield a table of all that does not hold."""
        yield _cells(("claim", "what", "measured", "simulated", "ratio", "role"))
        yield _rule(6)
        for name, result in self._kept.items():
            if result.verdict == "fail":
                claim = self._claims[name]
                measured = claim.relation.words if claim.relation else ""
                told = (f"`{name}`", claim.title.replace("|", "/"), measured, result.simulated)
                yield _cells((*told, _ratio(result), self._role(claim)))

    def _counts(self) -> Iterator[str]:
        names = list(self._kept)
        held, failed = self._count(names, "pass"), self._count(names, "fail")
        without = sum(1 for claim in self._claims.values() if claim.not_expressed)
        yield (
            f"{held} of {held + failed} claims with a verdict hold; {without} rows are not "
            "expressed as runs"
        )

    def _crossed(self) -> Iterator[str]:
        """Yield a table of errors as fitted and as cross-validated."""
        tables = {by: by_group(self._cross_validation(by)) for by in FOLDS}
        yield _cells(("group", "as it is", *(f"without its {by}" for by in tables)))
        yield _rule(2 + len(tables))
        for group, (fitted, _) in tables["series"].items():
            crossed = (number_words(table[group][1].median) for table in tables.values())
            yield _cells((group, f"{number_words(fitted.median)} ({fitted.numbers})", *crossed))

    def _alone(self) -> Iterator[str]:
        crossed = self._cross_validation("series")
        lone, one_study = lone_words(crossed, self._claims)
        whole = whole_alone(crossed.claims, load_free_parameters())
        said = f"One row alone fixes {lone}; of one study alone are the rows that fix {one_study}."
        if whole:
            paths = sorted({f"`{path}`" for some in whole.values() for path in some})
            said += (
                f" What was fitted through {', '.join(paths)}, of which there is no tenth, stays "
                f"as it is: {', '.join(f'`{name}`' for name in whole)}."
            )
        yield fill(said, _WIDTH, break_long_words=False, break_on_hyphens=False)

    def _cross_validation(self, by: By) -> CrossValidation:
        return kept_cross_validation(self._claims, self._kept, by)


_DROPPED = "\0"  # in place of a line that is left out


def _ratio(result: Result) -> str:
    return f"{result.numbers[0].ratio:.2f}" if len(result.numbers) == 1 else ""


def _cells(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    """Return what stands between the head of a table and its rows."""
    return f"|{'---|' * columns}"


def trust_page(claims: Mapping[str, Claim], kept: Mapping[str, Result]) -> str:
    """Return the page."""
    return Results(claims, kept).fill(TEMPLATE.read_text(encoding="utf-8"))


def main(reports: list[str]) -> None:
    """Keep the results of some reports, and write the page."""
    claims = load_claims()
    kept = load_kept()
    for report in reports:
        kept |= results_of(Path(report))
    if reports:
        keep(kept, claims)
    write_whole(PAGE, trust_page(claims, load_kept()), "page")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"trust_page: {error}")
