"""How quickly the explorer answers while ten sessions have heavy runs made.

    python -m pytest tests/benchmarks/test_ten_sessions.py -m benchmark -s

The sessions are websockets of this process, not browsers: ten of these would be measured as well.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any
from urllib.request import urlopen

import pytest
from explorers import served

SESSIONS = 10
TIMES = 2  # that each session is asked while runs go on
HEAVY = {"nodes": "8", "ppn": "8", "block": "32g", "transfer": "16m"}
"""A run of a minute, did one let it."""


@pytest.mark.benchmark
def test_ten_sessions_stay_responsive():
    with served("--at-once", "2", "--rpcs", "9000000", "--seconds", "3600") as server:
        alone = [_taken(lambda: _get(server.url)) for _ in range(3)]
        sessions = [_Session(server.url, seed) for seed in range(SESSIONS)]
        for session in sessions:
            session.run()
        time.sleep(2.0)
        gets, answers = [], []
        for _ in range(TIMES):
            for session in sessions:
                gets.append(_taken(lambda: _get(server.url)))
                answers.append(_taken(session.ask))
        for session in sessions:
            session.end()
    print(f"\n{SESSIONS} sessions, 2 runs at a time")
    _tell("a new page, nothing else going on", alone)
    _tell("a new page, while runs go on", gets)
    _tell("an open page, to an answer over its websocket", answers)
    assert statistics.median(gets) < 1.0
    assert statistics.median(answers) < 1.0


class _Session:
    """A page that is open, without a browser."""

    def __init__(self, url: str, seed: int) -> None:
        import_module("panel")  # whose models the document is of
        from bokeh.client import pull_session

        self._session = pull_session(url=url, arguments=HEAVY | {"seed": str(seed)})
        self._session.document.models.flush_synced()  # what was pulled is known over there

    def run(self) -> None:
        """Press Run."""
        from bokeh.document.events import MessageSentEvent
        from bokeh.events import ButtonClick

        document = self._session.document
        click = ButtonClick(self._labelled("Run"))
        document.callbacks.trigger_on_change(MessageSentEvent(document, "bokeh_event", click))

    def ask(self) -> None:
        """Wait for an answer over the websocket."""
        self._session.force_roundtrip()

    def end(self) -> None:
        """Leave the page."""
        self._session.close()

    def _labelled(self, label: str) -> Any:
        models = self._session.document.models
        return next(one for one in models if getattr(one, "label", "") == label)


def _get(url: str) -> None:
    with urlopen(url) as answer:
        assert answer.status == 200
        answer.read()


def _taken(what: Callable[[], None]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def _tell(what: str, seconds: Sequence[float]) -> None:
    print(
        f"{what}: median {statistics.median(seconds):.3f} s, worst {max(seconds):.3f} s "
        f"({len(seconds)} times)"
    )
