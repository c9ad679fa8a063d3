"""The results of a validation that the documents show, kept in the tree.

A slim copy of what ``xc40io validate --json`` prints: for each claim its verdict, its numbers and
the digest of how it was put. ``python -m validation.trust_page REPORT.json ...`` makes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sim.archive.files import write_whole
from sim.config.errors import InputError
from validation.target import FOLDER

FILE = FOLDER / "kept.json"
"""Where they are."""


class Number(NamedTuple):
    """A measured number beside a simulated one.

    Attributes
    ----------
    ratio
        Simulated over measured.
    counts
        Whether it counts in medians.
    """

    ratio: float
    counts: bool

    @property
    def error(self) -> float:
        """Return how far the two are apart: ``|ln(simulated / measured)|``."""
        return abs(math.log(self.ratio)) if self.ratio > 0 else math.inf


class Result(NamedTuple):
    """What came of a claim.

    Attributes
    ----------
    verdict
        ``pass``, ``fail`` or ``no verdict``.
    simulated
        As the report shows it.
    numbers
        Those that were measured.
    digest
        Of how the claim was put (``validation.frozen``).
    code
        The hash of the simulator's sources that it was simulated with.
    """

    verdict: str
    simulated: str
    numbers: tuple[Number, ...]
    digest: str
    code: str


def load_kept(file: Path = FILE) -> dict[str, Result]:
    """Return the kept results by claim."""
    document = json.loads(file.read_text(encoding="utf-8"))
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
    try:
        document = json.loads(Path(report).read_text(encoding="utf-8"))
        return {
            claim["id"]: Result(
                claim["verdict"],
                claim["simulated"],
                tuple(Number(round(p["ratio"], 4), p["counts"]) for p in claim["points"]),
                claim["digest"],
                document["code"],
            )
            for claim in document["claims"]
            if claim["numbers"] or claim["stated"] or claim["complaints"]
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{report}: {error!r}; right would be what xc40io validate --json prints"
        ) from error


def keep(results: Mapping[str, Result], order: Iterable[str], file: Path = FILE) -> None:
    """Write results, those of claims that there are, in an order."""
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(results[n])}" for n in order if n in results)
    write_whole(file, f"{{\n{lines}\n}}\n", "kept results")
