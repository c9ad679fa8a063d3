"""IOR's command line: ``ior -a MPIIO -b 8m -t 1m -s 4 -g -C -i 3`` becomes tests.

Every way to set a parameter (a letter, a long option, ``-O name=value``, a line of a script) ends
at the parameter's row (:data:`~xc40io.workloads.ior.parameters.OPTIONS`). A script (``-f FILE``)
has several tests, each a copy of the one before it; names are not case-sensitive, ``#`` starts a
comment::

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

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xc40io.config.errors import InputError, naming
from xc40io.config.files import Kind, check_may_open, text_of
from xc40io.config.kept import kept
from xc40io.workloads.ior.checks import checked
from xc40io.workloads.ior.parameters import OPTIONS, Access, IorTest
from xc40io.workloads.option_table import CommandLine, Option, changed, idle_note, row

__all__ = ["Access", "IorCommand", "IorTest", "call_file", "parse_arguments", "with_option"]

_SCRIPT, _DIRECTIVES = row("-f", str), row("-O", str)
_GRAMMAR = CommandLine("IOR", (*OPTIONS, _SCRIPT, _DIRECTIVES))

SUMMARY_OPTION, RANKS_OPTION = "summaryFile", "saveRankPerformanceDetailsCSV"
CALLS_OPTION, STATUS_OPTION = "savePerOpDataCSV", "stoneWallingStatusFile"
"""The options that name files."""


@kept
@dataclass(frozen=True)
class IorCommand:
    """What one IOR command line asks for."""

    tests: tuple[IorTest, ...]  # one test, or with -f the tests of the script
    notes: tuple[str, ...]  # what the user should be told
    command_line: str  # as IOR repeats it in its header, with the program's name in front

    @property
    def summary_file(self) -> str | None:
        """Where the result goes; IOR keeps one such file, the last one named."""
        return self.tests[-1].summary_file

    @property
    def summary_format(self) -> str:
        """The form of the result, ``default``, ``JSON`` or ``CSV``; the last one named."""
        return self.tests[-1].summary_format

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files that the command writes, each with the option that names it.

        Of the times of single calls, of which there are as many files as ranks, it is the first.
        """
        found = [(self.summary_file, SUMMARY_OPTION)]
        found += [(test.rank_details_file, RANKS_OPTION) for test in self.tests]
        found += [(test.stonewall_file, STATUS_OPTION) for test in self.tests if test.write]
        prefixes = [test.call_details_file for test in self.tests]
        found += [(call_file(prefix, 0, 0), CALLS_OPTION) for prefix in prefixes if prefix]
        return [(path, option) for path, option in found if path is not None]


def parse_arguments(argv: Sequence[str]) -> IorCommand:
    """Parse an IOR command line: the words as the shell passes them.

    The program's name may stand in front (``ior``, ``./ior``, ``/path/to/ior``).

    Raises
    ------
    InputError
        For an unknown option, a value that does not fit, or options that contradict each other.
    """
    program, words = _GRAMMAR.split(argv)
    script: str | None = None
    base = IorTest()
    for asked, spelled, value in _GRAMMAR.options(words):
        if asked is _SCRIPT:
            script = value
        else:
            base = _set(base, asked, spelled, value)
    tests = (checked(base),) if script is None else parse_script(script, base)
    remarks = dict.fromkeys(remark for test in tests for remark in test.remarks)
    idle = idle_note(name for test in tests for name in test.without_effect)
    return IorCommand(tests, (*idle, *remarks), " ".join([program, *words]))


def call_file(prefix: str, repetition: int, rank: int) -> str:
    """Return the name of the file with the times of a rank's calls in a repetition, both from 0."""
    return f"{prefix}-{repetition}-{rank:05d}.csv"


def with_option(argv: Sequence[str], name: str, value: object) -> tuple[str, ...]:
    """Return an IOR command line with one option set to a value, whatever it was before.

    Parameters
    ----------
    argv
        The words as the shell passes them.
    name
        The letter of an option (``b``), or the name of a directive (``filePerProc``).
    value
        Of it; of one that switches something on, true or false, 1 or 0.

    Raises
    ------
    InputError
        If there is no such option, the value does not fit, or the command runs a script, whose
        tests have options of their own.
    """
    if any(asked is _SCRIPT for asked, _, _ in _GRAMMAR.options(argv)):
        raise InputError(
            "the command runs a script (-f), whose tests have options of their own; right "
            "would be a command line without one"
        )
    text = str(int(value)) if isinstance(value, bool) else str(value)
    asked = _GRAMMAR.letters.get(name)
    if asked in (_SCRIPT, _DIRECTIVES) or (asked is None and len(name) <= 1):
        raise InputError(f"-{name}: IOR has no such option")
    if asked is not None and asked.takes_value:
        added = (f"-{name}", text)
    else:
        added = ("-O", f"{name if asked is None else asked.directive}={text}")
    for one, spelled, given in _GRAMMAR.options(added):
        _set(IorTest(), one, spelled, given)
    return (*argv, *added)


def _set(test: IorTest, asked: Option, spelled: str, value: str | None) -> IorTest:
    if asked is _DIRECTIVES:
        return _set_directives(test, value or "")
    if spelled.startswith("--") and value == "":
        value = "1"  # so IOR takes it
    return changed(test, asked, spelled, value)


def _set_directives(test: IorTest, line: str) -> IorTest:
    """Set a comma-separated list of ``name=value`` directives, as behind ``-O``."""
    for piece in line.split(","):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not (name and equals):
            raise InputError(f"{piece.strip()!r} is not of the form name=value")
        asked = _GRAMMAR.directives.get(name.lower())
        if asked is None:
            raise InputError(f"{name}: IOR has no such option or directive")
        test = changed(test, asked, name, value)
    return test


def parse_script(path: str | Path, base: IorTest) -> tuple[IorTest, ...]:
    """Read the tests of a script; the first one starts from ``base``.

    Raises
    ------
    InputError
        When the file cannot be read, has no ``IOR START``, or holds a setting that is unknown or
        does not fit; the message names file and line.
    """
    tests: list[IorTest] = []
    test, pending = base, True  # IOR runs one test even where the script describes none
    number = 0
    check_may_open(path, "-f")
    with naming("-f"):
        text = text_of(path, _KIND, errors="replace")
    for number, line in _statements(text, path):
        with _place(path, number):
            if line.lower() == "run":
                tests.append(checked(test))
                pending = False
            else:
                test = _set_directives(test, line)
                pending = True
    if pending:
        with _place(path, number):
            tests.append(checked(test))
    return tuple(tests)


_KIND = Kind("a script", 1 << 20)


def words_of_script(text: str, name: str) -> tuple[tuple[str, ...], int]:
    """Return the first test of a script as words of a command line, and how many it has.

    Raises
    ------
    InputError
        If it has no ``IOR START``.
    """
    words: list[str] = []
    tests = 0
    for _, line in _statements(text, name):
        tests += line.lower() == "run"
        words += () if tests else ("-O", line)
    return tuple(words), max(tests, 1)


def _statements(text: str, path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line between ``IOR START`` and ``IOR STOP``."""
    bare = [line.partition("#")[0].strip() for line in text.splitlines()]
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
