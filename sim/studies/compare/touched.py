"""The part of the path that a value of the machine belongs to, and what ranks wait for there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sim.plane.causes import Cause


class Touched(NamedTuple):
    """A part of the path that a change touches.

    Attributes
    ----------
    words
        What it is called.
    causes
        What ranks wait for there, in lower case as a wait has it.
    osts
        Whether it is the count of OSTs, of which a job has those that its files lie on.
    """

    words: str
    causes: frozenset[str]
    osts: bool = False


_OST = (Cause.OST, Cause.DISK, Cause.SEEK, Cause.LATENCY)
_COPY = (Cause.COPY, Cause.CORE, Cause.MEMORY)
_MPI = (Cause.COLLECTIVE, Cause.EXCHANGE, Cause.LIBRARY, Cause.START)

_COUNT = "lustre.osts"

_PARTS: dict[str, tuple[str, tuple[Cause, ...]]] = {
    _COUNT: ("the OSTs and their OSSs", (*_OST, Cause.OSS, Cause.SERVICE)),
    "lustre.ost_": ("the OSTs", _OST),
    "lustre.disk_": ("the OSTs", (Cause.SEEK,)),
    "lustre.oss_": ("the OSSs", (Cause.OSS, Cause.SERVICE)),
    "lustre.mds": ("the MDS", (Cause.MDS, Cause.OBJECTS, Cause.TURN)),
    "lustre.max_rpcs_in_flight": ("the limit of RPCs in flight", (Cause.OSC,)),
    "lnet.": ("the LNET routers", (Cause.LNET, Cause.IB)),
    "network.": ("Aries", (Cause.NIC, Cause.LINK)),
    "nodes.write_copy_rate": ("copies into the page cache", _COPY),
    "nodes.read_copy_rate": ("copies out of the page cache", _COPY),
    "nodes.read_page_time": ("copies out of the page cache", _COPY),
    "nodes.node_hit_rate": ("the memory of the nodes", _COPY),
    "nodes.node_copy_rate": ("the memory of the nodes", _COPY),
    "nodes.call_time": ("the calls themselves", (Cause.CALL,)),
    "nodes.tree_page_time": ("the tree of cached pages", (Cause.TREE,)),
    "nodes.lock_thread_time": ("the nodes' callback threads", (Cause.CALLBACK,)),
    "mpi.": ("MPI", _MPI),
    "mpi.fetch_": ("copies into the page cache", _COPY),
    "ssd.": ("the nodes' SSDs", (Cause.SSD,)),
    "home.": ("the service nodes", (Cause.DVS, Cause.STORE)),
    "burst_buffer.": ("the service nodes", (Cause.DVS, Cause.STORE)),
}
"""Parts by what the paths of their values begin with."""


def touched_by(paths: Iterable[str]) -> Touched | None:
    """Return the part that values belong to; None if they belong to none, or to several.

    What stands beside them in the scenario, such as the striping that goes with more OSTs, does
    not count.
    """
    found = {
        _PARTS[max(begins, key=len)]
        for path in paths
        if (
            begins := [begin for begin in _PARTS if path.removeprefix("machine.").startswith(begin)]
        )
    }
    if len(found) != 1:
        return None
    ((words, causes),) = found
    named = frozenset(cause.name.lower() for cause in causes)
    return Touched(words, named, osts=words == _PARTS[_COUNT][0])
