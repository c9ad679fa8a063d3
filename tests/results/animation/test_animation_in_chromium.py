"""An animation as a browser plays it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from chromium import Browser, chromium
from page_checks import beyond_the_window, cut_off, faint, pictures
from recorded_runs import recorded

from xc40io.results.animation.document import write_animation
from xc40io.results.animation.score import score_of
from xc40io.results.pictures.scene import scene_of

pytestmark = pytest.mark.skipif(
    chromium() is None,
    reason="there is no Chromium: apt-get install chromium, or CHROMIUM=its path",
)

_PATIENCE = 120.0  # seconds
MARKS = """
[...document.querySelectorAll('#stage path[data-journey]')]
  .filter(mark => mark.getAttribute('display') !== 'none').length
"""
NUMBERS = "[...document.querySelectorAll('#stage text')].map(text => text.textContent)"
"""All that is written on the stage; ``+3`` stands for three marks that found no room."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The animation of a run whose nodes fight for a file."""
    path = tmp_path_factory.mktemp("animation") / "run.html"
    write_animation(recorded("shared file"), str(path), "--animate")
    return path


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    """What it plays."""
    return score_of(scene_of(recorded("shared file")), "--animate")


def open_still(browser: Browser, file: Path, width: int = 1280, height: int = 800) -> None:
    """Open it as somebody sees it who wants nothing to move."""
    browser.open(file, width, height, prefers_reduced_motion="reduce")


def words(browser: Browser, name: str) -> str:
    return str(browser.evaluate(f"document.getElementById('{name}').textContent"))


def time_of(browser: Browser) -> float:
    """Return what the clock shows."""
    number, unit = words(browser, "time").split()
    assert unit == "ms"
    return float(number)


def wait_for(browser: Browser, condition: str) -> None:
    """Wait until an expression is true in the browser."""
    end = monotonic() + _PATIENCE
    while not browser.evaluate(condition):
        assert monotonic() < end, condition
        sleep(0.02)


def go_to(browser: Browser, share: float) -> None:
    """Move the slider to a share of the run."""
    browser.evaluate(
        "(() => { const slider = document.getElementById('slider');"
        f"slider.value = {10000 * share}; slider.dispatchEvent(new Event('input')); }})()"
    )


def test_it_plays_pauses_and_steps_by_keyboard(browser: Browser, file: Path) -> None:
    browser.open(file)
    begin = time_of(browser)
    wait_for(browser, f"parseFloat(document.getElementById('time').textContent) > {begin} + 0.05")
    assert words(browser, "play") == "Pause"
    browser.press(" ", 32)
    assert words(browser, "play") == "Play"
    paused = time_of(browser)
    browser.press("ArrowRight", 39)
    further = time_of(browser)
    assert further >= paused
    assert words(browser, "now").split(":")[0] == words(browser, "time")
    for _ in range(3):
        browser.press("ArrowLeft", 37)
    assert time_of(browser) < further
    browser.press("+", 187)
    assert browser.evaluate("document.getElementById('speed').value") == "2"
    assert browser.messages == []
    assert browser.requests == [file.as_uri()]


def test_who_wants_nothing_to_move_starts_it_and_it_ends(browser: Browser, file: Path) -> None:
    open_still(browser, file)
    begin = time_of(browser)
    sleep(0.1)
    assert (time_of(browser), words(browser, "play")) == (begin, "Play")
    go_to(browser, 0.9995)
    browser.evaluate("document.getElementById('play').click()")
    wait_for(browser, "document.getElementById('play').textContent === 'Play'")
    assert browser.evaluate("document.getElementById('slider').value") == "10000"
    browser.evaluate("document.getElementById('play').click()")  # from the begin again
    wait_for(browser, "document.getElementById('slider').value < 5000")


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.9])
def test_all_that_is_under_way_is_on_the_stage(
    browser: Browser, file: Path, played: dict[str, Any], share: float
) -> None:
    open_still(browser, file)
    go_to(browser, share)
    now = played["begin"] + round(10000 * share) / 10000 * (played["end"] - played["begin"])
    under_way = [each for each in played["journeys"] if each["begin"] <= now < each["until"][-1]]
    assert under_way
    crowded = [text for text in browser.evaluate(NUMBERS) if text.startswith("+")]
    assert browser.evaluate(MARKS) + sum(map(int, crowded)) == len(under_way)
    locks = played["locks"]["locks"]
    counts = {
        word: sum(lock[name] is not None and lock[name] <= now for lock in locks)
        for word, name in (("asked for", "asked"), ("blocking ASTs", "blocked"))
    }
    for word, count in counts.items():
        assert f"{word} {count} " in words(browser, "tally")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (820, 1180), (420, 800)])
def test_nothing_is_cut_off_or_faint(browser: Browser, file: Path, width: int, height: int) -> None:
    open_still(browser, file, width, height)
    go_to(browser, 0.5)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert beyond_the_window(browser) == []
    assert cut_off(browser) == []
    assert faint(browser) == []
    found = pictures(browser)
    assert len(found) == 3
    for picture in found:
        assert min(picture["width"], picture["height"]) > 60, picture["words"]
        assert picture["out"] < 1.0, picture["words"]
    assert browser.messages == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (420, 900)])
def test_locks_that_clients_fight_for_stand_in_the_first_screen(
    browser: Browser, file: Path, width: int, height: int
) -> None:
    open_still(browser, file, width, height)
    bottom = "document.getElementById('extents').getBoundingClientRect().bottom"
    assert float(str(browser.evaluate(bottom))) < height
