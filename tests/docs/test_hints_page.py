"""The page of hints names every hint that a library heeds."""

from __future__ import annotations

import re
from pathlib import Path

from xc40io.mpi.known_hints import KNOWN

PAGE = Path(__file__).parents[2] / "docs" / "mpiio_hints.md"


def test_every_hint_that_does_something_stands_on_the_page() -> None:
    named = set(re.findall(r"`([a-z0-9_]+)`", PAGE.read_text(encoding="utf-8")))
    heeded = {name for name, hint in KNOWN.items() if hint.libraries}
    assert len(heeded) > 15
    assert sorted(heeded - named) == []
