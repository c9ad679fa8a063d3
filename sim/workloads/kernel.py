"""What all kernels have in common: workloads whose options are the fields of a model.

A kernel is a small program that does the I/O of a library or of an application. What its options
are called, in which units they are typed and what they mean is said once, for scenario files, for
Python and for the command line. Whoever only asks for the options does not wait for NumPy: what a
kernel needs at work it imports when it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.config.model import Model
from sim.config.scenario import Workload as AskedWorkload
from sim.mpi.known_hints import Displays, read_displays
from sim.workloads.workload import Workload

if TYPE_CHECKING:
    from sim.workloads.job import Job


class Kernel(Model, Workload):
    """The options of a kernel, and the kernel itself.

    A subclass describes each option as a pydantic field, ``Field(description=...)``, in the units
    of :mod:`sim.config.units`; it is listed in :mod:`sim.workloads.kernels`.
    """

    @property
    def title(self) -> str:
        """What a list of jobs calls it: ``kernel adios``."""
        return f"kernel {self.name}"

    def options(self, *, given: bool = False) -> dict[str, Any]:
        """Return its options by name; with ``given``, those that are not at their defaults."""
        return self.model_dump(mode="json", exclude_defaults=given)

    def asked(self) -> AskedWorkload:
        """Return the name of the kernel and all its options."""
        said = self.model_dump(mode="json", exclude_none=True)
        return AskedWorkload(kernel={"name": self.name, **said})

    def notes(self, job: Job) -> tuple[str, ...]:
        """Say so if MPI-IO was asked to print something and the kernel does without it."""
        if job.mpi_records or read_displays(job.environment) == Displays():
            return ()
        return (f"MPI-IO prints nothing: kernel {self.name} does not go through it here.",)
