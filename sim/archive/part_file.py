"""What long work has found so far, beside the file that it becomes: ``FILE.part``.

Each row is written when it is known, and there is nothing of it under the final name: who is
interrupted, or killed, still has the rows.
"""

from __future__ import annotations

from pathlib import Path

from xc40io.config.errors import InputError


class PartFile:
    """The rows of a file that is not complete; nothing is there before the first of them.

    Parameters
    ----------
    path
        The file that is written in the end; what is no ordinary file, as a pipe, has no part.
    option
        Where the user named it.
    """

    def __init__(self, path: str, option: str) -> None:
        target = Path(path)
        ordinary = target.is_file() or not target.exists()
        self._option = option
        self._begun = False
        self.path = Path(f"{path}.part") if ordinary else None

    def add(self, text: str) -> None:
        """Add text; the first replaces what an earlier work has left.

        Raises
        ------
        InputError
            If the system refuses to write.
        """
        if self.path is None:
            return
        try:
            with self.path.open("a" if self._begun else "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InputError(
                f"{self._option}: {self.path} cannot be written: {error.strerror}"
            ) from error
        self._begun = True

    def remove(self) -> None:
        """Remove it, for all of it is known."""
        if self._begun and self.path is not None:
            self.path.unlink(missing_ok=True)
