"""The status file of a deadline (``-x``): how many files the run that created has made.

One run creates and writes the number; a later one, which stats, reads or removes, goes by it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sim.config.errors import InputError
from sim.config.files import check_is_file
from sim.config.sealed import check_may_open
from sim.workloads.mdtest.parameters import MdtestTest


def with_status(test: MdtestTest) -> MdtestTest:
    """Return a test with as many items as its status file says, if it is one that looks there.

    Raises
    ------
    InputError
        If the file cannot be read, or says no number.
    """
    if not test.reads_status:
        return test
    path = str(test.status_file)
    check_may_open(path, "-x")
    try:
        text = check_is_file(Path(path)).read_text(encoding="utf-8", errors="replace")
    except (InputError, OSError) as error:
        reason = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise InputError(f"-x: {reason}; it is written by a run with -C -F and -W") from None
    words = text.split()
    number = words[0] if len(words) == 1 else ""
    if not number.isascii() or not number.isdigit() or len(number) > 18 or int(number) == 0:
        raise InputError(
            f"-x: {path!r} says {text[:40]!r}; right would be one number of files, 1 or more"
        )
    return replace(test, items=int(number), items_per_directory=0)


def status_text(files: int) -> str:
    """Return what a status file says."""
    return f"{files}\n"
