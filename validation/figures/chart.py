"""A chart: which runs it needs, and how it is drawn from what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xc40io.config.job_form import HINTS
from xc40io.config.scenario import Scenario
from xc40io.config.units import GB
from xc40io.studies.record import RunRecord
from xc40io.telling.sheet import Heading
from xc40io.validation.measure import measure
from xc40io.validation.target import load_targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Runs = Mapping[Any, Scenario]
"""The scenarios of a chart by whatever tells them apart."""

Records = Mapping[Any, RunRecord]
"""What is kept of its runs, by the same keys."""


@dataclass(frozen=True)
class Chart:
    """One figure."""

    name: str  # Of its file, without the suffix.
    heading: Heading  # What stands around the axes.
    # Returns its scenarios. They are described when they are asked for, not before.
    runs: Callable[[], Runs]
    # Draws it from the heading and what is kept of the runs.
    draw: Callable[[Heading, Records], Figure]
    targets: tuple[str, ...]  # The published rows that it shows or is about, by their ids.
    # Whether it is drawn only when everything is asked for, because its runs take long.
    full: bool = False


def on_theta(
    command: str,
    *,
    count: int,
    size: str,
    nodes: int = 256,
    ppn: int = 16,
    hints: str = "",
    target: str = "lustre",
) -> Scenario:
    """Describe a run of IOR on Theta.

    Parameters
    ----------
    command
        Its arguments.
    count, size
        Striping of the files.
    nodes, ppn
        Compute nodes, and ranks on each.
    hints
        Of MPI-IO, for all files: ``cray_cb_nodes_multiplier=2``.
    target
        Where the files are.
    """
    return Scenario.model_validate(
        {
            "machine": "theta",
            "nodes": nodes,
            "ppn": ppn,
            "striping": {"count": count, "size": size},
            "environment": {HINTS: f"*:{hints}"} if hints else {},
            "target": target,
            "workload": {"ior": command},
        }
    )


def rates(records: Records, function: str, *words: str) -> dict[Any, float]:
    """Return a rate of every run, in GB/s."""
    return {key: measure(record, function, words) / GB for key, record in records.items()}


def published(target: str) -> float:
    """Return the number of a published row, in its own unit."""
    return float(load_targets()[target].value)
