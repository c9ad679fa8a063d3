"""How much one question may cost, and what is said where it asks for more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from sim.config.errors import InputError


@dataclass(frozen=True)
class Limits:
    """What one question may cost.

    Attributes
    ----------
    seconds
        Of real time; then its process is ended.
    rpcs
        Bulk RPCs of each of its runs, about: the bytes that a run moves by the size of an RPC.
        Several RPCs that are handled as one count as one.
    ranks
        Ranks of each of its runs, those of all jobs together.
    runs
        Runs that a sweep, a comparison or a search for settings makes.
    letters
        Of a scenario that is sent as text.
    command
        The command whose options say all that, for messages.
    smaller
        What makes a run smaller that moves too many bytes, or takes too long, in the words of
        whoever asks.
    """

    seconds: float = 120.0
    rpcs: int = 1_000_000
    ranks: int = 65_536
    runs: int = 64
    letters: int = 65_536
    command: str = "xc40io mcp"
    smaller: str = "fewer bytes or nodes, or rpcs_as_one: 8 in the scenario"

    def check_runs(self, runs: int) -> None:
        """Raise InputError if a call would make too many runs."""
        if runs > self.runs:
            raise InputError(
                f"the call has {runs:,} runs; right would be {self.runs:,} at most "
                f"({self.command} --runs): fewer values, or sample"
            )

    def check_text(self, text: str) -> None:
        """Raise InputError if a scenario that was sent is too long."""
        if len(text) > self.letters:
            raise InputError(
                f"scenario: it has {len(text):,} letters; right would be {self.letters:,} at most"
            )

    def check_size(self, ranks: int, count_rpcs: Callable[[], float]) -> None:
        """Raise InputError if a run has too many ranks, or moves too many bytes.

        Parameters
        ----------
        ranks
            Of all jobs together.
        count_rpcs
            Returns about how many bulk RPCs there are. It is not called where there are too many
            ranks: counting may take as long as the ranks are many.
        """
        if ranks > self.ranks:
            self._refuse(f"{ranks:,} ranks", f"{self.ranks:,}", "ranks", "fewer nodes or ppn")
        rpcs = count_rpcs()
        if rpcs > self.rpcs:
            found = f"about {rpcs:,.0f} bulk RPCs"
            self._refuse(found, f"{self.rpcs:,}", "rpcs", self.smaller)

    def too_long(self) -> InputError:
        """Return what is said of an answer that took too long."""
        return InputError(
            f"the answer took longer than {self.seconds:g} s ({self.command} --seconds), and the "
            f"runs were ended; right would be {self.smaller}"
        )

    def _refuse(self, found: str, most: str, option: str, smaller: str) -> NoReturn:
        raise InputError(
            f"the run has {found}; right would be {most} at most ({self.command} --{option}): "
            f"{smaller}"
        )
