"""How many processes work at a time: as many as there are processors, or as Python is told."""

from __future__ import annotations

import os

import pytest

from xc40io.engine.processors import processors


def test_as_many_as_python_is_told_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_CPU_COUNT", "3")
    assert processors() == 3


@pytest.mark.parametrize(
    "given", [None, "", "default", "0", "-1", "2.5", "\N{ARABIC-INDIC DIGIT TWO}"]
)
def test_else_as_many_as_this_process_may_use(
    given: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHON_CPU_COUNT", raising=False)
    if given is not None:
        monkeypatch.setenv("PYTHON_CPU_COUNT", given)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 5, 7}, raising=False)
    assert processors() == 4
