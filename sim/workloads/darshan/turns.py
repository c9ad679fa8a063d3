"""Reads and writes of a file that take turns, and whether what was read back had been cached.

Darshan counts how often a rank went over from reads to writes or back, and keeps when the first and
the last call of each kind were. What a rank reads that it has just written comes from the page
cache of its node, in a time in which nothing comes over a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from xc40io.config.machine import Machine
from xc40io.engine.page import PAGE
from xc40io.engine.types import Floats, Integers
from xc40io.workloads.darshan.call_rows import Dealt, Sessions, spread
from xc40io.workloads.darshan.heat_map import HeatMap
from xc40io.workloads.darshan.module_counters import SHARED, Counters, Direction


class ReadCosts(NamedTuple):
    """What a rank takes to read, where all ranks of its node do; seconds."""

    nodes: int  # of the job
    call: float  # whatever its size
    fetch: float  # a byte that is not in the page cache of the node, at least

    @staticmethod
    def of(machine: Machine, nodes: int, ppn: int) -> ReadCosts:
        """Return what the nodes of a machine take, ``ppn`` ranks on each of so many."""
        node = machine.nodes
        alone = 1.0 / node.read_copy_rate + node.read_page_time / PAGE
        together = ppn / (node.node_fetch_rate or node.node_copy_rate)
        return ReadCosts(nodes, node.call_time, max(alone, together))

    def cached(self, calls: int, moved: int, seconds: float) -> bool:
        """Tell whether reads were faster than anything comes to a node: from its page cache."""
        return seconds < self.call * calls + self.fetch * moved

    def written_by(self, dealt: Dealt, calls: int, moved: int, seconds: float) -> Dealt:
        """Return who wrote what was read by the ranks to which these reads are dealt.

        Each reads what it wrote itself if the page cache of its node had it by the time that it
        took; else what a rank of the next node wrote.
        """
        if self.cached(calls, moved, seconds):
            return dealt
        members = int(dealt.member.max(initial=0)) + 1
        return dealt._replace(member=(dealt.member + -(-members // self.nodes)) % members)


class Turns(NamedTuple):
    """When a rank made its reads and its writes, in runs that take turns; seconds."""

    start: dict[Direction, Floats]  # float64 (calls,): of each call
    took: dict[Direction, float]  # of a call
    begin: Floats  # float64 (runs,): of each run
    end: Floats
    # Whether the ranks met between runs: none began its second one before they had, on average,
    # been through the first.
    met: bool


def turns_of(
    record: Counters, members: int, made: Mapping[Direction, int], heat: HeatMap | None = None
) -> Turns | None:
    """Return when ranks read and wrote in turn; None if they did not do both.

    ``record`` is of so many ``members``, which ``made`` so many calls together. A run lasts as long
    as its calls on average; the pauses between runs are alike. If there is one of each, ``heat``
    tells when their bytes were moved.
    """
    calls: dict[Direction, int] = {way: -(-made[way] // members) for way in made}
    read, write = record.window("READ"), record.window("WRITE")
    if not (calls["READ"] and calls["WRITE"] and read and write):
        return None
    ways: tuple[Direction, Direction] = ("READ", "WRITE")
    first, second = ways if read[0] <= write[0] else ways[::-1]
    if max(read[0], write[0]) >= min(read[1], write[1]):
        return _one_after_the_other(record, (first, second), members, calls, heat)
    runs = runs_of(calls[first], calls[second], round(record.total("RW_SWITCHES") / members))
    took = [record.seconds(f"F_{way}_TIME") / members / calls[way] for way in (first, second)]
    run = np.concatenate(runs)
    each = np.repeat(took, [len(of) for of in runs])
    order = np.argsort(run, kind="stable")
    begin, end = min(read[0], write[0]), max(read[1], write[1])
    count = int(run.max()) + 1
    busy = float(each.sum()) + _lag(record, members)
    pause = max((end - begin - busy) / max(count - 1, 1), _PAUSE)
    shrunk = min(1.0, (end - begin - pause * (count - 1)) / max(float(each.sum()), 1e-30))
    each *= max(shrunk, 0.0)
    start = np.empty(len(run))
    start[order] = begin + np.cumsum(each[order]) - each[order] + pause * run[order]
    bounds = np.searchsorted(run[order], np.arange(count))
    last = np.append(bounds[1:], len(run)) - 1
    began, ended = start[order][bounds], (start + each)[order][last]
    mean = float(ended[0] - began[0])
    met = members > 1 and max(read[0], write[0]) - begin >= mean
    split = len(runs[0])
    lasts: dict[Direction, float] = {first: float(each[0]), second: float(each[-1])}
    return Turns({first: start[:split], second: start[split:]}, lasts, began, ended, met)


def _one_after_the_other(
    record: Counters,
    ways: tuple[Direction, Direction],
    members: int,
    calls: dict[Direction, int],
    heat: HeatMap | None,
) -> Turns:
    """Return two runs of ranks of which none began the second before all had ended the first."""
    first = ways[0]
    start: dict[Direction, Floats] = {}
    took: dict[Direction, float] = {}
    begin, end = np.zeros(2), np.zeros(2)
    for place, way in enumerate(ways):
        window = record.window(way) or (0.0, 0.0)
        took[way] = record.seconds(f"F_{way}_TIME") / members / calls[way]
        if heat is None:
            start[way] = spread(calls[way], window_of_a_rank(record, way, members), took[way])
        else:
            pace = heat.pace(way, int(record.rank[0]))
            start[way] = spread(calls[way], window, took[way], pace)
        begin[place], end[place] = window
    end[0] = min(end[0], begin[1] - _PAUSE)
    start[first] = np.minimum(start[first], end[0])
    return Turns(start, took, begin, end, members > 1)


_PAUSE = 1e-6
"""Seconds between two runs, at least: what keeps their order."""


def _lag(record: Counters, members: int) -> float:
    """Return how much longer the slowest of so many ranks was in calls than they on average."""
    if int(record.rank[0]) != SHARED:
        return 0.0
    names = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
    mean = sum(record.seconds(name) for name in names) / members
    return max(record.seconds("F_SLOWEST_RANK_TIME") - mean, 0.0)


def window_of_a_rank(
    record: Counters, direction: Direction, members: int
) -> tuple[float, float] | None:
    """Return the period in which a rank read or wrote that was as fast as they are on average.

    The last call is that of the slowest of ``members``; the others had no pauses for that.
    """
    window = record.window(direction)
    if window is None:
        return None
    took = record.seconds(f"F_{direction}_TIME")
    data = record.seconds("F_READ_TIME") + record.seconds("F_WRITE_TIME")
    later = _lag(record, members) * took / max(data, 1e-30)
    return window[0], max(window[1] - later, min(window[1], window[0] + took / members))


def begun(
    record: Counters,
    direction: Direction,
    ranks: Integers,
    calls: int,
    took: float,
    heat: HeatMap | None,
) -> Floats:
    """Return when each of some ranks began so many calls: float64 (ranks, calls).

    As its bytes went on by the heat map of the module; else all alike, and evenly.
    """
    if heat is None:
        alike = spread(calls, window_of_a_rank(record, direction, len(ranks)), took)
        return np.broadcast_to(alike, (len(ranks), calls))
    window = record.window(direction)
    paces = [heat.pace(direction, rank) for rank in ranks.tolist()]
    return np.stack([spread(calls, window, took, pace) for pace in paces])


def met_between_files(records: Counters, ranks: int) -> bool:
    """Tell whether ranks that take turns each on a file of its own met between their runs.

    ``records`` are each of one rank; all ``ranks`` of the job must have one such file, and equally
    many runs of it. None began its second run before they had, on average, been through the first.
    """
    turning = records.take(records["RW_SWITCHES"] > 0)
    switches = turning["RW_SWITCHES"]
    if ranks < 2 or len(turning) != ranks or (switches != switches[0]).any():
        return False
    if not np.array_equal(np.sort(turning.rank), np.arange(ranks)):
        return False
    read, write = (turning[f"F_{way}_START_TIMESTAMP"] for way in ("READ", "WRITE"))
    began, second = np.minimum(read, write), np.maximum(read, write)
    ended = np.minimum(turning["F_READ_END_TIMESTAMP"], turning["F_WRITE_END_TIMESTAMP"])
    possible = switches < 2 * np.minimum(turning["READS"], turning["WRITES"])
    if not (possible & (ended > 0.0) & ((second < ended) | (switches == 1))).all():
        return False
    took = np.where(read < write, turning["F_READ_TIME"], turning["F_WRITE_TIME"])
    mean = float(took.mean()) / (int(switches[0]) // 2 + 1)
    return float(second.min() - began.max()) >= mean


def runs_of(former: int, latter: int, switches: int) -> tuple[Integers, Integers]:
    """Return the run of each call of two kinds that take turns so often: int64.

    Both kinds are cut into runs of even length; a run of the former comes first.
    """
    runs = min(max(2, switches + 1), 2 * min(former, latter))
    return (
        2 * (np.arange(former) * -(-runs // 2) // former),
        2 * (np.arange(latter) * (runs // 2) // latter) + 1,
    )


def sessions_in_turns(sessions: Sessions, turns: Turns) -> Sessions:
    """Return sessions that begin and end with runs, if each has equally many of them."""
    count, runs = len(sessions.opened), len(turns.begin)
    if count < 2 or runs % count:
        return sessions
    begin, end = turns.begin[:: runs // count], turns.end[runs // count - 1 :: runs // count]
    opened, closed = begin - sessions.took, end.copy()
    opened[0] = min(float(sessions.opened[0]), float(begin[0]))
    closed[-1] = max(float(sessions.closed[-1]), float(end[-1]))
    opened[1:] = np.maximum(opened[1:], np.nextafter(closed[:-1], np.inf))
    return sessions._replace(opened=opened, closed=np.maximum(closed, opened))


def rounds_of(opens: int, members: int, turns: Turns | None) -> set[int]:
    """Return how often ranks may have gone over a file: by their opens, and runs of a kind."""
    each = opens // members
    runs = 0 if turns is None else len(turns.begin)
    return {each, each // 2, runs // 2, -(-runs // 2)}
