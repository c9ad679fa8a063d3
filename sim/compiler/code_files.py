"""Files of machine code, whose names say what is in them; nothing else is loaded or linked.

A file is called ``KEY-DIGEST.so``: what it was made from, and a BLAKE2 of that key and the bytes.
So the digest comes into being with the file, and goes with every copy of it. Whoever runs code
reads the file once, and runs the bytes whose digest was right, whatever has the name by then.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from xc40io.archive.user_cache import whose, written

LINKED = ".so"
"""Suffix of a core that is a shared library."""

UNLINKED = ".objects"
"""Suffix of a core that is only a list of files with object code, one a line."""

OBJECT = ".o"
"""Suffix of the object code of one function."""

_DIGEST = 16  # bytes
_MOST = 64 << 20  # bytes of a file: more than ten times what any core takes


class RefusedError(OSError):
    """A file is not what its name says, or may be somebody else's; the message says which."""


class Code(NamedTuple):
    """Machine code as it was read: ``content`` is what ``path`` says that it is."""

    path: Path
    content: bytes


class CodeFolder:
    """The files of a folder by their keys, as they are when it is first looked at.

    A folder that may be somebody else's has none.

    Parameters
    ----------
    path
        Of the folder; it need not exist.
    shared
        Whether whoever may write there is trusted, as those who install packages are.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._shared = shared
        self._files: dict[str, list[Path]] = {}
        try:
            found = sorted(path.iterdir()) if shared or not whose(path.stat()) else []
        except OSError:
            found = []
        for file in found:
            self._files.setdefault(file.name.partition("-")[0], []).append(file)

    def files(self, key: str, suffixes: Sequence[str]) -> list[Path]:
        """Return the files of a key; of several, one or all but one may be damaged."""
        return [path for path in self._files.get(key, []) if path.suffix in suffixes]

    def read(self, path: Path) -> Code:
        """Return the content of a file of this folder, as :func:`read_code` does."""
        return read_code(path, shared=self._shared)


def read_code(path: Path, *, shared: bool = False) -> Code:
    """Return the content of a file, if its name has the digest of it.

    Raises
    ------
    RefusedError
        If its digest does not fit, it is no file, or may be somebody else's (which is not asked of
        what is ``shared``).
    """
    try:
        content = _content(path, shared=shared)
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from error
    key, _, digest = path.stem.partition("-")
    if digest != _digest(key, content):
        raise RefusedError(f"{path}: it is damaged")
    return Code(path, content)


def _content(path: Path, *, shared: bool) -> bytes:
    """Return the bytes of a file; an OSError says what is wrong with it."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe may be there
    try:
        found = os.fstat(handle)
        reason = "" if shared else whose(found)
        if not stat.S_ISREG(found.st_mode):
            reason = "it is no file"
        if reason:
            raise OSError(reason)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(_MOST)
    finally:
        os.close(handle)


def keep_code(folder: Path, key: str, suffix: str, content: bytes) -> Path:
    """Write machine code to a file of a folder; return its path.

    Raises
    ------
    OSError
        If the system refuses to write.
    """
    path = folder / f"{key}-{_digest(key, content)}{suffix}"
    with written(path) as draft:
        draft.write_bytes(content)
    return path


def _digest(key: str, content: bytes) -> str:
    digest = blake2b(key.encode() + b" ", digest_size=_DIGEST)
    digest.update(content)
    return digest.hexdigest()
