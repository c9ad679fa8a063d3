"""The reads and writes of a recorded run as columns, and what is known of their files."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Indices, Integers
from xc40io.findings.servers import named
from xc40io.plane.library_calls import LibraryOp
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.run.recording import Recording
from xc40io.run.result import Result

Mask = npt.NDArray[np.bool_]


class DataCalls:
    """What the programs of a job read and wrote, call by call, in the order of their ends.

    Below MPI-IO these are the calls that the library makes: aggregators' for the other ranks.
    """

    def __init__(self, result: Result, recording: Recording) -> None:
        self._result, self.recording = result, recording
        moves = np.isin(recording.calls["op"], (Op.READ, Op.WRITE))
        moves &= recording.ranks[recording.calls["program"]] >= 0
        moves &= recording.calls["bytes"] > 0
        self._calls: Records = recording.calls[moves]

    def __len__(self) -> int:
        return len(self._calls)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of ``CALL`` records."""
        return np.ascontiguousarray(self._calls[name])

    @cached_property
    def rank(self) -> Indices:
        """int32 (calls,): whose each is; an I/O thread's is its rank's."""
        rank: Indices = self.recording.ranks[self._calls["program"]]
        return rank

    @cached_property
    def file(self) -> Indices:
        """int32 (calls,): the number of the file."""
        file: Indices = np.maximum(self.column("file"), 0)
        return file

    @cached_property
    def bytes(self) -> Integers:
        """int64 (calls,)."""
        return self.column("bytes")

    @cached_property
    def offset(self) -> Integers:
        """int64 (calls,): where in the file it begins."""
        return self.column("offset")

    @cached_property
    def seconds(self) -> Floats:
        """float64 (calls,): what each took."""
        took: Floats = self._calls["end"] - self._calls["start"]
        return took

    def sums(self, key: Integers | Indices, values: Any = None, count: int = 0) -> Any:
        """Return the sum of some values, or how many calls, by a key of each call."""
        return np.bincount(key, weights=values, minlength=count)

    def name(self, file: int) -> str:
        """Return the name of a file."""
        return named(self.recording, file)

    @cached_property
    def stripe_size(self) -> Integers:
        """int64 (files,): bytes of a stripe; 1 where a file is not striped over OSTs."""
        sizes = np.ones(max(len(self.recording.file_names), 1), np.int64)
        if self._result.scenario.target.kind == "lustre":
            known = {
                self.recording.file_names[files.first + place]: files.stripe_size
                for files in self._result.files.values()
                for place in range(len(files.osts))
            }
            for number, name in enumerate(self.recording.file_names):
                sizes[number] = known.get(name, 1)
        return sizes

    def asked(self) -> tuple[Integers, Integers]:
        """Return the bytes that each rank asked for, and in how many calls: int64 (ranks,).

        Through MPI-IO a rank may ask for what an aggregator reads or writes.
        """
        ranks = self._result.scenario.nodes * self._result.scenario.ppn
        own = self.column("tag") <= 0
        parts = self.recording.library_calls
        of = self.recording.ranks[parts["program"]]
        parts_own = (of >= 0) & (parts["bytes"] > 0)
        parts_own &= np.isin(parts["op"], (LibraryOp.READ, LibraryOp.WRITE))
        rank = np.concatenate([self.rank[own], of[parts_own]])
        moved = np.concatenate([self.bytes[own], parts["bytes"][parts_own]])
        asked = np.bincount(rank, weights=moved, minlength=ranks).astype(np.int64)
        return asked, np.bincount(rank, minlength=ranks)
