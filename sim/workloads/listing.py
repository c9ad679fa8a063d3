"""How a process reads a directory: its names, and what ``ls -l`` asks about each."""

from __future__ import annotations

import numpy as np

from xc40io.engine.types import Integers
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

NAMES_A_REQUEST = 16_000
"""Names that a client gets in one request: 1 MiB (ll_md_brw_size of Lustre 2.7) in pages of 4 KiB,
each with some 63 entries of 64 bytes (lu_dirent, with a name of up to 24 letters)."""


def add_reading(
    batch: Batch,
    rank: Integers,
    directory: int,
    names: int,
    name_time: float,
    *,
    entries: int | None = None,
) -> None:
    """Let ranks open a directory, read its names, request after request, and close it.

    Parameters
    ----------
    batch
        Of all ranks.
    rank
        int64 (n,): who does it, each by itself.
    directory, names
        The file that stands for it, and how many names are read.
    name_time
        Seconds of a core for each name.
    entries
        The first of the files that these names are, in the directory's order: they are looked at
        as ``ls -l`` does, each with a stat. Nobody looks at them unless given.
    """
    looked_at = {} if entries is None else {"first_entry": entries, "entries": names}
    batch.add(Op.OPEN, rank, file=directory)
    for first in range(0, names, NAMES_A_REQUEST):
        count = min(NAMES_A_REQUEST, names - first)
        batch.add(Op.READDIR, rank, file=directory, count=count, **looked_at)
        batch.add(Op.THINK, rank, seconds=count * name_time)
        if entries is not None:
            files = entries + first + np.arange(count)
            batch.add(Op.STAT, np.repeat(rank, count), file=np.tile(files, len(rank)))
    batch.add(Op.CLOSE, rank, file=directory)
