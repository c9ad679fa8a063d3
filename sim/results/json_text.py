"""JSON as everything prints it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as indented JSON with a newline at the end.

    Raises
    ------
    ValueError
        If a number is infinite or none at all: JSON has no word for these.
    """
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
