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
    """The solid-state disk of each compute node, and the node's page cache before it."""

    mount: str  #: Where jobs find it.
    capacity: Size  #: Bytes of files that one holds.
    #: Bytes/s of one device; of writes, the mean over the devices.
    read_rate: Rate
    write_rate: Rate
    #: Relative standard deviation of the rate of writes from device to device.
    write_spread: Annotated[float, Field(ge=0, lt=1)]
    #: Largest request of the device in bytes, and seconds that each holds it besides its bytes.
    request_size: Size
    request_time: Seconds
    #: Seconds that a request takes beyond the time in which it holds the device.
    read_latency: Seconds
    write_latency: Seconds
    queue_depth: Count  #: Requests that one device has under way at once.
    #: Seconds of an fsync with nothing left to write: the commit of the journal, and the flush of
    #: the device's own cache.
    sync_time: Seconds
    open_time: Seconds  #: Seconds of an open, close, stat or unlink of a local file.
    #: Bytes/s at which one core copies into the page cache of a local file, and out of it.
    cache_write_rate: Rate
    cache_read_rate: Rate
    #: Bytes/s of the same for all cores of a node together, while none of them waits for another.
    cache_node_rate: Rate
    #: Seconds that a page which is written keeps the lock of the tree of its file's cached pages,
    #: in the four turns that it takes at it.
    tree_page_time: Seconds
    readahead: Size  #: Bytes that the kernel reads ahead of a sequential reader.
    #: Shares of a node's available memory: beyond the first, dirty pages are written back; beyond
    #: the second, writers wait.
    dirty_background_ratio: Fraction
    dirty_ratio: Fraction
    #: Seconds after which dirty pages are written back in any case.
    dirty_expire: Annotated[Seconds, Field(gt=0)]
    writeback_size: Size  #: Bytes of a file that are written back before another file has its turn.

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
    """

    mount: str  #: Where jobs find the files.
    nodes: Few  #: Service nodes.
    capacity: Size  #: Bytes of files that all of them together hold.
    #: Bytes of an allocation on one node: an allocation is spread over as many nodes as it has such
    #: parts, or over all.
    granularity: Size
    stripe_size: Size  #: Bytes of a file that go to one node before the next one's turn.
    #: Bytes/s of one node, from its disks to the network and back.
    read_rate: Rate
    write_rate: Rate
    #: Bytes/s of what stands behind all of them together.
    shared_read_rate: Rate
    shared_write_rate: Rate
    #: Seconds that a block of a write holds its file on its node, besides its bytes at the node's
    #: rate: writes to one file exclude each other there.
    file_write_time: Seconds
    request_time: Seconds  #: Seconds that each block holds its node besides its bytes.
    #: Seconds that a block takes there beyond that.
    read_latency: Seconds
    write_latency: Seconds
    message_latency: Seconds  #: Seconds of software at both ends of a message, one way.
    #: Largest block in bytes, and how many of them one client has under way to one node.
    block_size: Size
    blocks_in_flight: Count
    #: Bytes/s of the DVS client of one compute node.
    client_read_rate: Rate
    client_write_rate: Rate
    #: Seconds that a node spends on an open, close, stat or unlink; seconds of an fsync.
    open_time: Seconds
    sync_time: Seconds
