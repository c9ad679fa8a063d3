"""Parts of the path, and the scenario in which one of them costs nothing.

No such machine can be bought. What a run on it tells is how much of the time the part is to blame
for: if nothing changes, a better one is not worth its money; if the run is twice as fast, no better
one can bring more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from xc40io.config.machine import Machine
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.plane.causes import Cause
from xc40io.plane.pace import COMPUTING
from xc40io.plane.stations import StationKind
from xc40io.run.station_table import MachinePart
from xc40io.studies.case import GROUP_LOCK, Case

_FASTER = 1000.0
"""How many times as fast a part is that costs next to nothing."""


class Part(NamedTuple):
    """A part of the path that a run can do without."""

    key: str  # what programs call it
    words: str  # what is not there any more: the end of a sentence that begins with "without"
    causes: frozenset[Cause]  # why ranks wait, where the part may be to blame
    kinds: frozenset[StationKind] = frozenset()  # its stations
    rates: tuple[str, ...] = ()  # values of the machine that become a thousand times as large
    times: tuple[str, ...] = ()  # values of the machine that become zero
    stations: tuple[str, ...] = ()  # what the names of stations begin with that become as fast
    hints: tuple[str, ...] = ()  # for MPI-IO, with which nothing is left of it
    kin: str = ""  # key of the part that it is one piece of: a single station or rank

    def without(self, case: Case, machine: Machine) -> Case:
        """Return the case in which the part costs nothing."""
        known = machine.values()
        changes: dict[str, Any] = {name: 0.0 for name in self.times if name in known}
        for name in self.rates:
            value = known.get(name)
            if value is not None:
                changes[name] = type(value)(value * _FASTER)
        slow = case.scenario.slow
        quick = {name: slow.get(name, 1.0) / _FASTER for name in self.stations}
        return case.with_machine(changes, quick).with_hints(":".join(self.hints))


def _part(
    key: str,
    words: str,
    causes: Iterable[Cause],
    kinds: Iterable[StationKind] = (),
    *,
    rates: tuple[str, ...] = (),
    times: tuple[str, ...] = (),
    stations: tuple[str, ...] = (),
    hints: tuple[str, ...] = (),
) -> Part:
    return Part(key, words, frozenset(causes), frozenset(kinds), rates, times, stations, hints)


_MDS_RATES = tuple(
    f"lustre.mds.{name}_rate"
    for name in (
        *("open", "create", "close", "stat", "unlink", "sync"),
        *("directory", "readdir", "precreate"),
    )
)
_ROOM = (Cause.OSC, Cause.CACHE, Cause.LOCK_FLUSH)  # write-back, of whatever it consists
_LOCKS = (Cause.LOCK_QUEUE, Cause.LOCK_USE, Cause.LOCK_FLUSH, Cause.LOCK_COMMIT)

PARTS = (
    _part(
        "disks",
        "the time that the OSTs' disks take to move bytes",
        (Cause.OST, Cause.DISK, *_ROOM),
        (StationKind.OST,),
        rates=(
            *("lustre.ost_write_rate", "lustre.ost_read_rate"),
            *("lustre.mds.mdt_write_rate", "lustre.mds.mdt_read_rate"),
        ),
        times=("lustre.ost_request_overhead",),
    ),
    _part(
        "seeks",
        "moves of the disks' heads",
        (Cause.OST, Cause.SEEK),
        (StationKind.OST,),
        times=("lustre.disk_seek", "lustre.disk_settle", "lustre.disk_turn"),
    ),
    _part(
        "disk_latency",
        "the latency of the OSTs, from the last byte to the answer",
        (Cause.LATENCY, *_ROOM),
        times=("lustre.ost_write_latency",),
    ),
    _part("oss", "the OSSs' limit", (Cause.OSS,), (StationKind.OSS,), stations=("OSS",)),
    _part(
        "lnet",
        "the LNET routers' limit",
        (Cause.LNET, Cause.IB),
        (StationKind.LNET, StationKind.IB),
        times=("lnet.router_latency",),
        stations=("LNET router",),
    ),
    _part(
        "links",
        f"queues at {NetworkBase.links}",
        (Cause.LINK,),
        (StationKind.LINK,),
        stations=("link",),
    ),
    _part("nics", "the NICs' limit", (Cause.NIC,), (StationKind.NIC,), stations=("NIC",)),
    _part(
        "mds",
        "the time that the MDS takes",
        (Cause.MDS, Cause.OBJECTS, Cause.TURN, Cause.METADATA, Cause.SYNC),
        (StationKind.MDS,),
        rates=_MDS_RATES,
        times=(
            *("lustre.mds.stripe_time", "lustre.mds.journal_commit", "lustre.mds.op_latency"),
            "lustre.mds.change_latency",
        ),
    ),
    _part(
        "locks",
        "calling extent locks back (all of it but the write-back)",
        (*_LOCKS, Cause.CALLBACK, Cause.SERVICE),
        (StationKind.CALLBACK, StationKind.SERVICE),
        times=(
            *("nodes.lock_thread_time", "lustre.journal_commit", "lustre.shared_commit"),
            *("lustre.oss_request_time", "network.message_latency"),
        ),
    ),
    _part(
        "aggregator_locks",
        "extent locks that the aggregators of MPI-IO take from each other",
        _LOCKS,
        hints=GROUP_LOCK,
    ),
    _part(
        "copies",
        "copies into and out of the page cache",
        (Cause.COPY, Cause.CORE, Cause.MEMORY, Cause.MUTEX),
        (StationKind.CORE, StationKind.MEMORY),
        rates=(
            *("nodes.write_copy_rate", "nodes.read_copy_rate", "nodes.node_copy_rate"),
            *(
                "nodes.node_fetch_rate",
                "nodes.node_hit_rate",
                "nodes.rpc_thread_rate",
                "mpi.fetch_rate",
            ),
        ),
        times=("nodes.read_page_time", "nodes.spinlock_handover_time", "mpi.round_time"),
    ),
    _part(
        "calls",
        "what each read and write call costs, whatever its size",
        (Cause.CALL,),
        (StationKind.CORE,),
        times=("nodes.call_time",),
    ),
    _part(
        "tree",
        "the lock of a file's tree of cached pages",
        (Cause.TREE,),
        times=("nodes.tree_page_time",),
    ),
    _part(
        "dirty_room",
        "the limits of dirty pages",
        (Cause.CACHE,),
        rates=("lustre.max_dirty", "lustre.initial_grant"),
    ),
    _part(
        "in_flight",
        "the limit of RPCs in flight",
        (Cause.OSC, Cause.CACHE),
        rates=("lustre.max_rpcs_in_flight",),
    ),
    _part(
        "mpi",
        "what MPI itself takes: messages, lists of pieces, barriers",
        (Cause.COLLECTIVE, Cause.START, Cause.EXCHANGE, Cause.LIBRARY),
        rates=tuple(
            f"mpi.{name}"
            for name in ("step_rate", "node_rate", "rank_rate", "reduce_rate", "copy_rate")
        ),
        times=tuple(
            f"mpi.{name}"
            for name in (
                *("step_latency", "straggling", "gather_latency", "local_latency"),
                *("message_time", "handling_time", "put_time", "scan_time", "piece_time"),
                "barrier_skew",
            )
        ),
    ),
    _part(
        COMPUTING,
        "what the ranks compute between their calls",
        (Cause.THINK,),
        stations=(COMPUTING,),
    ),
    _part(
        "ssd",
        "the limit of the nodes' SSDs",
        (Cause.SSD,),
        (StationKind.SSD,),
        rates=("ssd.read_rate", "ssd.write_rate"),
        times=("ssd.request_time", "ssd.read_latency", "ssd.write_latency", "ssd.sync_time"),
    ),
    _part(
        "service_nodes",
        "the limit of the service nodes and their disks",
        (Cause.DVS, Cause.STORE),
        (StationKind.DVS, StationKind.STORE),
        rates=tuple(
            f"{room}.{name}_rate"
            for room in ("home", "burst_buffer")
            for name in (
                *("read", "write", "shared_read", "shared_write"),
                *("client_read", "client_write"),
            )
        ),
        times=tuple(
            f"{room}.{name}"
            for room in ("home", "burst_buffer")
            for name in ("request_time", "file_write_time", "read_latency", "write_latency")
        ),
    ),
)
"""All parts, from the disks to the ranks."""


IDLE = "idle_aggregators"
"""Key of the part that is no machine's: collective calls that few of the aggregators work in."""

FOR_OTHERS = frozenset((Cause.MUTEX, Cause.WRITERS, Cause.THREADS, Cause.RANGE, Cause.MEETING))
"""Causes that are waits for other ranks, or for a rank's own threads: whatever holds those up."""

_KIN = {"OST": "disks", "OSS": "oss", "LNET router": "lnet"}


def causes_of(key: str, kin: str = "") -> frozenset[Cause] | None:
    """Return the waits for which a part may be to blame, of one piece those of its kind.

    None of what is no part: another job, or a fault.
    """
    if key == IDLE:  # aggregators copy and write alone, so that any wait may be the longest
        return frozenset()
    return next((part.causes for part in PARTS if part.key in (key, kin)), None)


def single(server: MachinePart) -> Part:
    """Return the part for one server that is busier than its peers."""
    name = str(server)
    return Part(
        key=name.lower().replace(" ", "_"),
        words=f"the time that {name} takes",
        causes=frozenset(),
        stations=(name,),
        kin=_KIN[server.what],
    )


def rank_computing(rank: int, job: str = "") -> Part:
    """Return the part for the computing of one rank that computes longer than the others."""
    name = f"{COMPUTING} of rank {rank}" + (f" of job {job}" if job else "")
    return Part(
        key=name.replace(" ", "_"),
        words=f"the {name}",
        causes=frozenset(),
        stations=(name,),
        kin=COMPUTING,
    )


def suspects(
    causes: Collection[Cause], kinds: Collection[StationKind], machine: Machine
) -> list[Part]:
    """Return the parts that may be to blame: the one place where this is chosen.

    ``causes``: the main waits of the ranks, and what they were doing meanwhile. ``kinds``: the
    kinds of the busiest stations.
    """
    links = NetworkBase.links, machine.network.links
    return [
        part._replace(words=part.words.replace(*links))
        for part in PARTS
        if part.causes.intersection(causes) or part.kinds.intersection(kinds)
    ]
