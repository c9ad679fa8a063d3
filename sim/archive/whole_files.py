"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from xc40io.config.errors import InputError, shown_path
from xc40io.config.files_in_use import note_written

_KEPT = 100
"""Letters of its name that a draft has, too: with the rest it might be longer than names can be."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def check_writable(path: str | Path, option: str) -> None:
    """Raise InputError unless a file can be written there: asked before a long run, not after it.

    Parameters
    ----------
    path
        The file. It must not be one that the command reads (:mod:`xc40io.config.files_in_use`).
    option
        Where the user named it, for the message.
    """
    target, name = Path(path), shown_path(path)
    _check_name(path, option, "written", "file")
    folder = target.resolve().parent
    if target.is_dir():
        raise InputError(f"{option}: {name} is a folder; right would be the name of a file")
    if not folder.is_dir():
        raise InputError(
            f"{option}: {name} cannot be written: there is no folder {shown_path(folder)}"
        )
    needed = [target] if target.exists() else []
    if not _is_special(target):
        needed.append(folder)
    if not all(os.access(place, os.W_OK) for place in needed):
        raise InputError(f"{option}: {name} cannot be written: permission denied")
    note_written(target, option)


def _check_name(path: str | Path, option: str, done: str, kind: str) -> None:
    """Raise InputError if it is no name, or the system cannot even look for it.

    ``done`` is what it should be, a ``kind``: a file or a folder.
    """
    if not str(path):
        raise InputError(f"{option}: '' is no name; right would be the name of a {kind}")
    try:
        Path(path).stat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        loop = isinstance(error, OSError) and error.errno == errno.ELOOP
        why = "a link that leads back to itself" if loop else getattr(error, "strerror", str(error))
        raise InputError(f"{option}: {shown_path(path)} cannot be {done}: {why}") from error


def check_folder(path: str | Path, option: str) -> None:
    """Raise InputError unless there can be a folder to write into; nothing is made."""
    folder, name = Path(path), shown_path(path)
    _check_name(path, option, "made", "folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option}: {name} is not a folder; right would be the name of a folder")
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    done = "written into" if folder.exists() else "made"
    if not there.is_dir():
        raise InputError(f"{option}: {name} cannot be {done}: {shown_path(there)} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: {name} cannot be {done}: permission denied")


def make_folder(path: str | Path, option: str) -> None:
    """Make a folder for files unless it is there; raise InputError if none can be written there."""
    check_folder(path, option)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{option}: {shown_path(path)} cannot be made: {error.strerror}"
        ) from error


@contextmanager
def replacing(path: str | Path, option: str) -> Iterator[Path]:
    """Give the path of a new file; when the block has ended well, it takes the place of ``path``.

    If the block fails, nothing is left behind and a former file stays as it was. What is no
    ordinary file, such as ``/dev/stdout``, is never replaced: it is written to when all is there.

    Raises
    ------
    InputError
        If the system refuses to write, or the command reads this file; `option` says where the
        user named it.
    """
    note_written(path, option)
    try:
        with _special(Path(path)) if _is_special(Path(path)) else _ordinary(Path(path)) as draft:
            yield draft
    except OSError as error:
        name = shown_path(path)
        raise InputError(f"{option}: {name} cannot be written: {error.strerror}") from error


@contextmanager
def _ordinary(path: Path) -> Iterator[Path]:
    """Give a draft beside a file, which takes its place in the end."""
    target = path.resolve()
    draft = _draft(target, os.getpid())
    _forget_stale_drafts(target)
    os.close(new_file(draft))
    try:
        yield draft
        to_disk(draft)
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def to_disk(path: str | Path) -> None:
    """Have the system write the bytes of a file to the disk, before the file gets its name."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _special(path: Path) -> Iterator[Path]:
    """Give a draft elsewhere, whose bytes are written to a device or a pipe in the end.

    Libraries would remove the device itself when writing to it fails.
    """
    with TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        yield draft
        with draft.open("rb") as written, path.open("wb") as device:
            shutil.copyfileobj(written, device)


def new_file(path: Path) -> int:
    """Make an empty file in place of what has this name, and return its descriptor.

    Names of drafts can be foreseen. In a folder that others may write into, one of them could be a
    link to a file of ours, or a pipe: what stands there is removed and never opened.

    Raises
    ------
    OSError
        If it cannot be removed, or nothing can be made there.
    """
    path.unlink(missing_ok=True)
    return os.open(path, _NEW, 0o666)


def _draft(target: Path, process: int | str) -> Path:
    """Return the path under which a process of this computer writes what becomes a file."""
    return target.with_name(f".{platform.node()}-{process}-{target.name[:_KEPT]}")


def _forget_stale_drafts(target: Path) -> None:
    """Remove the drafts of a file that processes of this computer left when they were killed."""
    before, after = _draft(target, "\0").name.split("\0")
    with suppress(OSError):
        for name in [path.name for path in target.parent.iterdir()]:
            process = name.removeprefix(before).removesuffix(after)
            whole = name == f"{before}{process}{after}"
            if whole and process.isdecimal() and not _is_alive(int(process)):
                target.with_name(name).unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True


def write_whole(path: str | Path, text: str, option: str) -> None:
    """Write a text file at once, or raise InputError and leave everything as it was."""
    with replacing(path, option) as draft:
        draft.write_text(text, encoding="utf-8")


def _is_special(path: Path) -> bool:
    """Whether this is a device, a pipe or the like, which must not be replaced by a file."""
    return path.exists() and (not path.is_file() or path.absolute().is_relative_to("/dev"))
