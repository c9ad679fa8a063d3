"""Claims that are frozen: what is run for them and what must hold changes in the open only.

``frozen.csv`` has a digest of the set-up, metric and bound of every claim, as they were on the day
when they were frozen. Who changes one of them adds a line to ``claims/CHANGES.md``, with the new
digest, what changed, why, and whether the result was known; a test fails until the line is there.
Names, notes and suspected causes are free, and so are the parameters of machines: a digest says how
the question was put, not what came of it.

``python -m xc40io.validation.frozen`` prints the lines that are missing, to be filled in.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.target import FOLDER

LIST = FOLDER / "frozen.csv"
"""The digests of the day when the claims were frozen."""

CHANGES = FOLDER / "claims" / "CHANGES.md"
"""What has changed since, a line for each claim and change."""

NONE = "-"
"""In place of the digest of a claim that was taken out."""

KNOWN = ("yes", "no")
"""Whether the result was known when a claim was changed."""

_DIGITS = 12
_LINE = re.compile(r"^\|(?P<cells>.*)\|$")


class Change(NamedTuple):
    """A line of ``CHANGES.md``: the cells of its table."""

    claim: str
    digest: str
    what: str
    why: str
    known: str


def digest_of(claim: Claim) -> str:
    """Return the digest of what is run for a claim, what is looked at and what must hold."""
    relation = claim.relation
    said = {
        "role": claim.role,
        "runs": {
            name: scenario.model_dump(
                mode="json", exclude={"title", "description"}, exclude_defaults=True
            )
            for name, scenario in claim.runs.items()
        },
        "series": {name: list(runs) for name, runs in claim.series.items()},
        "seeds": claim.seeds,
        "statistic": claim.statistic,
        "metric": claim.metric.text if claim.metric else None,
        "parameter": claim.parameter.text if claim.parameter else None,
        "machine": claim.machine,
        "nodes": list(claim.nodes),
        "relation": relation.model_dump(exclude_defaults=True) if relation else None,
        "judged": not claim.unjudged,
        "expressed": not claim.not_expressed,
    }
    written = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:_DIGITS]


def load_frozen(file: Path = LIST) -> dict[str, str]:
    """Return the digests of the day when the claims were frozen, by claim."""
    with file.open(encoding="utf-8", newline="") as rows:
        return {row["claim"]: row["digest"] for row in csv.DictReader(rows)}


def load_changes(file: Path = CHANGES) -> list[Change]:
    """Return the lines of the table of changes, in their order.

    Raises
    ------
    InputError
        If a line does not say everything.
    """
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [_cells(line) for line in lines if _LINE.match(line)]
    return [_change(cells, file) for cells in rows[2:]]  # below the head and its rule


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _change(cells: list[str], file: Path) -> Change:
    if len(cells) != len(Change._fields) or not all(cells):
        raise InputError(
            f"{file}: {' | '.join(cells)}: right would be {' | '.join(Change._fields)}, all filled"
        )
    change = Change(*cells)
    if change.known.partition(",")[0] not in KNOWN:
        raise InputError(
            f"{file}: {change.claim}: known = {change.known!r}; right would be yes or no, and "
            "behind a comma what was known"
        )
    return change


def expected(frozen: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    """Return the digest that each claim must have by now: that of its latest change."""
    return dict(frozen) | {change.claim: change.digest for change in changes}


def unexplained(claims: Mapping[str, Claim], digests: Mapping[str, str]) -> dict[str, str]:
    """Return the claims whose digests are not the expected ones, each with the one it has."""
    found = {name: digest_of(claim) for name, claim in claims.items()}
    gone = {name: NONE for name, digest in digests.items() if name not in found and digest != NONE}
    changed = {name: digest for name, digest in found.items() if digests.get(name) != digest}
    return changed | gone


def main() -> None:
    """Print the lines that ``CHANGES.md`` lacks."""
    for name, digest in unexplained(load_claims(), expected(load_frozen(), load_changes())).items():
        print(f"| {name} | {digest} | WHAT | WHY | yes or no |")


if __name__ == "__main__":
    main()
