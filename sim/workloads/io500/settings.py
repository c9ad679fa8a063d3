"""What a file of IO500 amounts to: the commands of all phases, as IO500 prints them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from sim.config.errors import InputError
from sim.workloads.io500.hashes import phase_number
from sim.workloads.io500.ini import Given
from sim.workloads.io500.options import SECTIONS

SECONDS, SECONDS_OF_STUDENTS = 300, 30
"""The stonewall of a valid run, and that of a student cluster competition (``scc``)."""

MOST_VERBOSE = 10
"""The highest level of messages."""


@dataclass(frozen=True)
class Settings:
    """The values that a file sets, and the defaults of the others."""

    given: Given  # by section and option, checked (ini)
    timestamp: str  # what the folders are called, as in 2020.01.01-00.00.00

    def text(self, section: str, name: str) -> str:
        """Return a value; an empty text where there is none."""
        return self.given.get(section, {}).get(name, SECTIONS[section][name].default or "")

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
        if phase == "ior-rnd4K-easy-read":
            group = "ior-easy"
        switches = [name for name in (phase, group) if "run" in SECTIONS.get(name, {})]
        return all(self.truth(name, "run") for name in switches)

    def command(self, phase: str) -> list[str]:
        """Return the words of a phase's command, the program first; none for ``timestamp``."""
        if phase == "timestamp":
            return []
        if phase == "find":
            return self._find()
        if phase == "ior-rnd4K-easy-read":
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
            raise InputError(f"API = {typed!r} names no API; POSIX is one") from None
        for option in options:
            if not option.lower().startswith(f"--{api}.".lower()):
                raise InputError(
                    f"API = {typed!r}: {option} is no option of {api}; right would be "
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
        phase = "ior-rnd4K-easy-read"
        words = [*self._ior("ior-easy"), *self._easy_file(), *self._easy_flags()]
        words += ["-r", "-D", str(self.stonewall), "-z", "-z", *self._api(phase, "ior-easy")]
        words += [*self._details(phase), "-t=4096", "-b=4096", "-s=10000000"]
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
