"""What is told in one sentence: the user's input is wrong, or something could not be done."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Bad input from the outside: a command line, a file, a hint, a log.

    The message is one clear sentence that names the place (file or option), the value found and
    what would be right. The command line prints it and exits with status 2; no traceback.
    """


class FailureError(RuntimeError):
    """Something could not be done, though the input is right.

    The message is one clear sentence. The command line prints it and exits with status 1.
    """


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put a place in front of whatever InputError is raised within."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


_SHOWN = 80
"""Characters of a value that a sentence repeats."""


def shown(value: object) -> str:
    """Return a value as a sentence repeats it: long ones cut, with their length."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _SHOWN:
        return repr(value)
    return f"{text[:_SHOWN]!r}... ({len(text):,} characters)"


def shown_path(path: object) -> str:
    """Return a path as a sentence begins with it: a long one cut in its middle."""
    text = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(path)
    )
    if len(text) <= 2 * _SHOWN:
        return text
    return f"{text[:_SHOWN]}...{text[-_SHOWN:]}"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a question for the likely intended name, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""
