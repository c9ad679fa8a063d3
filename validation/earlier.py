"""Results of an earlier day, to be compared with: those that a commit keeps, or a file has."""

from __future__ import annotations

import subprocess
from pathlib import Path

from xc40io.config.errors import InputError, naming
from xc40io.config.files import text_of
from xc40io.validation.kept import FILE, REPORT, Result, read_results
from xc40io.validation.target import FOLDER

_OPTION = "--against"
_ROOT = FOLDER.parent


def earlier_results(name: str) -> dict[str, Result]:
    """Return the results by claim.

    Parameters
    ----------
    name
        A file that ``validate --json`` wrote, or a copy of kept results; or else a commit, as git
        names it, whose kept results are taken.

    Raises
    ------
    InputError
        If it is neither, or has no results.
    """
    place = f"{_OPTION} {name}"
    if "\0" not in name and Path(name).is_file():
        return read_results(_text_of(Path(name)), place)
    return read_results(_kept_in_commit(name), place)


def _text_of(path: Path) -> str:
    with naming(_OPTION):
        return text_of(path, REPORT)


def _kept_in_commit(name: str) -> str:
    """Return what the file of kept results is in a commit."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = _git(*words) if name and "\0" not in name else None
    if commit is None:
        raise InputError(
            f"{_OPTION} {name!r}: there is no such file, and no such commit in the history of "
            f"{_ROOT}; right would be a commit, as HEAD, or a file that xc40io validate --json "
            "wrote"
        )
    kept = f"{FILE.parent.name}/{FILE.name}"
    text = _git("show", f"{commit.strip()}:./{kept}")
    if text is None:
        raise InputError(
            f"{_OPTION} {name}: this commit has no {kept}; right would be a later one, or a file "
            "that xc40io validate --json wrote"
        )
    return text


def _git(*words: str) -> str | None:
    """Return what git prints about the folder of the sources; None where it fails."""
    command = ["git", "-C", str(_ROOT), *words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise InputError(
            f"{_OPTION} {words[-1].partition('^')[0]}: there is no such file, and no git to look "
            "for a commit; right would be a file that xc40io validate --json wrote"
        ) from error
    return done.stdout.decode() if done.returncode == 0 else None
