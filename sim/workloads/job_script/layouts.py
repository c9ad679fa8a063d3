"""Which stripes a script gives to folders: ``lfs setstripe``, as its manual page has it.

NERSC's own commands are known besides: ``stripe_small``, ``stripe_medium`` and ``stripe_large``
give the files of a folder 8, 24 and 72 stripes of 1 MiB (docs.nersc.gov, Lustre striping).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.striping import StripeRequest
from xc40io.workloads.job_script.option_words import GivenOption, table, unknown_options

_SETSTRIPE = table(
    "lfs setstripe",
    "-c|--stripe-count|--count -C|--overstripe-count -S|-s|--stripe-size|--size "
    "-i|--stripe-index|--stripe-offset|--offset|--index -o|--ost|--ost-list "
    "-p|--pool|--pool-name -E|--component-end|--comp-end -L|--layout --mdt-index -m --mode",
    "-d --delete -v --verbose",
)
_OF_A_LAYOUT = ("-E", "-c", "-C", "-S", "-i", "-o", "-L")
_NERSC = {"stripe_small": 8, "stripe_medium": 24, "stripe_large": 72}


class Layout(NamedTuple):
    """The stripes of the files that are made in a folder."""

    line: int
    folder: str
    striping: StripeRequest | None  # None: those of the file system again
    notes: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Tell whether a file is the one meant, or lies below the folder."""
        if self.folder == ".":
            return not path.startswith(("/", "$", "~", ".."))
        return path == self.folder or path.startswith(f"{self.folder.rstrip('/')}/")


def read_layout(words: Sequence[str], line: int, place: str) -> tuple[Layout, ...]:
    """Return what a command gives to folders; nothing if it is about something else.

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
    where = f"{place}, line {line}"
    if words[0] in _NERSC:
        shorthand = StripeRequest(count=_NERSC[words[0]], size=1 << 20)
        return tuple(Layout(line, folder, shorthand) for folder in words[1:])
    if list(words[:2]) != ["lfs", "setstripe"]:
        return ()
    given, folders = _SETSTRIPE.read(words[2:], where)
    notes = unknown_options(given, "lfs setstripe", line)
    if any(one.name in ("-d", "--delete") for one in given):
        return tuple(Layout(line, folder, None, tuple(notes)) for folder in folders)
    notes += [
        f"line {line}: lfs setstripe -p {one.value}: which OSTs are in a pool the script does not "
        "say; it is left out"
        for one in given
        if one.name == "-p"
    ]
    with naming(where):
        striping = _striping(given)
    return tuple(Layout(line, folder, striping, tuple(notes)) for folder in folders)


def _striping(given: Sequence[GivenOption]) -> StripeRequest:
    """Return the striping that options ask for."""
    words = [word for one in given if one.name in _OF_A_LAYOUT for word in _words(one)]
    for one in given:
        if one.name in _OF_A_LAYOUT and re.search("[$`]", one.value):
            raise InputError(f"{one.name} {one.value}: only the shell knows it when the job runs")
    return StripeRequest(setstripe=shlex.join(words))


def _words(one: GivenOption) -> tuple[str, str]:
    """Return an option as ``lfs`` has it today: -o was the first OST once."""
    name = "-i" if one.name == "-o" and one.value.isdecimal() else one.name
    return name, one.value
