"""The status file of a deadline: one number, what each rank of the run that wrote it has done.

IOR (``stoneWallingStatusFile``) writes the calls of a rank there, mdtest (``-x``) its files. One
run writes the number; a later one, which reads, stats or removes, goes by it.
"""

from __future__ import annotations

from xc40io.config.errors import InputError
from xc40io.config.files import Kind, text_of

_MOST = 4096  # bytes


def read_status(path: str, option: str, written_by: str) -> int:
    """Return the number in a status file, 1 or more.

    Parameters
    ----------
    path, option
        Of the file, and what names it.
    written_by
        The run that writes such a file, in words.

    Raises
    ------
    InputError
        If the file cannot be read, or says no number.
    """
    try:
        text = text_of(path, Kind(option, _MOST), errors="replace")
    except InputError as error:
        raise InputError(f"{option}: {error}; it is written by {written_by}") from None
    words = text.split()
    number = words[0] if len(words) == 1 else ""
    if not number.isascii() or not number.isdigit() or len(number) > 18 or int(number) == 0:
        raise InputError(
            f"{option}: {path!r} says {text[:40]!r}; right would be one number, 1 or more"
        )
    return int(number)


def status_text(number: int) -> str:
    """Return what a status file says."""
    return f"{number}\n"
