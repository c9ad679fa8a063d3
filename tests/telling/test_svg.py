"""Figures that become part of a page."""

from __future__ import annotations

from xml.etree import ElementTree

from matplotlib.figure import Figure

from xc40io.telling.drawing import inline_svg
from xc40io.telling.sheet import INK, Heading, name_axes, sheet, take_heading

HEADING = Heading("Bandwidth", "theta: 4 nodes", "A caption that goes on. " * 12)


def figure() -> Figure:
    drawn, (axes,) = sheet(HEADING)
    axes.plot([1, 2, 3], [1, 4, 9], label="one")
    name_axes(axes, "nodes", "GB/s")
    return drawn


def test_svg_is_one_element_that_takes_the_colour_of_the_text() -> None:
    text = inline_svg(figure(), "one", "What is shown & how")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert root.get("aria-label") == "What is shown & how"
    assert root.get("width") is None
    assert INK not in text
    assert "currentColor" in text
    assert text == inline_svg(figure(), "one", "What is shown & how")


def test_two_figures_in_a_page_share_no_names() -> None:
    names = []
    for name in ("one", "two"):
        root = ElementTree.fromstring(inline_svg(figure(), name, ""))
        own = {found for element in root.iter() if (found := element.get("id"))}
        used = {
            reference[1:]
            for element in root.iter()
            for key, reference in element.items()
            if key.endswith("href")
        }
        assert used <= own
        names.append(own)
    assert names[0].isdisjoint(names[1])


def test_a_heading_is_taken_off_a_figure_as_it_was_put_there() -> None:
    drawn = figure()
    found = take_heading(drawn)
    assert (found.title, found.setup) == (HEADING.title, HEADING.setup)
    assert found.caption == HEADING.caption.strip()
    assert not any(words.get_visible() for words in drawn.texts)
