"""The progress bar: on a terminal, after a second, and only then."""

from __future__ import annotations

import io
import sys

import pytest

from sim.results import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    with progress.ProgressBar() as bar:
        bar(5 * 10**9, 10**10)
    return stream.getvalue()


def test_shows_bytes_on_a_terminal(monkeypatch):
    assert "5.0/10.0 GB" in shown(monkeypatch, Terminal(), patience=0.0)


def test_a_quick_run_shows_nothing(monkeypatch):
    assert shown(monkeypatch, Terminal(), patience=60.0) == ""


def test_nothing_when_piped(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), patience=0.0) == ""
