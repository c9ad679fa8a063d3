"""Copies of local files on the SSD of a partner node, so that a node may fail.

The rules are those of SCR (github.com/LLNL/scr, doc-dev/rst/developers/schemes.rst, PARTNER): a
full copy of every file is made. Among processes of which each node has one, each sends to the one
whose rank is one more, and stores what that of one rank less sends; the ends wrap around. After a
failure a process gets its file from the original or from the copy, and then the scheme is applied
again at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xc40io.plane.operations import Op

if TYPE_CHECKING:
    from xc40io.engine.types import Integers
    from xc40io.plane.batch import Batch
    from xc40io.workloads.job import Job


class PartnerCopies:
    """Copies of a file of each rank, of so many bytes, in pieces of a call."""

    def __init__(self, job: Job, size: int, transfer: int) -> None:
        self._job, self._size, self._transfer = job, size, transfer
        self.per_node = job.world.size // job.world.nodes

    def make(self, files: Integers, copies: Integers) -> Batch:
        """Return what makes copies: a rank reads its file, and writes what another sends it."""
        everyone = np.arange(self._job.ranks)
        return self._sent(everyone, (everyone + self.per_node) % len(everyone), files, copies)

    def fetch(self, copies: Integers, files: Integers) -> Batch:
        """Return what brings files of the first node, which is a new one, back from the second."""
        lost = np.arange(self.per_node)
        return self._sent(lost + self.per_node, lost, copies, files)

    def _sent(
        self, sender: Integers, receiver: Integers, source: Integers, target: Integers
    ) -> Batch:
        """Return a batch in which ranks send a file each to others; int64 (n,) each.

        All go on to the next piece together.
        """
        job, node = self._job, self._job.world.node
        batch, both = job.batch(), np.unique([sender, receiver])
        job.barrier(batch)
        batch.add(Op.MARK, mark=0)
        batch.add(Op.OPEN, sender, file=source)
        batch.add(Op.CREATE, receiver, file=target)
        meeting = int(job.meetings(1)[0])
        for offset in range(0, self._size, self._transfer):
            length = min(self._transfer, self._size - offset)
            piece: dict[str, Any] = {"offset": offset, "length": length, "count": 1}
            batch.add(Op.READ, sender, file=source, **piece)
            batch.add(Op.MEET, both, meeting=meeting, members=len(both))
            first = batch.add_transfers(node[sender], node[receiver], length)
            transfer = first + np.arange(len(receiver))
            batch.add(Op.EXCHANGE, receiver, transfer=transfer, received=1)
            batch.add(Op.WRITE, receiver, file=target, **piece)
        batch.add(Op.FSYNC, receiver, file=target)
        batch.add(Op.CLOSE, receiver, file=target)
        batch.add(Op.CLOSE, sender, file=source)
        batch.add(Op.MARK, mark=1)
        return batch
