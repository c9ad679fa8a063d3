"""The calls that a small simulated run makes, as a recorder below the real program would list them.

What the real programs do was recorded with IOR and mdtest 4.1.0+dev (5fcf0ba), h5bench 1.6 and
HDF5 1.10.8 over ROMIO of MPICH 4.0.2, whose Lustre driver was told the stripes: the sequences in
the tests that use this are from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xc40io import Result, Scenario, simulate
from xc40io.plane.operations import Op


class FileCall(NamedTuple):
    """A call for a file: the name of its operation, and bytes."""

    name: str
    file: str
    offset: int
    size: int


def run_romio(
    workload: dict[str, Any],
    *,
    ranks: int = 4,
    ppn: int = 1,
    release: str = "4",
    **fields: Any,
) -> dict[int, list[FileCall]]:
    """Run under ROMIO with files of four stripes of 1 MiB; return the calls of each rank."""
    scenario = Scenario(
        machine="theta",
        nodes=ranks // ppn,
        ppn=ppn,
        striping={"count": 4, "size": "1m"},
        changes={"mpi.library": "romio", "mpi.release": release},
        workload=workload,
        **fields,
    )
    return calls_of(simulate(scenario, record=True))


def calls_of(result: Result) -> dict[int, list[FileCall]]:
    """Return the calls of each rank of a run with a recording, in order."""
    recording = result.recording
    assert recording is not None
    rows = recording.calls[np.argsort(recording.calls["start"], kind="stable")]
    calls: dict[int, list[FileCall]] = {}
    for row in rows:
        name = recording.file_names[row["file"]] if row["file"] >= 0 else ""
        call = FileCall(Op(int(row["op"])).name, name, int(row["offset"]), int(row["bytes"]))
        calls.setdefault(int(recording.ranks[row["program"]]), []).append(call)
    return calls


def pieces(calls: list[FileCall], *names: str) -> list[tuple[int, int]]:
    """Return offset and bytes of the calls of these names, in order."""
    return [(call.offset, call.size) for call in calls if call.name in names]
