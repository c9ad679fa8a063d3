"""The reads and writes of each file, from the recording of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.findings.servers import named
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.run.recording import Recording


class FileUse(NamedTuple):
    """What the ranks' calls read from a file, or wrote to it."""

    file: str  # its name
    ranks: int  # that read it, or wrote it
    calls: int  # reads or writes, I/O threads' among them
    bytes: int  # that were really moved
    seconds: float  # in these calls, of all ranks added up

    @property
    def rate(self) -> float:
        """Bytes/s of a rank while it was in these calls."""
        return self.bytes / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def bytes_a_call(self) -> float:
        """Bytes of a call on average."""
        return self.bytes / self.calls if self.calls else 0.0


def file_uses(recording: Recording, way: Op) -> list[FileUse]:
    """Return the reads or the writes of each file, the file with the longest calls first.

    ``way`` is ``READ`` or ``WRITE``.
    """
    calls = recording.of_job(recording.calls)
    calls = calls[calls["op"] == way]
    files = len(recording.file_names)
    columns = zip(
        (named(recording, file) for file in range(files)),
        _ranks_of_each(recording, calls, files).tolist(),
        np.bincount(calls["file"], minlength=files).tolist(),
        _sums(calls["file"], calls["bytes"], files).tolist(),
        _sums(calls["file"], calls["end"] - calls["start"], files).tolist(),
        strict=True,
    )
    uses = [FileUse(*row[:3], int(row[3]), row[4]) for row in columns if row[2]]
    return sorted(uses, key=lambda use: (-use.seconds, use.file))


def _sums(file: Integers, values: Integers | Floats, files: int) -> Floats:
    """Return the sum of some values by file; whole up to 2^53 bytes."""
    sums: Floats = np.bincount(file, weights=values, minlength=files).astype(np.float64)
    return sums


def _ranks_of_each(recording: Recording, calls: Records, files: int) -> Integers:
    """Return the number of ranks that made calls on each file: int64 (files,)."""
    pairs = np.stack([calls["file"], recording.ranks[calls["program"]]])
    return np.bincount(np.unique(pairs, axis=1)[0], minlength=files)
