"""What a claim may depend on: values of a machine that no run of it can see need no trial."""

from __future__ import annotations

from xc40io.validation.claim import Claim
from xc40io.validation.half import What, what_of
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import OWN, SHARED

_SERVERS = ("lustre.", "lnet.")
_NAMES = ("lustre.mds.", "nodes.mds_", "nodes.call_time", "network.", "lnet.")
"""What operations on files depend on; nothing of disks and page caches."""


def may_depend(claim: Claim, path: str) -> bool:
    """Tell whether what a claim reads may depend on a value of its machine.

    Nothing on the SSDs of nodes or on a burst buffer depends on Lustre, and nothing elsewhere on
    them; without collective calls nothing depends on MPI's costs. A program that does not say
    whether its calls are collective may make them so. What moves bytes depends little on the rates
    of the metadata server: they are left to claims about operations on files.
    """
    runs = [traits_of(run) for run in claim.runs.values()]
    where = {run.where for run in runs}
    of_names = what_of(claim) is What.METADATA
    for part, target in (("burst_buffer.", "bb"), ("ssd.", "ssd")):
        if path.startswith(part):
            return target in where
    if path.startswith("mpi."):
        sharing = {one.sharing for run in runs for one in run.phases}
        return not of_names and not sharing <= {OWN, SHARED}
    if path.startswith(_SERVERS) and not where - {"bb", "ssd"}:
        return False
    return path.startswith(_NAMES) if of_names else not path.startswith("lustre.mds.")
