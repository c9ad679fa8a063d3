"""mdtest's command line: ``mdtest -n 1000 -F -u -w 3901 -e 3901 -i 3`` becomes a test.

The options are those of mdtest 4 (its option table in mdtest.c, and of the POSIX backend those that
IOR has, too); what only mdtest 1.9 had is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sim.config.errors import InputError
from sim.config.kept import kept
from sim.workloads.command_line import Grammar, parse_size
from sim.workloads.mdtest.parameters import MdtestTest, checked
from sim.workloads.mdtest.status import with_status

_FLAGS = {
    "C": "create",
    "T": "stat",
    "E": "read",
    "r": "remove",
    "U": "rename",
    "D": "directories",
    "F": "files",
    "k": "make_node",
    "L": "leaf_only",
    "P": "print_both",
    "R": "random",
    "S": "shared_file",
    "c": "collective",
    "t": "time_unique",
    "u": "unique",
    "X": "verify_read",
    "y": "sync_file",
    "Y": "call_sync",
    "Z": "print_time",
    "--posix.lustre.ignorelocks": "ignore_locks",
    "--posix.odirect": "direct_io",
    "--print-all-procs": "print_all",
    "--showrankstatistics": "rank_statistics",
    "--verify-read": "verify_read",
    "--verify-write": "verify_write",
    "--warningaserrors": "warnings_are_errors",
}
"""The options without a value, and the field that each switches on."""

_NUMBERS = {
    "b": "branches",
    "B": "no_barriers",
    "e": "read_bytes",
    "f": "first",
    "i": "iterations",
    "I": "items_per_directory",
    "l": "last",
    "n": "items",
    "N": "stride",
    "p": "delay",
    "s": "step",
    "V": "verbose",
    "w": "write_bytes",
    "W": "deadline",
    "z": "depth",
    "--posix.lustre.startost": "start_ost",
    "--posix.lustre.stripecount": "stripe_count",
    "--posix.lustre.stripesize": "stripe_size",
    "--random-seed": "random_seed",
}
"""The options with a number, and the field that each sets; 4k is 4096, whatever it counts."""

_TEXTS = {
    "x": "status_file",
    "--posix.lustre.pool": "pool",
    "--run-cmd-after-phase": "after_phase",
    "--run-cmd-before-phase": "before_phase",
    "--saveperopdatacsv": "call_details_file",
    "--saverankperformancedetails": "rank_details_file",
}

_WITHOUT_EFFECT = ("g", "G", "--datapackettype")
"""What changes the contents of buffers, or layouts that no machine here inherits."""

_NO_GPU = ("--allocatebufferongpu", "--gpuid", "--gpudirect")
_SIMULATED_API = "POSIX"
# fmt: off
_OTHER_APIS = (
    "AIO", "CEPHFS", "CHFS", "DFS", "DUMMY", "FINCHFS", "GFARM", "HDFS", "IME", "LIBNFS", "MMAP",
    "MPIIO", "NCMPI", "PMDK", "RADOS", "S3",
)
# fmt: on

STATUS_OPTION, RANKS_OPTION = "-x", "--saveRankPerformanceDetails"
"""The options that name files."""

_LEVEL, _API, _DIRECTORIES = "v", "a", "d"


def _is_long(name: str) -> bool:
    return name.startswith("--")


def _letters(*tables: Sequence[str] | dict[str, str]) -> set[str]:
    return {name for table in tables for name in table if not _is_long(name)}


def _long(*tables: Sequence[str] | dict[str, str]) -> set[str]:
    return {name for table in tables for name in table if _is_long(name)}


_GRAMMAR = Grammar(
    program="mdtest",
    command="mdtest",
    flags=_letters(_FLAGS) | {_LEVEL, "g"},
    values=_letters(_NUMBERS, _TEXTS) | {_API, _DIRECTORIES, "G"},
    long_flags=_long(_FLAGS) | {"--gpudirect"},
    long_values=_long(_NUMBERS, _TEXTS, _WITHOUT_EFFECT, _NO_GPU) - {"--gpudirect"},
)


@kept
@dataclass(frozen=True)
class MdtestCommand:
    """What one mdtest command line asks for.

    Attributes
    ----------
    test
        What to do.
    notes
        What the user should be told: one sentence that names the options without effect here.
    command_line
        The command as mdtest repeats it in its header, with the program's name in front.
    """

    test: MdtestTest
    notes: tuple[str, ...]
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
    """Parse an mdtest command line.

    Parameters
    ----------
    argv
        The words as the shell passes them, with or without the program's name in front
        (``mdtest``, ``./mdtest``, ``/path/to/mdtest``).

    Returns
    -------
    MdtestCommand
        The test, completed and validated.

    Raises
    ------
    InputError
        For an unknown option, a value that does not fit, or options that contradict each other.
    """
    program, words = _GRAMMAR.split(argv)
    test = MdtestTest()
    for spelled, value in _GRAMMAR.options(words):
        test = _set(test, spelled, value)
    test = with_status(checked(test))
    said = " ".join([program, *(f"'{word}'" for word in words)])
    return MdtestCommand(test, _notes(test), said)


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
    spelled = f"-{name}" if len(name) == 1 else f"--{name}"
    key = name if len(name) == 1 else spelled.lower()
    if key in _GRAMMAR.values or key in _GRAMMAR.long_values:
        added = (spelled, str(value)) if len(name) == 1 else (f"{spelled}={value}",)
        for option, given in _GRAMMAR.options(added):
            _set(MdtestTest(), option, given)
        return (*argv, *added)
    if key not in _FLAGS:
        raise InputError(f"{spelled}: mdtest has no such option")
    if str(value).lower() not in ("true", "false", "1", "0"):
        raise InputError(f"{spelled}: {value!r} is neither true nor false")
    program, words = _GRAMMAR.split(argv)
    kept = [program] if len(words) < len(argv) else []
    for option, given in _GRAMMAR.options(words):
        if _FLAGS.get(_key(option)) != _FLAGS[key]:
            kept += [option, given] if given else [option]
    return (*kept, spelled) if str(value).lower() in ("true", "1") else tuple(kept)


def _key(spelled: str) -> str:
    """Return the name of an option in the tables above."""
    return spelled.lower() if _is_long(spelled) else spelled[1:]


def _set(test: MdtestTest, spelled: str, value: str) -> MdtestTest:
    """Return a test with one option set."""
    key = _key(spelled)
    fields: dict[str, Any] = {}
    if key in _FLAGS:
        fields[_FLAGS[key]] = True
        return replace(test, **fields)
    if key == _LEVEL:
        return replace(test, verbose=test.verbose + 1)
    if key in _NO_GPU:
        raise InputError(f"{spelled}: the compute nodes of a Cray XC40 have no GPU; leave it out")
    if key in _WITHOUT_EFFECT:
        return replace(test, without_effect=(*test.without_effect, spelled))
    if key == _API:
        return _with_api(test, spelled, value)
    if key == _DIRECTORIES:
        return replace(test, paths=tuple(value.split("@")))
    if key in _NUMBERS:
        fields[_NUMBERS[key]] = _converted(parse_size, spelled, value)
    else:
        fields[_TEXTS[key]] = _converted(_text, spelled, value)
    return replace(test, **fields)


def _with_api(test: MdtestTest, spelled: str, value: str) -> MdtestTest:
    """Return a test through an API: there is one."""
    api = value.upper()
    if api == _SIMULATED_API:
        return test
    known = "an API of mdtest that is not simulated" if api in _OTHER_APIS else "no API of mdtest"
    raise InputError(f"{spelled}: {value!r} is {known}; POSIX is")


def _converted(convert: Callable[[str], object], spelled: str, value: str) -> object:
    try:
        return convert(value)
    except ValueError as error:
        raise InputError(f"{spelled}: {value!r} is {error}") from None


def _text(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _notes(test: MdtestTest) -> tuple[str, ...]:
    """Name each option without effect once, in the order of its first appearance."""
    names = list(dict.fromkeys(test.without_effect))
    if not names:
        return ()
    return (f"Accepted, but without effect in a simulation: {', '.join(names)}.",)
