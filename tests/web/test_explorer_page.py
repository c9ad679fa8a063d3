"""The explorer as a person meets it: a browser that clicks, types and looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explorers import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE = 60_000  # milliseconds: two cores may be shared by many
LAPTOP = {"width": 1280, "height": 800}
SIZES = [
    LAPTOP,
    *({"width": wide, "height": high} for wide, high in ((1024, 768), (768, 1024), (420, 900))),
]
SMALL = "?nodes=2&ppn=2&block=2m&transfer=1m&stripe_count=4"
HEAVY = "?nodes=8&ppn=8&block=32g&transfer=16m"
"""A run of a minute, did one let it."""


@pytest.fixture
def page(browser: Browser, explorer: Served) -> Iterator[Page]:
    context = browser.new_context(viewport=LAPTOP)
    one = context.new_page()
    one.set_default_timeout(PATIENCE)
    one.wrong = []
    one.on("pageerror", lambda error: one.wrong.append(str(error)))
    one.on("request", lambda asked: one.wrong.append(asked.url) if elsewhere(asked.url) else None)
    one.start = explorer.url
    yield one
    assert one.wrong == []
    context.close()


def elsewhere(url: str) -> bool:
    """Tell whether a request leaves this machine."""
    return not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:"))


def opened(page: Page, query: str = "") -> None:
    page.goto(f"{page.start}{query}")
    button(page, "Run").wait_for()


def button(page: Page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def run(page: Page) -> None:
    button(page, "Run").click()
    page.get_by_text("done", exact=True).wait_for()
    page.get_by_text("What bound it").wait_for()


def overflowing(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_a_run_its_link_and_its_animation(page: Page):
    opened(page, SMALL)
    run(page)
    assert page.get_by_text("GB/s").count() >= 2
    button(page, "Try it").click()
    page.get_by_text("Each differs in one control").wait_for()
    page.get_by_role("link", name="Compare, as B").first.wait_for()
    page.get_by_text("How busy each OST was").wait_for()
    assert "run=1" in page.url
    assert "stripe_count=4" in page.url
    told = page.locator(".value").all_inner_texts()

    button(page, "Animate it").click()
    frame = page.frame_locator("iframe")
    pause = frame.get_by_role("button", name="Pause")
    pause.wait_for()
    before = frame.get_by_role("slider").first.input_value()
    plays = f"one => one.value !== {before!r} || new Promise(next => setTimeout(next, 100, false))"
    slider = frame.get_by_role("slider").first
    page.locator("iframe").scroll_into_view_if_needed()  # what nobody sees stands still
    assert any(slider.evaluate(plays) for _ in range(PATIENCE // 100))
    pause.click()
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"

    frame.get_by_role("button", name="Full screen").click()
    full = "document.fullscreenElement !== null"
    page.wait_for_function(full)
    frame.get_by_role("button", name="Full screen").press("f")
    page.wait_for_function(f"!({full})")

    page.goto(f"{page.url}&film=A")  # the link makes the run by itself, and plays it
    page.get_by_text("What bound it").wait_for()
    assert page.locator(".value").all_inner_texts() == told
    page.frame_locator("iframe").get_by_role("button", name="Pause").wait_for()
    page.get_by_text("For whoever speaks to it").wait_for()


@pytest.mark.slow
def test_a_tour_compares_two_settings(page: Page):
    opened(page)
    page.get_by_label("Guided tour").select_option(label="Two writers, one stripe")
    page.get_by_text("times the bandwidth of A, with twice the nodes").wait_for()
    page.get_by_text("B beside A").wait_for()
    button(page, "Next step").click()
    page.get_by_text("step 2 of 4").wait_for()
    page.get_by_text("times as fast. In A").wait_for()
    page.get_by_text("B differs from A: pattern segmented (A: strided)").wait_for()
    assert page.get_by_text("How busy each OST was, B").count() == 1
    button(page, "Next step").click()
    page.get_by_text("The locks are gone").wait_for()
    assert "b.stripe_count=2" in page.url
    button(page, "Leave the tour").click()
    page.get_by_text("step 3 of 4").wait_for(state="hidden")
    for size in SIZES:
        page.set_viewport_size(size)
        page.wait_for_timeout(300)
        assert overflowing(page) <= 0


@pytest.mark.parametrize(
    "size",
    [*(pytest.param(size, marks=pytest.mark.slow) for size in SIZES[:-1]), SIZES[-1]],
    ids=lambda size: f"{size['width']}x{size['height']}",
)
def test_results_are_in_sight_after_a_run_and_at_each_step(page: Page, size):
    page.set_viewport_size(size)
    opened(page, SMALL)
    run(page)
    assert in_sight(page, page.locator(".value").first)
    opened(page)
    page.get_by_label("Guided tour").select_option(label="Two writers, one stripe")
    for step in (1, 2):
        page.get_by_text(f"step {step} of 4").wait_for()
        page.get_by_text("The runs are under way").wait_for(state="hidden")
        page.get_by_text("B beside A").wait_for()
        assert in_sight(page, page.get_by_text(f"step {step} of 4"))
        assert in_sight(page, page.locator(".value").first)
        button(page, "Next step").click()


def in_sight(page: Page, what) -> bool:
    """Tell whether the top of something comes to stand still within the window."""
    top = None
    for _ in range(PATIENCE // 300):
        page.wait_for_timeout(300)
        before, top = top, what.bounding_box()["y"]
        if top == before and 0 <= top < page.viewport_size["height"]:
            return True
    return False


def test_where_there_is_one_column_settings_fold_away_and_come_back(page: Page):
    page.set_viewport_size(SIZES[-1])
    opened(page, SMALL)
    nodes = page.get_by_label("Nodes", exact=True)
    assert nodes.is_visible()
    run(page)
    assert not nodes.is_visible()
    page.get_by_text("Settings", exact=True).click()
    assert nodes.is_visible()
    run(page)
    page.set_viewport_size(LAPTOP)
    nodes.wait_for()


def test_a_run_that_is_made_again_greys_what_was_there(page: Page):
    opened(page, "?nodes=8&ppn=8&block=2m&transfer=1m&stripe_count=4")
    run(page)
    shade = """e => { let seen = 1; while (e) {
      if (e instanceof Element) seen *= getComputedStyle(e).opacity; e = e.parentNode || e.host; }
      return seen; }"""
    assert page.locator(".value").first.evaluate(shade) == 1
    page.get_by_label("Bytes of a rank").fill("32g")
    page.get_by_label("Bytes of a rank").press("Tab")
    button(page, "Run").click()
    page.get_by_text("GB moved").wait_for()
    assert page.locator(".value").first.evaluate(shade) < 0.5
    button(page, "Cancel").click()
    page.get_by_text("cancelled").wait_for()
    page.get_by_text("What would this job do?").wait_for()


def test_a_run_can_be_cancelled_and_its_process_ends(page: Page, explorer: Served):
    opened(page, HEAVY)
    before = workers(explorer)
    button(page, "Run").click()
    page.get_by_text("GB moved").wait_for()
    button(page, "Cancel").click()
    page.get_by_text("cancelled").wait_for()
    opened(page, SMALL)
    run(page)  # by the process that took its place
    assert before not in (set(), workers(explorer))


def workers(explorer: Served) -> set[str]:
    """Return the processes that a server has started to make runs."""
    pid = explorer.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {
        child
        for child in children
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes().decode()
    }


def test_settings_that_cannot_be_are_told_at_once(page: Page):
    opened(page, "?nodes=x")
    page.get_by_text("nodes = 'x'").wait_for()
    size = page.get_by_label("Bytes of a call")
    size.fill("3m")
    size.press("Tab")
    page.get_by_text("are not whole calls").wait_for()
    page.get_by_role("button", name="Run", exact=True, disabled=True).wait_for()
    size.fill("1m")
    size.press("Tab")
    page.get_by_text("are not whole calls").wait_for(state="hidden")
    page.get_by_label("Files on").select_option(label="SSDs of the nodes")
    page.get_by_text("Stripe count").wait_for(state="hidden")
    page.get_by_label("Machine").select_option(label="cori-haswell")
    button(page, "Run").click()
    page.get_by_text("right would be lustre or bb").wait_for()


def test_the_keyboard_is_enough(page: Page):
    opened(page, SMALL)
    page.keyboard.press("Tab")  # to the link past the controls
    names = []
    for _ in range(8):
        page.keyboard.press("Tab")
        names.append(page.evaluate(_FOCUSED))
    assert names[:2] == ["Run", "Guided tour"]  # Cancel has nothing to do
    assert names[2:5] == ["Compare two settings, A and B", "Machine", "Files on"]
    page.keyboard.press("Shift+Tab")
    button(page, "Run").focus()
    assert page.evaluate(_OUTLINE) != "none"
    page.keyboard.press("Enter")
    page.get_by_text("What bound it").wait_for()


_DEEPEST = """
let one = document.activeElement;
while (one.shadowRoot && one.shadowRoot.activeElement) one = one.shadowRoot.activeElement;
"""
_FOCUSED = f"""() => {{ {_DEEPEST}
  const label = one.labels && one.labels[0] || one.closest('label');
  return (label ? label.textContent : one.textContent || one.ariaLabel || '').trim();
}}"""
_OUTLINE = f"() => {{ {_DEEPEST} return getComputedStyle(one).outlineStyle; }}"
