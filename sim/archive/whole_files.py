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

_KEPT = 100
"""Letters of its name that a draft has, too: with the rest it might be longer than names can be."""


def check_writable(path: str | Path, option: str) -> None:
    """Raise InputError unless a file can be written there: asked before a long run, not after it.

    Parameters
    ----------
    path
        The file.
    option
        Where the user named it, for the message.
    """
    target, name = Path(path), shown_path(path)
    _check_name(target, option, "written")
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


def _check_name(target: Path, option: str, done: str) -> None:
    """Raise InputError if the system cannot even look for it; ``done`` is what it should be."""
    try:
        target.stat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        loop = isinstance(error, OSError) and error.errno == errno.ELOOP
        why = "a link that leads back to itself" if loop else getattr(error, "strerror", str(error))
        raise InputError(f"{option}: {shown_path(target)} cannot be {done}: {why}") from error


def make_folder(path: str | Path, option: str) -> None:
    """Make a folder for files unless it is there; raise InputError if none can be written there."""
    folder = Path(path)
    _check_name(folder, option, "made")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option}: {path} is not a folder; right would be the name of a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{option}: {path} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{option}: {path} cannot be written into: permission denied")


@contextmanager
def replacing(path: str | Path, option: str) -> Iterator[Path]:
    """Give the path of a new file; when the block has ended well, it takes the place of ``path``.

    If the block fails, nothing is left behind and a former file stays as it was. What is no
    ordinary file, such as ``/dev/stdout``, is never replaced: it is written to when all is there.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the file.
    """
    try:
        with _special(Path(path)) if _is_special(Path(path)) else _ordinary(Path(path)) as draft:
            yield draft
    except OSError as error:
        raise InputError(f"{option}: {path} cannot be written: {error.strerror}") from error


@contextmanager
def _ordinary(path: Path) -> Iterator[Path]:
    """Give a draft beside a file, which takes its place in the end."""
    target = path.resolve()
    draft = _draft(target, os.getpid())
    _forget_stale_drafts(target)
    try:
        yield draft
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


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
