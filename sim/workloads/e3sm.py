"""E3SM-like output: records of a climate model, of which every rank has many small parts.

After the I/O kernel E3SM-IO (Parallel-NetCDF/E3SM-IO; in h5bench too): the columns of the globe, a
cubed sphere, are dealt to the ranks along a space-filling curve, so that a rank's columns are many
short runs of an array's last dimension. Each variable has a slice in every record of a PnetCDF
file, and the slices of one variable lie a whole record apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Seconds
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

FLOAT = 4
"""Bytes of an element."""

_MOST_PIECES = 20_000_000


class E3sm(Kernel):
    """Ranks that write variables of columns, and of levels by columns, one collective call each.

    The F case of E3SM-IO has 323 variables of columns and 63 with levels; the defaults are a tenth
    of that. Columns are dealt to the ranks in turn, a run at a time.
    """

    name: ClassVar[str] = "e3sm"
    runtime: ClassVar[str] = "sim.workloads.e3sm_run"

    columns: Count = Field(48_602, description="Columns of the globe: 48,602 of ne30's grid.")
    levels: Count = Field(72, description="Levels of the variables that have some.")
    variables_2d: Annotated[int, Field(ge=0)] = Field(32, description="Variables of columns.")
    variables_3d: Annotated[int, Field(ge=0)] = Field(
        6, description="Variables of levels by columns."
    )
    records: Count = Field(1, description="Records, one after the other.")
    compute: Seconds = Field(0.0, description="Computing before each record but the first.")
    run_length: Count = Field(16, description="Columns of a rank that lie together.")

    @property
    def whole_columns(self) -> int:
        """The columns, made up to whole runs."""
        return -(-self.columns // self.run_length) * self.run_length

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes of all records."""
        slices = self.variables_2d + self.variables_3d * self.levels
        return self.records * slices * self.whole_columns * FLOAT

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless there is something to write, and not too much of it."""
        if self.variables_2d + self.variables_3d == 0:
            raise InputError("kernel e3sm: variables_2d and variables_3d are 0: nothing to write")
        pieces = self.whole_columns // self.run_length * self.levels
        if pieces > _MOST_PIECES:
            raise InputError(
                f"kernel e3sm: {pieces:,} pieces in one call; right would be at most "
                f"{_MOST_PIECES:,}, by a longer run_length"
            )
        written = self.bytes_to_move(scenario.nodes * scenario.ppn)
        if written > machine.lustre.capacity:
            raise InputError(
                f"kernel e3sm: the records take {written / 1e15:.1f} PB; the file system of "
                f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
            )
