"""The page on which measurement sees which parameter, from a template and kept elasticities.

::

    xc40io sensitivity --csv table.csv
    python -m xc40io.validation.sensitivity_page table.csv    # keeps what it says, writes the page
    python -m xc40io.validation.sensitivity_page              # writes the page from what is kept

Several tables may be given, each of some claims and parameters; all that they say of a parameter
takes the place of what was kept of it. In the sentences, ``sensitivity_page.md``, stand
``{{unseen}}``, ``{{untried}}`` and ``{{whole}}``, each alone on a line; who sees the other
parameters stands in :data:`TABLE`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from xc40io.archive.whole_files import write_whole
from xc40io.config.errors import InputError
from xc40io.telling.data import csv_lines
from xc40io.validation.free_parameter import (
    FreeParameter,
    WholeParameter,
    load_free_parameters,
    load_whole_parameters,
)
from xc40io.validation.sensitivity import row_of
from xc40io.validation.target import FOLDER

TEMPLATE = FOLDER / "sensitivity_page.md"
KEPT = FOLDER / "kept_sensitivity.json"
PAGE = FOLDER.parent / "docs" / "sensitivity.md"
TABLE = PAGE.parent / "trust" / "sensitivity.csv"

_MOST = 6  # claims that are named beside a parameter


class SeenClaims(NamedTuple):
    """Which published rows see a parameter."""

    tried: int  # How many rows were tried.
    rows: int  # How many see it.
    # The claims that see it best, each with its elasticity; one of each row.
    best: tuple[tuple[str, float], ...]


def parameter_name(path: str, machines: Iterable[str]) -> str:
    """Return what a parameter is called where it is kept."""
    return f"{path} ({', '.join(machines)})"


def load_seen(file: Path = KEPT) -> dict[str, SeenClaims]:
    """Return what is kept, by :func:`parameter_name`."""
    document = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: SeenClaims(tried, rows, tuple((claim, number) for claim, number in best))
        for name, (tried, rows, best) in document.items()
    }


def seen_in(tables: Iterable[str | Path]) -> dict[str, SeenClaims]:
    """Return what tables that ``xc40io sensitivity --csv`` wrote say of the parameters in them.

    Raises
    ------
    InputError
        If a file is no such table.
    """
    tried: dict[str, set[str]] = {}
    best: dict[str, dict[str, tuple[str, float]]] = {}
    for table in tables:
        for name, claim, elasticity, seen in _lines(Path(table)):
            row = row_of(claim)
            tried.setdefault(name, set()).add(row)
            known = best.setdefault(name, {})
            if seen and abs(elasticity) > abs(known.get(row, ("", 0.0))[1]):
                known[row] = claim, elasticity
    return {
        name: SeenClaims(len(rows), len(best[name]), _best(best[name].values()))
        for name, rows in tried.items()
    }


def _lines(table: Path) -> Iterator[tuple[str, str, float, bool]]:
    """Yield parameter, claim and elasticity of each line, and whether the claim sees it."""
    try:
        with table.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                name = parameter_name(line["parameter"], line["machines"].split())
                yield name, line["claim"], float(line["elasticity"]), line["seen"] == "1"
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{table}: {error!r}; right would be what xc40io sensitivity --csv FILE writes"
        ) from error


def _best(seeing: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    ordered = sorted(seeing, key=lambda one: -abs(one[1]))
    return tuple((claim, round(elasticity, 2)) for claim, elasticity in ordered[:_MOST])


def sensitivity_page(
    parameters: Iterable[FreeParameter],
    whole: Iterable[WholeParameter],
    kept: Mapping[str, SeenClaims],
) -> str:
    """Return the page."""
    known = {parameter_name(one.path, one.machines): one for one in parameters}
    seen = {name: kept[name] for name in known if name in kept}
    blocks = {
        "{{unseen}}": [
            f"* {_named(known[name])}, tried with {found.tried} rows"
            for name, found in seen.items()
            if not found.rows
        ],
        "{{untried}}": [
            f"* {_named(one)}: {one.reason}" for name, one in known.items() if name not in kept
        ]
        or ["* none"],
        "{{whole}}": [
            f"* `{one.path}` ({', '.join(f'{m} {v}' for m, v in one.machines.items())}): "
            f"{one.reason}"
            for one in whole
        ],
    }
    lines = TEMPLATE.read_text(encoding="utf-8").split("\n")
    return "\n".join("\n".join(blocks.get(line, [line])) for line in lines)


def _named(parameter: FreeParameter) -> str:
    return f"`{parameter.path}` ({', '.join(parameter.machines)})"


def sensitivity_table(parameters: Iterable[FreeParameter], kept: Mapping[str, SeenClaims]) -> str:
    """Return the parameters that some rows see, as CSV: those first that most see."""
    rows: list[tuple[object, ...]] = [
        ("parameter", "machines that share it", "seen by", "of", "elasticity")
    ]
    known = ((one, kept.get(parameter_name(one.path, one.machines))) for one in parameters)
    found = [(one, seen) for one, seen in known if seen is not None and seen.rows]
    for one, seen in sorted(found, key=lambda pair: -pair[1].rows):
        best = [f"{claim} {elasticity:+.2f}" for claim, elasticity in seen.best]
        more = ["..."] if seen.rows > len(seen.best) else []
        told = (one.path, ", ".join(one.machines), seen.rows, seen.tried, ", ".join(best + more))
        rows.append(told)
    return csv_lines(rows)


def main(tables: list[str]) -> None:
    """Keep what some tables say, and write the page and its table."""
    free = load_free_parameters().values()
    kept = load_seen() | seen_in(tables)
    if tables:
        names = [parameter_name(one.path, one.machines) for one in free]
        known = {name: kept[name] for name in names if name in kept}
        lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(found)}" for n, found in known.items())
        write_whole(KEPT, f"{{\n{lines}\n}}\n", "kept elasticities")
    write_whole(PAGE, sensitivity_page(free, load_whole_parameters(), kept), "page")
    write_whole(TABLE, sensitivity_table(free, kept), "table")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"sensitivity_page: {error}")
