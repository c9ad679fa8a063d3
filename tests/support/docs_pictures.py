"""The pictures in the documents, drawn anew: ``make docs-outputs``."""

from __future__ import annotations

from pathlib import Path

from sim import simulate
from sim.config.scenario import load_scenario
from sim.results.pictures.album import pictures_of, write_pictures

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SCENARIO = "theta-headline"
SHOWN = ("bandwidth",)


def main() -> None:
    """Draw what ``docs/pictures.md`` shows of its scenario."""
    drawn = pictures_of(simulate(load_scenario(SCENARIO)))
    chosen = ((name, figure) for name, figure in drawn if name in SHOWN)
    for path in write_pictures(FOLDER, chosen, "docs/pictures"):
        print(f"drew {path}")


if __name__ == "__main__":
    main()
