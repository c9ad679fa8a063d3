"""The pictures in the documents, drawn anew: ``make docs-outputs``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import Browser, chromium

from sim import Scenario, simulate
from sim.config.scenario import load_scenario
from sim.results.animation.document import write_animation
from sim.results.page.export import page_of
from sim.results.page.rendering import write_page
from sim.results.pictures.album import pictures_of, write_pictures

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"

SCENARIO = "theta-headline"
SHOWN = ("bandwidth",)
PAGE = "page.png"
ANIMATION = "animation.png"
ANIMATED = Scenario(
    machine="theta",
    nodes=8,
    ppn=4,
    placement="spread",
    striping={"count": 8, "size": "1m"},
    workload={"ior": "-w -r -C -e -b 8m -t 1m"},
)
MOMENT = 3_300
"""Of the 10,000 of the slider: RPCs before several OSTs."""


def main() -> None:
    """Draw what the documents show of their scenarios."""
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
        film = Path(folder, "film.html")
        write_animation(simulate(ANIMATED, record=True), str(film), "docs/pictures")
        browser.open(film, 1280, 800, prefers_reduced_motion="reduce")
        browser.evaluate(
            "(() => { const slider = document.getElementById('slider');"
            f"slider.value = {MOMENT}; slider.dispatchEvent(new Event('input')); }})()"
        )
        browser.screenshot(FOLDER / ANIMATION, whole=False)
        print(f"drew {FOLDER / ANIMATION}")


if __name__ == "__main__":
    main()
