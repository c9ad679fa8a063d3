"""What only a simulator knows of a run, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xc40io.findings.bottlenecks import Load, busiest, loads
from xc40io.findings.critical_path import CriticalPath, critical_paths
from xc40io.findings.lustre_counts import lustre_counts
from xc40io.findings.real_rates import real_rates
from xc40io.findings.waits import doing, waits
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result, StationUse
from xc40io.trust.sureness import is_exact
from xc40io.workloads.job_results import Activity

_MANY = {StationKind.NIC, StationKind.LINK, StationKind.CORE, StationKind.MEMORY}
_MANY |= {StationKind.SSD, StationKind.DVS, StationKind.CALLBACK}
_SERVERS = frozenset(StationKind) - _MANY


def simulator_document(result: Result) -> dict[str, Any]:
    """Arrange what only a simulator knows of a run, whatever its workload.

    Returns
    -------
    dict
        ``version``, ``scenario`` (as asked for), ``notes``, ``troubles`` (bytes refused or lost),
        ``faults`` (what happened to parts of the machine, and what came of it),
        ``loads`` (the busiest station of each phase, and what the ranks waited for in it),
        ``real`` (the rate of each kind of phase, and where nine of ten real runs would lie),
        ``busiest`` (the busiest station of each kind, and which
        share of each kind of phase it was busy), ``stations`` (of LNET and of the servers;
        there are thousands of others), ``waits``,
        ``doing`` (the same by what ranks were at while they worked),
        ``critical_paths`` (of what was recorded), ``lustre`` (what locks and page caches did),
        ``counts`` and ``wall_seconds``, the only value that differs from run to run. Bytes,
        bytes/s, seconds.
    """
    uses = result.stations()
    return {
        "version": result.version,
        "scenario": result.scenario.model_dump(mode="json", exclude_none=True),
        "notes": list(result.notes),
        "troubles": [trouble._asdict() for trouble in result.troubles],
        "faults": [fault._asdict() for fault in result.faults],
        "loads": [_load_document(load) for load in loads(result)],
        **_real(result),
        "busiest": [_station(use) | {"busy_shares": shares} for use, shares in busiest(result)],
        "stations": [_station(use) for use in uses if use.kind in _SERVERS],
        "waits": [asdict(wait) for wait in waits(result)],
        "doing": [asdict(wait) for wait in doing(result)],
        "critical_paths": [_path(activity, path) for activity, path in critical_paths(result)],
        "lustre": lustre_counts(result.stats),
        "counts": {
            "simulated_seconds": result.simulated,
            "rpcs": result.rpcs,
            "bulk_bytes": result.bulk_bytes,
            "events": result.events,
        },
        "wall_seconds": result.wall,
    }


def _real(result: Result) -> dict[str, Any]:
    """Return how sure each rate is, unless figures are told alone."""
    if is_exact():
        return {}
    return {
        "real": [
            {"part": one.part, "phase": one.phase, "rate": one.rate, "unit": one.unit}
            | one.real._asdict()
            for one in real_rates(result)
        ]
    }


def _path(activity: Activity, path: CriticalPath) -> dict[str, Any]:
    return {
        "part": activity.part,
        "phase": activity.name,
        "start": path.start,
        "end": path.end,
        "shares": [share._asdict() for share in path.shares()],
        "segments": [segment._asdict() for segment in path.segments],
    }


def _station(use: StationUse) -> dict[str, Any]:
    return {
        "name": use.name,
        "kind": use.kind.name,
        "bytes": use.bytes,
        "requests": use.requests,
        "busy": use.busy,
        "first": use.first,
        "last": use.last,
        "waiting": use.waiting,
        "utilisation": use.utilisation,
    }


def _load_document(load: Load) -> dict[str, Any]:
    """Return what bound a phase, with the kinds of stations by their names."""
    kinds = {kind.name: busy for kind, busy in load.kinds.items()}
    return asdict(load) | {"kind": load.kind.name, "binds": load.binds, "kinds": kinds}
