"""Which stripes a script gives to folders: ``lfs setstripe``, as its manual page has it.

NERSC's own commands are known besides: ``stripe_small``, ``stripe_medium`` and ``stripe_large``
give the files of a folder 8, 24 and 72 stripes of 1 MiB (docs.nersc.gov, Lustre striping).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.striping import StripeRequest
from xc40io.config.units import SHORT_SIZES
from xc40io.workloads.job_script.option_words import Given, table, unknown_options

_SETSTRIPE = table(
    "lfs setstripe",
    "-c|--stripe-count|--count -S|-s|--stripe-size|--size -i|-o|--stripe-index|--stripe-offset"
    "|--offset|--index -p|--pool|--pool-name -E|--component-end -L|--layout --mdt-index -m --mode",
    "-d --delete -v --verbose",
)
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
    striping: StripeRequest | None = StripeRequest()
    for one in given:
        if one.name in ("-d", "--delete"):
            striping = None
        elif striping is not None:
            striping = _with(striping, one, f"{where}: lfs setstripe {one.name}")
        if one.name in ("-p", "-E", "-L"):
            notes.append(
                f"line {line}: lfs setstripe {one.name} {one.value}: pools and composite layouts "
                "are not simulated; count and size are taken alone"
            )
    return tuple(Layout(line, folder, striping, tuple(notes)) for folder in folders)


def _with(striping: StripeRequest, given: Given, at: str) -> StripeRequest:
    """Return a striping with what an option says."""
    name, text, _ = given
    with naming(f"{at} {text}"):
        if name == "-S":
            return _sized(striping, text)
        if name in ("-c", "-i"):
            number = _whole(text)
            count = number if name == "-c" else striping.count
            return StripeRequest(
                count=count,
                size=striping.size,
                offset=number if name == "-i" else striping.offset,
            )
    return striping


def _sized(striping: StripeRequest, text: str) -> StripeRequest:
    size = 0 if text == "0" else SHORT_SIZES.read(text)
    if size is None:
        raise InputError("right would be bytes with k, m or g, as 8m")
    return StripeRequest(count=striping.count, size=size, offset=striping.offset)


def _whole(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 9:
        raise InputError("right would be a whole number, as 8, or -1")
    return int(text)
