"""What long work has found so far, beside the file that it becomes: ``FILE.part``.

Each row is written when it is known, and there is nothing of it under the final name: who is
interrupted, or killed, still has the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from xc40io.config.errors import InputError


@contextmanager
def growing(path: str | None, option: str) -> Iterator[Callable[[str], None]]:
    """Give a function that adds text to ``path.part``; when the block ends well, that is removed.

    Parameters
    ----------
    path
        The file that is written in the end; None: nothing is written.
    option
        Where the user named it.

    Raises
    ------
    InputError
        If the system refuses to write.
    """
    if path is None or not _is_ordinary(Path(path)):
        yield lambda _: None
        return
    part = Path(f"{path}.part")
    try:
        with part.open("w", encoding="utf-8") as file:

            def add(text: str) -> None:
                file.write(text)
                file.flush()

            yield add
    except OSError as error:
        raise InputError(f"{option}: {part} cannot be written: {error.strerror}") from error
    part.unlink(missing_ok=True)


def _is_ordinary(path: Path) -> bool:
    return path.is_file() or not path.exists()
