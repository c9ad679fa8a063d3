"""What to try first against each cause of waiting: the one place where this is said.

A next step is where to look, not a promise; ``xc40io explain`` runs what can be run.
"""

from __future__ import annotations

from sim.plane.causes import Cause

_OWN_STRIPES = "stripes that one node alone writes: larger ones, or a file for each rank"

_STEPS = {
    Cause.NIC: "more nodes, with fewer ranks on each",
    Cause.LINK: "nodes that lie elsewhere (--placement)",
    Cause.LNET: "more LNET routers, or a job beside fewer others",
    Cause.IB: "more LNET routers, or OSTs behind other OSSs",
    Cause.OSS: "more stripes, so that more OSSs have a share",
    Cause.OST: "more stripes, so that more OSTs have a share",
    Cause.SERVICE: "fewer small requests: larger stripes, or a file for each rank",
    Cause.MDS: "fewer files, or fewer stripes for each of them",
    Cause.CORE: "fewer ranks on each node, or a core left to the system (--core-spec)",
    Cause.MEMORY: "the same ranks on more nodes",
    Cause.SSD: "the same bytes on more nodes",
    Cause.DVS: "the same ranks on more nodes",
    Cause.STORE: "more service nodes (--bb-capacity)",
    Cause.OSC: "more stripes, or more RPCs in flight to an OST (lustre.max_rpcs_in_flight)",
    Cause.TRANSFER: "more at a time: larger transfers, or more stripes",
    Cause.MUTEX: "fewer ranks on each node, or a file for each rank",
    Cause.COPY: "the same ranks on more nodes, or direct I/O (IOR -B)",
    Cause.RANGE: "bytes that one rank alone writes",
    Cause.TREE: "a file for each rank, or fewer ranks on each node",
    Cause.CALL: "fewer, larger calls",
    Cause.THINK: "to compute less, or to have others do I/O meanwhile: this is no I/O",
    Cause.THREADS: "more I/O threads, or calls of one size for all of them",
    Cause.EXCHANGE: "more aggregators, or independent calls",
    Cause.LIBRARY: "larger pieces, or more aggregators to share the work",
    Cause.DISK: "more stripes, so that more OSTs have a share",
    Cause.SEEK: "larger reads in the order of the file, or from fewer ranks at a time",
    Cause.LATENCY: "more at a time: more stripes, or more RPCs in flight to an OST",
    Cause.JOURNAL: "fewer calls of fsync",
    Cause.OBJECTS: "fewer files at a time, or fewer stripes for each of them",
    Cause.TURN: "fewer ranks on each node that create files",
    Cause.LOCK_QUEUE: _OWN_STRIPES,
    Cause.LOCK_USE: _OWN_STRIPES,
    Cause.LOCK_FLUSH: _OWN_STRIPES,
    Cause.LOCK_COMMIT: _OWN_STRIPES,
    Cause.CALLBACK: "fewer locks: larger stripes, or a file for each rank",
    Cause.COLLECTIVE: "fewer collective calls, or fewer ranks in each",
    Cause.WRITERS: "fewer ranks on each node, or a file for each rank",
    Cause.START: "longer phases: what a barrier costs, it costs once",
}

NEXT_STEPS = {cause.name.lower(): step for cause, step in _STEPS.items()}
"""What may help, by the name of the cause that is waited for: what stands behind "Next step:"."""
