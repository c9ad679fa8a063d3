"""File servers on a machine's own network: its burst buffer, its home directories."""

from __future__ import annotations

from sim.config.kept import kept
from sim.config.model import Model
from sim.config.units import Count, Few, Rate, Seconds, Size


@kept
class Service(Model):
    """Service nodes on the high-speed network that serve files to compute nodes over DVS.

    A compute node's calls go to them as they are (Cray's Data Virtualization Service): cut into
    blocks, over the network, and without a cache on the client.

    Attributes
    ----------
    mount
        Where jobs find the files.
    nodes
        Service nodes.
    capacity
        Bytes of files that all of them together hold.
    granularity
        Bytes of an allocation on one node: an allocation is spread over as many nodes as it has
        such parts, or over all.
    stripe_size
        Bytes of a file that go to one node before the next one's turn.
    read_rate, write_rate
        Bytes/s of one node, from its disks to the network and back.
    shared_read_rate, shared_write_rate
        Bytes/s of what stands behind all of them together.
    file_write_time
        Seconds that a block of a write holds its file on its node, besides its bytes at the node's
        rate: writes to one file exclude each other there.
    request_time
        Seconds that each block holds its node besides its bytes.
    read_latency, write_latency
        Seconds that a block takes there beyond that.
    message_latency
        Seconds of software at both ends of a message, one way.
    block_size, blocks_in_flight
        Largest block in bytes, and how many of them one client has under way to one node.
    client_read_rate, client_write_rate
        Bytes/s of the DVS client of one compute node.
    open_time, sync_time
        Seconds that a node spends on an open, close, stat or unlink; seconds of an fsync.
    """

    mount: str
    nodes: Few
    capacity: Size
    granularity: Size
    stripe_size: Size
    read_rate: Rate
    write_rate: Rate
    shared_read_rate: Rate
    shared_write_rate: Rate
    file_write_time: Seconds
    request_time: Seconds
    read_latency: Seconds
    write_latency: Seconds
    message_latency: Seconds
    block_size: Size
    blocks_in_flight: Count
    client_read_rate: Rate
    client_write_rate: Rate
    open_time: Seconds
    sync_time: Seconds
