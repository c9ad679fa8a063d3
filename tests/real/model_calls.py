"""The calls of the model, from the recording that ``--record`` keeps, in the form of the others."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pieces
from case_table import MOUNT, Case
from recordings import UNTOLD, Calls, Refused, Row, without_chance

import xc40io
from xc40io.config.errors import InputError
from xc40io.plane.operations import Op
from xc40io.workloads import known_kernels

CALLS = {
    Op.READ: "read",
    Op.WRITE: "write",
    Op.FSYNC: "sync",
    Op.OPEN: "open",
    Op.CREATE: "open",
    Op.CLOSE: "close",
    Op.STAT: "stat",
    Op.UNLINK: "unlink",
    Op.MKDIR: "mkdir",
    Op.TRUNCATE: "truncate",
    Op.FLOCK: "lock",
    Op.FUNLOCK: "unlock",
    Op.RENAME: "rename",
    Op.READDIR: "readdir",
}
"""What a program does to a file. The other operations are no calls on files."""

DATA = frozenset({"read", "write"})
PLACED = DATA | {"truncate"}


def simulated(case: Case, folder: Path) -> xc40io.Result:
    """Simulate a case and record its calls."""
    with patch.dict(known_kernels.WRITTEN, pieces=pieces.WRITTEN):
        return xc40io.simulate(xc40io.Scenario(**case.scenario(folder)), record=True)


def calls_of_model(case: Case, folder: Path) -> Calls | Refused:
    """Simulate a case and return what its ranks called."""
    try:
        result = simulated(case, folder)
    except InputError as error:
        return Refused(str(error))
    recording = result.recording
    assert recording is not None
    assert recording.stopped is None
    found: Calls = {rank: [] for rank in range(case.ranks)}
    records = recording.calls[np.argsort(recording.calls["start"], kind="stable")]
    for record in records:
        op, file = CALLS.get(Op(record["op"])), int(record["file"])
        rank = int(recording.ranks[record["program"]])
        moved = int(record["bytes"])
        if op is None or rank < 0 or (op in DATA and not moved):
            continue
        name = recording.file_names[file].removeprefix(f"{MOUNT}/") if file >= 0 else "-"
        if op in DATA and name.endswith(UNTOLD):
            continue
        offset = int(record["offset"]) if op in PLACED else 0
        found[rank].append(Row(op, name, offset, moved if op in DATA else 0))
    if case.racing:
        found = {rank: without_chance(rows) for rank, rows in found.items()}
    return found
