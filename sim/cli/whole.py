"""Whole numbers on the command line."""

from __future__ import annotations

import re
from typing import Any

import click

_DIGITS = re.compile(r"\s*[+-]?[0-9]+\s*")
_MOST_DIGITS = 18  # fits 64 bits


class Whole(click.IntRange):
    """A whole number in the digits 0 to 9, within limits if there are any.

    Python itself reads digits of other scripts, and ``1_0``; people who typed these meant something
    else.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that was typed."""
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"{_shown(value)} is not a whole number{self._limits()}", param, ctx)
        if isinstance(value, str) and len(value.strip()) > _MOST_DIGITS:
            most = self.max if self.max is not None else 10**_MOST_DIGITS - 1
            self.fail(f"{_shown(value)} is too large; right would be at most {most:,}", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number

    def _limits(self) -> str:
        if self.min is None and self.max is None:
            return ""
        return f" in the range {self._describe_range()}"


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 80 else f"{text[:80]!r}... ({len(text):,} characters)"
