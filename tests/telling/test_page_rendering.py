"""A page as HTML: whole, harmless, alone in the world."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from html_outline import Outline
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from xc40io.config.errors import InputError
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Text,
    plain_table,
)
from xc40io.telling.html import render, write_page
from xc40io.telling.sheet import Heading, sheet

WICKED = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='a' & &lt; {{ 7 }}"
)


def figure(text: str) -> Figure:
    """A figure whose heading is a text."""
    return sheet(Heading(text, text, text))[0]


def page_with(text: str) -> Answer:
    """A page that has a text wherever one can be."""
    parts: list[Block] = [
        Text(text),
        Points([text, text], alert=True),
        plain_table(text, [text, text], [[text, text]] * 2, (0, 1), (1,), total=True, note=text),
        Listing(text, text, typed=True),
        Picture("one", lambda: figure(text)),
        Fold(text, [Text(text), Fold(text, [Listing(text, text)])]),
    ]
    sections = [Section("here", text, parts), Section("empty", text, [])]
    cards = [Card(text, text, text)]
    return Answer(text, text, sections, description=text, cards=cards, version="1.0")


def test_what_users_write_is_text_and_nothing_else():
    plain, wicked = (Outline.of(render(page_with(text))) for text in ("plain", WICKED))
    assert [name for name, _ in wicked.elements] == [name for name, _ in plain.elements]
    for (name, attributes), (_, usual) in zip(wicked.elements, plain.elements, strict=True):
        assert attributes.keys() == usual.keys(), name
    assert WICKED in wicked.texts["li"]
    assert wicked.texts["h1"] == [WICKED]
    assert wicked.texts["pre"] == [f"\n{WICKED}"] * 2


@given(st.text(max_size=40))
def test_any_text_gives_a_whole_page_that_can_be_written(text: str):
    html = render(page_with(text))
    outline = Outline.of(html)
    kept = [letter for letter in text if letter.isalnum()]
    assert [letter for letter in outline.texts["h1"][0] if letter.isalnum()] == kept
    assert html.encode("utf-8").decode("utf-8") == html


def test_a_page_refers_to_nothing_outside_and_runs_nothing():
    html = render(page_with("x"))
    outline = Outline.of(html)
    assert not outline.all("script")
    assert not [name for _, of in outline.elements for name in of if name.startswith("on")]
    addresses = [of[name] for _, of in outline.elements for name in ("href", "src") if name in of]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"url\(\s*['\"]?(?!#)|@import", html)
    policy = next(of for of in outline.all("meta") if "http-equiv" in of)
    assert policy["content"].startswith("default-src 'none'")


def test_a_section_without_parts_is_left_out_with_its_link():
    outline = Outline.of(render(page_with("x")))
    names = [of["id"] for name, of in outline.elements if "id" in of and name == "h2"]
    links = [of["href"] for of in outline.all("a")]
    assert names == ["here"]
    assert links == ["#content", "#here"]


def test_heads_of_tables_and_pictures_are_told_to_those_who_hear_a_page():
    outline = Outline.of(render(page_with("words")))
    assert {of["scope"] for of in outline.all("th")} == {"col", "row"}
    assert outline.texts["caption"] == ["words"]
    assert all(of["alt"] == "words. words" for of in outline.all("img"))
    assert all(of["tabindex"] == "0" for of in outline.all("pre"))
    assert outline.all("html") == [{"lang": "en"}]


def test_a_page_is_written_whole_or_refused_in_one_sentence(tmp_path: Path):
    target = tmp_path / "page.html"
    target.write_text("old")
    write_page(page_with("x"), target, "--html")
    assert target.read_text(encoding="utf-8") == render(page_with("x"))
    with pytest.raises(InputError, match=r"--html: .*nowhere.* cannot be written"):
        write_page(page_with("x"), tmp_path / "nowhere" / "page.html", "--html")
    assert list(tmp_path.iterdir()) == [target]
