"""Sentences as lines: where what has no room goes on."""

from __future__ import annotations

import pytest

from xc40io.telling.answer import Points, Text
from xc40io.telling.text import WIDTH, blocks_text, hanging

WORDS = "as many words as there are " * 8


@pytest.mark.parametrize(
    ("begins", "follows"),
    [("", "  "), ("  now: ", "    "), ("  # ", "  #   "), ("   1.23 x  ", " " * 11)],
)
def test_a_line_goes_on_to_the_right_of_where_it_begins(begins: str, follows: str):
    first, *others = hanging(begins + WORDS)
    assert first.startswith(f"{begins}as many")
    assert len(others) > 1
    assert all(line.startswith(follows) and line[len(follows)] != " " for line in others)
    assert max(map(len, (first, *others))) <= WIDTH


def test_a_paragraph_does_not_hang_and_several_lines_do():
    first, second, *_ = blocks_text([Text(WORDS)]).splitlines()
    assert second[0] != " "
    told = blocks_text([Text(f"title\n{WORDS}\n  # {WORDS}")]).splitlines()
    assert told[:2] == ["title", first]
    assert told[2].startswith("  ")
    assert any(line.startswith("  #   ") for line in told)


def test_a_number_stays_beside_its_percent_sign_and_long_words_are_broken():
    for room in range(20):
        told = blocks_text([Points([f"{'x' * (WIDTH - room)} 97 %"])])
        assert "97 %" in told
    assert max(map(len, hanging("y" * 250))) <= WIDTH
