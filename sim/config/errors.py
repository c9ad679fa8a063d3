"""What is told in one sentence: the user's input is wrong, or something could not be done."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_SHOWN = 80
"""Characters of a value that a sentence repeats."""

_PATH = 2 * _SHOWN
"""Characters of a path that a sentence has in whole."""

_SENTENCE = 1000
"""Characters of a sentence. Only lists of what there is are as long: fields, names."""

_FOUND = 3 * _SHOWN
"""Characters of its beginning, which names the place and repeats the value."""

_DASHES = "\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{FIGURE DASH}"
"""What text processors make of the sign that options begin with."""

_LONG = re.compile(
    rf"(?<!\w)'[^']{{{_PATH},}}'(?!\w)|(?<!\w)\"[^\"]{{{_PATH},}}\"(?!\w)|\S{{{_PATH + 20},}}"
)
"""What nobody reads to its end: a long quotation, or a long word."""


def cut(text: str, most: int = _SHOWN) -> str:
    """Return a text of which a longer middle is left out, and says how long it was."""
    if len(text) <= most:
        return text
    part = most // 2
    return f"{text[:part]}...({len(text) - 2 * part:,} more)...{text[-part:]}"


def readable(sentence: str) -> str:
    """Return a sentence as a person reads it, whatever value from outside has got into it."""
    sentence = _LONG.sub(lambda found: cut(found[0]), sentence)
    found, semicolon, right = sentence.partition("; ")
    if max(map(len, found.split(", "))) > _FOUND:  # else it is a list of names
        sentence = f"{cut(found, _FOUND)}{semicolon}{right}"
    return sentence if len(sentence) <= _SENTENCE else cut(sentence, _SENTENCE // 2)


class InputError(ValueError):
    """Bad input from the outside: a command line, a file, a hint, a log.

    The message is one clear sentence that names the place (file or option), the value found and
    what would be right. The command line prints it and exits with status 2; no traceback. A long
    value in it is cut: most are by :func:`shown`, where the sentence is made, all others here.
    """

    def __init__(self, sentence: object) -> None:
        super().__init__(readable(str(sentence)))


class FailureError(RuntimeError):
    """Something could not be done, though the input is right.

    The message is one clear sentence. The command line prints it and exits with status 1.
    """

    def __init__(self, sentence: object) -> None:
        super().__init__(readable(str(sentence)))


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put a place in front of whatever InputError is raised within; nothing if it is empty."""
    try:
        yield
    except InputError as error:
        if not place:
            raise
        raise InputError(f"{place}: {error}") from error


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
    return text if len(text) <= _PATH else f"{text[:_SHOWN]}...{text[-_SHOWN:]}"


def meant_by_dash(word: str) -> str:
    """Return what is said of an option that begins with another dash; nothing of other words."""
    bare = word.lstrip(f"{_DASHES}-")
    if not bare or word[:1] not in _DASHES:
        return ""
    sign = unicodedata.name(word[0]).lower()
    right = "--" if word[0] == "\N{EM DASH}" or len(word) - len(bare) > 1 else "-"
    return f"it begins with no dash of a keyboard ({sign}); right would be {right}{bare}"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a question for the likely intended name, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""
