"""Pages as a browser shows them: nothing cut off, nothing asked for, nothing too faint to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, chromium
from page_checks import (
    beyond_the_window,
    cut_off,
    faint,
    open_all,
    pictures,
    unreachable_by_keyboard,
)

from xc40io.telling.answer import (
    Answer,
    Card,
    Fold,
    Listing,
    Points,
    Section,
    plain_table,
)
from xc40io.telling.html import write_page

pytestmark = pytest.mark.skipif(
    chromium() is None,
    reason="there is no Chromium: apt-get install chromium, or CHROMIUM=its path",
)

LONG = "a_name_without_any_place_to_break_" * 8


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def crowded() -> Answer:
    """A page with more and longer things than any run has."""
    row = [LONG, LONG, *["1,234,567.89 GB/s"] * 38]
    wide = plain_table(LONG, [LONG] * 40, [row] * 3, words=(0, 1))
    cards = [Card(LONG, "1,234,567,890.12 GB/s", LONG)] * 9
    parts = [wide, Points([LONG], alert=True), Listing("Lines", LONG), Fold(LONG, [wide])]
    sections = [Section("one", LONG, parts)]
    return Answer(LONG, LONG, sections, description=LONG, cards=cards, version="1.0")


@pytest.fixture(scope="module")
def written(
    page: Answer, jobs_page: Answer, crowded: Answer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The pages as files."""
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in ("run", "jobs", "crowded")}
    for made, path in zip((page, jobs_page, crowded), found.values(), strict=True):
        write_page(made, path, "--html")
    return found


@pytest.mark.parametrize("name", ["run", "jobs", "crowded"])
@pytest.mark.parametrize("width", [420, 768, 1280, 1920])
def test_nothing_is_cut_off_at_any_width(
    browser: Browser, written: dict[str, Path], name: str, width: int
):
    browser.open(written[name], width, 800)
    for _ in range(2):  # as it opens, and with all that is folded away
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert beyond_the_window(browser) == []
        assert cut_off(browser) == []
        assert unreachable_by_keyboard(browser) == []
        open_all(browser)


@pytest.mark.parametrize("name", ["run", "jobs"])
def test_a_page_asks_for_nothing_and_complains_of_nothing(
    browser: Browser, written: dict[str, Path], name: str
):
    browser.open(written[name])
    open_all(browser)
    assert browser.requests == [written[name].as_uri()]
    assert browser.messages == []


@pytest.mark.parametrize("name", ["run", "jobs"])
def test_pictures_are_there_whole_and_told(browser: Browser, written: dict[str, Path], name: str):
    browser.open(written[name])
    found = pictures(browser)
    assert len(found) >= 5
    for picture in found:
        assert picture["alive"], picture["words"]
        assert min(picture["width"], picture["height"]) > 80, picture["words"]
        assert picture["out"] < 1.0, picture["words"]
        assert len(picture["words"]) > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["run", "crowded"])
def test_words_stand_out_from_their_ground(
    browser: Browser, written: dict[str, Path], name: str, scheme: str
):
    browser.open(written[name], prefers_color_scheme=scheme)
    open_all(browser)
    dark = browser.evaluate("getComputedStyle(document.body).backgroundColor") != (
        "rgb(255, 255, 255)"
    )
    assert dark == (scheme == "dark")
    assert faint(browser) == []


def test_the_keyboard_reaches_links_and_folds(browser: Browser, written: dict[str, Path]):
    browser.open(written["run"])
    reached = []
    for _ in range(40):
        browser.press("Tab", 9)
        reached.append(browser.evaluate("document.activeElement.tagName"))
        if reached[-1] == "SUMMARY":
            browser.press("Enter", 13)
    assert {"A", "SUMMARY", "PRE"} <= set(reached)
    assert browser.evaluate("document.querySelectorAll('details[open]').length") > 0
    browser.open(written["run"])
    browser.press("Tab", 9)
    browser.press("Enter", 13)  # the first link leads past the head
    assert browser.evaluate("document.activeElement.id") == "content"


_SEEN = """
[...document.querySelectorAll('.axis .plot > svg')].map(svg => svg.getAttribute('viewBox'))
"""
_PRESSED = "document.querySelector('.axis [data-do={}]').click()"
_TICKS = "[...document.querySelectorAll('.axis .ticks span')].map(tick => tick.textContent)"
_POINTED = """
{
  const plot = document.querySelector('.axis .plot'), box = plot.getBoundingClientRect();
  const where = {clientX: box.left + box.width / 2, clientY: box.top + 5, pointerId: 1};
  plot.dispatchEvent(new PointerEvent('pointermove', where));
  plot.dispatchEvent(new WheelEvent('wheel', {...where, deltaY: -1, cancelable: true}));
}
"""


def test_all_strips_are_looked_at_more_closely_together(browser: Browser, written: dict[str, Path]):
    browser.open(written["run"])
    whole, ticks = browser.evaluate(_SEEN), browser.evaluate(_TICKS)
    assert len(whole) >= 3
    assert len(set(ticks)) == len(ticks) >= 4
    browser.evaluate(_PRESSED.format("closer"))
    closer = browser.evaluate(_SEEN)
    assert {tuple(view.split()[:3:2]) for view in closer} != {
        tuple(view.split()[:3:2]) for view in whole
    }
    assert len({tuple(view.split()[:3:2]) for view in closer}) == 1
    assert browser.evaluate(_TICKS) != ticks
    browser.evaluate(_PRESSED.format("whole"))
    assert browser.evaluate(_SEEN) == whole
    browser.evaluate(_POINTED)
    assert browser.evaluate(_SEEN) != whole
    said = browser.evaluate("document.querySelector('.axis output').textContent")
    assert "GB/s" in said
    assert " s: written, into the OSSs " in said
    assert browser.messages == []


def test_without_scripts_the_strips_are_still_pictures(browser: Browser, written: dict[str, Path]):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(written["run"])
        tools = "getComputedStyle(document.querySelector('.axis .tools')).display"
        assert browser.evaluate(tools) == "none"
        assert len(browser.evaluate(_SEEN)) >= 3
        assert len(browser.evaluate(_TICKS)) >= 4
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_paper_has_all_of_it(browser: Browser, written: dict[str, Path], tmp_path: Path):
    browser.open(written["run"])
    browser.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    browser.open(written["run"], 718, 1000, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 718
    assert faint(browser) == []
