"""What the metadata servers did, by the names that Lustre counts it under (``mdt.*.md_stats``)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sim.engine.types import Integers
from sim.lustre.requests import MDS_OPERATION, MDS_SYNC
from sim.plane.operations import Op
from sim.plane.recorder import Records

NAMES = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename"),
    *("getattr", "setattr", "getxattr", "setxattr", "statfs", "sync"),
    *("samedir_rename", "crossdir_rename"),
)
"""What an MDT counts, in the order in which it prints it."""

COUNTED = {
    Op.OPEN: ("open",),
    Op.CREATE: ("open", "mknod"),  # an open that makes the file (mdt_open.c, mdt_reint_open)
    Op.CLOSE: ("close",),
    Op.STAT: ("getattr",),
    Op.UNLINK: ("unlink",),
    Op.MKDIR: ("mkdir",),
    Op.RENAME: ("rename", "samedir_rename"),
    Op.TRUNCATE: ("setattr",),
    Op.FSYNC: ("sync",),
}
"""Under which names an MDT counts what programs ask it for. Locks on bytes of files it does not."""


def to_mds(requests: Records) -> Records:
    """Return those of the ``REQUEST`` records that went to metadata servers."""
    return requests[np.isin(requests["kind"], (MDS_OPERATION, MDS_SYNC))]


def counts_by_name(requests: Records) -> dict[str, int]:
    """Return how often an MDT counted what, by name; requests to MDTs only."""
    counts: Counter[str] = Counter()
    for operation, number in _by_operation(requests["op"]).items():
        for name in COUNTED.get(operation, ()):
            counts[name] += number
    return counts


def _by_operation(operations: Integers) -> dict[Op, int]:
    found, numbers = np.unique(operations, return_counts=True)
    return {Op(op): int(number) for op, number in zip(found, numbers, strict=True)}
