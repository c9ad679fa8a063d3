"""The values of nested mappings by dotted path, as ``lustre.mds.open_rate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(part: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested mapping as one from dotted paths to values."""
    values: dict[str, Any] = {}
    for name, content in part.items():
        if isinstance(content, dict):
            values |= flat(content, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = content
    return values


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from dotted paths to values as a nested one."""
    whole: dict[str, Any] = {}
    for path, value in values.items():
        *sections, name = path.split(".")
        part = whole
        for section in sections:
            part = part.setdefault(section, {})
        part[name] = value
    return whole
