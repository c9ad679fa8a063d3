"""The progress bar: on a terminal, after a second; elsewhere a line now and then."""

from __future__ import annotations

import io
import sys

import pytest

from xc40io.results import progress
from xc40io.run.foreseen import Foreseen


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


def test_a_log_gets_a_line_after_a_while_and_nothing_before(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), patience=0.0) == ""
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    line = shown(monkeypatch, io.StringIO(), patience=60.0)
    assert line == "xc40io: simulated: 5 of 10 GB (50%)\n"


def test_bytes_of_one_run_are_counted_and_then_runs(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with progress.ProgressBar() as bar:
        bar.counting("bytes")(5 * 10**9, 10**10)
        bar.counting("runs")(3, 7)
    assert "5.0/10.0 GB" in stream.getvalue()
    assert "3/7" in stream.getvalue()


def foreseen(calls: float, operations: float = 0.0) -> Foreseen:
    return Foreseen(
        ranks=2,
        crowded=False,
        calls=calls,
        rpcs=0.0,
        apart=0.0,
        pieces=calls,
        operations=operations,
        memory=8e7 + 800 * calls,
        moves=calls > 0,
    )


def test_what_a_run_will_be_is_said_with_the_first_line(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    with progress.ProgressBar() as bar:
        bar.foretell(foreseen(1e6))
        assert capsys.readouterr().err == ""
        bar(1, 2)
        bar(2, 2)
    first, *rest = capsys.readouterr().err.splitlines()
    said = "2 ranks, 1,000,000 calls, 1,000,000 bulk RPCs: about 10 s and 0.88 GB of memory"
    assert first == f"xc40io: {said}"
    assert len(rest) == 2


def test_operations_are_counted_where_no_bytes_are_moved(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    with progress.ProgressBar("runs") as bar:
        of_run = bar.counting("bytes")
        of_run.foretell(foreseen(0.0, operations=2000))
        of_run(500, 2000)
        of_run(1000, 2000)
    assert capsys.readouterr().err.endswith("simulated: 1,000 of 2,000 operations (50%)\n")


def test_what_would_make_a_run_smaller_is_said_at_once(capsys):
    with progress.ProgressBar() as bar:
        bar.foretell(foreseen(1e12))
        said = capsys.readouterr().err
        bar(1, 2)
    assert "GB are free; smaller would be larger calls, fewer of them, or fewer rep" in said
    assert "calls" not in capsys.readouterr().err
