"""The status file of a deadline: one number, what each rank of the run that wrote it has done.

IOR (``stoneWallingStatusFile``) writes the calls of a rank there, mdtest (``-x``) its files. One
run writes the number; a later one, which reads, stats or removes, goes by it.
"""

from __future__ import annotations

from pathlib import Path

from xc40io.config.errors import InputError
from xc40io.config.files import check_is_file, check_may_open


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
    check_may_open(path, option)
    try:
        text = check_is_file(Path(path)).read_text(encoding="utf-8", errors="replace")
    except (InputError, OSError) as error:
        reason = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise InputError(f"{option}: {reason}; it is written by {written_by}") from None
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
