"""What is kept from one run to the next, in the user's cache folder: where, and for how long."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xc40io.archive.whole_files import to_disk
from xc40io.config.errors import InputError, shown

_KEPT_SECONDS = 30 * 24 * 3600.0


def user_cache(name: str) -> Path:
    """Return the folder of what is kept under a name; it need not exist, and perhaps cannot.

    Raises
    ------
    InputError
        If the environment names a relative one: that would be another one in each folder that one
        stands in, and in a stranger's folder the stranger's.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return _absolute(Path(base), "XDG_CACHE_HOME") / "xc40io" / name
    return _absolute(_home(), "HOME") / ".cache" / "xc40io" / name


def _absolute(folder: Path, variable: str) -> Path:
    if not folder.is_absolute():
        raise InputError(
            f"{variable}: {shown(str(folder))} is relative, and what is kept there would be in "
            "another place for each folder one works in; right would be a path that begins with /"
        )
    return folder


def _home() -> Path:
    """Return the user's home; where there is none, a place below which nothing can be written."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


def is_there(path: Path) -> bool:
    """Tell whether there is a file to be read: no folder, and no pipe, which would be waited for.

    Where nothing may even be looked at, there is none.
    """
    try:
        return path.is_file()
    except OSError:
        return False


def whose(found: os.stat_result) -> str:
    """Return why a file or folder may be somebody else's doing; nothing if it is the user's own.

    What root owns is as good as one's own: root may change that, too.
    """
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it"
    return ""


def forget_old(folder: Path, pattern: str = "*") -> None:
    """Remove the files and folders of a folder that nobody has written to for 30 days."""
    try:
        found = list(folder.glob(pattern))
    except OSError:  # it may not even be looked at
        return
    for path in found:
        try:
            if time.time() - path.stat().st_mtime > _KEPT_SECONDS:
                remove(path)
        except OSError:  # another process removed it first, or it is not ours to remove
            continue


def remove(path: Path) -> None:
    """Remove whatever has a name: a file, a link, or a folder with all that is in it.

    Raises
    ------
    OSError
        If it is not ours to remove.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield another name to write a file under; when the block has ended well, it gets its own.

    Several processes may write the same file at a time: each has a name of its own until then. The
    bytes are on the disk before the name is, so a loss of power leaves the former file or the new
    one. Whether it leaves the name does not matter: what is kept can be made again.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(handle)
    try:
        yield Path(name)
        to_disk(name)
        try:
            Path(name).replace(path)
        except IsADirectoryError:  # nothing else that belongs there would ever be kept
            remove(path)
            Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
