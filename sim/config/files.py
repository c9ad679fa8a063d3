"""The YAML files under ``configs/`` and the user's own: which may be opened, finding, reading.

A machine or a scenario is asked for by name (``theta``: a file that is installed with xc40io) or by
the path of a file (anything that ends in ``.yaml`` or ``.yml``).

Someone who types a command may have any of his files read. A request that comes from elsewhere, as
those of ``xc40io mcp`` do, may name what ships with xc40io and nothing else: in a process that is
sealed every other file is refused, wherever it is named.

Every file that a user names is opened here, by :func:`opened`, :func:`bytes_of` or :func:`text_of`:
they know which files may be opened, that pipes, devices and folders are none, and how large a file
of its kind may be.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from xc40io.config.errors import InputError, nearest, shown, shown_path
from xc40io.config.files_in_use import note_read
from xc40io.config.reading import undecodable
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

_VARIABLE = "XC40IO_SEALED"
"""Of the environment, so that it holds in processes started from here: folders that are open."""


def seal(folders: Iterable[str] = ()) -> None:
    """Let this process, and those that it starts, open no input file but what ships.

    And what lies in and below some folders; who is sealed already keeps those of then.
    """
    opened_too = os.pathsep.join(str(_resolved(folder)) for folder in folders)
    os.environ.setdefault(_VARIABLE, opened_too)


def may_open(path: str | Path) -> bool:
    """Tell whether an input file may be opened: any, or in a sealed process what is left open."""
    if _VARIABLE not in os.environ:
        return True
    folders = [CONFIGS, *(Path(one) for one in os.environ[_VARIABLE].split(os.pathsep) if one)]
    found = _resolved(path)
    return any(found.is_relative_to(folder) for folder in folders)


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


@cache
def shipped(kind: str) -> Mapping[str, Path]:
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
    try:
        _check_regular(path.stat().st_mode, shown_path(path))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    note_read(path, shown_path(path))
    return path


class Kind(NamedTuple):
    """A kind of file that is read."""

    place: str  # the option or the field that names it, for messages
    most: int  # bytes
    piped: bool = False  # whether it may come through a pipe that the shell made: <(...)


DESCRIPTION = Kind("a YAML file", 1 << 24)
"""Descriptions of machines, jobs, mixes and kernels: the longest that ship have 60 KB."""

_HANDED_OVER = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""How the names of pipes begin that whoever started this process has opened for it."""


def opened(path: str | Path, kind: Kind) -> BinaryIO:
    """Open a file to read its bytes.

    Raises
    ------
    InputError
        If it may not be opened, is not there or cannot be read, is no file, or is larger than any
        of its kind.
    """
    check_may_open(path, kind.place)
    piped = kind.piped and str(path).startswith(_HANDED_OVER)
    if not piped:
        check_is_file(Path(path))
    try:
        # What has become a pipe since is not waited for.
        file = open(path, "rb", opener=None if piped else _at_once)  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    try:
        found = os.fstat(file.fileno())
        if not (piped and stat.S_ISFIFO(found.st_mode)):
            _check_regular(found.st_mode, shown_path(path))
        check_size(path, found.st_size, kind.most)
    except BaseException:
        file.close()
        raise
    return file


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def check_size(path: str | Path, size: int, most: int) -> None:
    """Raise InputError if a file has, or becomes when it is unpacked, more bytes than it may."""
    if size > most:
        raise InputError(
            f"{shown_path(path)}: holds {size:,} bytes or more; right would be at most {most:,}"
        )


def bytes_of(path: str | Path, kind: Kind) -> bytes:
    """Return what a file holds; InputError as :func:`opened`."""
    try:
        with opened(path, kind) as file:
            content = file.read(kind.most + 1)  # a pipe, and what grows, do not say how large
    except OSError as error:
        raise _unreadable(path, error) from error
    check_size(path, len(content), kind.most)
    return content


def text_of(path: str | Path, kind: Kind, errors: str = "strict") -> str:
    """Return the text of a file in UTF-8, with or without a mark at its beginning.

    Parameters
    ----------
    path, kind
        Of the file.
    errors
        What becomes of bytes that are no text: ``replace`` for what programs read that do not care.

    Raises
    ------
    InputError
        As :func:`opened`, or if it is no text.
    """
    try:
        text = bytes_of(path, kind).decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        raise InputError(f"{shown_path(path)}: {undecodable(error)}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_regular(mode: int, name: str) -> None:
    """Raise InputError unless that is the mode of a file."""
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
        kind = next((word for test, word in kinds if test(mode)), "a device")
        raise InputError(f"{name}: is {kind}; right would be a file")


def _unreadable(path: str | Path, error: OSError | ValueError) -> InputError:
    """Return the refusal of what the system does not let anybody read."""
    name = shown_path(path)
    if isinstance(error, InputError):
        return error
    if isinstance(error, FileNotFoundError):
        return InputError(f"{name}: there is no such file")
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return InputError(f"{name}: is a link that leads back to itself; right would be a file")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return InputError(f"{name}: cannot be read: {reason}")


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; a key given twice is an InputError."""
    return parse_mapping(text_of(path, DESCRIPTION), str(path))


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
            f"{place}: {'is empty' if data is None else f'holds {shown(data)}'}; right would be a "
            "mapping of fields to values"
        )
    return data
