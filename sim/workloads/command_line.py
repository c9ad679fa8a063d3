"""Command lines as IOR and mdtest read them: both have the same parser (``option.c`` of IOR 4).

Letters may stand alone or together (``-wrg``), a value behind its letter, behind ``=`` or in the
next word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from sim.config.errors import InputError

_SIZE = re.compile(r"\s*([+-]?[0-9]{1,999})\s*(?:([kmgtp])(?:i?b)?)?\s*", re.IGNORECASE)
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_LARGEST = (1 << 63) - 1  # both count in a signed 64-bit integer


class Grammar(NamedTuple):
    """What options a program has.

    Attributes
    ----------
    program
        What a person calls it: ``IOR``.
    command
        What is typed to run it: ``ior``.
    flags, values
        The letters of options without and with a value.
    long_flags, long_values
        The long options of both kinds, with their dashes, in lower case.
    """

    program: str
    command: str
    flags: Collection[str]
    values: Collection[str]
    long_flags: Collection[str]
    long_values: Collection[str]

    def split(self, argv: Sequence[str]) -> tuple[str, list[str]]:
        """Return the name of the program and the words behind it.

        The name may be missing, or be a path: ``ior``, ``./ior``, ``/path/to/ior``.
        """
        words = list(argv)
        if words and PurePosixPath(words[0]).name.lower() == self.command:
            return words[0], words[1:]
        return self.command, words

    def options(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield options (``-b``, ``--posix.odirect``) and their values ("" for a flag).

        Raises
        ------
        InputError
            If the program has no such option, or a value is missing.
        """
        rest = iter(words)
        for word in rest:
            if word == "--":  # IOR 3.x: the options of the backend follow
                continue
            if word.startswith("--"):
                yield self._long_option(word, rest)
            elif word.startswith("-") and len(word) > 1:
                yield from self._letters(word[1:], rest)
            else:
                raise InputError(
                    f"{word!r} is not an option of {self.program}; options start with a dash"
                )

    def _letters(self, letters: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Split letters that stand together; the first one with a value takes all behind it."""
        for position, letter in enumerate(letters):
            spelled = f"-{letter}"
            if letter == "-":  # as in -z-k, which IOR lets pass
                continue
            if letter in self.flags:
                yield spelled, ""
            elif letter in self.values:
                yield spelled, _value(spelled, letters[position + 1 :].removeprefix("="), rest)
                return
            elif letter == "h":
                raise InputError(self._own_help(spelled))
            else:
                raise InputError(f"{spelled}: {self.program} has no such option")

    def _own_help(self, spelled: str) -> str:
        ours = f"`xc40io {self.command} --help` prints ours"
        return f"{spelled} prints {self.program}'s own help; {ours}"

    def _long_option(self, word: str, rest: Iterator[str]) -> tuple[str, str]:
        spelled, equals, value = word.partition("=")
        name = spelled.lower()
        if name == "--help":
            raise InputError(self._own_help(spelled))
        if name in self.long_flags:
            if equals:
                raise InputError(f"{spelled} takes no value, but has {value!r}")
            return spelled, ""
        if name in self.long_values:
            return spelled, value if equals else _value(spelled, "", rest)
        raise InputError(f"{spelled}: {self.program} has no such option")


def _value(spelled: str, glued: str, rest: Iterator[str]) -> str:
    value = glued or next(rest, None)
    if value is None:
        raise InputError(f"{spelled} needs a value behind it")
    return value


def parse_size(text: str) -> int:
    """Convert a size as IOR and mdtest read it: ``64``, ``8m``, ``128K``, ``4g``, ``1t``.

    The suffixes are powers of 1024, and a ``B`` or ``iB`` behind them changes nothing: IOR reads
    ``1MB`` as 1 MiB.

    Returns
    -------
    int
        Bytes (or a plain number, where a count is typed).

    Raises
    ------
    ValueError
        With the end of a sentence that says what would be right.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError("not a size; give bytes, or a whole number with k, m, g or t, as in 8m")
    size = int(match[1]) << _SHIFTS[(match[2] or "").lower()]
    if abs(size) > _LARGEST:
        raise ValueError("too large; right would be at most 2^63 - 1")
    return size
