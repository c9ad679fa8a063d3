"""Where a machine has files beside Lustre: SSDs of its nodes, burst buffer, home directories."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.units import Count, Few, Fraction, Rate, Seconds, Size, format_bytes
from xc40io.engine.page import PAGE


@kept
class Ssd(Model):
    """The solid-state disk of each compute node, and the node's page cache before it.

    Attributes
    ----------
    mount
        Where jobs find it.
    capacity
        Bytes of files that one holds.
    read_rate, write_rate
        Bytes/s of one device; of writes, the mean over the devices.
    write_spread
        Relative standard deviation of the rate of writes from device to device.
    request_size, request_time
        Largest request of the device in bytes, and seconds that each holds it besides its bytes.
    read_latency, write_latency
        Seconds that a request takes beyond the time in which it holds the device.
    queue_depth
        Requests that one device has under way at once.
    sync_time
        Seconds of an fsync with nothing left to write: the commit of the journal, and the flush of
        the device's own cache.
    open_time
        Seconds of an open, close, stat or unlink of a local file.
    cache_write_rate, cache_read_rate
        Bytes/s at which one core copies into the page cache of a local file, and out of it.
    cache_node_rate
        Bytes/s of the same for all cores of a node together, while none of them waits for another.
    tree_page_time
        Seconds that a page which is written keeps the lock of the tree of its file's cached pages,
        in the four turns that it takes at it.
    readahead
        Bytes that the kernel reads ahead of a sequential reader.
    dirty_background_ratio, dirty_ratio
        Shares of a node's available memory: beyond the first, dirty pages are written back; beyond
        the second, writers wait.
    dirty_expire
        Seconds after which dirty pages are written back in any case.
    writeback_size
        Bytes of a file that are written back before another file has its turn.
    """

    mount: str
    capacity: Size
    read_rate: Rate
    write_rate: Rate
    write_spread: Annotated[float, Field(ge=0, lt=1)]
    request_size: Size
    request_time: Seconds
    read_latency: Seconds
    write_latency: Seconds
    queue_depth: Count
    sync_time: Seconds
    open_time: Seconds
    cache_write_rate: Rate
    cache_read_rate: Rate
    cache_node_rate: Rate
    tree_page_time: Seconds
    readahead: Size
    dirty_background_ratio: Fraction
    dirty_ratio: Fraction
    dirty_expire: Annotated[Seconds, Field(gt=0)]
    writeback_size: Size

    @model_validator(mode="after")
    def _limits_fit(self) -> Ssd:
        if self.dirty_background_ratio > self.dirty_ratio:
            raise ValueError(
                f"dirty_background_ratio = {self.dirty_background_ratio} is more than dirty_ratio "
                f"= {self.dirty_ratio}: writers would wait before anything is written back"
            )
        if self.readahead % PAGE:
            raise ValueError(
                f"readahead = {format_bytes(self.readahead)} is not a multiple of the page, "
                f"{format_bytes(PAGE)}"
            )
        return self


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
