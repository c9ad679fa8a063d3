"""Staging: local SSDs, or a burst buffer, before Lustre, for output and for input.

*Out*: every rank writes each step of its output to a file on the SSD of its node; a helper thread
of the rank reads it back and writes it to Lustre, all helpers together into one file a step, as
HDF5's cache driver (vol-cache) does: in the background while the application computes, or after
its last step. The application sees the local write; the data are safe when they are on Lustre.
Both times are told.

*In*: what all nodes read again and again is copied once from Lustre to the SSD of each node, its
ranks a part each; then every rank reads its part there, as often as there are epochs.

With ``target: bb`` the burst buffer takes the place of the SSDs, and its service nodes themselves
move the files, each the stripes that it holds, a file for a file.

``direct`` does the same work on Lustre alone, for comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Seconds, Size
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

_STAGERS = 4  # programs of a service node, so that reads and writes of stripes overlap


class Staging(Kernel):
    """Output through local SSDs or a burst buffer, flushed meanwhile; or input read ahead."""

    name: ClassVar[str] = "staging"
    runtime: ClassVar[str] = "sim.workloads.staging_run"

    mode: Literal["out", "in"] = Field("out", description="Output, or input.")
    size: Size = Field(
        16 << 20, description="Bytes that a rank writes in a step, or reads in an epoch."
    )
    transfer: Size = Field(4 << 20, description="Bytes of a call of a rank on its local file.")
    steps: Count = Field(1, description="Steps of output, or epochs of input.")
    compute: Seconds = Field(0.0, description="Seconds that ranks compute after each step.")
    flush: Literal["background", "end"] = Field(
        "background", description="When output goes to Lustre: meanwhile, or after the last step."
    )
    direct: bool = Field(False, description="Write to Lustre, read from it: no staging.")
    sync: bool = Field(True, description="Local writes are synced, as HDF5's cache driver does.")
    grace: Annotated[Seconds, Field(ge=0)] | None = Field(
        None,
        description="Seconds that the job goes on after the application's end; until all is safe "
        "unless given.",
    )

    def helpers(self) -> int:
        """One helper of each rank flushes."""
        return 1

    def stagers(self, scenario: Scenario) -> int:
        """Four programs on each service node move what it holds."""
        return _STAGERS if scenario.target.kind == "bb" and not self.direct else 0

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the machine has SSDs, and the target is left to the kernel."""
        target = scenario.target
        if target.kind == "home":
            raise InputError(
                "kernel staging: target = home: staging goes through SSDs; right would be ssd or bb"
            )
        if target.access == "private" and self.mode == "in":
            raise InputError(
                "kernel staging: target.access = private with mode: in: all nodes read the same "
                "input; right would be striped"
            )
        if machine.ssd is None and target.kind != "bb" and not self.direct:
            raise InputError(
                f"kernel staging: the machine file of {machine.name} has no section ssd; right "
                "would be target: bb, direct: true, or a machine with SSDs"
            )
        if self.mode == "in" and (self.grace is not None or self.flush != "background"):
            raise InputError(
                "kernel staging: flush and grace belong to mode: out; input is safe already"
            )

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that go to and from Lustre, about."""
        return self.size * ranks * (self.steps if self.mode == "out" or self.direct else 1)
