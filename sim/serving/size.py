"""Whether a run is small enough for whoever asks for it."""

from __future__ import annotations

from sim.serving.limits import Limits
from sim.studies.case import Case


def bulk_rpcs(case: Case) -> float:
    """Return about how many bulk RPCs a run has; several that are handled as one count as one."""
    return case.size() / case.machine.lustre.rpc_size


def check_size(case: Case, limits: Limits) -> None:
    """Raise InputError if a run would have too many ranks, or move too many bytes."""
    ranks = sum(job.nodes * job.ppn for job in case.jobs())
    limits.check_size(ranks, lambda: bulk_rpcs(case))
