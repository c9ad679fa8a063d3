"""IOR's command line: ``ior -a MPIIO -b 8m -t 1m -s 4 -g -C -i 3`` becomes tests.

The options are those of IOR 3.x and 4.x and, where a letter is free today, of 2.x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.config.errors import InputError
from sim.config.kept import kept
from sim.workloads.command_line import Grammar, parse_size
from sim.workloads.ior.directives import (
    LONG_FLAGS,
    LONG_VALUES,
    apply,
    apply_line,
)
from sim.workloads.ior.parameters import SIMULATED_APIS, Access, IorTest, checked
from sim.workloads.ior.script import parse_script

__all__ = [
    "SIMULATED_APIS",
    "Access",
    "IorCommand",
    "IorTest",
    "parse_arguments",
    "parse_size",
]

# Letters that switch something on, and the directive that each stands for.
_FLAGS = {
    "B": "useO_DIRECT",
    "c": "collective",
    "C": "reorderTasks",
    "e": "fsync",
    "E": "useExistingTestFile",
    "F": "filePerProc",
    "g": "intraTestBarriers",
    "H": "showHints",
    "I": "individualDataSets",
    "k": "keepFile",
    "K": "keepFileWithError",
    "m": "multiFile",
    "n": "noFill",
    "p": "preallocate",
    "P": "useSharedFilePointer",
    "q": "quitOnError",
    "r": "readFile",
    "R": "checkRead",
    "S": "useStridedDatatype",
    "u": "uniqueDir",
    "V": "useFileView",
    "w": "writeFile",
    "W": "checkWrite",
    "x": "singleXferAttempt",
    "y": "dualMount",
    "Y": "fsyncPerWrite",
}

# Letters that mean more each time they are repeated: directive and the field that they raise.
_LEVELS = {
    "v": ("verbose", "verbose"),
    "z": ("randomOffset", "random_offset"),
    "Z": ("reorderTasksRandom", "reorder_random"),
}

# Letters with a value.
_VALUES = {
    "a": "api",
    "A": "refNum",
    "b": "blockSize",
    "d": "interTestDelay",
    "D": "deadlineForStonewalling",
    "G": "setTimeStampSignature",
    "i": "repetitions",
    "j": "outlierThreshold",
    "J": "setAlignment",
    "l": "dataPacketType",
    "M": "memoryPerNode",
    "N": "numTasks",
    "o": "testFile",
    "Q": "taskPerNodeOffset",
    "s": "segmentCount",
    "t": "transferSize",
    "T": "maxTimeDuration",
    "U": "hintsFileName",
    "X": "reorderTasksRandomSeed",
}
_SCRIPT = "f"
_DIRECTIVES = "O"

_GRAMMAR = Grammar(
    program="IOR",
    command="ior",
    flags={*_FLAGS, *_LEVELS},
    values={*_VALUES, _SCRIPT, _DIRECTIVES},
    long_flags=LONG_FLAGS,
    long_values=LONG_VALUES,
)

SUMMARY_OPTION, RANKS_OPTION = "summaryFile", "saveRankPerformanceDetailsCSV"
CALLS_OPTION, STATUS_OPTION = "savePerOpDataCSV", "stoneWallingStatusFile"
"""The options that name files."""


@kept
@dataclass(frozen=True)
class IorCommand:
    """What one IOR command line asks for.

    Attributes
    ----------
    tests
        The tests in order; one, or with ``-f`` those of the script.
    notes
        What the user should be told: one sentence that names the options without effect here.
    command_line
        The command as IOR repeats it in its header, with the program's name in front.
    """

    tests: tuple[IorTest, ...]
    notes: tuple[str, ...]
    command_line: str

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
    """Parse an IOR command line.

    Parameters
    ----------
    argv
        The words as the shell passes them, with or without the program's name in front
        (``ior``, ``./ior``, ``/path/to/ior``).

    Returns
    -------
    IorCommand
        The tests, completed and validated.

    Raises
    ------
    InputError
        For an unknown option, a value that does not fit, or options that contradict each other.
    """
    program, words = _GRAMMAR.split(argv)
    script: str | None = None
    base = IorTest()
    for spelled, value in _GRAMMAR.options(words):
        if spelled == f"-{_SCRIPT}":
            script = value
        else:
            base = _set(base, spelled, value)
    tests = (checked(base),) if script is None else parse_script(script, base)
    return IorCommand(tests, _notes(tests), " ".join([program, *words]))


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
    if any(spelled == f"-{_SCRIPT}" for spelled, _ in _GRAMMAR.options(argv)):
        raise InputError(
            f"the command runs a script (-{_SCRIPT}), whose tests have options of their own; right "
            "would be a command line without one"
        )
    text = str(int(value)) if isinstance(value, bool) else str(value)
    directive = {**_FLAGS, **{letter: set_by for letter, (set_by, _) in _LEVELS.items()}}
    if name in _VALUES:
        added = (f"-{name}", text)
    elif name in directive or len(name) > 1:
        added = (f"-{_DIRECTIVES}", f"{directive.get(name, name)}={text}")
    else:
        raise InputError(f"-{name}: IOR has no such option")
    for spelled, given in _GRAMMAR.options(added):
        _set(IorTest(), spelled, given)
    return (*argv, *added)


def _set(test: IorTest, spelled: str, value: str) -> IorTest:
    if spelled.startswith("--"):
        return apply(test, spelled, value or "1", spelled)
    letter = spelled[1:]
    if letter == _DIRECTIVES:
        return apply_line(test, value)
    if letter in _LEVELS:
        name, field = _LEVELS[letter]
        return apply(test, name, str(getattr(test, field) + 1), spelled)
    if letter in _FLAGS:
        return apply(test, _FLAGS[letter], "1", spelled)
    return apply(test, _VALUES[letter], value, spelled)


def _notes(tests: tuple[IorTest, ...]) -> tuple[str, ...]:
    """Name each option without effect once, in the order of appearance; add what IOR remarks."""
    remarks = tuple(dict.fromkeys(remark for test in tests for remark in test.remarks))
    names = list(dict.fromkeys(name for test in tests for name in test.without_effect))
    if not names:
        return remarks
    return (f"Accepted, but without effect in a simulation: {', '.join(names)}.", *remarks)
