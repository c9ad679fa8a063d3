"""What is named by its place, ``module:name``, so that it is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def found_at(place: str) -> Any:
    """Return what stands at a place, with all that it needs imported."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
