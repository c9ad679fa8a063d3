"""What a file of IO500 amounts to: commands as IO500 prints them, and the tests that they are.

IO500 asks for more data than anybody writes: 9.5 TiB of each rank, ten million segments, a million
files. A stonewall ends it. What the tests list of it is what fits this computer's memory.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from xc40io.config.errors import InputError
from xc40io.workloads.io500.ini import SECTIONS, Given
from xc40io.workloads.ior.options import parse_arguments as parse_ior
from xc40io.workloads.ior.parameters import IorTest
from xc40io.workloads.mdtest.options import parse_arguments as parse_mdtest
from xc40io.workloads.mdtest.parameters import MdtestTest
from xc40io.workloads.option_table import Option

SECONDS, SECONDS_OF_STUDENTS = 300, 30
"""The stonewall of a valid run, and that of a student cluster competition (``scc``)."""

MOST_VERBOSE = 10
"""The highest level of messages."""

_CALLS, _CALLS_OF_WHOLE = 1 << 18, 1 << 25
"""Calls of all ranks in a phase that there is room for, so that it ends in minutes. The second is
for phases that go to their stonewall; each takes some 60 bytes of memory."""

_LEAST_CALLS = 512
"""Calls of each of very many ranks."""

_FILES, _FILES_OF_WHOLE = 1 << 18, 3_000_000
"""Files of all ranks in a directory tree, in the same way: each takes about 1 KB."""

RANDOM_READ = "ior-rnd4K-easy-read"

_BITS = 0xFFFF_FFFF
_NOT_TO_BE = (0, _BITS)
_INSTEAD = 4711


@dataclass(frozen=True)
class Settings:
    """The values that a file sets, and the defaults of the others."""

    given: Given  # by section and option, checked (ini)
    timestamp: str  # what the folders are called, as in 2020.01.01-00.00.00

    def text(self, section: str, name: str) -> str:
        """Return a value; an empty text where there is none."""
        return self.given.get(section, {}).get(name, SECTIONS[section][name].default or "")

    def rows(self) -> Iterator[tuple[str, str, Option]]:
        """Yield all options, each with its section and name."""
        for section, options in SECTIONS.items():
            yield from ((section, name, option) for name, option in options.items())

    def truth(self, section: str, name: str) -> bool:
        """Return whether something is switched on."""
        return self.text(section, name) == "TRUE"

    def count(self, section: str, name: str) -> int:
        """Return a number; 0 where there is none."""
        return int(self.text(section, name) or 0)

    @property
    def stonewall(self) -> int:
        """Seconds after which no rank begins to write more."""
        return self.count("debug", "stonewall-time")

    @property
    def least_seconds(self) -> int:
        """Seconds that a phase that writes must take in a valid run."""
        return SECONDS_OF_STUDENTS if self.truth("global", "scc") else SECONDS

    @property
    def data_folder(self) -> str:
        """Where the files are."""
        return self._folder("datadir", "timestamp-datadir")

    @property
    def result_folder(self) -> str:
        """Where the results go."""
        return self._folder("resultdir", "timestamp-resultdir")

    def _folder(self, name: str, dated: str) -> str:
        folder = self.text("global", name)
        return f"{folder}/{self.timestamp}" if self.truth("global", dated) else folder

    def runs(self, phase: str) -> bool:
        """Return whether a phase is to run."""
        group = phase.rpartition("-")[0]
        if phase == RANDOM_READ:
            group = "ior-easy"
        switches = [name for name in (phase, group) if "run" in SECTIONS.get(name, {})]
        return all(self.truth(name, "run") for name in switches)

    def command(self, phase: str) -> list[str]:
        """Return the words of a phase's command, the program first; none for ``timestamp``."""
        if phase == "timestamp":
            return []
        if phase == "find":
            return self._find()
        if phase == RANDOM_READ:
            return self._random_read()
        family, kind, action = phase.split("-")
        group = f"{family}-{kind}"
        if family == "mdtest":
            return self._mdtest(group, phase, action)
        return (self._ior_easy if kind == "easy" else self._ior_hard)(phase, action)

    def _api(self, phase: str, group: str) -> list[str]:
        """Return the API of a phase: its own, that of its group, or that of all."""
        typed = self.text(phase, "API") or self.text(group, "API") or self.text("global", "api")
        try:
            api, *options = shlex.split(typed)
        except ValueError:
            raise InputError(f"API = {typed!r} is not an API; POSIX is one") from None
        for option in options:
            if not option.lower().startswith(f"--{api}.".lower()):
                raise InputError(
                    f"API = {typed!r}: {option} is not an option of {api}; right would be "
                    f"--{api.lower()}.NAME"
                )
        return ["-a", api, *options]

    def _ior(self, group: str) -> list[str]:
        kind = self.text("global", "dataPacketType")
        verbose = ["-v"] * min(self.count(group, "verbosity"), MOST_VERBOSE)
        return ["./ior", f"--dataPacketType={kind}", *verbose, "-C", "-Q", "1", "-g"]

    def _details(self, phase: str) -> list[str]:
        return ["-O", f"saveRankPerformanceDetailsCSV={self.result_folder}/{phase}.csv"]

    def _easy_file(self) -> list[str]:
        file = f"{self.data_folder}/ior-easy/ior_file_easy"
        return ["-G", self._number("ior-easy"), "-k", "-e", "-o", file]

    def _ior_easy(self, phase: str, action: str) -> list[str]:
        size, block = self.text("ior-easy", "transferSize"), self.text("ior-easy", "blockSize")
        status = f"stoneWallingStatusFile={self.result_folder}/ior-easy.stonewall"
        words = [*self._ior("ior-easy"), *self._easy_file(), "-O", status, "-t", size, "-b", block]
        words += self._easy_flags()
        if action == "write":
            words += ["-w", "-D", str(self.stonewall), "-O", "stoneWallingWearOut=1"]
        else:
            words += ["-r", "-R"]
        return [*words, *self._api(phase, "ior-easy"), *self._details(phase)]

    def _easy_flags(self) -> list[str]:
        flags = {"-u": "uniqueDir", "-F": "filePerProc"}
        return [flag for flag, name in flags.items() if self.truth("ior-easy", name)]

    def _random_read(self) -> list[str]:
        words = [*self._ior("ior-easy"), *self._easy_file(), *self._easy_flags()]
        words += ["-r", "-D", str(self.stonewall), "-z", "-z", *self._api(RANDOM_READ, "ior-easy")]
        words += [*self._details(RANDOM_READ), "-t=4096", "-b=4096", "-s=10000000"]
        return [*words, "-O", "stoneWallingWearOut=1"]

    def _ior_hard(self, phase: str, action: str) -> list[str]:
        status = f"stoneWallingStatusFile={self.result_folder}/ior-hard.stonewall"
        words = [*self._ior("ior-hard"), f"-G={self._number('ior-hard')}", "-k", "-e"]
        words += ["-o", f"{self.data_folder}/ior-hard/file", "-O", status]
        words += ["-t", "47008", "-b", "47008", "-s", self.text("ior-hard", "segmentCount")]
        collective = self.text(phase, "collective") or self.text("ior-hard", "collective")
        together = ["-c"] if collective == "TRUE" else []
        api, details = self._api(phase, "ior-hard"), self._details(phase)
        if action == "read":
            return [*words, "-r", "-R", *together, *api, *details]
        words += ["-w", *together, "-D", str(self.stonewall), *api, *details]
        return [*words, "-O", "stoneWallingWearOut=1"]

    def _mdtest(self, group: str, phase: str, action: str) -> list[str]:
        hard = group == "mdtest-hard"
        words = ["./mdtest", f"--dataPacketType={self.text('global', 'dataPacketType')}"]
        words += ["-n", self.text(group, "n")]
        number, each = self._number(group), self.count("mdtest-hard", "files-per-dir")
        if hard:
            words += [f"-I={each}"] if each else []
            words += ["-t", "-w", "3901", "-e", "3901", "-P", f"-G={number}", "-N", "1", "-F"]
        else:
            words += ["-u", "-L", "-F", "-P", "-G", number, "-N", "1"]
        words += ["-d", f"{self.data_folder}/{group}"]
        words += ["-x", f"{self.result_folder}/{group}.stonewall"]
        wall = [] if hard and each else ["-W", str(self.stonewall)]
        words += {
            "write": ["-C", "-Y", *wall],
            "stat": ["-T"],
            "read": ["-E", "-X"],
            "delete": ["-r"],
        }[action]
        details = f"--saveRankPerformanceDetails={self.result_folder}/{phase}.csv"
        return [*words, details, *self._api(phase, group)]

    def _find(self) -> list[str]:
        newer = f"{self.result_folder}/timestampfile"
        words = ["./pfind", self.data_folder, "-newer", newer, "-size", "3901c", "-name", "*01*"]
        words.append("-C")
        if self.truth("find", "pfind-steal-next"):
            words.append("-N")
        if self.truth("find", "pfind-parallelize-single-dir-access-using-hashing"):
            words += ["-H", "1"]
        return [*words, "-q", self.text("find", "pfind-queue-length")]

    def _number(self, group: str) -> str:
        """Return the number by which the contents of the files are known."""
        return str(phase_number(group, self.timestamp))


@dataclass(frozen=True)
class Room:
    """What there is room for."""

    ranks: int  # how many share it
    whole: bool  # whether phases go to their stonewalls

    @property
    def calls(self) -> int:
        """Calls of a rank."""
        calls = _CALLS_OF_WHOLE if self.whole else _CALLS
        return max(calls // self.ranks, _LEAST_CALLS)

    @property
    def files(self) -> int:
        """Files of a rank in a tree."""
        return max((_FILES_OF_WHOLE if self.whole else _FILES) // self.ranks, 1)


def ior_test(settings: Settings, phase: str, room: Room) -> tuple[IorTest, int]:
    """Return the test of a phase with as many calls as there is room for, and those asked for.

    Raises
    ------
    InputError
        If IOR would refuse the command.
    """
    words = settings.command(phase)
    test = parse_ior(words).tests[0]
    asked = test.calls_per_block * test.segments
    calls = min(asked, room.calls)
    test = replace(test, rank_details_file=None, summary_file=None)
    if phase == RANDOM_READ:
        return replace(test, segments=calls), asked
    if test.segments == 1:
        return replace(test, block_size=calls * test.transfer_size), asked
    return replace(test, segments=max(calls // test.calls_per_block, 1)), asked


def mdtest_test(settings: Settings, phase: str, room: Room) -> tuple[MdtestTest, int]:
    """Return the test of a phase with as many files as there is room for, and those asked for.

    Raises
    ------
    InputError
        If mdtest would refuse the command.
    """
    words = list(settings.command(phase))
    at = words.index("-x")
    del words[at : at + 2]  # how many files there are is known without the file that says it
    test = parse_mdtest(words).test
    asked, whole = test.items, bool(test.items_per_directory)
    items = asked if whole else min(asked, room.files)
    return replace(test, rank_details_file=None, items=items), asked


def hash_of(text: str, before: int = 0) -> int:
    """Return IO500's hash of a text that follows another one: 32 bits, turned by two a letter.

    By the hashes it can be seen whether a result belongs to a file (IO500's util.c).
    """
    value = before
    for byte in text.encode():
        signed = byte - 256 if byte > 127 else byte  # a char of C
        value = ((value << 2 | value >> 30) + signed) & _BITS
    return value


def hash_of_pairs(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the hash of some names and values, in whichever order: one for each option."""
    value = 0
    for name, text in pairs:
        value ^= hash_of(text, hash_of(name))
    return value


def phase_number(phase: str, timestamp: str) -> int:
    """Return the number that the contents of a phase's files are made of, as C prints it."""
    value = hash_of(timestamp, hash_of(phase))
    value = _INSTEAD if value in _NOT_TO_BE else value
    return value - (1 << 32) if value >> 31 else value
