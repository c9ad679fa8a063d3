"""The files that a command reads, and those that it is to write: none is both.

Whoever opens a file that the user named says so (:func:`note_read`), and so does whoever will write
one (:func:`note_written`), before anything runs. The later of the two is refused, however the file
is named: through links, from another folder, as the draft of another.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from xc40io.config.errors import InputError, shown_path

_Identity: TypeAlias = tuple[int, int]  # device and inode


@dataclass
class _Files:
    """Of one command, by their identities: where the user named them."""

    read: dict[_Identity, str] = field(default_factory=dict)
    written: dict[_Identity, str] = field(default_factory=dict)
    edited: set[_Identity] = field(default_factory=set)


_OF_COMMAND: ContextVar[_Files | None] = ContextVar("files of the command", default=None)


@contextmanager
def watching_files() -> Iterator[None]:
    """Watch what is read and written within: one command. Elsewhere nothing is noted."""
    token = _OF_COMMAND.set(_Files())
    try:
        yield
    finally:
        _OF_COMMAND.reset(token)


def note_read(path: str | Path, place: str) -> None:
    """Say that a file is read; ``place`` is the option or the field that names it.

    Raises
    ------
    InputError
        If another option has it written.
    """
    files = _OF_COMMAND.get()
    if files is not None:
        _note(files, files.read, path, place)


def note_written(path: str | Path, option: str) -> None:
    """Say that a file is to be written; ``option`` is where the user named it.

    Raises
    ------
    InputError
        If the command reads it, unless the same option names it for both: a program that reads
        what it wrote the last time.
    """
    files = _OF_COMMAND.get()
    if files is not None:
        _note(files, files.written, path, option)


def note_edited(path: str | Path) -> None:
    """Say that a file is meant to be read and written: what is in it is changed."""
    files, identity = _OF_COMMAND.get(), _identity(path)
    if files is not None and identity is not None:
        files.edited.add(identity)


def _note(files: _Files, noted: dict[_Identity, str], path: str | Path, named: str) -> None:
    identity = _identity(path)
    if identity is None:
        return
    noted.setdefault(identity, named)
    place, option = files.read.get(identity), files.written.get(identity)
    if place is None or option is None or place == option or identity in files.edited:
        return
    raise InputError(
        f"{option}: {shown_path(path)} is read by the same command, and would be overwritten; "
        "right would be another name"
    )


def _identity(path: str | Path) -> _Identity | None:
    """Return what tells a file from all others; None for devices, pipes and what is not there."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
