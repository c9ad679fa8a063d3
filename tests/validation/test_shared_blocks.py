"""Blocks are written where a document asks for them, and nothing else in it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.validation.shared_blocks import blocks_of, with_blocks

PAGE = """# A page

<!-- near, written by some command -->
| a | table |
<!-- end of near -->

<!-- far, written by some command -->
words
<!-- end of far -->
"""


def test_blocks_are_found_with_their_marks() -> None:
    found = blocks_of(PAGE)
    assert list(found) == ["near", "far"]
    assert found["far"] == ("<!-- far, written by some command -->\nwords\n<!-- end of far -->")


def test_a_document_takes_the_blocks_that_it_marks(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(PAGE.replace("words", "old words\nof several lines").replace("near", "far"))
    text = with_blocks(document, blocks_of(PAGE))
    assert text.count("\nwords\n") == 2
    assert "old" not in text
    assert "table" not in text
    assert text.startswith("# A page\n\n<!-- far")
    document.write_text(text)
    assert with_blocks(document, blocks_of(PAGE)) == text


def test_an_empty_block_is_filled(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("<!-- far, written by some command -->\n<!-- end of far -->")
    assert with_blocks(document, blocks_of(PAGE)) == blocks_of(PAGE)["far"]


def test_a_block_that_there_is_not_is_named(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("<!-- nearer, written by some command -->\n<!-- end of nearer -->")
    with pytest.raises(InputError, match=r"there is no block nearer; did you mean near\?"):
        with_blocks(document, blocks_of(PAGE))
