"""What IO500 leaves of a run: the score of each phase, and of all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from xc40io.config.kept import kept

Group = Literal["BW", "MD", ""]
"""What a phase counts for: bandwidth, metadata, or nothing."""

PHASES: Mapping[str, Group] = {
    "ior-easy-write": "BW",
    "mdtest-easy-write": "MD",
    "timestamp": "",
    "ior-hard-write": "BW",
    "mdtest-hard-write": "MD",
    "find": "MD",
    "ior-easy-read": "BW",
    "mdtest-easy-stat": "MD",
    "ior-hard-read": "BW",
    "mdtest-hard-stat": "MD",
    "mdtest-easy-delete": "MD",
    "mdtest-hard-read": "MD",
    "mdtest-hard-delete": "MD",
    "ior-rnd4K-easy-read": "",
}
"""The phases in their order (IO500 of SC25, phase-definitions.h), and what each counts for."""


@kept
@dataclass(frozen=True, kw_only=True)
class Io500Phase:
    """One phase."""

    name: str  # of it
    score: float = 0.0  # giB/s of IOR, thousand operations/s of the others; 0 if it did not run
    # when it began and how long it took, in seconds of the whole time: where only a part of that
    # was simulated, by proportion
    start: float = 0.0
    seconds: float = 0.0
    simulated: float = 0.0  # simulated seconds of it
    # how many times as long the whole is as what was simulated: 1 where that was all
    scale: float = 1.0
    # by how much the rates of the last two spans of time differed when it stopped; None where it
    # went to its end
    change: float | None = None
    # giB/s, or thousand operations/s, up to the stonewall; None where there was none
    stonewall_rate: float | None = None
    # calls that the fastest rank had made at the stonewall; 0 where there was none
    accessed: int = 0
    # of a find: names that it found and that it looked at
    found: int = 0
    total: int = 0
    # why the phase is not valid by the rules: a sentence each, as IO500 has them
    wrong: tuple[str, ...] = ()

    @property
    def group(self) -> Group:
        """What it counts for."""
        return PHASES[self.name]


@kept
@dataclass(frozen=True, kw_only=True)
class Io500Outcome:
    """A run of IO500."""

    given: dict[str, dict[str, str]]  # the values that its file sets, by section and option
    timestamp: str  # what its folders are called
    ranks: int  # how many took part
    # by how much the rates of two spans differ at most in a phase that has settled
    tolerance: float
    phases: tuple[Io500Phase, ...]  # those that have ended, in order

    @property
    def finished(self) -> bool:
        """Whether all phases have ended."""
        return len(self.phases) == len(PHASES)

    @property
    def valid(self) -> bool:
        """Whether the run is valid by the rules."""
        return self.finished and not any(phase.wrong for phase in self.phases)

    @property
    def bandwidth(self) -> float:
        """Geometric mean of the phases of IOR that count, in GiB/s."""
        return _mean(phase.score for phase in self.phases if phase.group == "BW")

    @property
    def operations(self) -> float:
        """Geometric mean of the phases of metadata, in thousand operations/s."""
        return _mean(phase.score for phase in self.phases if phase.group == "MD")

    @property
    def score(self) -> float:
        """Geometric mean of the two."""
        return math.sqrt(self.bandwidth * self.operations)


def _mean(scores: Iterable[float]) -> float:
    """Return the geometric mean of the scores above 0, as IO500 does; 0 of none."""
    found = [score for score in scores if score > 0.0]
    return math.prod(found) ** (1.0 / len(found)) if found else 0.0
