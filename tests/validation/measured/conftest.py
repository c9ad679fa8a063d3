"""What the tests of readers share: a text becomes a file of claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files


class Written:
    """A file of claims, and what was not heeded."""

    def __init__(self, text: str, unheeded: list[str]) -> None:
        self.text, self.unheeded = text, unheeded
        said: dict[str, Any] = yaml.safe_load(text) or {}
        self.bases = said.get("bases", {})
        self.claims = {claim["id"]: claim for claim in said.get("claims", [])}
        self.values = {path: one["value"] for path, one in said.get("values", {}).items()}

    def relation(self, claim: str) -> tuple[str, str]:
        """Return the value and the tolerance of a claim."""
        relation = self.claims[claim]["relation"]
        return relation["value"], relation["tolerance"]


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., Written]:
    """Write texts into files, and read them."""

    def read(*texts: str, **asked: Any) -> Written:
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"out{number}"
            path.write_text(text, encoding="utf-8")
            paths.append(str(path))
        return Written(*claims_text(read_files(paths), Asked(**asked)))

    return read
