"""Whether files that a request names are opened.

Someone who types a command may have any of his files read. A request that comes from elsewhere, as
those of ``xc40io mcp`` do, may name what ships with xc40io and nothing else: in a process that is
sealed every other file is refused, wherever it is named. Every function that opens an input file by
a name of the user's asks here first.
"""

from __future__ import annotations

import os
from pathlib import Path

from sim.config.errors import InputError

# The distribution puts the folders configs/ and sim/ side by side, installed or in a checkout.
# (importlib.resources cannot open a folder without code in an editable installation.)
CONFIGS = Path(__file__).resolve().parents[2] / "configs"
"""The folder of what ships with xc40io."""

_VARIABLE = "XC40IO_SEALED"  # of the environment, so that it holds in processes started from here


def seal() -> None:
    """Let this process, and those that it starts, open no input file but what ships."""
    os.environ[_VARIABLE] = "1"


def may_open(path: str | Path) -> bool:
    """Tell whether an input file may be opened: any, or in a sealed process one that ships."""
    return _VARIABLE not in os.environ or _resolved(path).is_relative_to(CONFIGS)


def check_may_open(path: str | Path, place: str) -> None:
    """Raise InputError if this process is sealed and a file does not ship with xc40io.

    Parameters
    ----------
    path
        Of the file.
    place
        The option or the field that names it, for the message.
    """
    if not may_open(path):
        raise InputError(
            f"{place}: {str(path)!r} is a file, and requests from elsewhere may not open files; "
            "right would be a name that ships with xc40io, or the content itself"
        )


def _resolved(path: str | Path) -> Path:
    """Return a path without links and dots; one with a zero byte is none of ours."""
    try:
        return Path(path).resolve()
    except ValueError:
        return Path("/")
