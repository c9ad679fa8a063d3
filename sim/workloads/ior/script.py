"""IOR's script files (``-f FILE``): several tests, each a copy of the one before it.

A script looks like this; names are not case-sensitive, ``#`` starts a comment::

    IOR START
        api=POSIX
        blockSize=64m, transferSize=1m
        filePerProc=1
    RUN
        filePerProc=0
    RUN
    RUN
    IOR STOP

Whatever stands before ``IOR START`` is ignored. ``RUN`` ends the description of a test; the next
setting begins a copy of it, and a further ``RUN`` at once repeats it. Settings after the last
``RUN`` are a test too: so IOR reads its scripts (ReadConfigScript in its parse_options.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.config.errors import InputError, naming
from sim.config.files import check_is_file
from sim.config.sealed import check_may_open
from sim.workloads.ior.directives import apply_line
from sim.workloads.ior.parameters import IorTest, checked


def parse_script(path: str | Path, base: IorTest) -> tuple[IorTest, ...]:
    """Read the tests of a script.

    Parameters
    ----------
    path
        The script.
    base
        The test that the first one starts from: IOR's defaults, changed by the command line.

    Returns
    -------
    tuple of IorTest
        One for each ``RUN``, completed and validated.

    Raises
    ------
    InputError
        When the file cannot be read, has no ``IOR START``, or holds a setting that is unknown or
        does not fit; the message names file and line.
    """
    tests: list[IorTest] = []
    test, pending = base, True  # IOR runs one test even where the script describes none
    number = 0
    for number, line in _statements(path):
        with _place(path, number):
            if line.lower() == "run":
                tests.append(checked(test))
                pending = False
            else:
                test = apply_line(test, line)
                pending = True
    if pending:
        with _place(path, number):
            tests.append(checked(test))
    return tuple(tests)


def _statements(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line between ``IOR START`` and ``IOR STOP``."""
    check_may_open(path, "-f")
    try:
        with naming("-f"):
            check_is_file(Path(path))
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"-f: cannot read the script {str(path)!r}: {error.strerror}") from None
    bare = [line.partition("#")[0].strip() for line in lines]
    words = [line.lower().split() for line in bare]
    if ["ior", "start"] not in words:
        raise InputError(f"-f: the script {str(path)!r} has no line IOR START")
    start = words.index(["ior", "start"]) + 1
    for number, line in enumerate(bare[start:], start + 1):
        if words[number - 1] == ["ior", "stop"]:
            return
        if line:
            yield number, line


@contextmanager
def _place(path: str | Path, number: int) -> Iterator[None]:
    """Put the place in front of the message when something on this line is wrong."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}, line {number}: {error}") from None
