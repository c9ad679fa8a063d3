"""How much one question may cost, and what is said where it asks for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from xc40io.config.errors import InputError

if TYPE_CHECKING:
    from xc40io.studies.case import Case


def bulk_rpcs(case: Case) -> float:
    """Return about how many bulk RPCs a run has; several that are handled as one count as one."""
    return case.size() / case.machine.lustre.rpc_size


@dataclass(frozen=True)
class Limits:
    """What one question may cost."""

    seconds: float = 120.0  # of real time; then its process is ended
    rpcs: int = 1_000_000  # bulk RPCs of each of its runs, about
    ranks: int = 65_536  # of each of its runs, all jobs together
    runs: int = 64  # that a sweep, a comparison or a search for settings makes
    letters: int = 65_536  # of a scenario that is sent
    words: int = 16_384  # letters of anything else that is sent
    deep: int = 32  # how deep what is sent may be nested
    waiting: int = 64  # questions of one visitor that wait for their turn
    command: str = "xc40io mcp"  # whose options say all that, for messages
    fewer: str = "fewer nodes or ppn"
    """What makes a run smaller that has too many ranks."""
    smaller: str = "fewer bytes or nodes, or rpcs_as_one: 8 in the scenario"
    """What makes a run smaller that moves too many bytes, or takes too long."""

    def check_runs(self, runs: int) -> None:
        """Raise InputError if a call would make too many runs."""
        if runs > self.runs:
            raise InputError(
                f"the call has {runs:,} runs; right would be {self.runs:,} at most "
                f"({self.command} --runs): fewer values, or sample"
            )

    def check_sent(self, arguments: Mapping[str, Any]) -> None:
        """Raise InputError if something that was sent is too long, or nested too deep."""
        for name, value in arguments.items():
            most = self.letters if name == "scenario" else self.words
            letters = _letters(value, self.deep)
            if letters is None:
                raise InputError(
                    f"{name}: it is nested deeper than {self.deep}; right would be {self.deep} at "
                    "most"
                )
            if letters > most:
                raise InputError(
                    f"{name}: it has {letters:,} letters; right would be {most:,} at most"
                )

    def cost(self, case: Case) -> float:
        """Return about how much work a run is, as turns are dealt by it: its RPCs and ranks.

        One that is refused at once is none.
        """
        ranks = sum(job.nodes * job.ppn for job in case.jobs())
        return 0.0 if ranks > self.ranks else ranks + bulk_rpcs(case)

    def check_size(self, case: Case) -> None:
        """Raise InputError if a run would have too many ranks, or move too many bytes."""
        ranks = sum(job.nodes * job.ppn for job in case.jobs())
        if ranks > self.ranks:  # first: to count RPCs may take as long as the ranks are many
            self._refuse(f"{ranks:,} ranks", f"{self.ranks:,}", "ranks", self.fewer)
        rpcs = bulk_rpcs(case)
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


def _letters(value: object, deep: int) -> int | None:
    """Return how many letters stand in a document, a number counted as one; None: too deep."""
    letters, level = 0, [value]
    for _ in range(deep + 1):
        texts = [one for one in level if isinstance(one, str)]
        letters += sum(map(len, texts)) + len(level) - len(texts)
        mappings = [one for one in level if isinstance(one, dict)]
        lists = [one for one in level if isinstance(one, list)]
        level = [part for one in mappings for pair in one.items() for part in pair]
        level += [part for one in lists for part in one]
        if not level:
            return letters
    return None
