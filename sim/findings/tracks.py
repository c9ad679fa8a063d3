"""A recording, indexed by the times at which things ended: what the critical path is followed on.

Each column that is searched is an array of its own, without gaps, so that a search takes a few
steps however long the recording is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Indices
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.run.recording import Recording

Record: TypeAlias = Any
"""A row of a table of a recording."""

SAME = 1e-12
"""Seconds: two times that rounding has parted."""

OF_RPCS = {Cause.FLUSH, Cause.CACHE, Cause.TRANSFER}
"""Waits that the lives of RPCs explain."""

OF_REQUESTS = {Cause.SYNC, Cause.METADATA}
"""Waits that small requests to servers explain."""

_ELSEWHERE = (*OF_RPCS, *OF_REQUESTS, Cause.LOCK, Cause.MEETING)
_COPIES = (Cause.COPY, Cause.CORE, Cause.MEMORY, Cause.TREE, Cause.CALL)


Work: TypeAlias = tuple[float, float, int]
"""The periods of a program, and what it was at: a cause, or -1 between two waits."""


class Tracks:
    """A recording, indexed by the times at which things ended; each index is made when needed."""

    def __init__(self, recording: Recording) -> None:
        self.ranks, self.nodes = recording.ranks, recording.nodes
        self.program_node = recording.program_node
        self._recording = recording
        spans = recording.of_job(recording.spans)
        self._spans = spans[spans["until"] - spans["since"] > SAME]
        self._waits = _Waits(self._spans)

    @cached_property
    def _ends(self) -> _RecordsByEnd:
        return _RecordsByEnd(self._spans, "until")

    @cached_property
    def _copies(self) -> _RecordsByEnd:
        return _RecordsByEnd(self._spans[_among(self._spans["cause"], _COPIES)], "until")

    @cached_property
    def _requests(self) -> Lanes:
        requests = self._recording.of_job(self._recording.requests)
        return Lanes(requests, requests["program"], "ended")

    @cached_property
    def _writes(self) -> Lanes:
        writes = self._recording.rpcs[self._recording.rpcs["write"] == 1]
        return Lanes(writes, self._lane(writes["node"], writes["object"]), "ended")

    @cached_property
    def _meets(self) -> _RecordsByEnd:
        calls = self._recording.calls
        return _RecordsByEnd(calls[calls["op"] == Op.MEET], "end")

    @cached_property
    def _rpcs(self) -> _RecordsByEnd:
        return _RecordsByEnd(self._recording.rpcs, "ended")

    @cached_property
    def _locks(self) -> Lanes:
        return Lanes(self._recording.locks, self._recording.locks["object"], "ended")

    @cached_property
    def _grants(self) -> _RecordsByEnd:
        return _RecordsByEnd(self._recording.locks, "granted")

    def _lane(self, node: Any, object_id: Any) -> Any:
        """Return the lane of a node's RPCs for an object."""
        return np.asarray(node, np.int64) * len(self._recording.objects) + object_id

    def last_before(self, start: float, end: float) -> int:
        """Return the program whose latest wait in a phase ended last; -1 if nobody waited.

        Among several, one whose last wait was not for other ranks.
        """
        last = self._ends.latest(start, end)
        if not len(last):
            return -1
        return int(last["program"][np.argmin(last["cause"] == Cause.MEETING)])

    def span_before(self, program: int, time: float) -> Record | None:
        """Return the program's latest span that ended by ``time``."""
        return self._waits.before(program, time + SAME)

    def work_before(self, program: int, time: float, start: float) -> tuple[list[Work], float]:
        """Return the stretches in which a program worked by itself up to ``time``, and since when.

        That is back to its latest wait for something else, or to ``start``; the latest comes first.
        """
        return self._waits.work_before(program, time, start)

    def request_before(self, program: int, time: float) -> Record | None:
        """Return the program's latest small request that was answered before ``time``."""
        return self._requests.before(program, time)

    def write_before(self, node: Any, object_id: Any, time: float) -> Record | None:
        """Return the latest write RPC of a node for an object that ended by ``time``."""
        return self._writes.before(int(self._lane(node, object_id)), time + SAME)

    def last_to_come(self, program: int, end: float) -> Record | None:
        """Return the last arrival at the meeting that ``program`` left at ``end``."""
        together = self._meets.at(end)
        if not (together["program"] == program).any():
            return None
        return together[np.argmax(together["start"])]

    def rpc_that_ended(self, time: float, node: int, ost: int = -1) -> Record | None:
        """Return an RPC of a node (for an OST) that ended at ``time``."""
        found = self._rpcs.at(time)
        found = found[(found["node"] == node) & ((found["ost"] == ost) | (ost < 0))]
        return found[-1] if len(found) else None

    def program_that_copied(self, time: float, node: int) -> int:
        """Return a program of a node whose page-cache copy ended at ``time``; -1 if none."""
        found = self._copies.at(time)["program"]
        found = found[self.program_node[found] == node]
        return int(found[-1]) if len(found) else -1

    def lock_granted(self, time: float, node: int) -> Record | None:
        """Return a lock that was granted to a node at ``time``."""
        found = self._grants.at(time)
        found = found[found["node"] == node]
        return found[-1] if len(found) else None

    def lock_in_the_way(self, lock: Record) -> Record | None:
        """Return the last lock that had to be removed before ``lock`` could be granted."""
        other = self._locks.before(int(lock["object"]), float(lock["granted"]) + SAME)
        return None if other is None or other["ended"] < lock["asked"] - SAME else other


class Lanes:
    """Records of several lanes, sorted by lane and then by their ends."""

    def __init__(self, records: Records, lanes: Any, column: str) -> None:
        times = np.ascontiguousarray(records[column])
        order = np.lexsort((times, lanes)) if _falls(times) else np.argsort(lanes, kind="stable")
        self._records, self._order, self._times = records, order, times[order]
        sorted_lanes = lanes[order]
        first = np.flatnonzero(np.diff(sorted_lanes, prepend=sorted_lanes[:1] - 1)).tolist()
        names = sorted_lanes[first].tolist()
        self._rows = dict(zip(names, pairwise([*first, len(records)]), strict=True))

    def row_before(self, lane: int, time: float) -> int:
        """Return the row of the latest record of a lane that ended by ``time``; -1 if none."""
        first, stop = self._rows.get(lane, (0, 0))
        row = first + int(self._times[first:stop].searchsorted(time, side="right")) - 1
        return row if row >= first else -1

    def before(self, lane: int, time: float) -> Record | None:
        """Return the latest record of a lane that ended by ``time``."""
        row = self.row_before(lane, time)
        return self._records[self._order[row]] if row >= 0 else None


class _Waits(Lanes):
    """What programs waited for: a lane each."""

    def __init__(self, spans: Records) -> None:
        super().__init__(spans, spans["program"], "until")
        self._since, causes = (spans[name][self._order] for name in ("since", "cause"))
        self._columns = self._since, self._times, causes
        other = _among(causes, _ELSEWHERE)
        other[[first for first, _ in self._rows.values()]] = True
        # Whatever overlaps with what was before it is looked at by itself, too:
        other[1:] |= self._times[:-1] > self._since[1:] + SAME
        rows = np.arange(len(spans))
        # Of each the latest such row; and one more, for who never waited:
        self._other = np.append(np.maximum.accumulate(np.where(other, rows, 0)), 0)

    def work_before(self, program: int, time: float, start: float) -> tuple[list[Work], float]:
        """Return the same as :meth:`Tracks.work_before`."""
        last = self.row_before(program, time + SAME)
        first = int(self._other[last]) + 1
        if last < first:
            return [], time
        first += int(self._since[first : last + 1].searchsorted(start + SAME, side="right"))
        each = (column[first : last + 1].tolist()[::-1] for column in self._columns)
        work = []
        for since, until, cause in zip(*each, strict=True):
            if until < time - SAME:
                work.append((until, time, -1))
                time = until
            if time > since + SAME:
                work.append((since, time, cause))
            time = since
        return work, time


class _RecordsByEnd:
    """Records, sorted by their ends."""

    def __init__(self, records: Records, column: str) -> None:
        times = np.ascontiguousarray(records[column])
        self._order = np.argsort(times, kind="stable") if _falls(times) else np.arange(len(times))
        self._records, self._times = records, times[self._order]

    def at(self, time: float) -> Records:
        """Return the records that ended at ``time``."""
        return self.between(time - SAME, time + SAME)

    def between(self, start: float, stop: float) -> Records:
        """Return the records that ended from ``start`` to ``stop``."""
        first = self._times.searchsorted(start, side="left")
        return self._records[self._order[first : self._times.searchsorted(stop, side="right")]]

    def latest(self, start: float, stop: float) -> Records:
        """Return the last ones that ended together between ``start`` and ``stop``, as recorded."""
        end = int(self._times.searchsorted(stop + SAME, side="right"))
        if not end or self._times[end - 1] <= start:
            return self._records[:0]
        first = int(self._times.searchsorted(self._times[end - 1] - SAME, side="left"))
        first = max(first, int(self._times.searchsorted(start, side="right")))
        return self._records[np.sort(self._order[first:end])]


def _falls(times: Floats) -> bool:
    """Tell whether times are not yet in order, as most columns of a recording are."""
    return bool((times[1:] < times[:-1]).any())


def _among(causes: Indices, some: Iterable[Cause]) -> npt.NDArray[np.bool_]:
    """Tell of each cause whether it is one of some."""
    table = np.zeros(len(Cause), np.bool_)
    table[list(some)] = True
    return table[causes]
