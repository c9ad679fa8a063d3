"""Which logs are meant: those that are named, and all in and below the folders that are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from xc40io.config.errors import InputError
from xc40io.config.files_in_use import note_read

SUFFIX = ".darshan"

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")


def means_logs(words: Sequence[str]) -> bool:
    """Tell whether several logs are asked for, or a folder of them."""
    return len(words) > 1 or any(Path(word).is_dir() for word in words)


def is_log(word: str) -> bool:
    """Tell whether a word is the name of a log."""
    return Path(word).suffix == SUFFIX


def logs_of(words: Sequence[str]) -> dict[str, Path]:
    """Return logs by what they are called, each once, in the order of their names in each folder.

    They are called by their names without the suffix, or where two have the same, by their paths,
    with nothing but what may stand in the name of a job.

    Raises
    ------
    InputError
        If a word is neither the name of a log nor a folder that has any.
    """
    paths = dict.fromkeys(path for word in words for path in _meant(word))
    often = Counter(path.stem for path in paths)
    found: dict[str, Path] = {}
    for path in paths:
        note_read(path, "LOG")
        called = path.stem if often[path.stem] == 1 else str(path.with_suffix(""))
        name = _NOT_IN_A_NAME.sub("-", called).lstrip("-._+") or "log"
        same = (f"{name}-{number}" for number in count(2))
        found[name if name not in found else next(one for one in same if one not in found)] = path
    return found


def _meant(word: str) -> list[Path]:
    path = Path(word)
    if path.is_dir():
        found = sorted(path.rglob(f"*{SUFFIX}"))
        if not found:
            raise InputError(
                f"{word}: there is no Darshan log in this folder, nor in those below; right would "
                f"be files that end in {SUFFIX}"
            )
        return found
    if not is_log(word):
        raise InputError(
            f"{word}: among several logs, right would be a Darshan log, whose name ends in "
            f"{SUFFIX}, or a folder of them"
        )
    return [path]
