"""What all kernels have in common: workloads whose options are the fields of a model.

A kernel is a small program that does the I/O of a library or of an application. What its options
are called, in which units they are typed and what they mean is said once, for scenario files, for
Python and for the command line. Skeletons make such a model of the parameters in their file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import Field

from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.model import Model
from xc40io.mpi.known_hints import Displays, read_displays
from xc40io.workloads.traits import APPLICATION, COLLECTIVE, SHARED, SUBFILES, PhaseTraits
from xc40io.workloads.workload import Workload

if TYPE_CHECKING:  # a job has the whole machine behind it, which takes long to import
    from xc40io.workloads.job import Job

Natural = Annotated[int, Field(ge=0)]
"""An option that is a whole number, 0 or more."""

MOST_PROGRAMS = 2**22
"""Ranks and their helper threads, all together, that a kernel may have."""

TRIED = "tried"
"""What more is said of an option of few choices that explanations and tuning try otherwise."""

Share = Annotated[float, Field(ge=0, le=1)]
"""An option that is a share of something: 0 to 1."""


class Kernel(Model, Workload):
    """The options of a kernel, and the kernel itself.

    A subclass describes each option as a pydantic field, ``Field(description=...)``, in the units
    of :mod:`xc40io.config.units`; :data:`xc40io.workloads.known_kernels.WRITTEN` names it.
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

    def phase_traits(self, ranks: int) -> tuple[PhaseTraits, ...]:
        """Return that all share a file, if options say how: ``collective``, ``subfiling``."""
        ways = {None: APPLICATION, True: COLLECTIVE, False: SHARED}
        together = getattr(self, "collective", None)
        sharing = ways[None if together is None else bool(together)]
        if getattr(self, "subfiling", False):
            sharing = SUBFILES
        return tuple(replace(one, sharing=sharing) for one in super().phase_traits(ranks))

    def notes(self, job: Job) -> tuple[str, ...]:
        """Say so if MPI-IO was asked to print something and the kernel does without it."""
        if job.mpi_records or read_displays(job.environment) == Displays():
            return ()
        return (f"MPI-IO prints nothing: kernel {self.name} does not go through it here.",)


K = TypeVar("K", bound=Kernel)


class KernelRun(Generic[K]):
    """One run of a kernel: its options, and the job that does it."""

    def __init__(self, options: K, job: Job) -> None:
        self._options = options
        self._job = job


def check_capacity(written: int, machine: Machine, what: str) -> None:
    """Raise InputError if so many bytes are too many for Lustre; ``what`` begins the sentence."""
    if written > machine.lustre.capacity:
        raise InputError(
            f"{what} {written / 1e15:.1f} PB; the file system of {machine.name} holds "
            f"{machine.lustre.capacity / 1e15:.1f} PB"
        )
