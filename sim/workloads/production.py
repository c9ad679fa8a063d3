"""A job of which accounting knows little: bytes, files, the length of calls, how long it took.

It reads its input, then computes and writes in equal steps, as a simulation does that writes
checkpoints or results. Where its ranks take part in a step together they wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Bytes, Count, Seconds, Size
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

LONGEST_CALL = 256 << 20
"""Bytes of a call that stands for several. A client asks for all pages of a call at once, so that
one of many gigabytes would drive its own pages out of the cache before it has got them."""

MOST_TIMES = 1_000_000
"""Files, opens, stats or steps: more would be hours of work."""

MOST_OPERATIONS = 50_000_000
"""Operations of all ranks in a step, which are made before it begins: some gigabytes."""

Times = Annotated[int, Field(gt=0, le=MOST_TIMES)]


class Production(Kernel):
    """A job by its totals, as accounting and Darshan's summaries tell them."""

    name: ClassVar[str] = "production"
    runtime: ClassVar[str] = "sim.workloads.production_run"

    read: Bytes = Field(0, description="Bytes that all ranks read together, at the beginning.")
    written: Bytes = Field(0, description="Bytes that all ranks write together, in equal steps.")
    read_call: Size = Field(2**20, description="Length of a read.")
    write_call: Size = Field(2**20, description="Length of a write.")
    read_layout: Literal["rank", "job"] = Field(
        "rank", description="Who shares a file that is read: nobody, or all ranks."
    )
    write_layout: Literal["rank", "job"] = Field(
        "rank", description="Who shares a file that is written: nobody, or all ranks."
    )
    io_ranks: Count | None = Field(
        None, description="Ranks that read and write, spread over all; all of them unless given."
    )
    files: Times = Field(
        1, description="Files of each of these ranks, or of all where they share: for each way."
    )
    opens: Times = Field(1, description="How often a rank opens and closes a file in a step.")
    stats: Annotated[int, Field(ge=0, le=MOST_TIMES)] = Field(
        0, description="Stats of each of these ranks, at the beginning."
    )
    steps: Times = Field(1, description="Steps of computing and writing.")
    compute: Seconds = Field(0.0, description="Seconds of computing, all steps together.")
    most_calls: Annotated[int, Field(ge=0)] = Field(
        0,
        description="Most reads, writes, opens and stats of a rank on a file and step; each then "
        "stands for several. What reads and writes cost the core is kept. 0: no limit.",
    )

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes that are read and written."""
        return self.read + self.written

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: ARG002
        """Raise InputError unless the operations of a step can be held."""
        ranks = self.ranks_at_work(scenario.nodes * scenario.ppn)
        each = self.times(self.stats) + 2 * self.files * self.times(self.opens)
        if ranks * each > MOST_OPERATIONS:
            raise InputError(
                f"kernel production: {ranks:,} ranks with {each:,} opens, closes and stats each in "
                f"a step are {ranks * each:,} operations; right would be at most "
                f"{MOST_OPERATIONS:,}: fewer ranks, files, opens or stats, or most_calls"
            )

    def ranks_at_work(self, ranks: int) -> int:
        """Return how many of so many ranks read and write."""
        return ranks if self.io_ranks is None else min(self.io_ranks, ranks)

    def times(self, count: int) -> int:
        """Return how many of so many opens or stats there are."""
        return count if self.most_calls == 0 else min(count, self.most_calls)

    def call(self, length: int, share: int) -> int:
        """Return the length of the calls that move ``share`` bytes, all in bytes.

        It is ``length``, or a multiple that makes no more than ``most_calls`` of them; none that is
        longer becomes longer than ``LONGEST_CALL``.
        """
        if self.most_calls == 0 or share <= length * self.most_calls:
            return length
        several = -(-share // (length * self.most_calls))
        return min(several, max(LONGEST_CALL // length, 1)) * length
