"""A comparison of targets as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sim.studies.compare.targets import ACCESSES, Cell, Crossing, Fastest, always_fastest
from sim.telling.data import json_text
from topology.text import format_count

NAMES = {
    "lustre": "Lustre",
    "ssd": "local SSDs",
    "bb": "burst buffer",
    "home": "home",
}
_BE = {"lustre": "is", "ssd": "are", "bb": "is", "home": "is"}
_OVERTAKE = {"lustre": "overtakes", "ssd": "overtake", "bb": "overtakes", "home": "overtakes"}
_GB = 1e9


def format_comparison(title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> str:
    """Print rates in 10^9 bytes/s by nodes and target, which wins where, and what went wrong."""
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    lines = [title, ""]
    for access in ACCESSES:
        if not any(access in cell.rates for cell in cells):
            continue
        head = "".join(f"{NAMES[kind]:>14}" for kind in kinds)
        lines.append(f"{f'{access.value} (GB/s)':<14}{head}")
        rows = {(cell.nodes, cell.kind): cell.rates.get(access) for cell in cells}
        for nodes in dict.fromkeys(cell.nodes for cell in cells):
            numbers = "".join(_number(rows.get((nodes, kind))) for kind in kinds)
            lines.append(f"{format_count(nodes, 'node'):<14}{numbers}")
        lines.append("")
    lines += verdicts(cells, found)
    lines += [f"TROUBLE {text}" for text in troubles(cells)]
    return "\n".join(lines).rstrip("\n") + "\n"


def troubles(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what went wrong, and in which run."""
    for cell in cells:
        for text in cell.troubles:
            yield f"({NAMES[cell.kind]}, {format_count(cell.nodes, 'node')}): {text}"


def verdicts(cells: Sequence[Cell], found: Sequence[Crossing]) -> Iterator[str]:
    """Say of each access where one target overtakes another, and which is always the fastest."""
    for access in ACCESSES:
        name = access.value.capitalize()
        for crossing in found:
            if crossing.access is access:
                yield (
                    f"{name}: {NAMES[crossing.after]} {_OVERTAKE[crossing.after]} "
                    f"{NAMES[crossing.before]} at about {crossing.nodes:,.0f} nodes."
                )
        best = always_fastest(cells, access)
        if best is not None:
            yield f"{name}: {_praise(best)}"


def _praise(best: Fastest) -> str:
    """Say that a target is the fastest, and by how much."""
    low, high = (f"{lead:.3g}" for lead in (min(best.leads), max(best.leads)))
    leads = low if low == high else f"{low} to {high}"
    where = " on each of these numbers of nodes" if len(best.leads) > 1 else ""
    return f"{NAMES[best.kind]} {_BE[best.kind]} the fastest{where}, {leads} times the next."


def _number(rate: float | None) -> str:
    return f"{'':>14}" if rate is None else f"{rate / _GB:14,.4g}"


def comparison_document(cells: Sequence[Cell], found: Sequence[Crossing]) -> str:
    """Print the same as JSON; bytes/s."""
    document: dict[str, Any] = {
        "runs": [
            {
                "target": cell.kind,
                "nodes": cell.nodes,
                "rates": {access.value: rate for access, rate in cell.rates.items()},
                "troubles": list(cell.troubles),
            }
            for cell in cells
        ],
        "crossings": [
            {
                "access": crossing.access.value,
                "before": crossing.before,
                "after": crossing.after,
                "nodes": crossing.nodes,
            }
            for crossing in found
        ],
    }
    return json_text(document)
