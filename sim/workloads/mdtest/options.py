"""mdtest's command line: ``mdtest -n 1000 -F -u -w 3901 -e 3901 -i 3`` becomes a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.workloads.mdtest.checks import checked
from xc40io.workloads.mdtest.parameters import OPTIONS, MdtestTest
from xc40io.workloads.option_table import CommandLine, changed, idle_note
from xc40io.workloads.stonewall_file import read_status

_GRAMMAR = CommandLine("mdtest", OPTIONS)

STATUS_OPTION, RANKS_OPTION = "-x", "--saveRankPerformanceDetails"
"""The options that name files."""


@kept
@dataclass(frozen=True)
class MdtestCommand:
    """What one mdtest command line asks for."""

    test: MdtestTest
    # what the user should be told: one sentence that names the options without effect here
    notes: tuple[str, ...]
    # the command as mdtest repeats it in its header, with the program's name in front
    command_line: str

    def output_files(self) -> list[tuple[str, str]]:
        """Return the files that the command writes, each with the option that names it."""
        test, found = self.test, []
        if test.rank_details_file is not None:
            found.append((test.rank_details_file, RANKS_OPTION))
        if test.writes_status:
            assert test.status_file is not None
            found.append((test.status_file, STATUS_OPTION))
        return found


def parse_arguments(argv: Sequence[str]) -> MdtestCommand:
    """Parse an mdtest command line: the words as the shell passes them.

    The program's name may stand in front (``mdtest``, ``./mdtest``, ``/path/to/mdtest``). With a
    status file that it looks at (``-x``) a test has as many items as that says.

    Raises
    ------
    InputError
        For an unknown option, a value that does not fit, options that contradict each other, or a
        status file that cannot be read.
    """
    program, words = _GRAMMAR.split(argv)
    test = MdtestTest()
    for asked, spelled, value in _GRAMMAR.options(words):
        test = changed(test, asked, spelled, value)
    test = checked(test)
    if test.reads_status:
        number = read_status(str(test.status_file), "-x", "a run with -C -F and -W")
        test = replace(test, items=number, items_per_directory=0)
    said = " ".join([program, *(f"'{word}'" for word in words)])
    return MdtestCommand(test, idle_note(test.without_effect), said)


def with_option(argv: Sequence[str], name: str, value: object) -> tuple[str, ...]:
    """Return an mdtest command line with one option set to a value, whatever it was before.

    Parameters
    ----------
    argv
        The words as the shell passes them.
    name
        The letter of an option (``n``), or a long one without its dashes (``random-seed``).
    value
        Of it; of one that switches something on, true or false, 1 or 0.

    Raises
    ------
    InputError
        If there is no such option, or the value does not fit.
    """
    short = len(name) == 1
    spelled = f"-{name}" if short else f"--{name}"
    asked = _GRAMMAR.letters.get(name) if short else _GRAMMAR.long.get(spelled.lower())
    if asked is not None and asked.takes_value:
        added = (spelled, str(value)) if short else (f"{spelled}={value}",)
        for one, option, given in _GRAMMAR.options(added):
            changed(MdtestTest(), one, option, given)
        return (*argv, *added)
    if asked is None or asked.counts or not asked.field:
        raise InputError(f"{spelled}: mdtest has no such option")
    if str(value).lower() not in ("true", "false", "1", "0"):
        raise InputError(f"{spelled}: {value!r} is neither true nor false")
    program, words = _GRAMMAR.split(argv)
    kept = [program] if len(words) < len(argv) else []
    for one, option, given in _GRAMMAR.options(words):
        if one is not asked:
            kept += [option, given] if given else [option]
    return (*kept, spelled) if str(value).lower() in ("true", "1") else tuple(kept)
