"""What is kept from one run to the next, in the user's cache folder: where, and for how long."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_KEPT_SECONDS = 30 * 24 * 3600.0


def user_cache(name: str) -> Path:
    """Return the folder of what is kept under a name; it need not exist, and perhaps cannot."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else _home() / ".cache") / "xc40io" / name


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


def forget_old(folder: Path, pattern: str = "*") -> None:
    """Remove the files and folders of a folder that nobody has written to for 30 days."""
    try:
        found = list(folder.glob(pattern))
    except OSError:  # it may not even be looked at
        return
    for path in found:
        try:
            if time.time() - path.stat().st_mtime <= _KEPT_SECONDS:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError:  # another process removed it first, or it is not ours to remove
            continue


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield another name to write a file under; when the block has ended well, it gets its own.

    Several processes may write the same file at a time: each has a name of its own until then.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    os.close(handle)
    try:
        yield Path(name)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
