"""What long work has found so far, beside the file that it becomes: ``FILE.part``.

Each row is written when it is known, and there is nothing of it under the final name: who is
interrupted, or killed, still has the rows.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from xc40io.archive.whole_files import check_writable, new_file
from xc40io.config.errors import InputError, shown_path


class PartFile:
    """The rows of a file that is not complete; nothing is there before the first of them.

    Parameters
    ----------
    path
        The file that is written in the end; what is no ordinary file, as a pipe, has no part.
    option
        Where the user named it.

    Raises
    ------
    InputError
        If one of the two cannot be written, or what has the name of the part is no ordinary file.
    """

    def __init__(self, path: str, option: str) -> None:
        check_writable(path, option)
        target = Path(path)
        ordinary = target.is_file() or not target.exists()
        self._option = option
        self._file: int | None = None
        self.path = Path(f"{path}.part") if ordinary else None
        if self.path is not None:
            self._check(self.path)

    def _check(self, part: Path) -> None:
        """Raise InputError if rows cannot go there: only what an earlier work left is replaced."""
        check_writable(part, self._option)
        if part.is_symlink() or (part.exists() and not stat.S_ISREG(part.lstat().st_mode)):
            what = "a link" if part.is_symlink() else "no ordinary file"
            raise InputError(
                f"{self._option}: {shown_path(part)}, where rows are kept until all are known, is "
                f"{what}; right would be another name, or to remove it"
            )

    def add(self, text: str) -> None:
        """Add lines, all of them or none; the first replace what an earlier work has left.

        Raises
        ------
        InputError
            If the system refuses to write.
        """
        if self.path is None:
            return
        try:
            if self._file is None:
                self._file = new_file(self.path)
            _append(self._file, text.encode())
        except OSError as error:
            name = shown_path(self.path)
            raise InputError(
                f"{self._option}: {name} cannot be written: {error.strerror}"
            ) from error

    def remove(self) -> None:
        """Remove it, for all of it is known."""
        if self._file is not None and self.path is not None:
            os.close(self._file)
            self._file = None
            self.path.unlink(missing_ok=True)


def _append(file: int, data: bytes) -> None:
    """Write bytes behind those that are there: all, or on a full disk none of them."""
    before = os.fstat(file).st_size
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        os.ftruncate(file, before)
        raise
