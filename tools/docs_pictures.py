"""The pictures in the documents, drawn anew: ``make docs-outputs``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from chromium import Browser, chromium
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

import xc40io
from xc40io.archive.whole_files import replacing
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario, checked_scenario, load_scenario
from xc40io.results.animation.document import write_animation
from xc40io.results.exports.html_file import page_of
from xc40io.results.machine_picture import machine_figure
from xc40io.results.pictures.album import album_of
from xc40io.run.fabric import fabric_of
from xc40io.studies.compare.side_by_side_answer import side_by_side_answer
from xc40io.studies.sweep.sweep_plot import sweep_figure
from xc40io.telling.drawing import figures
from xc40io.telling.html import write_page

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"

PAGE, ANIMATION = "page.png", "animation.png"
_PAGES_SCENARIO = "theta-headline"
_ANIMATED = {
    "machine": "theta",
    "nodes": 8,
    "ppn": 4,
    "placement": "spread",
    "striping": {"count": 8, "size": "1m"},
    "workload": {"ior": "-w -r -C -e -b 8m -t 1m"},
}
_MOMENT = 3_300  # of the 10,000 of the slider: RPCs before several OSTs


def _scenario(command: str, nodes: int, ppn: int, count: int, size: str) -> Scenario:
    program, arguments = command.split(" ", 1)
    asked = {
        "machine": "theta",
        "nodes": nodes,
        "ppn": ppn,
        "striping": {"count": count, "size": size},
        "workload": {program: arguments},
    }
    return checked_scenario(asked, "the documents' pictures")


def _of_run(name: str, scenario: Scenario) -> Figure:
    """Return one of the pictures of a run, as ``--plots`` draws it."""
    result = xc40io.simulate(scenario, record=True)
    return next(one.draw() for one in album_of(result).pictures if one.name == name)


def _side_by_side(runs: Any, what_ifs: tuple[str, ...] = ()) -> Figure:
    ((_, figure),) = figures(side_by_side_answer(xc40io.compare(runs, what_ifs, jobs=1)))
    return figure


def _striping() -> Figure:
    command = "ior -w -e -b 32m -t 8m"
    scenario = _scenario(command, 16, 4, 1, "1m")
    over = {"striping.count": "1,2,4,8,16,48", "striping.size": "1m,8m"}
    with TemporaryDirectory() as store:
        return sweep_figure(
            f"{command} on theta, 16 nodes x 4 ranks",
            xc40io.sweep(scenario, over, jobs=1, store=store),
        )


def _collective() -> Figure:
    pieces = "-w -e -b 47008 -t 47008 -s 32"
    return _side_by_side(
        {
            "each rank by itself": _scenario(f"ior -a MPIIO {pieces}", 16, 16, 8, "1m"),
            "collective": _scenario(f"ior -a MPIIO -c {pieces}", 16, 16, 8, "1m"),
            "a file for each rank": _scenario(f"ior -a MPIIO -F {pieces}", 16, 16, 1, "1m"),
        }
    )


def _machine() -> Figure:
    theta = load_machine("theta")
    return machine_figure(theta, fabric_of(theta))


FIGURES: dict[str, Callable[[], Figure]] = {
    "bandwidth": lambda: _of_run("bandwidth", load_scenario(_PAGES_SCENARIO)),
    "cache": lambda: _of_run("gantt", _scenario("ior -F -w -e -b 64m -t 8m", 4, 4, 1, "1m")),
    "collective": _collective,
    "links": lambda: _of_run("links", _scenario("ior -F -w -e -b 16m -t 8m", 16, 8, 1, "1m")),
    "locks": lambda: _of_run("locks", _scenario("ior -w -e -b 64k -t 64k -s 16", 2, 1, 1, "1m")),
    "machine": _machine,
    "metadata": lambda: _of_run("mdt_operations", _scenario("mdtest -n 50 -F -u", 8, 8, 1, "1m")),
    "stripes": lambda: _side_by_side(
        _scenario("ior -a POSIX -w -e -b 16m -t 1m", 64, 16, 1, "1m"),
        ("striping.count=8", "striping.count=48", "striping.count=48,striping.size=8m"),
    ),
    "striping": _striping,
}
"""What each picture is drawn by."""


def drawn(name: str) -> Image.Image:
    """Draw a picture with few colours: half the size, and nobody sees it."""
    canvas = FigureCanvasAgg(FIGURES[name]())
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return Image.fromarray(pixels).convert("RGB").quantize(128)


def main(names: list[str]) -> None:
    """Draw the pictures of the documents, or those named, and what browsers show."""
    for name in names or FIGURES:
        with replacing(FOLDER / f"{name}.png", "docs/pictures") as draft:
            drawn(name).save(draft, format="png", optimize=True)
        print(f"drew {name}.png")
    if names:
        return
    if chromium() is None:
        print(f"without Chromium {PAGE} and {ANIMATION} stay as they are")
        return
    with TemporaryDirectory() as folder, Browser() as browser:
        _draw_page(browser, Path(folder, "page.html"))
        _draw_animation(browser, Path(folder, "film.html"))


def _draw_page(browser: Browser, page: Path) -> None:
    """Draw the top of the page of a run."""
    write_page(page_of(xc40io.simulate(load_scenario(_PAGES_SCENARIO))), page, "docs/pictures")
    browser.open(page, 1280, 1600)
    browser.screenshot(FOLDER / PAGE, whole=False)
    print(f"drew {PAGE}")


def _draw_animation(browser: Browser, film: Path) -> None:
    """Draw a moment of the moving picture of a run."""
    scenario = checked_scenario(_ANIMATED, "the documents' pictures")
    write_animation(xc40io.simulate(scenario, record=True), str(film), "docs/pictures")
    browser.open(film, 1280, 800, prefers_reduced_motion="reduce")
    browser.evaluate(
        "(() => { const slider = document.getElementById('slider');"
        f"slider.value = {_MOMENT}; slider.dispatchEvent(new Event('input')); }})()"
    )
    browser.screenshot(FOLDER / ANIMATION, whole=False)
    print(f"drew {ANIMATION}")


if __name__ == "__main__":
    main(sys.argv[1:])
