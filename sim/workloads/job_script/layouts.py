"""Which stripes a script gives to folders: ``lfs setstripe``, as its manual page has it.

NERSC's own commands are known besides: ``stripe_small``, ``stripe_medium`` and ``stripe_large``
give the files of a folder 8, 24 and 72 stripes of 1 MiB (docs.nersc.gov, Lustre striping).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.setstripe import OF_A_FILE, read_options
from xc40io.config.striping import StripeRequest

_SHELL = re.compile("[$`]")
_OTHER_LAYOUTS = ("migrate", "setdirstripe", "mkdir", "mirror", "swap_layouts")
_NERSC = {"stripe_small": 8, "stripe_medium": 24, "stripe_large": 72}


class Layout(NamedTuple):
    """The stripes of the files that are made in a folder."""

    line: int
    folder: str
    striping: StripeRequest | None  # None: those of the file system again

    def covers(self, path: str) -> bool:
        """Tell whether a file is the one meant, or lies below the folder."""
        if self.folder == ".":
            return not path.startswith(("/", "$", "~", ".."))
        return path == self.folder or path.startswith(f"{self.folder.rstrip('/')}/")


def read_layout(
    words: Sequence[str], line: int, place: str
) -> tuple[tuple[Layout, ...], list[str]] | None:
    """Return what a command gives to folders, and notes; None if it is about something else.

    Parameters
    ----------
    words
        Of the command; the folders stand as the script names them.
    line, place
        Where it stands, for messages.

    Raises
    ------
    InputError
        If a number or a size is none.
    """
    words = [PurePosixPath(words[0]).name, *words[1:]]
    if words[0] in _NERSC:
        shorthand = StripeRequest(count=_NERSC[words[0]], size=1 << 20)
        return tuple(Layout(line, folder, shorthand) for folder in words[1:]), []
    if words[0] == "lfs" and words[1:2] and words[1] in _OTHER_LAYOUTS:
        return (), [f"line {line}: lfs {words[1]} is not followed: files are laid out by setstripe"]
    if list(words[:2]) != ["lfs", "setstripe"]:
        return None
    try:
        given, folders = read_options(words[2:])
    except InputError as error:
        return (), [f"line {line}: lfs setstripe: {error}; the line is left out"]
    if not folders:
        return (), [f"line {line}: lfs setstripe names no folder or file, and does nothing"]
    if any(letter == "d" for letter, _ in given):
        return tuple(Layout(line, folder, None) for folder in folders), []
    notes = [f"line {line}: lfs setstripe {sentence}" for sentence in _left_out(given)]
    with naming(f"{place}, line {line}"):
        striping = _striping(given)
    return tuple(Layout(line, folder, striping) for folder in folders), notes


def _left_out(given: Sequence[tuple[str, str]]) -> list[str]:
    """Return what is said of each option that is read otherwise than lfs does now, or not."""
    counted = any(letter in "cC" and value not in ("0", "-1", "1") for letter, value in given)
    notes = []
    for letter, value in given:
        typed = f"{'-' if len(letter) == 1 else '--'}{letter} {value}".strip()
        if _SHELL.search(value):
            notes.append(f"{typed}: only the shell knows it when the job runs; it is left out")
        elif letter == "p":
            notes.append(
                f"{typed}: which OSTs are in a pool the script does not say; it is left out"
            )
        elif letter == "o" and value.isdecimal() and counted:
            notes.append(
                f"{typed} beside -c is read as -i {value}, the first OST, as lfs once had it; "
                "lfs since Lustre 2.7 refuses it"
            )
        elif letter not in OF_A_FILE and letter != "v":
            notes.append(f"{typed} is not simulated; it is left out")
    return notes


def _striping(given: Sequence[tuple[str, str]]) -> StripeRequest:
    """Return the striping that options ask for; -o with one OST was the first OST once."""
    words: list[str] = []
    for letter, value in given:
        if letter in OF_A_FILE and letter != "p" and not _SHELL.search(value):
            name = "i" if letter == "o" and value.isdecimal() else letter
            words += (f"-{name}", value)
    return StripeRequest(setstripe=shlex.join(words))
