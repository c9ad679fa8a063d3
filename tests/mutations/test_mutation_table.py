"""The table of rules still names what the code has, and tests that there are."""

from __future__ import annotations

import pytest
from rules import PROJECT, Rule, load


@pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.sentence)
def test_a_rule_stands_in_the_code_once(rule: Rule) -> None:
    assert (PROJECT / rule.file).read_text(encoding="utf-8").count(rule.text) == 1
    assert rule.instead != rule.text
    for test in rule.tests:
        assert (PROJECT / test).exists(), test


def test_no_sentence_stands_twice() -> None:
    sentences = [rule.sentence for rule in load()]
    assert len(sentences) == len(set(sentences)) >= 50
