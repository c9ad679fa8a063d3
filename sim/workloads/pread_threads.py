"""Threads of a rank that read with ``pread``, to find how many streams a core needs.

After the test with which E. Slaughter (Stanford) measured Cori's KNL nodes (NERSC, Optimizing I/O
on Cori KNL): the tasks of a Legion program, each of which reads its part of a file by itself. The
threads of a rank share its core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Size
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

_MOST_PROGRAMS = 2**22


class PreadThreads(Kernel):
    """Every rank opens a file, and each of its threads reads a contiguous part of it.

    The file was there before, and nothing of it is in memory.
    """

    name: ClassVar[str] = "pread-threads"
    runtime: ClassVar[str] = "sim.workloads.pread_threads_run"

    pool: Annotated[int, Field(ge=1)] = Field(16, description="Threads of each rank.")
    size: Size = Field(256 * 2**20, description="What a rank's threads read, all together.")
    transfer: Size = Field(2**20, description="Bytes of a call.")
    shared: bool = Field(True, description="One file for all ranks, not one for each.")
    direct: bool = Field(False, description="Direct I/O, past the page cache.")

    def helpers(self) -> int:
        """Return how many helper threads each rank has."""
        return self.pool

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that all ranks read."""
        return ranks * self.size

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless whole calls make up the size, and the threads can be held."""
        ranks = scenario.nodes * scenario.ppn
        if self.size % self.transfer:
            raise InputError(
                f"kernel pread-threads: size = {self.size} is no multiple of transfer = "
                f"{self.transfer}"
            )
        if ranks * (self.pool + 1) > _MOST_PROGRAMS:
            raise InputError(
                f"kernel pread-threads: {ranks:,} ranks with pool = {self.pool} make too many "
                f"threads to simulate; right would be at most {_MOST_PROGRAMS:,} in all"
            )
        if ranks * self.size > machine.lustre.capacity:
            raise InputError(
                f"kernel pread-threads: the files take {ranks * self.size / 1e15:.1f} PB; the file "
                f"system of {machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
            )
