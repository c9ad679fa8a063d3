"""The kernels there are; importing this imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from sim.config.errors import InputError

if TYPE_CHECKING:
    from sim.workloads.kernel import Kernel


class Entry(NamedTuple):
    """Where a kernel is, and what it does in a few words."""

    module: str
    kind: str
    summary: str

    def load(self) -> type[Kernel]:
        """Import the kernel."""
        kernel: type[Kernel] = getattr(import_module(self.module), self.kind)
        return kernel


KERNELS = {
    "adios": Entry(
        "sim.workloads.adios_kernel",
        "AdiosKernel",
        "ADIOS 1: steps of output through POSIX or MPI_AGGREGATE.",
    ),
    "exerciser": Entry(
        "sim.workloads.exerciser",
        "Exerciser",
        "HDF5: hyperslabs of a dataset, written and read in many ways.",
    ),
}


def make_kernel(options: dict[str, Any]) -> Kernel:
    """Return a kernel from the options of a scenario; ``name`` says which.

    Raises
    ------
    InputError
        If there is no such kernel, or an option is unknown or of the wrong type.
    """
    from pydantic import ValidationError

    from sim.config.files import explain, nearest

    options = dict(options)
    name = options.pop("name", None)
    if name not in KERNELS:
        raise InputError(
            f"kernel.name = {name!r}: right would be one of {', '.join(KERNELS)}"
            f"{nearest(str(name), KERNELS)}"
        )
    kernel = KERNELS[name].load()
    try:
        return kernel.model_validate(options)
    except ValidationError as error:
        raise explain(error, f"kernel {name}", kernel) from error
