"""Small runs of IOR on Lustre with a recording, each made once."""

from __future__ import annotations

from functools import cache

from xc40io import Result, Scenario, simulate
from xc40io.run.recording import Recording

RUNS = {
    "own files": {"ior": "-a POSIX -w -r -C -e -F -b 3m -t 1m"},
    "shared file": {"ior": "-a POSIX -w -r -C -e -b 512k -t 64k -s 3"},
    "collective": {"ior": "-a MPIIO -c -w -r -C -e -b 2m -t 1m"},
    "not synced": {"ior": "-a POSIX -w -b 3000000 -t 300000 -k"},
}
"""What reaches the servers differs: whole RPCs, parts, lock conflicts, what is left behind."""


@cache
def recorded(name: str) -> Result:
    """Return a run of 4 nodes with 4 ranks each; files have 4 stripes of 1 MiB."""
    scenario = Scenario(
        machine="theta",
        nodes=4,
        ppn=4,
        placement="random",
        striping={"count": 4, "size": "1m"},
        workload=RUNS[name],
    )
    return simulate(scenario, record=True)


def recording_of_run(name: str) -> Recording:
    """Return the recording of one of the runs."""
    recording = recorded(name).recording
    assert recording is not None
    return recording
