"""The pictures in the documents, drawn anew: ``make docs-outputs``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import Browser, chromium

from sim import simulate
from sim.config.scenario import load_scenario
from sim.results.page.export import page_of
from sim.results.page.rendering import write_page
from sim.results.pictures.album import pictures_of, write_pictures

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SCENARIO = "theta-headline"
SHOWN = ("bandwidth",)
PAGE = "page.png"


def main() -> None:
    """Draw what ``docs/pictures.md`` and ``docs/page.md`` show of their scenario."""
    result = simulate(load_scenario(SCENARIO))
    chosen = ((name, figure) for name, figure in pictures_of(result) if name in SHOWN)
    for path in write_pictures(FOLDER, chosen, "docs/pictures"):
        print(f"drew {path}")
    if chromium() is None:
        print(f"without Chromium {FOLDER / PAGE} stays as it is")
        return
    with TemporaryDirectory() as folder, Browser() as browser:
        page = Path(folder, "page.html")
        write_page(page_of(result), page, "docs/pictures")
        browser.open(page, 1280, 1600)
        browser.screenshot(FOLDER / PAGE, whole=False)
    print(f"drew {FOLDER / PAGE}")


if __name__ == "__main__":
    main()
