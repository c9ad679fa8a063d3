"""The published measurements: the rows of ``targets.csv``, each with its source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Where the published rows and the claims lie."""

FIRMNESS = {
    "T": "printed in a text",
    "D": "digitised from a vector graphic",
    "F": "read from a picture",
    "R": "computed from raw measurements",
    "Q": "said in words: a trend",
    "A": "only the axis of a chart is known",
    "C": "computed from other rows",
    "P": "a parameter of another simulator, no measurement",
    "O": "measured by whoever wrote the claim",
}
"""How firm a published row is, by its letter."""


@dataclass(frozen=True)
class Target:
    """One published row."""

    id: str  # A letter and a number: ``B02``.
    group: str  # What the row is about, for the summary.
    system: str  # The machine.
    # What was measured, and how.
    claim: str
    config: str
    # As the source prints them; several numbers stand side by side.
    value: str
    unit: str
    source: str  # Where it was published.
    firmness: str  # A key of :data:`FIRMNESS`.
    notes: str  # What to keep in mind.


@cache
def load_targets() -> dict[str, Target]:
    """Return all published rows by their ids, in the order of the file."""
    with (FOLDER / "targets.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: Target(**row) for row in csv.DictReader(file)}


OWN = "Own measurements"
"""The group of measurements that are no published rows, unless their claim says another."""


def own_target(name: str, group: str, text: str, config: str, source: str) -> Target:
    """Return what stands in place of a published row for a measurement of one's own."""
    return Target(name, group or OWN, "", text, config, "", "", source, "O", "")
