"""What is looked for in a page that a browser shows, as JavaScript, and the questions in Python."""

from __future__ import annotations

from typing import Any

from chromium import Browser

_HELPERS = """
const shown = element => element.checkVisibility() && element.getBoundingClientRect().width > 0;
const named = element => element.tagName.toLowerCase() + (element.id ? '#' + element.id : '') +
  (element.className && element.className.baseVal === undefined ? '.' + element.className : '') +
  ' ' + JSON.stringify((element.textContent || '').trim().slice(0, 40));
const html = [...document.body.querySelectorAll('*')].filter(e => !e.closest('svg') && shown(e));
const within = element =>
  element.parentElement && (scrolls(element.parentElement) || within(element.parentElement));
const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
"""

_BEYOND = """
html.filter(e => !within(e) && !e.closest('.skip'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1
            || e.getBoundingClientRect().left < -1)
  .map(named)
"""

_CUT = """
html.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && !scrolls(e)
              && getComputedStyle(e).display !== 'inline')
  .map(named)
"""

_UNREACHABLE = """
html.filter(e => scrolls(e) && (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))
  .filter(e => e.tabIndex < 0).map(named)
"""

_PICTURES = """
[...document.querySelectorAll('.paper > svg, .paper > img')].map(e => {
  const box = e.getBoundingClientRect();
  let out = [0, 0, 0, 0];
  if (e.tagName === 'svg') {
    const view = e.viewBox.baseVal, ink = e.getBBox();
    out = [view.x - ink.x, view.y - ink.y, ink.x + ink.width - view.x - view.width,
           ink.y + ink.height - view.y - view.height];
  }
  const alive = e.tagName === 'svg' || (e.complete && e.naturalWidth > 0);
  const words = e.getAttribute('alt') || e.getAttribute('aria-label') || '';
  return {width: box.width, height: box.height, out: Math.max(...out), alive, words};
})
"""

_CONTRASTS = """
const lit = channel => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
const parts = colour => colour.match(/[0-9.]+/g).map(Number);
const light = ([r, g, b]) =>
  0.2126 * lit(r / 255) + 0.7152 * lit(g / 255) + 0.0722 * lit(b / 255);
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parts(getComputedStyle(e).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
html.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .map(e => {
    const [one, other] = [light(parts(getComputedStyle(e).color)), light(ground(e))];
    return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), named(e)];
  })
  .filter(([ratio]) => ratio < 4.5)
"""

_OPEN = "document.querySelectorAll('details').forEach(details => details.open = true)"


def _ask(browser: Browser, question: str) -> list[Any]:
    """Return the value of the last expression; the braces keep its names to themselves."""
    found: list[Any] = browser.evaluate(f"{{{_HELPERS}{question}}}")
    return found


def open_all(browser: Browser) -> None:
    """Open what is folded away."""
    browser.evaluate(_OPEN)


def beyond_the_window(browser: Browser) -> list[Any]:
    """Return what stands beyond the left or right edge of the window, but in what scrolls."""
    return _ask(browser, _BEYOND)


def cut_off(browser: Browser) -> list[Any]:
    """Return what is wider than the room it has, and cannot be scrolled."""
    return _ask(browser, _CUT)


def unreachable_by_keyboard(browser: Browser) -> list[Any]:
    """Return what has to be scrolled, but not by the keyboard."""
    return _ask(browser, _UNREACHABLE)


def faint(browser: Browser) -> list[Any]:
    """Return texts whose contrast with the ground is below 4.5, as WCAG 2 asks of level AA."""
    return _ask(browser, _CONTRASTS)


def pictures(browser: Browser) -> list[dict[str, Any]]:
    """Return the size of each picture, whether it is whole, and its words.

    ``out`` is how far, in its own units, what is drawn sticks out of it.
    """
    return _ask(browser, _PICTURES)
