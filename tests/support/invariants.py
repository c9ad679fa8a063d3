"""What must hold of every run, whatever was asked for: each function asserts one law.

They look at a run that was recorded (``simulate(..., record=True)``).
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from xc40io.lustre.locks import MODE_GROUP, MODE_PR
from xc40io.lustre.server.disks import byte_seconds
from xc40io.plane.counters import Stat
from xc40io.plane.recorder import Records
from xc40io.plane.stations import StationKind
from xc40io.run.recording import Recording
from xc40io.run.result import Result

OUTWARD = (
    (StationKind.LNET, "from Aries"),
    (StationKind.IB, "to servers"),
    (StationKind.OSS, " in"),
)
"""What the bulk of a write passes one after the other, behind the NIC of its node."""

HOMEWARD = (
    (StationKind.OSS, " out"),
    (StationKind.IB, "from servers"),
    (StationKind.LNET, "to Aries"),
)
"""The same of a read."""

_SLACK = 1e-9  # of sums of many numbers
_ROUNDING = 1e-12  # seconds, of one time that is reckoned from others


def recording_of(result: Result) -> Recording:
    """Return what was recorded of a run."""
    assert result.recording is not None
    return result.recording


def stations_keep_their_rates(result: Result) -> None:
    """No station moves bytes faster than it can, or is busy for longer than time passes."""
    assert result.plane is not None
    seconds_a_byte = result.plane.stations.inverse_rate
    ssd, background = result.machine.ssd, result.scenario.background
    dead = tuple(f"{part} " for part in _away(result))
    late = [fault for fault in result.scenario.faults if fault.kind == "slow" and fault.begin]
    for use in result.stations():
        others = background.read or background.write or background.typical
        if others and dead and f"{use.name} ".startswith(dead):
            continue  # what others want of it counts, though it may not be back in time to serve it
        assert use.waiting >= 0.0, use
        assert use.busy <= (use.last - use.first) * (1 + _SLACK) + _ROUNDING, use
        # Of a part that is slow when the run ends, but was not from the beginning, the usual rate.
        slow = prod(fault.factor for fault in late if f"{use.name} ".startswith(f"{fault.part} "))
        least = use.bytes * seconds_a_byte[use.number] / slow
        if use.kind is StationKind.MEMORY:  # hits, and what the cache of an SSD copies
            rates = [result.machine.nodes.node_hit_rate, ssd.cache_node_rate if ssd else 0.0]
            least = min(least, use.bytes / max(rates))
        if use.kind is not StationKind.OST:  # whose rate depends on what it does: see below
            assert least <= use.busy * (1 + _SLACK) + _ROUNDING, use


def arrays_keep_their_rates(result: Result, seed: int, repetitions: int) -> None:
    """The array of an OST serves no RPC faster than it reads or writes in its best repetition.

    ``seed`` is that of the whole run.
    """
    assert result.plane is not None
    rpcs = recording_of(result).rpcs
    rpcs = rpcs[np.isfinite(rpcs["served"])]
    lustre, quickest = result.machine.lustre, result.plane.tables.disks.jitter.min()
    rpcs = rpcs[rpcs["ost"] < lustre.osts]  # those behind them are of MDTs, with rates of their own
    best = np.min([byte_seconds(lustre, seed, number) for number in range(repetitions)], axis=0)
    least = rpcs["bytes"] * best[rpcs["write"], rpcs["ost"]] * quickest
    took = rpcs["served"] - rpcs["begun"]
    quick = least > took * (1 + _SLACK) + _ROUNDING
    assert not quick.any(), rpcs[quick][0]


def _away(result: Result) -> list[str]:
    """Return the parts that are away for a time, and the OSTs or routers that belong to them."""
    assert result.plane is not None
    gateways = result.plane.tables.lnet.gateways
    each, found = result.machine.lustre.osts_per_oss, []
    for fault in result.scenario.faults:
        if fault.kind not in ("down", "gone"):
            continue
        found.append(fault.part)
        if fault.noun == "FGR":
            found += [f"LNET router {router}" for router in gateways[fault.number].tolist()]
        if fault.noun == "OSS":
            found += [f"OST {ost}" for ost in range(fault.number * each, (fault.number + 1) * each)]
    return found


def bytes_are_conserved(result: Result) -> None:
    """What goes into the path comes out of it, station by station (one job, no fault, on Lustre).

    What is still under way when the run ends, as pages read ahead, has passed some of the stations.
    Where a call covers a page in part, what it has not got of it is read beside what is asked for.
    """
    rpcs, stats = recording_of(result).rpcs, result.stats
    assert len(rpcs) == result.rpcs
    assert rpcs["bytes"].sum() == result.bulk_bytes
    over = np.isfinite(rpcs["ended"])
    exchanged = stats[Stat.EXCHANGED_BYTES]
    for write, nic, way in ((1, "NIC out of", OUTWARD), (0, "NIC into", HOMEWARD)):
        least = rpcs["bytes"][over & (rpcs["write"] == write)].sum()
        most = rpcs["bytes"][rpcs["write"] == write].sum()
        passed = [_served(result, kind, words) for kind, words in way]
        passed.append(_served(result, StationKind.NIC, nic) - exchanged)
        assert all(least <= size <= most for size in passed), (least, passed, most)
        if way is HOMEWARD:
            asked = stats[Stat.MISS_BYTES] + stats[Stat.AHEAD_BYTES]
            assert most + _reads_not_sent(result) >= asked
    served = _served(result, StationKind.OST)
    assert rpcs["bytes"][over].sum() <= served <= result.bulk_bytes


def _reads_not_sent(result: Result) -> int:
    """Return the bytes that were asked for and still wait for an RPC when the run ends."""
    assert result.plane is not None
    osc, size = result.plane.tables.osc, 0
    for row in osc.obds.works["head"].tolist():
        while row >= 0:
            size += 0 if osc.works.write[row] else int(osc.works.left[row])
            row = int(osc.works.next[row])
    return size


def clocks_go_on(result: Result) -> None:
    """Whatever is recorded begins before it ends, and its steps come in their order."""
    recording = recording_of(result)
    rpcs = recording.rpcs
    _in_order(rpcs, "start", "arrived", "begun", "served")
    # What an evicted client has given up, the array of the OST may still be at.
    _in_order(rpcs[~_of_evicted(result, rpcs)], "served", "ended")
    _in_order(recording.requests, "sent", "arrived", "begun", "ended")
    _in_order(recording.locks, "asked", "granted", "returned", "ended")
    for records, begin, end in (
        (recording.calls, "start", "end"),
        (recording.spans, "since", "until"),
    ):
        order = np.lexsort((records[end], records[begin], records["program"]))
        before, after = records[order][:-1], records[order][1:]
        same = before["program"] == after["program"]
        assert (records[begin] <= records[end]).all(), begin
        assert (before[end] <= after[begin] + _ROUNDING)[same].all(), begin
    assert result.started >= 0.0
    assert result.simulated >= 0.0
    assert (recording.calls["start"] >= 0.0).all()


def locks_are_compatible(result: Result) -> None:
    """No two clients hold extents of one object at a time that exclude each other.

    A client that was evicted does not know of it until its next request, and so seems to hold what
    the server has revoked.
    """
    locks = recording_of(result).locks
    held = locks[np.isfinite(locks["granted"]) & ~_of_evicted(result, locks)]
    until = np.minimum(held["returned"], held["ended"])
    for number in np.unique(held["object"]):
        of = np.flatnonzero(held["object"] == number)
        lock, end = held[of], until[of]
        together = (lock["granted"][:, None] < end) & (end[:, None] > lock["granted"])
        _assert_no_clash(lock, together)


def granted_locks_are_compatible(result: Result) -> None:
    """The locks that servers have granted when the run ends do not exclude each other."""
    assert result.plane is not None
    locks = np.asarray(result.plane.tables.locks.locks)
    granted = locks[locks["granted"] == 1]
    for number in np.unique(granted["resource"]):
        lock = granted[granted["resource"] == number]
        _assert_no_clash(lock, np.ones((len(lock), len(lock)), bool))


def _assert_no_clash(lock: Records, together: npt.NDArray[np.bool_]) -> None:
    """Assert that locks of one object go together, two by two, where they are held at a time."""
    meets = (lock["start"][:, None] <= lock["end"]) & (lock["end"][:, None] >= lock["start"])
    shares = (lock["mode"] == MODE_PR) | (lock["mode"] == MODE_GROUP)
    agree = (lock["mode"][:, None] == lock["mode"]) & shares
    clash = meets & together & ~agree & ~np.eye(len(lock), dtype=bool)
    assert not clash.any(), lock[np.argwhere(clash)[0]]


def _of_evicted(result: Result, records: Records) -> npt.NDArray[np.bool_]:
    """Return which records are of nodes that are evicted in the run, or may be.

    OSTs that hear of nobody, since all routers of their group are down, evict all.
    """
    faults = result.scenario.faults
    if any(fault.kind == "down" and fault.noun == "FGR group" for fault in faults):
        return np.ones(len(records), bool)
    nodes = [fault.number for fault in faults if fault.kind in ("evicted", "hung")]
    return np.isin(records["node"], nodes)


def waits_are_accounted_for(result: Result) -> None:
    """No rank waits for less than nothing, or for longer than the job takes; spans say the same."""
    assert result.waits.min(initial=0.0) >= -_SLACK * result.simulated
    assert (result.waits.sum(axis=1) <= result.simulated * (1 + _SLACK) + 1e-9).all()


def _in_order(records: Records, *steps: str) -> None:
    """Assert that times of one record follow each other; what did not happen is at infinity."""
    for before, after in pairwise(steps):
        assert (records[before] <= records[after] + _ROUNDING).all(), (before, after)


def _served(result: Result, kind: StationKind, words: str = "") -> float:
    return sum(use.bytes for use in result.stations() if use.kind is kind and words in use.name)
