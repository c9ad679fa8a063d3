"""The description of a machine: typed numbers, each with the source that it was taken from.

A machine file (``configs/machines/*.yaml``) writes every value as a small mapping,
``{value: 3.07 GB/s, source: "172 GB/s over 56 OSTs", firm: derived}``. The loader separates the
two: the models below hold plain numbers in bytes, seconds and bytes/s, and
:attr:`Machine.provenance` keeps where each came from, under the same dotted path
(``lustre.ost_write_rate``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from sim.config.errors import InputError
from sim.config.files import explain, find, nearest, read_mapping
from sim.config.striping import StripeRequest
from sim.config.units import KIB, Bytes, Load, PerSecond, Rate, Seconds, format_bytes

PAGE = 4 * KIB
"""Bytes of a page of a client's memory."""

Count = Annotated[int, Field(gt=0)]
Size = Annotated[Bytes, Field(gt=0)]
Fraction = Annotated[float, Field(gt=0, le=1)]

Firmness = Literal[
    "verified", "measured", "derived", "inferred", "recalled", "calibrated", "assumed"
]
"""How far a value can be trusted.

``verified``: read in the source named. ``measured``: taken from a log of the machine named.
``derived``: arithmetic on such values. ``inferred``: plausible, documented nowhere. ``recalled``:
expert's memory. ``calibrated``: fitted to the target that the source names. ``assumed``: chosen for
a what-if study, no real machine behind it.
"""


class Model(BaseModel):
    """What all descriptions have in common: unchangeable, and no unknown field goes unnoticed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Provenance(Model):
    """Where a value comes from, and how firm it is."""

    source: Annotated[str, Field(min_length=1)]
    firm: Firmness


class _SourcedValue(Provenance):
    """A value as a machine file writes it."""

    value: Any


class NetworkBase(Model):
    """What the high-speed networks of all machines have in common.

    Attributes
    ----------
    kind
        How the routers are joined.
    nodes_per_router
        Nodes, compute or service, of one router.
    payload_fraction
        The part of a link's raw rate that carries user data.
    hop_latency
        Seconds through one router, when it is quiet.
    nic_rate, nic_latency
        Payload bytes/s into or out of one node, and seconds through its NIC.
    message_latency
        Seconds of software at both ends of a small message between a node and a server, one way.
        With ``lnet.router_latency`` and the wires it makes the round trip.
    """

    interconnect: ClassVar[str]
    """Name of the routers."""

    kind: str
    nodes_per_router: Count
    payload_fraction: Fraction
    hop_latency: Seconds
    nic_rate: Rate
    nic_latency: Seconds
    message_latency: Seconds


class Dragonfly(NetworkBase):
    """The network of the Cray XC series: a dragonfly of Aries routers.

    Attributes
    ----------
    kind
        ``dragonfly``.
    groups, chassis, slots
        A group has `chassis` rows of `slots` blades; a blade carries one router.
    green_links, black_links, group_links
        Links between two routers of one chassis (green, rank 1), between two routers in the same
        slot of two chassis of a group (black, rank 2), and between two groups (blue, rank 3).
    green_rate, black_rate, blue_rate
        Raw bytes/s of one link in one direction.
    routing_bias
        By what the queue on a non-minimal route is multiplied before it is compared with the queue
        on a minimal one: 1 is Cray's ADAPTIVE_0, more favours minimal routes.
    """

    interconnect: ClassVar[str] = "Aries"
    routers_per_blade: ClassVar[int] = 1

    kind: Literal["dragonfly"]
    groups: Count
    chassis: Count
    slots: Count
    green_links: Count
    black_links: Count
    group_links: Count
    green_rate: Rate
    black_rate: Rate
    blue_rate: Rate
    routing_bias: Annotated[float, Field(gt=0)]

    @property
    def routers_per_group(self) -> int:
        """Routers, and so blades, in one group."""
        return self.chassis * self.slots

    @property
    def routers(self) -> int:
        """Routers in the whole network."""
        return self.groups * self.routers_per_group


class Torus(NetworkBase):
    """The network of the Cray XE and XK series: a 3-D torus of Gemini routers.

    Attributes
    ----------
    kind
        ``torus``.
    x, y, z
        Routers around a ring of each dimension.
    slots
        Blades of a chassis, which follow each other in z.
    routers_per_blade
        Routers of a blade, neighbours in y.
    x_links, y_links, z_links
        Links between two neighbours in each dimension.
    mezzanine_rate, backplane_rate, cable_rate
        Raw bytes/s of one link in one direction: on a blade, within a chassis, elsewhere.
    """

    interconnect: ClassVar[str] = "Gemini"
    routing_bias: ClassVar[float] = 1.0
    """Without effect: there are no non-minimal routes."""

    kind: Literal["torus"]
    x: Count
    y: Count
    z: Count
    slots: Count
    routers_per_blade: Count
    x_links: Count
    y_links: Count
    z_links: Count
    mezzanine_rate: Rate
    backplane_rate: Rate
    cable_rate: Rate

    @model_validator(mode="after")
    def _blades_and_chassis_fill_the_rings(self) -> Torus:
        if self.y % self.routers_per_blade:
            raise ValueError(
                f"y = {self.y} is not a multiple of routers_per_blade = {self.routers_per_blade}; "
                "the routers of a blade are neighbours in y"
            )
        if self.z % self.slots:
            raise ValueError(
                f"z = {self.z} is not a multiple of slots = {self.slots}; the blades of a chassis "
                "follow each other in z"
            )
        return self

    @property
    def routers(self) -> int:
        """Routers in the whole network."""
        return self.x * self.y * self.z


Network = Annotated[Dragonfly | Torus, Field(discriminator="kind")]
"""The high-speed network of a machine."""


class Nodes(Model):
    """The nodes on the network.

    Attributes
    ----------
    count
        Compute nodes.
    cores, memory
        Of one compute node; memory in bytes.
    service_blades, service_nodes_per_blade
        Blades that carry service nodes (LNET routers among them) in place of compute nodes.
    placement_seed
        Seed that chooses which blades are service blades, where the real positions are unknown.
    write_copy_rate, read_copy_rate
        Bytes/s at which one core moves data through the Lustre client's page cache.
    node_copy_rate
        Bytes/s of the same for all cores of a node together.
    tree_page_time, tree_handover_time
        Seconds to enter a page into the tree of cached pages of its file, of which a node has one a
        file, under a spinlock; and seconds more for each other core that waits for that lock.
    rpc_thread_rate
        Bytes/s of bulk RPCs that one of Lustre's threads (ptlrpcd) on one core can send or receive.
    lock_thread_time
        Seconds that a client takes to turn to a blocking or glimpse AST.
    """

    count: Count
    cores: Count
    memory: Size
    service_blades: Count
    service_nodes_per_blade: Count
    placement_seed: Annotated[int, Field(ge=0)]
    write_copy_rate: Rate
    read_copy_rate: Rate
    node_copy_rate: Rate
    tree_page_time: Seconds
    tree_handover_time: Seconds
    rpc_thread_rate: Rate
    lock_thread_time: Seconds

    @property
    def service_nodes(self) -> int:
        """Service nodes in the whole machine."""
        return self.service_blades * self.service_nodes_per_blade


class Lnet(Model):
    """The LNET routers between the Cray's network and the storage's InfiniBand.

    Fine-grained routing (FGR) gives each group of routers its own group of OSSs, so that traffic
    stays off the InfiniBand switches' uplinks.

    Attributes
    ----------
    routers
        All LNET routers; those of the groups and those for metadata.
    groups, routers_per_group, oss_per_group
        FGR groups, and the routers and object storage servers in each.
    metadata_routers
        Routers that serve the metadata servers.
    message_size
        Largest LNET message in bytes (the LNET MTU); a longer RPC travels as several.
    ib_links_per_router, ib_link_rate, ib_latency
        InfiniBand links of one router, bytes/s of one in one direction, seconds along one.
    router_latency
        Seconds that a router takes to receive and forward a message, besides its bytes.
    """

    routers: Count
    groups: Count
    routers_per_group: Count
    oss_per_group: Count
    metadata_routers: Annotated[int, Field(ge=0)]
    message_size: Size
    ib_links_per_router: Count
    ib_link_rate: Rate
    ib_latency: Seconds
    router_latency: Seconds

    @property
    def data_routers(self) -> int:
        """Routers that carry file data: all those in FGR groups."""
        return self.groups * self.routers_per_group

    @model_validator(mode="after")
    def _routers_add_up(self) -> Lnet:
        if self.data_routers + self.metadata_routers != self.routers:
            raise ValueError(
                f"routers = {self.routers}, but groups x routers_per_group + metadata_routers = "
                f"{self.groups} x {self.routers_per_group} + {self.metadata_routers}; "
                "every router belongs to one group or serves metadata"
            )
        return self


class Mds(Model):
    """The metadata servers: what they can do in a second.

    Attributes
    ----------
    mdts
        Metadata targets in use.
    open_rate, create_rate, close_rate, stat_rate, unlink_rate, sync_rate
        Operations/s of one MDT: opens of an existing file, creates of one-stripe files, and so on;
        `sync_rate` is of MDS_SYNC, the metadata part of fsync, with nothing left to commit.
    op_latency
        Seconds one operation takes on an idle server, besides the messages.
    directory_rate
        New names/s in one directory.
    stripe_time
        Seconds that each stripe object adds to a create.
    journal_commit
        Seconds of a journal commit of an MDT.
    precreated
        Objects that each OST has made ahead when the job starts.
    precreate_limit, precreate_rate
        Most objects that an OST makes ahead at once, and objects/s that it makes.
    """

    mdts: Count
    open_rate: PerSecond
    create_rate: PerSecond
    close_rate: PerSecond
    stat_rate: PerSecond
    unlink_rate: PerSecond
    sync_rate: PerSecond
    op_latency: Seconds
    directory_rate: PerSecond
    stripe_time: Seconds
    journal_commit: Seconds
    precreated: Count
    precreate_limit: Count
    precreate_rate: PerSecond


class Lustre(Model):
    """The file system: object storage servers (OSS), their targets (OST), and the client's limits.

    Attributes
    ----------
    version
        Of Lustre.
    osts, osts_per_oss
        Object storage targets in all, and on one server.
    oss_rate
        Most bytes/s through one OSS in one direction.
    oss_request_time
        Seconds an OSS spends on a small request: a lock, a glimpse, an OST_SYNC with nothing left
        to commit.
    ost_write_rate, ost_read_rate
        Sustained bytes/s of one OST's disks.
    ost_request_overhead
        Seconds an OST spends on a bulk RPC besides moving its bytes.
    ost_write_latency, ost_read_latency
        Seconds that the array takes for a bulk RPC beyond its share of the disks' time, while it
        works at others too: no reply comes before the blocks are on the disks.
    ost_spread
        Relative standard deviation of the rates from OST to OST.
    ost_jitter
        The same from one service of an OST to the next.
    ost_fullness, fullness_knee, fullness_loss
        How full the OSTs are, 0 to 1; beyond the knee an OST loses speed, in proportion, down to
        the loss when it is full.
    raid_stripe, partial_stripe_factor
        Bytes of data in a full stripe of the RAID, and how much more work a byte is in a stripe
        that is written in part.
    other_reads, other_writes, other_spread
        What other jobs read and write on a usual day, bytes/s of the whole file system, and how
        much that varies from day to day: the standard deviation of its logarithm. Only scenarios
        with ``background: {typical: true}`` look at it.
    journal_commit, commit_period
        Seconds of a journal commit, and between those that nobody asks for.
    rpc_size
        Largest bulk RPC in bytes (the client's max_pages_per_rpc).
    max_rpcs_in_flight
        Bulk RPCs that one client has under way to one OST.
    max_dirty
        Bytes of unwritten data that one client may hold for one OST (max_dirty_mb).
    initial_grant, grant_chunk
        Bytes that an OST has promised to take from a client when the job starts, and the most that
        a reply adds.
    unused_locks_per_core
        Unused locks that a client keeps for one OST, for each of its cores (lock LRU).
    readahead, readahead_step
        Most bytes read ahead, and by how much the window grows with each read in order.
    lock_ahead
        Whether locks can be asked for ahead of their use (Lustre 2.11, LU-6179).
    capacity
        Usable bytes of the file system.
    default_stripe_count, default_stripe_size
        Striping of a file for which none was set.
    mds
        The metadata servers.
    """

    version: str
    osts: Count
    osts_per_oss: Count
    oss_rate: Rate
    oss_request_time: Seconds
    ost_write_rate: Rate
    ost_read_rate: Rate
    ost_request_overhead: Seconds
    ost_write_latency: Seconds
    ost_read_latency: Seconds
    ost_spread: Annotated[float, Field(ge=0, lt=1)]
    ost_jitter: Annotated[float, Field(ge=0, lt=2)]
    ost_fullness: Annotated[float, Field(ge=0, le=1)]
    fullness_knee: Annotated[float, Field(ge=0, lt=1)]
    fullness_loss: Annotated[float, Field(ge=0, lt=1)]
    other_reads: Load
    other_writes: Load
    other_spread: Annotated[float, Field(ge=0)]
    raid_stripe: Size
    partial_stripe_factor: Annotated[float, Field(ge=1)]
    journal_commit: Seconds
    commit_period: Annotated[Seconds, Field(gt=0)]
    rpc_size: Size
    max_rpcs_in_flight: Count
    max_dirty: Size
    initial_grant: Bytes
    grant_chunk: Size
    unused_locks_per_core: Count
    readahead: Bytes
    readahead_step: Size
    lock_ahead: bool
    capacity: Size
    default_stripe_count: Annotated[int, Field(ge=-1)]
    default_stripe_size: Size
    mds: Mds

    @property
    def oss_count(self) -> int:
        """Object storage servers in the whole file system."""
        return self.osts // self.osts_per_oss

    @model_validator(mode="after")
    def _targets_and_striping_fit(self) -> Lustre:
        if self.osts % self.osts_per_oss:
            raise ValueError(
                f"osts = {self.osts} is not a multiple of osts_per_oss = {self.osts_per_oss}"
            )
        if self.rpc_size % PAGE:
            raise ValueError(
                f"rpc_size = {format_bytes(self.rpc_size)} is not a multiple of the page, "
                f"{format_bytes(PAGE)}"
            )
        StripeRequest(count=self.default_stripe_count, size=self.default_stripe_size).check(
            self.osts
        )
        return self


class Mpi(Model):
    """The MPI library: what its messages and collectives cost, and how its MPI-IO goes about.

    Attributes
    ----------
    library
        Whose MPI-IO it is. ``cray``: the collective buffer is one stripe, whatever
        ``cb_buffer_size`` says, there are ``striping_factor`` aggregators unless told otherwise,
        and files are read in stripe-cyclic domains too. ``romio``: the collective buffer is
        ``cb_buffer_size``, there is an aggregator on each node, and file domains of reads are even
        parts of what is read.
    step_latency
        Seconds of one message of a collective between two nodes; a tree of n nodes has log2(n)
        steps.
    step_rate
        Bytes/s of such a message.
    node_rate
        Bytes/s of the messages of all ranks of a node together.
    reduce_rate
        Bytes/s at which a core adds up what an allreduce brought.
    straggling
        Seconds that each node of a collective adds: noise that the slowest passes on.
    barrier_skew
        Seconds within which the ranks come out of a barrier, one a little after the other.
    gather_latency
        Seconds of a gather of a few bytes from every node.
    local_latency
        Seconds of one message of a collective between two ranks of a node.
    message_time
        Seconds that a rank spends on each message that it sends or receives.
    put_time
        Seconds that a rank spends on each one-sided put.
    scan_time
        Seconds that a rank spends, in every round of collective buffering, on each rank of the
        communicator, to find out whether anything goes there or comes from there.
    piece_time
        Seconds that a rank spends on each contiguous piece of a datatype or a request list.
    copy_rate
        Bytes/s at which one core copies from memory to memory.
    messages_under_way
        Messages of one long transfer that are under way at once.
    """

    library: Literal["cray", "romio"]
    step_latency: Seconds
    step_rate: Rate
    node_rate: Rate
    reduce_rate: Rate
    straggling: Seconds
    barrier_skew: Seconds
    gather_latency: Seconds
    local_latency: Seconds
    message_time: Seconds
    put_time: Seconds
    scan_time: Seconds
    piece_time: Seconds
    copy_rate: Rate
    messages_under_way: Count


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
    file_write_rate
        Bytes/s of the writes to one file on one node: they exclude each other.
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
    nodes: Count
    capacity: Size
    granularity: Size
    stripe_size: Size
    read_rate: Rate
    write_rate: Rate
    shared_read_rate: Rate
    shared_write_rate: Rate
    file_write_rate: Rate
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


class Machine(Model):
    """A whole machine: what :func:`load_machine` returns.

    Attributes
    ----------
    name, title, description
        What it is called, in one word, one line and one paragraph.
    network, nodes, mpi, lnet, lustre
        Its parts, from the compute node to the disks.
    ssd, burst_buffer, home
        Where else jobs can write: the SSDs of the compute nodes, the service nodes with SSDs, and
        the home directories behind service nodes; None where the machine has none, or where
        nothing is known of them.
    """

    name: str
    title: str
    description: str
    network: Network
    nodes: Nodes
    mpi: Mpi
    lnet: Lnet
    lustre: Lustre
    ssd: Ssd | None = None
    burst_buffer: Service | None = None
    home: Service | None = None
    _provenance: dict[str, Provenance] = PrivateAttr(default_factory=dict)

    @property
    def provenance(self) -> dict[str, Provenance]:
        """Source and firmness of every value, by dotted path (``lustre.osts``)."""
        return self._provenance

    def values(self, *, units: bool = False) -> dict[str, Any]:
        """Return every sourced value by dotted path; with `units` as text where it has a unit."""
        mode = "json" if units else "python"
        return _flat(self.model_dump(mode=mode, exclude=set(_UNSOURCED), exclude_none=True))

    def document(self) -> dict[str, Any]:
        """Return the machine as a machine file holds it; :func:`read_machine` reads it back."""
        unknown = Provenance(source="set by a program that named no source", firm="assumed")
        sourced = {
            path: {"value": value} | self.provenance.get(path, unknown).model_dump()
            for path, value in self.values(units=True).items()
        }
        return {name: getattr(self, name) for name in _UNSOURCED} | _nested(sourced)

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Machine:
        network, nodes, lnet, lustre = self.network, self.nodes, self.lnet, self.lustre
        per_blade = network.routers_per_blade
        if nodes.service_nodes_per_blade > per_blade * network.nodes_per_router:
            routers = f"{per_blade} x " if per_blade > 1 else ""
            raise ValueError(
                f"nodes.service_nodes_per_blade = {nodes.service_nodes_per_blade} is more than "
                f"{routers}network.nodes_per_router = {routers}{network.nodes_per_router}"
            )
        room = (network.routers - per_blade * nodes.service_blades) * network.nodes_per_router
        if nodes.count > room:
            raise ValueError(
                f"nodes.count = {nodes.count}, but {network.routers} routers without "
                f"{nodes.service_blades} service blades have room for {max(room, 0)} compute nodes"
            )
        services = {"burst_buffer.nodes": self.burst_buffer, "home.nodes": self.home}
        parts = {name: service.nodes for name, service in services.items() if service is not None}
        parts = {"lnet.routers": lnet.routers} | parts
        if sum(parts.values()) > nodes.service_nodes:
            named = " + ".join(f"{name} = {count}" for name, count in parts.items())
            raise ValueError(
                f"{named} is more than the {nodes.service_nodes} service "
                "nodes (nodes.service_blades x nodes.service_nodes_per_blade)"
            )
        if lnet.groups * lnet.oss_per_group != lustre.oss_count:
            raise ValueError(
                f"lnet.groups x lnet.oss_per_group = {lnet.groups} x {lnet.oss_per_group}, but "
                f"lustre.osts / lustre.osts_per_oss makes {lustre.oss_count} OSSs; "
                "every OSS belongs to exactly one group"
            )
        return self

    def with_changes(self, changes: Mapping[str, Any]) -> Machine:
        """Return the machine as it would be with some values changed: a what-if study.

        What follows from a change follows, unless it is itself among the changes: new OSSs are
        shared out evenly over the FGR groups (``lnet.oss_per_group``), the routers of new groups
        are added up (``lnet.routers``), new routers are shared out over the groups
        (``lnet.routers_per_group``). Where that does not come out even, nothing is guessed.

        Parameters
        ----------
        changes : mapping of str to value
            New values by dotted path, as in ``{"lustre.osts": 112, "lustre.oss_rate": "8 GB/s"}``.

        Returns
        -------
        Machine
            A new machine, its provenance saying what was changed.

        Raises
        ------
        InputError
            If there is no such value, if it is of the wrong type, or if the parts no longer fit.
        """
        place = f"changes to {self.name}"
        before = self.values()
        for path in changes:
            if path not in before:
                hint = nearest(path, before) or "; a value is named as in lustre.osts"
                raise InputError(f"{place}: {path}: there is no such value{hint}")
        values = before | dict(changes)
        _let_follow(values, set(changes))
        strings = {name: getattr(self, name) for name in _UNSOURCED}
        try:
            machine = Machine.model_validate(strings | _nested(values))
        except ValidationError as error:
            raise explain(error, place, Machine) from error
        machine.provenance.update(self.provenance | _provenance_of_changes(self, machine, changes))
        return machine


def load_machine(name_or_path: str | Path) -> Machine:
    """Read and check a machine.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a machine that comes with xc40io, as ``theta``, or the path of a file that
        ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such machine, if the file is not YAML, if a field is unknown, missing, of
        the wrong type or without a source, or if numbers contradict each other. The message names
        the file, the field, the value and what would be right.
    """
    path = find("machines", name_or_path)
    return read_machine(read_mapping(path), str(path))


def read_machine(document: Mapping[str, Any], place: str) -> Machine:
    """Return the machine that a machine file's mapping describes; `place` is for the messages."""
    strings = {name: document[name] for name in _UNSOURCED if name in document}
    sections = {name: part for name, part in document.items() if name not in _UNSOURCED}
    values, provenance = _separate(sections, place)
    try:
        machine = Machine.model_validate(strings | values)
    except ValidationError as error:
        raise explain(error, place, Machine) from error
    machine.provenance.update(provenance)
    return machine


def parse_changes(assignments: Iterable[str]) -> dict[str, Any]:
    """Read changes as they are typed: ``lustre.osts=112``, ``lustre.oss_rate=8 GB/s``.

    Raises
    ------
    InputError
        If there is no ``=``; whether such a value exists, :meth:`Machine.with_changes` says.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"{assignment!r} is not a change; right would be lustre.osts=112")
        try:
            changes[path.strip()] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise InputError(
                f"{assignment!r}: {text!r} is not a number, a size or a word"
            ) from error
    return changes


_UNSOURCED = ("name", "title", "description")


def _separate(
    part: Mapping[str, Any], place: str, prefix: str = ""
) -> tuple[dict[str, Any], dict[str, Provenance]]:
    """Return the values of a part of a machine file, nested, and their provenance, by path."""
    values: dict[str, Any] = {}
    provenance: dict[str, Provenance] = {}
    for name, content in part.items():
        path = f"{prefix}{name}"
        if not isinstance(content, dict):
            raise InputError(
                f"{place}: {path} = {content!r} says nothing of its source; right would be "
                f"{{value: {content}, source: ..., firm: {' or '.join(get_args(Firmness))}}}"
            )
        if content.keys() & _SourcedValue.model_fields.keys():
            try:
                leaf = _SourcedValue.model_validate(content)
            except ValidationError as error:
                raise explain(error, f"{place}: {path}", _SourcedValue) from error
            values[name] = leaf.value
            provenance[path] = Provenance(source=leaf.source, firm=leaf.firm)
        else:
            values[name], inner = _separate(content, place, f"{path}.")
            provenance |= inner
    return values, provenance


def _flat(part: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested mapping as one from dotted paths to values."""
    flat: dict[str, Any] = {}
    for name, content in part.items():
        if isinstance(content, dict):
            flat |= _flat(content, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = content
    return flat


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from dotted paths to values as a nested one."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *sections, name = path.split(".")
        part = nested
        for section in sections:
            part = part.setdefault(section, {})
        part[name] = value
    return nested


def _let_follow(values: dict[str, Any], changed: set[str]) -> None:
    """Adjust, in place, the counts that follow from the changed ones (see ``with_changes``)."""
    osts, per_oss = values["lustre.osts"], values["lustre.osts_per_oss"]
    groups, per_group = values["lnet.groups"], values["lnet.routers_per_group"]
    routers, metadata = values["lnet.routers"], values["lnet.metadata_routers"]
    counts = (osts, per_oss, groups, per_group, routers, metadata)
    if not all(isinstance(count, int) and count >= 0 for count in counts) or not groups * per_oss:
        return  # the models say what is wrong with them
    if "lnet.oss_per_group" not in changed and osts % (per_oss * groups) == 0:
        values["lnet.oss_per_group"] = osts // (per_oss * groups)
    if "lnet.routers" not in changed:
        values["lnet.routers"] = groups * per_group + metadata
    elif "lnet.routers_per_group" not in changed and (routers - metadata) % groups == 0:
        values["lnet.routers_per_group"] = (routers - metadata) // groups


def _provenance_of_changes(
    before: Machine, after: Machine, changes: Mapping[str, Any]
) -> dict[str, Provenance]:
    """Return the provenance of the values that were changed, and of those that followed."""
    old, new = before.values(units=True), after.values(units=True)
    provenance = {}
    for path in old:
        if path in changes:
            source = f"what if: {new[path]} in place of {old[path]}"
            provenance[path] = Provenance(source=source, firm="assumed")
        elif old[path] != new[path]:
            source = f"follows from the changes; was {old[path]}"
            provenance[path] = Provenance(source=source, firm="derived")
    return provenance
