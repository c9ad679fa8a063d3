"""The YAML files under ``configs/`` and the user's own: which may be opened, finding, reading.

A machine or a scenario is asked for by name (``theta``: a file that is installed with xc40io) or by
the path of a file (anything that ends in ``.yaml`` or ``.yml``).

Someone who types a command may have any of his files read. A request that comes from elsewhere, as
those of ``xc40io mcp`` do, may name what ships with xc40io and nothing else: in a process that is
sealed every other file is refused, wherever it is named. Every function that opens an input file by
a name of the user's asks :func:`check_may_open` first.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError, nearest, shown, shown_path
from xc40io.config.files_in_use import note_read
from xc40io.config.text.yaml_text import parse_yaml

_PACKAGE = Path(__file__).resolve().parents[1]


def folder_of(part: str) -> Path:
    """Return the folder of ``configs``, ``notebooks``, ``topology`` or ``validation``.

    An installed package has them within it, a checkout beside ``sim``. (importlib.resources cannot
    open a folder without code in an editable installation.)
    """
    within = _PACKAGE / part
    return within if within.is_dir() else _PACKAGE.parent / part


CONFIGS = folder_of("configs")
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
    note_read(path, place)


def _resolved(path: str | Path) -> Path:
    """Return a path without links and dots; one with a zero byte is none of ours."""
    try:
        return Path(path).resolve()
    except ValueError:
        return Path("/")


def shipped(kind: str) -> dict[str, Path]:
    """Return the ``machines`` or ``scenarios`` that come with xc40io: their files by name."""
    return {path.stem: path for path in sorted((CONFIGS / kind).glob("*.yaml"))}


def shipped_file(name: str) -> Path:
    """Return the path of a single file that comes with xc40io, beside the machines."""
    return CONFIGS / name


def find(kind: str, name_or_path: str | Path) -> Path:
    """Return the path of the file that a name or a path means.

    Parameters
    ----------
    kind : str
        ``machines`` or ``scenarios``.
    name_or_path : str or Path
        A name that is shipped, or a path that ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such name (the message lists those there are) or no such file.
    """
    text = str(name_or_path)
    if text.endswith((".yaml", ".yml")):
        check_may_open(text, kind)
        return check_is_file(Path(text))
    known = shipped(kind)
    if text not in known:
        raise InputError(
            f"{text!r} is not one of the {kind} that ship ({', '.join(known)}); "
            f"a file of your own is given by its path, which ends in .yaml{nearest(text, known)}"
        )
    return known[text]


def check_is_file(path: Path) -> Path:
    """Return the path of a file that is there to be read.

    Raises
    ------
    InputError
        If there is none, or what is there is a folder or a pipe, or cannot be looked at.
    """
    name = shown_path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError(f"{name}: there is no such file") from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise InputError(
                f"{name}: is a link that leads back to itself; right would be a file"
            ) from error
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name}: cannot be read: {reason}") from error
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"))
        kind = next((word for test, word in kinds if test(mode)), "a device")
        raise InputError(f"{name}: is {kind}; right would be a file")
    note_read(path, name)
    return path


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; a key given twice is an InputError."""
    check_may_open(path, "a YAML file")
    check_is_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8") from error
    return parse_mapping(text, str(path))


def parse_mapping(text: str, place: str) -> dict[str, Any]:
    """Return the mapping that a text in YAML, or in JSON, holds.

    Parameters
    ----------
    text
        The content of a file, or what stands for it.
    place
        What messages call it: the path of the file.

    Raises
    ------
    InputError
        If it is not valid YAML, or no mapping.
    """
    data = parse_yaml(text, place)
    if not isinstance(data, dict):
        raise InputError(
            f"{place}: holds {shown(data)}; right would be a mapping of fields to values"
        )
    return data
