"""Questions at a terminal: an answer that does not fit is refused, and asked for again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from xc40io.config.errors import InputError


def ask(text: str, default: str, read: Callable[[str], Any], otherwise: str) -> Any:
    """Return what an answer says.

    Parameters
    ----------
    text, default
        Of the question.
    read
        Returns what an answer says; raises InputError if it does not fit.
    otherwise
        How to do without questions.

    Raises
    ------
    InputError
        If the answers end before this one, as those of a script may.
    """

    def checked(typed: str) -> Any:
        try:
            return read(typed)
        except InputError as error:
            raise click.UsageError(str(error)) from error

    try:
        return click.prompt(text, default=default, value_proc=checked, err=True)
    except click.Abort:
        if _is_terminal():
            raise
        raise InputError(f"no answer to {text!r}; right would be {otherwise}") from None


def _is_terminal() -> bool:
    return sys.stdin.isatty()
