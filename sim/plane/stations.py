"""The kinds of stations that there are."""

from __future__ import annotations

from enum import IntEnum


class StationKind(IntEnum):
    """What a station is."""

    NIC = 0  # one direction of a compute node's Aries network interface
    LINK = 1  # one direction of the links between two Aries routers
    LNET = 2  # one direction of an LNET router's Aries network interface
    IB = 3  # one direction of an InfiniBand link of an LNET router
    OSS = 4  # one direction of an object storage server's cap
    OST = 5  # an object storage target's disk array, shared by reads and writes
    SERVICE = 6  # an object storage server's threads for small requests
    MDS = 7  # the metadata server's threads
    CORE = 8  # a core of a compute node
    MEMORY = 9  # what all cores of a node can copy together
    SSD = 10  # the local solid-state disk of a compute node
    DVS = 11  # what the DVS client of a compute node can move
    STORE = 12  # the disks of a service node, or what stands behind all of them
    CALLBACK = 13  # a compute node's thread for what lock managers ask of it


MESSAGE_KINDS = int(StationKind.OST) + 1
"""Kinds of stations that messages of bulk RPCs meet: the first ones."""

METERS = MESSAGE_KINDS + 3
"""What is metered of a message: seconds at stations of each such kind, and then at the disks of an
OST: moving bytes, moving heads, and from there to the answer."""

DISK_METER, SEEK_METER, LATENCY_METER = range(MESSAGE_KINDS, METERS)
