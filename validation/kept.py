"""The results of a validation that the documents show, kept in the tree.

A slim copy of what ``xc40io validate --json`` prints: for each claim its verdict, its numbers and
the digest of how it was put. ``python -m xc40io.validation.trust_page REPORT.json ...`` makes it.
Since it is part of every commit, it tells of each what came of the claims then
(``xc40io.validation.earlier``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.archive.whole_files import write_whole
from xc40io.config.files import Kind, text_of
from xc40io.config.reading import reading
from xc40io.validation.error import error_of
from xc40io.validation.target import FOLDER

FILE = FOLDER / "kept.json"
"""Where they are."""

_DIGITS = 4
"""Behind the point, of a ratio."""


class Number(NamedTuple):
    """A measured number beside a simulated one."""

    ratio: float  # Simulated over measured.
    counts: bool  # Whether it counts in medians.
    # Of the run or the quantile, empty for a claim with one number; None in files of before there
    # were names, which have the numbers in the order of the claim.
    name: str | None = None

    @property
    def error(self) -> float:
        """Return how far the two are apart: ``|ln(simulated / measured)|``."""
        return error_of(self.ratio)

    @property
    def written(self) -> tuple[Any, ...]:
        """What stands in a file."""
        return tuple(self) if self.name is not None else tuple(self)[:-1]


class Result(NamedTuple):
    """What came of a claim."""

    verdict: str  # ``pass``, ``fail`` or ``no verdict``.
    simulated: str  # As the report shows it.
    numbers: tuple[Number, ...]  # Those that were measured.
    digest: str  # Of how the claim was put (``xc40io.validation.frozen``).
    code: str  # The hash of the simulator's sources that it was simulated with.

    @property
    def written(self) -> tuple[Any, ...]:
        """What stands in a file."""
        numbers = [number.written for number in self.numbers]
        return self.verdict, self.simulated, numbers, self.digest, self.code


def load_kept(file: Path = FILE) -> dict[str, Result]:
    """Return the kept results by claim."""
    return _kept_in(json.loads(file.read_text(encoding="utf-8")))


def _kept_in(document: Mapping[str, Any]) -> dict[str, Result]:
    return {name: _result(found) for name, found in document.items()}


def _result(found: list[Any]) -> Result:
    verdict, simulated, numbers, digest, code = found
    return Result(verdict, simulated, tuple(Number(*one) for one in numbers), digest, code)


def results_of(report: str | Path) -> dict[str, Result]:
    """Return the results in a report that ``validate --json`` printed, without those not run.

    Raises
    ------
    InputError
        If the file is no such report.
    """
    text = text_of(report, REPORT)
    with reading(report, "what xc40io validate --json prints"):
        return results_in(json.loads(text))


REPORT = Kind("a report", 1 << 26)


def results_in(document: Mapping[str, Any]) -> dict[str, Result]:
    """Return the results of a report (:func:`~xc40io.validation.report_answer.report_answer`)."""
    return {
        claim["id"]: Result(
            claim["verdict"],
            claim["simulated"],
            tuple(
                Number(round(p["ratio"], _DIGITS), p["counts"], p["name"]) for p in claim["points"]
            ),
            claim["digest"],
            document["code"],
        )
        for claim in document["claims"]
        if claim["numbers"] or claim["stated"] or claim["complaints"]
    }


def read_results(text: str, place: str) -> dict[str, Result]:
    """Return the results in the text of a report or of a file of kept results.

    Parameters
    ----------
    text
        What ``validate --json`` printed, or what :func:`keep` wrote, of whatever version.
    place
        Where it is from, for the message.

    Raises
    ------
    InputError
        If it is neither.
    """
    right = f"what xc40io validate --json prints, or a copy of validation/{FILE.name}"
    with reading(f"{place}: results of claims", right):
        document = json.loads(text)
        return results_in(document) if "claims" in document else _kept_in(document)


def keep(results: Mapping[str, Result], order: Iterable[str], file: Path = FILE) -> None:
    """Write results, those of claims that there are, in an order."""
    lines = ",\n".join(
        f" {json.dumps(n)}: {json.dumps(results[n].written)}" for n in order if n in results
    )
    write_whole(file, f"{{\n{lines}\n}}\n", "kept results")
