"""The critical path of a phase: the chain of events that ends with the last rank.

It is followed backwards through a recording (:mod:`xc40io.run.recording`). What the last rank did
last ends it. Before that the rank waited: for a meeting, so the path goes on with the last to come
to it; for a BRW RPC, so it goes through the disks, LNET and the OSC of that RPC, and from there to
the RPC that had its place in the OSC before; for an extent lock, so it goes through what the holder
did. Nothing on the path can take longer without the phase taking longer. (It can become shorter
than a part of the path: then another path is the longest.)
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from xc40io.findings.looked_at import once
from xc40io.findings.tracks import OF_REQUESTS, OF_RPCS, SAME, Record, Tracks
from xc40io.findings.waits import AT_WORDS, WORDS, words_of
from xc40io.plane.causes import Cause
from xc40io.run.result import Result
from xc40io.workloads.job_results import Activity

_AT_WORK = WORDS[Cause.START]
_EVERYBODY = "all ranks"
_ANSWER = WORDS[Cause.LATENCY]
_DATA = "the answer of OSTs, and data on their way to the client"
_TO_SERVER = "RPCs on their way to the OSS"
_SERVED = "requests that servers worked on, commits included"
_SERVER_QUEUE = "requests in line at servers"
_GRANT = "extent locks: the grant on its way"
_IN_USE = WORDS[Cause.LOCK_USE]
_WRITE_BACK = WORDS[Cause.LOCK_FLUSH]
_DROPPED = f"{_WRITE_BACK}: pages dropped one by one"

Part: TypeAlias = tuple[float, float, str, str]
"""Start, end, place and activity of a part; in lists the latest part comes first."""


class Segment(NamedTuple):
    """A part of the path."""

    start: float  # simulated seconds
    end: float  # likewise
    where: str  # who or what was at work: ``rank 3``, ``OST 7``, ``OSC of node 2 for OST 7``
    what: str  # what it did: a few words


class Share(NamedTuple):
    """The sum of the segments of one kind."""

    what: str  # what they are
    where: str  # where most of their seconds passed
    places: int  # at how many places they passed
    times: int  # how many segments there are
    seconds: float  # in all
    share: float  # of the path, 0 to 1


@dataclass(frozen=True)
class CriticalPath:
    """The critical path of a phase."""

    start: float  # of the phase, in simulated seconds
    end: float  # likewise
    segments: tuple[Segment, ...]  # in the order of time; each begins where the one before it ends

    def shares(self) -> list[Share]:
        """Return the path's seconds by kind of segment, longest first; the shares add up to 1."""
        return list(self._shares)

    @cached_property
    def _shares(self) -> list[Share]:
        found: dict[str, list[Segment]] = {}
        for segment in self.segments:
            found.setdefault(segment.what, []).append(segment)
        total = self.end - self.start
        shares = [_share(what, segments, total) for what, segments in found.items()]
        return sorted(shares, key=lambda share: -share.seconds)


def _share(what: str, segments: list[Segment], total: float) -> Share:
    places: dict[str, float] = {}
    for segment in segments:
        places[segment.where] = places.get(segment.where, 0.0) + segment.end - segment.start
    seconds = sum(places.values())
    most = max(places, key=lambda where: places[where])
    return Share(what, most, len(places), len(segments), seconds, seconds / total)


@once
def critical_paths(result: Result) -> list[tuple[Activity, CriticalPath]]:
    """Return the critical path of the longest phase of each activity of a recorded run."""
    if result.recording is None:
        return []
    tracks, found = Tracks(result.recording), []
    for activity in result.activities:
        longest = max(activity.stretches, key=lambda stretch: stretch.end - stretch.start)
        path = _path(result, tracks, longest.start, longest.end)
        if path is not None:
            found.append((activity, path))
    return found


def critical_path(result: Result, start: float, end: float) -> CriticalPath | None:
    """Return the critical path of a phase; None if nothing was recorded of it.

    ``result``: of a run that was recorded. ``start`` and ``end``: when the first rank began the
    phase, and when the last one ended it, in simulated seconds.
    """
    if result.recording is None:
        return None
    return _path(result, Tracks(result.recording), start, end)


def _path(result: Result, tracks: Tracks, start: float, end: float) -> CriticalPath | None:
    program = tracks.last_before(start, end)
    if program < 0:
        return None
    segments = list(_Walk(tracks, result, start).back_from(program, end))
    return CriticalPath(start, end, tuple(_merged(reversed(segments))))


def _merged(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield segments, with neighbours that are alike merged into one."""
    alike = groupby(segments, key=itemgetter(2, 3))
    for (where, what), group in alike:
        first, *others = group
        yield Segment(first.start, others[-1].end if others else first.end, where, what)


class _Walk:
    """The way back from the end of a phase to its start."""

    def __init__(self, tracks: Tracks, result: Result, start: float) -> None:
        self._tracks, self._table, self._start = tracks, result.station_table, start
        self._lustre = result.machine.lustre
        words = words_of(result.machine, AT_WORDS).items()
        self._at = {-1: _AT_WORK, **{int(cause): said for cause, said in words}}

    def back_from(self, program: int, time: float) -> Iterator[Segment]:
        """Yield the segments before a time, at which a program ended, the latest first."""
        met: set[int] = set()  # whom the path has been at since its latest segment
        while time > self._start + SAME:
            work, began = self._tracks.work_before(program, time, self._start)
            if began < time:
                where = self._rank(program)
                for since, until, cause in work:
                    yield Segment(since, until, where, self._at[cause])
                met.clear()
                time = began
                continue
            span = self._tracks.span_before(program, time)
            since = self._start if span is None else max(float(span["since"]), self._start)
            until = self._start if span is None else max(float(span["until"]), self._start)
            if span is None or until < time - SAME:
                yield Segment(until, time, self._rank(program), _AT_WORK)
                time = until
                continue
            last = None
            if span["cause"] == Cause.MEETING:
                last = self._tracks.last_to_come(program, float(span["until"]))
            if last is not None and int(last["program"]) not in met:
                came = min(max(float(last["start"]), since), time)
                if came < time - SAME:
                    yield Segment(came, time, _EVERYBODY, WORDS[Cause.COLLECTIVE])
                    met.clear()
                met.add(program)
                program, time = int(last["program"]), came
                continue
            met.clear()
            left = time
            for segment in self._before(span, since, time):
                yield segment
                left = segment.start
            program, time = yield from self._rest(span, since, left, until)

    def _rest(
        self, span: Record, since: float, left: float, until: float
    ) -> Generator[Segment, None, tuple[int, float]]:
        """Yield the rest of a wait before a time; return where the path continues.

        Who waits for an RPC for which there was no need before waits for whoever wrote what it
        brings.
        """
        program, cause = int(span["program"]), Cause(int(span["cause"]))
        if left <= since + SAME:
            return program, since
        if cause in OF_RPCS and left < until - SAME:
            writer = self._tracks.program_that_copied(left, self._node_of(program))
            if writer >= 0 and writer != program:
                return writer, left
        yield Segment(since, left, self._rank(program), self._at[cause])
        return program, since

    def _rank(self, program: int) -> str:
        return f"rank {self._tracks.ranks[program]}"

    def _before(self, span: Record, since: float, time: float) -> Iterator[Segment]:
        """Yield what a program waited for from ``since`` to ``time``, the latest first."""
        program, cause = int(span["program"]), int(span["cause"])
        if cause in OF_RPCS:
            yield from self._through_rpcs(self._node_of(program), since, time)
        elif cause == Cause.LOCK:
            yield from self._through_locks(self._node_of(program), since, time)
        elif cause in OF_REQUESTS:
            yield from self._through_requests(program, since, time)

    def _through_rpcs(self, node: int, since: float, time: float) -> Iterator[Segment]:
        """Yield the lives of a chain of RPCs of a node; the last one ended at ``time``."""
        rpc = self._tracks.rpc_that_ended(time, node)
        while rpc is not None:
            yield from _clipped(self._life(rpc), since)
            started = float(rpc["start"])
            if started <= since:
                return
            # It began when another RPC of its OSC gave up its place, or when there was need of it.
            rpc = self._tracks.rpc_that_ended(started, node, int(rpc["ost"]))

    def _life(self, rpc: Record) -> Iterator[Part]:
        """Yield the parts of the life of an RPC, the latest first."""
        ost = self._lustre.target_name(int(rpc["ost"]))
        yield rpc["served"], rpc["ended"], ost, _ANSWER if rpc["write"] else _DATA
        yield rpc["begun"], rpc["served"], ost, WORDS[Cause.DISK]
        yield rpc["arrived"], rpc["begun"], ost, WORDS[Cause.OST]
        yield rpc["start"], rpc["arrived"], f"node {self._node(rpc['node'])} to {ost}", _TO_SERVER

    def _through_requests(self, program: int, since: float, time: float) -> Iterator[Segment]:
        """Yield the parts of a program's small requests, back from one answered before ``time``."""
        request = self._tracks.request_before(program, time)
        while request is not None and request["sent"] >= since - SAME:
            server = self._station(int(request["station"]))
            parts = (
                (request["ended"], time, server, WORDS[Cause.TRANSFER]),
                (request["begun"], request["ended"], server, _SERVED),
                (request["arrived"], request["begun"], server, _SERVER_QUEUE),
                (request["sent"], request["arrived"], server, WORDS[Cause.TRANSFER]),
            )
            yield from _clipped(parts, since)
            time = float(request["sent"])
            request = self._tracks.request_before(program, time)

    def _through_locks(self, node: int, since: float, time: float) -> Iterator[Segment]:
        """Yield what lock holders did while a node waited for a lock that it got at ``time``."""
        lock = self._tracks.lock_granted(time, node)
        while lock is not None and lock["granted"] > since:
            other = self._tracks.lock_in_the_way(lock)
            if other is None:
                return
            holder = f"node {self._node(other['node'])}"
            blocked = min(max(other["blocked"], other["granted"]), other["returned"])
            after = (
                (other["ended"], lock["granted"], holder, _GRANT),
                (other["returned"], other["ended"], holder, WORDS[Cause.LOCK_COMMIT]),
            )
            yield from _clipped(after, since)
            yield from self._write_back(other, holder, max(float(blocked), since))
            yield from _clipped(((other["granted"], blocked, holder, _IN_USE),), since)
            lock = other

    def _write_back(self, lock: Record, holder: str, since: float) -> Iterator[Segment]:
        """Yield what the holder of a lock did before it sent the cancel: write-back under it."""
        time = float(lock["returned"])
        rpc = self._tracks.write_before(lock["node"], lock["object"], time)
        if rpc is not None and rpc["ended"] > since:
            yield from _clipped(((rpc["ended"], time, holder, _DROPPED),), since)
            for start, end, where, what in self._life(rpc):
                part = (start, end, where, f"{_WRITE_BACK}: {what}")
                yield from _clipped((part,), since)
            time = max(float(rpc["start"]), since)
        yield from _clipped(((since, time, holder, WORDS[Cause.LOCK_FLUSH]),), since)

    def _node_of(self, program: int) -> int:
        """Return the position of the node of a program."""
        return int(self._tracks.program_node[program])

    def _station(self, number: int) -> str:
        """Return the name of a station."""
        return self._table.names[int(np.searchsorted(self._table.number, number))]

    def _node(self, position: Any) -> int:
        """Return the number of a node in the machine."""
        return int(self._tracks.nodes[position])


def _clipped(parts: Iterable[Part], since: float) -> Iterator[Segment]:
    """Yield parts of the path as segments, as far as they lie after a time."""
    for start, end, where, what in parts:
        if end > since and end > start:
            yield Segment(max(float(start), since), float(end), where, what)
