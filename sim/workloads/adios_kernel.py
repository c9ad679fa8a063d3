"""The ADIOS kernel: a simulation that writes its state through ADIOS 1 every now and then.

It stands for kernels as Skel generates them: the ranks compute, and write blocks that are not all
of one size, which an application with particles, adaptive meshes or walkers has.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sim.config.machine import Machine
from sim.config.units import Bytes, Count, Seconds, Size
from sim.libraries.adios_index import VARIABLE_ENTRY
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario


def _aggregation(value: object) -> object:
    """Read the type of aggregation by the number that ADIOS's XML file gives it."""
    return {"1": "all-gather", "2": "brigade"}.get(str(value), value)


def _osts(value: object) -> object:
    """Read one number as a list of OSTs."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class AdiosKernel(Kernel):
    """Ranks that write an output through ADIOS 1 in every step.

    The striping of the job is that of the subfiles; with MPI_AGGREGATE they have one stripe of
    1 MiB, as in ADIOS, unless it is given.
    """

    name: ClassVar[str] = "adios"
    runtime: ClassVar[str] = "sim.workloads.adios_run"

    method: Literal["POSIX", "MPI_AGGREGATE"] = Field(
        "MPI_AGGREGATE", description="A subfile for each rank, or for each group of ranks."
    )
    steps: Count = Field(15, description="Outputs, one after the other.")
    compute: Seconds = Field(1.0, description="Computing between two outputs.")
    size: Size = Field(2_400_000, description="What a rank writes in a step, on average.")
    distribution: Literal["fixed", "uniform", "normal", "exponential"] = Field(
        "uniform", description="How the sizes of the ranks are distributed, anew in each step."
    )
    spread: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5,
        description="Half the width of the uniform distribution, or the standard deviation of the "
        "normal one, as a share of the mean.",
    )
    variables: Count = Field(1, description="Variables that a rank writes in a step.")
    entry: Size = Field(
        VARIABLE_ENTRY,
        description="Bytes of a variable in the index; unless given, those of an array of "
        "doubles in three dimensions.",
    )
    headers: Annotated[Bytes, Field(ge=0)] = Field(
        0, description="What a rank writes beside its data: headers of variables, maps of them."
    )
    buffer_growth: Annotated[float, Field(gt=1)] | None = Field(
        None,
        description="Factor by which a rank's buffer grows when it is full, 1.05 in ADIOS 2; as "
        "large as need be from the start unless given.",
    )
    num_aggregators: Count | None = Field(
        None, description="Groups of ranks, each with a subfile; as many as OSTs unless given."
    )
    num_ost: Count | None = Field(
        None, description="Subfile g begins on OST g mod num_ost; all OSTs unless given."
    )
    osts_to_skip: Annotated[str, BeforeValidator(_osts)] = Field(
        "", description="OSTs to leave out, as in 3,7-9."
    )
    random_offset: bool = Field(False, description="The file system chooses the OSTs instead.")
    aggregation_type: Annotated[Literal["all-gather", "brigade"], BeforeValidator(_aggregation)] = (
        Field("brigade", description="How a group's data come to its aggregator.")
    )
    threading: bool = Field(
        True, description="A thread of each aggregator opens its subfile and writes."
    )
    have_metadata_file: bool = Field(True, description="Rank 0 writes a global index.")

    def helpers(self) -> int:
        """Return how many helper threads each rank has."""
        return int(self.method == "MPI_AGGREGATE" and self.threading)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all steps, about."""
        return ranks * self.size * self.steps

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the machine has the OSTs and the memory that are needed."""
        import_module("sim.workloads.adios_need").check(self, scenario, machine)
