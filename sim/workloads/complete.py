"""A workload with nothing left to a default."""

from __future__ import annotations

from sim.config.scenario import Workload
from sim.workloads.kernels import make_kernel


def with_all_options(workload: Workload) -> Workload:
    """Return a workload with nothing of its kernel left to a default.

    Raises
    ------
    InputError
        If the kernel's options cannot be.
    """
    if workload.kernel is None:
        return workload
    kernel = make_kernel(workload.kernel)
    said = kernel.model_dump(mode="json", exclude_none=True)
    return Workload(kernel={"name": kernel.name, **said})
