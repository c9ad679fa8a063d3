"""A comparison of targets as a table, as JSON and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.results.json_text import json_text
from sim.studies.targets import ACCESSES, Cell, Crossing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {
    "lustre": "Lustre",
    "ssd": "local SSDs",
    "bb": "burst buffer",
    "home": "home",
}
_COLOURS = {"lustre": "#1f6fb4", "ssd": "#d1702a", "bb": "#4b9b58", "home": "#777777"}
_GB = 1e9


def format_comparison(title: str, cells: Sequence[Cell], found: Sequence[Crossing]) -> str:
    """Print rates in 10^9 bytes/s by nodes and target, where targets cross, and what went wrong."""
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
            lines.append(f"{f'{nodes:,} nodes':<14}{numbers}")
        lines.append("")
    lines += [
        f"{crossing.access.value.capitalize()}: {NAMES[crossing.after]} overtake "
        f"{NAMES[crossing.before]} at about {crossing.nodes:,.0f} nodes."
        for crossing in found
    ] or ["No target overtakes another within these numbers of nodes."]
    lines += [
        f"TROUBLE ({NAMES[cell.kind]}, {cell.nodes:,} nodes): {text}"
        for cell in cells
        for text in cell.troubles
    ]
    return "\n".join(lines) + "\n"


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


def draw_comparison(
    path: Path, kind: str, title: str, cells: Sequence[Cell], found: Sequence[Crossing]
) -> None:
    """Draw bandwidth by nodes, a panel for each access and a line for each target.

    ``kind`` is the format of the file, as ``svg`` or ``png``.
    """
    from matplotlib.figure import Figure

    accesses = [access for access in ACCESSES if any(access in cell.rates for cell in cells)]
    figure = Figure(figsize=(5.2 * len(accesses), 4.2), layout="constrained")
    for i, access in enumerate(accesses):
        axes: Axes = figure.add_subplot(1, len(accesses), i + 1)
        for target in dict.fromkeys(cell.kind for cell in cells):
            line = [(c.nodes, c.rates[access] / _GB) for c in cells if c.kind == target]
            colour = _COLOURS[target]
            axes.plot(*zip(*line, strict=True), marker="o", color=colour, label=NAMES[target])
        for crossing in found:
            if crossing.access is access:
                axes.axvline(crossing.nodes, color="#999999", linestyle=":", linewidth=1.0)
        axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="GB/s", title=access.value)
        axes.grid(visible=True, which="major", color="#dddddd")
        axes.legend(frameon=False)
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, format=kind)
