"""A machine's Lustre: its servers and clients, its metadata servers, its LNET routers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from xc40io.config.errors import InputError, shown
from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.parts.releases import release_of
from xc40io.config.setstripe import ComponentRequest
from xc40io.config.striping import StripeRequest
from xc40io.config.units import (
    Bytes,
    Count,
    Few,
    Load,
    PerSecond,
    Rate,
    Seconds,
    Size,
    format_bytes,
)
from xc40io.engine.page import PAGE

_SINCE = {
    "composite_layouts": ("composite layouts", "2.10"),
    "overstriping": ("overstriping", "2.14"),
    "dom_size": ("data on the MDT", "2.12"),
}
_LARGEST_RPC = 1 << 30  # bytes: the tables of RPCs have 32 bits for a size


def _paths(value: object) -> object:
    """Read paths: a list, or text with commas between them; none where that is empty."""
    parts = [path for path in value.split(",") if value] if isinstance(value, str) else value
    paths = tuple(str(part).strip() for part in parts) if isinstance(parts, list) else parts
    if not isinstance(paths, tuple) or not all(path.startswith("/") for path in paths):
        raise ValueError(f"{value!r}: right would be paths from the root, as /lus/theta, /projects")
    return paths


def _with_commas(paths: tuple[str, ...]) -> str:
    """Write paths as :func:`_paths` reads them.

    ``", ".join`` itself would do, but to find out what parameters a function in C has, pydantic
    imports Python's tokenizer: 10 ms.
    """
    return ", ".join(paths)


Mounts = Annotated[
    tuple[str, ...],
    BeforeValidator(_paths),
    PlainSerializer(_with_commas, return_type=str, when_used="json"),
]
"""Paths, each from the root."""


def _pools(text: str) -> str:
    """Refuse what does not list pools."""
    if re.fullmatch(rf"{_POOL}(, *{_POOL})*", text) is None:
        raise ValueError(f"{text!r}: right would be pools and their OSTs, as flash=0-7, disk=8-55")
    return text


_POOL = r"[A-Za-z][A-Za-z0-9_-]{0,14}=[0-9]+(-[0-9]+)?(\+[0-9]+(-[0-9]+)?)*"

Pools = Annotated[str, AfterValidator(_pools)]
"""Pools of OSTs, each with its OSTs: ``flash=0-7, disk=8-23+30``."""

Years = Annotated[str, Field(pattern=r"^\d{4} to \d{4}$")]
"""The first and the last year of service: ``2017 to 2023``."""

MessageSize = Annotated[Size, Field(ge=PAGE)]
"""Bytes of an LNET message: a page or more."""


@kept
class Mds(Model):
    """The metadata servers: what they can do in a second."""

    mdts: Few  #: Metadata targets in use.
    #: Operations/s of one MDT: opens of an existing file, creates of one-stripe files, and so on;
    #: `sync_rate` is of MDS_SYNC, the metadata part of fsync, with nothing left to commit.
    open_rate: PerSecond
    create_rate: PerSecond
    close_rate: PerSecond
    stat_rate: PerSecond
    unlink_rate: PerSecond
    sync_rate: PerSecond
    op_latency: Seconds  #: Seconds one operation takes on an idle server, besides the messages.
    #: Seconds that a create, an unlink, a mkdir or a rename takes on an idle server beyond that.
    change_latency: Seconds = 0.0
    #: Stats that a client has under way to one MDT (of its mdc), besides the one RPC that modifies.
    max_rpcs_in_flight: Count
    directory_rate: PerSecond  #: New names/s in one directory.
    readdir_rate: PerSecond  #: Names/s that one MDT reads out of directories.
    stripe_time: Seconds  #: Seconds that each stripe object adds to a create, and to an unlink.
    journal_commit: Seconds  #: Seconds of a journal commit of an MDT.
    precreated: Count  #: Objects that each OST has made ahead when the job starts.
    #: Most objects that an OST makes ahead at once, and objects/s that it makes.
    precreate_limit: Count
    precreate_rate: PerSecond
    #: RPCs that modify which a client has under way to one MDT (max_mod_rpcs_in_flight, from Lustre
    #: 2.8 on); before that one.
    modifying_rpcs: Count | None = None
    #: Sustained bytes/s of the storage of one MDT, for data that files have on it (DoM).
    mdt_write_rate: Rate | None = None
    mdt_read_rate: Rate | None = None


@kept(before={"disk_settle": 0.0, "shared_commit": lambda fields: fields["journal_commit"]})
class Lustre(Model):
    """The file system: object storage servers (OSS), their targets (OST), limits of clients."""

    version: str  #: Of Lustre.
    #: What paths on it begin with, by which a Darshan log of the machine is known; None if nobody
    #: says.
    mounts: Mounts | None = None
    #: What paths begin with that lead to it on this machine, and elsewhere on other machines: they
    #: tell the machine only together with one of its mounts.
    links: Mounts | None = None
    years: Years | None = None  #: When it was in service.
    #: Object storage targets in all, and on one server.
    osts: Annotated[int, Field(gt=0, le=100_000)]
    osts_per_oss: Few
    #: Servers of a storage unit: each can serve the targets of the one before it when that dies,
    #: and the first those of the last. 1: none can.
    oss_per_unit: Few = 1
    oss_rate: Rate  #: Most bytes/s through one OSS in one direction.
    #: Seconds an OSS spends on a small request: a lock, a glimpse, an OST_SYNC with nothing left to
    #: commit.
    oss_request_time: Seconds
    #: Sustained bytes/s of one OST's disks.
    ost_write_rate: Rate
    ost_read_rate: Rate
    ost_request_overhead: Seconds  #: Seconds an OST spends on a bulk RPC besides moving its bytes.
    #: Seconds that the array takes for a bulk RPC that is written beyond its share of the disks'
    #: time, while it works at others too: no reply comes before the blocks are on the disks.
    ost_write_latency: Seconds
    #: Relative standard deviation of the rates from OST to OST, drawn anew for each repetition.
    ost_spread: Annotated[float, Field(ge=0, lt=1)]
    #: Share of its time in which an OST is slow, for minutes: longer than a repetition lasts. How
    #: many times as long its services and its commits take then.
    slow_share: Annotated[float, Field(ge=0, le=1)]
    slow_factor: Annotated[float, Field(ge=1)]
    #: The same from one service of an OST to the next.
    ost_jitter: Annotated[float, Field(ge=0, lt=2)]
    #: How full the OSTs are, 0 to 1, and the standard deviation from OST to OST; beyond the knee an
    #: OST loses speed, in proportion, down to the loss when it is full.
    ost_fullness: Annotated[float, Field(ge=0, le=1)]
    fullness_spread: Annotated[float, Field(ge=0)]
    fullness_knee: Annotated[float, Field(ge=0, lt=1)]
    fullness_loss: Annotated[float, Field(ge=0, lt=1)]
    #: What other jobs read and write on a usual day, bytes/s of the whole file system, and how much
    #: that varies from day to day: the standard deviation of its logarithm. Only scenarios with
    #: ``background: {typical: true}`` look at it.
    other_reads: Load
    other_writes: Load
    other_spread: Annotated[float, Field(ge=0)]
    #: Bytes of data in a full stripe of the RAID, bytes of it on one disk, and how much more work a
    #: byte is in a small part of a stripe; no part is more work than the whole stripe.
    raid_stripe: Size
    raid_chunk: Size
    partial_stripe_factor: Annotated[float, Field(ge=1)]
    #: Disks of an OST, the seconds in which one of them moves its head to a read elsewhere, on
    #: average, those of it until the head has settled, however near it is, and those of one turn of
    #: its platter; most reads that it chooses the nearest from (see
    #: ``xc40io.lustre.server.disks``).
    ost_disks: Few
    disk_seek: Seconds
    disk_settle: Seconds
    disk_turn: Seconds
    disk_queue: Count
    #: Seconds of a journal commit while the disks have nothing else to do: of an object that one
    #: node has written, and of one to new RAID stripes of which several nodes have written since
    #: its commit before; and seconds between those that nobody asks for. What the array of an OST
    #: is busy with as a commit begins comes on top. 0: an ideal OST, on which all that is written
    #: is durable.
    journal_commit: Seconds
    shared_commit: Seconds
    commit_period: Annotated[Seconds, Field(gt=0)]
    rpc_size: Size  #: Largest bulk RPC in bytes (the client's max_pages_per_rpc).
    max_rpcs_in_flight: Count  #: Bulk RPCs that one client has under way to one OST.
    max_dirty: Size  #: Bytes of unwritten data that one client may hold for one OST (max_dirty_mb).
    #: Bytes that an OST has promised to take from a client when the job starts, and the most that a
    #: reply adds.
    initial_grant: Bytes
    grant_chunk: Size
    #: Unused locks that a client keeps for one OST, for each of its cores (lock LRU).
    unused_locks_per_core: Count
    #: Most bytes of a reader's window, and of all that the readers of a node have on its way ahead
    #: of them; and by how much the window grows with each read in order.
    readahead: Bytes
    readahead_step: Size
    #: A window for reading ahead ends at a multiple of so many bytes, where a BRW RPC of the
    #: largest size would; and bytes of a file that is read whole (max_read_ahead_whole_mb).
    readahead_alignment: Size
    readahead_whole: Bytes
    #: Most entries of a directory that a client asks for ahead of a process that lists it and stats
    #: them in their order (llite.*.statahead_max); 0: none.
    statahead_max: Annotated[int, Field(ge=0, le=8192)] = 32
    #: Whether it asks for their sizes ahead, too (llite.*.statahead_agl).
    statahead_agl: bool = True
    #: Whether dirty extents that fill an RPC go before others (Lustre 2.10, LU-8515).
    full_extents_first: bool | None = None
    lock_ahead: bool  #: Whether locks can be asked for ahead of their use (Lustre 2.11, LU-6179).
    capacity: Size  #: Usable bytes of the file system.
    #: Striping of a file for which none was set.
    default_stripe_count: Annotated[int, Field(ge=-1)]
    default_stripe_size: Size
    #: In their place options of `lfs setstripe`, where a composite layout is the default.
    default_layout: str | None = None
    #: Whether a layout can have several components (PFL, Lustre 2.10).
    composite_layouts: bool | None = None
    #: Whether an OST can have several objects of a file (Lustre 2.13).
    overstriping: bool | None = None
    #: Most bytes of a file on an MDT (lod.*.dom_stripesize, Lustre 2.11); none unless given.
    dom_size: Size | None = None
    #: Pools of OSTs that a layout can name (lctl pool_add), as ``flash=0-7, disk=8-55``.
    pools: Pools | None = None
    #: Largest LNET message in bytes (the LNET MTU), of a machine without LNET routers; of others it
    #: is ``lnet.message_size``.
    message_size: MessageSize | None = None
    mds: Mds  #: The metadata servers.

    @property
    def range_locks(self) -> bool:
        """Whether writers of one file on a node exclude each other only where their bytes overlap.

        So it is from Lustre 2.7 on (LU-1669); before, a write had the whole file to itself.
        """
        return release_of(self.version) >= (2, 7)

    @property
    def default_striping(self) -> StripeRequest:
        """The striping of a file that asks for none, in a directory that asks for none."""
        return StripeRequest(count=self.default_stripe_count, size=self.default_stripe_size)

    def laid_out(self, asked: StripeRequest) -> StripeRequest:
        """Return what is asked of a file's layout; the default one where nothing is."""
        if self.default_layout is None or replace(asked, mdts=1) != StripeRequest():
            return asked
        return StripeRequest(setstripe=self.default_layout, mdts=asked.mdts)

    def pool(self, name: str) -> tuple[int, ...]:
        """Return the OSTs of a pool, in rising order; raise InputError if there is none."""
        found = dict(part.strip().split("=") for part in (self.pools or "").split(",") if part)
        if name not in found:
            right = f"one of {', '.join(found)}" if found else f"lustre.pools, as '{name}=0-7'"
            raise InputError(f"pool {name}: there is no such pool of OSTs; right would be {right}")
        osts: set[int] = set()
        for part in found[name].split("+"):
            first, _, last = part.partition("-")
            osts |= set(range(int(first), int(last or first) + 1))
        return tuple(sorted(osts))

    def check_striping(self, striping: StripeRequest) -> None:
        """Raise InputError unless files can have a layout here: as to its OSTs and its release."""
        striping.check(self.osts)
        for component in striping.components:
            if component.pool:
                self._check_pool(component)
        first, *others = striping.components
        on_mdt = first.on_mdt
        needs = {
            "composite_layouts": bool(others) and not self.composite_layouts,
            "overstriping": any(one.overstriped for one in striping.components)
            and not self.overstriping,
            "dom_size": on_mdt and not self.dom_size,
        }
        for name, missing in needs.items():
            if missing:
                what, release = _SINCE[name]
                raise InputError(
                    f"setstripe {shown(striping.setstripe)} needs {what}, of Lustre {release}, and "
                    f"this is Lustre {self.version}; right would be --set lustre.release={release}"
                )
        if on_mdt and first.end > (self.dom_size or 0):
            raise InputError(
                f"setstripe {shown(striping.setstripe)}: the component on the MDT is longer than "
                f"lustre.dom_size, {format_bytes(self.dom_size or 0)} (lod.*.dom_stripesize); "
                "right would be -E of at most that"
            )

    def _check_pool(self, component: ComponentRequest) -> None:
        osts = self.pool(component.pool)
        count = component.count or 1
        if count > len(osts) and not component.overstriped:
            raise InputError(
                f"stripe count {count} is more than the {len(osts)} OSTs of pool {component.pool}"
            )
        chosen = {component.offset, *component.osts} - {-1}
        if not chosen <= set(osts) or osts[-1] >= self.osts:
            raise InputError(
                f"pool {component.pool}: OSTs outside it, or outside the file system of "
                f"{self.osts}; right would be those of the pool"
            )

    @property
    def data_mdts(self) -> int:
        """Metadata targets that files can have data on (DoM): all in use, or none."""
        return self.mds.mdts if self.dom_size else 0

    @property
    def targets(self) -> int:
        """What bulk RPCs go to: the OSTs, and behind them the MDTs that have data."""
        return self.osts + self.data_mdts

    @property
    def servers(self) -> int:
        """Servers of these: the OSSs, and behind them an MDS for each such MDT."""
        return self.oss_count + self.data_mdts

    def target_name(self, target: int) -> str:
        """Return what a target is called: ``OST 3``, or ``MDT 0`` of one that has data."""
        return f"OST {target}" if target < self.osts else f"MDT {target - self.osts}"

    @property
    def oss_count(self) -> int:
        """Object storage servers in the whole file system."""
        return self.osts // self.osts_per_oss

    def partner(self, oss: int) -> int | None:
        """Return the OSS that takes over the targets of another one; None if there is none."""
        first = oss - oss % self.oss_per_unit
        last = min(first + self.oss_per_unit, self.oss_count) - 1
        partner = first if oss == last else oss + 1
        return None if partner == oss else partner

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
        if self.rpc_size > _LARGEST_RPC:
            raise ValueError(
                f"rpc_size = {format_bytes(self.rpc_size)}; right would be at most "
                f"{format_bytes(_LARGEST_RPC)}"
            )
        if self.raid_stripe % self.raid_chunk:
            raise ValueError(
                f"raid_stripe = {format_bytes(self.raid_stripe)} is not a multiple of "
                f"raid_chunk = {format_bytes(self.raid_chunk)}"
            )
        self.default_striping.check(self.osts)
        self.check_striping(self.laid_out(StripeRequest()))
        if self.dom_size and not (self.mds.mdt_write_rate and self.mds.mdt_read_rate):
            raise ValueError(
                "dom_size needs mds.mdt_write_rate and mds.mdt_read_rate; right would be "
                "--set lustre.release=2.12, which assumes them"
            )
        return self


@kept
class Lnet(Model):
    """The LNET routers between the Cray's network and the storage's InfiniBand.

    A machine without this section has none: its servers are on the network of the compute nodes.

    Fine-grained routing (FGR) gives each group of routers its own group of OSSs, so that traffic
    stays off the InfiniBand switches' uplinks. ``groups: null`` is no FGR: one group. A machine
    file may leave out how many routers and OSSs a group has: they are shared out evenly.
    """

    routers: Few  #: All LNET routers; those of the groups and those for metadata.
    #: FGR groups, and the routers and object storage servers in each.
    groups: Few
    routers_per_group: Few
    oss_per_group: Few
    metadata_routers: Annotated[int, Field(ge=0)]  #: Routers that serve the metadata servers.
    #: Largest LNET message in bytes (the LNET MTU); a longer RPC travels as several.
    message_size: MessageSize
    #: InfiniBand links of one router, bytes/s of one in one direction, seconds along one.
    ib_links_per_router: Few
    ib_link_rate: Rate
    ib_latency: Seconds
    #: Seconds that a router takes to receive and forward a message, besides its bytes.
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
