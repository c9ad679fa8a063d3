"""The end of a recording: what is not over yet is added."""

from __future__ import annotations

import numpy as np

from xc40io.engine.pool import live_rows
from xc40io.lustre.locks import Locks
from xc40io.lustre.net.bulk import BulkRpcs
from xc40io.machine.tables import Tables
from xc40io.plane.recorder import LOCK, RPC, Records


def end_recording(tables: Tables) -> None:
    """Record nothing any more; add what is not over, with infinity where its end would stand.

    Pages that nobody has synced are still on their way when the last rank ends, and nodes keep
    their locks.
    """
    recorder = tables.recorder
    recorder.add("rpcs", _rpcs_under_way(tables.bulk))
    recorder.add("locks", _locks_held(tables.locks))
    recorder.stop()


def _rpcs_under_way(bulk: BulkRpcs) -> Records:
    """Return the RPCs whose clients still wait, in the order in which they were sent."""
    rows = live_rows(bulk.spare_rpcs)
    rpcs, marks = np.asarray(bulk.rpcs)[rows], np.asarray(bulk.marks)[rows]
    records = np.zeros(len(rows), RPC)
    records["node"], records["ost"] = np.divmod(rpcs["obd"], bulk.osts)
    for name in ("object", "write", "bytes", "start", "arrived"):
        records[name] = rpcs[name]
    for name in ("offset", "in_flight", "pieces", "left", "begun", "served"):
        records[name] = marks[name]
    # Of a bulk on its way it is not known whether all its parts are past the routers.
    there = (rpcs["write"] == 1) & np.isfinite(rpcs["arrived"])
    records["routed"] = np.where(there, marks["routed"], np.inf)
    records["gateway"] = -1
    records["ended"] = np.inf
    return records[np.argsort(records["start"], kind="stable")]


def _locks_held(locks: Locks) -> Records:
    """Return the locks that clients hold or have asked for, in the order of the asking."""
    rows = live_rows(locks.spare_locks)
    held, marks = np.asarray(locks.locks)[rows], np.asarray(locks.marks)[rows]
    records = np.zeros(len(rows), LOCK)
    records["object"], records["node"] = held["resource"], held["owner"]
    records["mode"] = held["mode"]
    for name in ("asked", "granted", "blocked", "returned"):
        records[name] = marks[name]
    come = np.isfinite(marks["granted"])
    for name in ("start", "end"):  # of what has not come it is known what was asked for
        records[name] = np.where(come, held[name], held[f"request_{name}"])
    records["ended"] = np.inf
    return records[np.argsort(records["asked"], kind="stable")]
