"""The description of a machine: typed numbers, each with the source that it was taken from.

A machine file (``configs/machines/*.yaml``) writes every value as a small mapping,
``{value: 3.07 GB/s, source: "172 GB/s over 56 OSTs", firm: derived}``. The loader separates the
two: :class:`Machine` and its parts hold plain numbers in bytes, seconds and bytes/s, and
:attr:`Machine.provenance` keeps where each came from, under the same dotted path
(``lustre.ost_write_rate``).

A machine can be made coarser (:func:`coarser`), for runs that move terabytes. A run of 16 TiB has
17 million RPCs of 1 MiB. Where consecutive ones of one transfer are handled as one, the run takes a
fraction of the time, and its results become a little less true: whatever depends on the size of an
RPC happens in larger steps. It is off unless a scenario asks for it, and every result that used it
says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, PrivateAttr, model_validator

from xc40io.config.errors import InputError, naming, nearest
from xc40io.config.files import CONFIGS, DESCRIPTION, find, read_mapping, shipped, text_of
from xc40io.config.kept import kept
from xc40io.config.model import Model, as_tuple, checked
from xc40io.config.parts.compute_nodes import Nodes
from xc40io.config.parts.left_out import completed
from xc40io.config.parts.lustre import Lnet, Lustre
from xc40io.config.parts.machine_changes import let_follow, provenance_of_changes
from xc40io.config.parts.measured_run import MeasuredRun
from xc40io.config.parts.mpi import Mpi
from xc40io.config.parts.networks import Network
from xc40io.config.parts.provenance import OWN, Provenance, files_of, merged, separate
from xc40io.config.parts.recovery import Recovery, default_recovery, recovery_of
from xc40io.config.parts.releases import RELEASE, release_of, with_release
from xc40io.config.parts.storage import Service, Ssd
from xc40io.config.reading import reads
from xc40io.config.text.paths import flat, nested

DEFAULT_MACHINE = "theta"
"""The machine that is taken where nobody says which."""

_MOST_PLACES = 1_000_000
"""Nodes that a network can have: a hundred times the largest XC40."""


_LEAST_IN_FLIGHT = 2
"""RPCs of an OSC: with one alone, network and disks would never work at the same time."""


@kept(before={"recovery": lambda fields: default_recovery(fields["lustre"].version)})
class Machine(Model):
    """A whole machine: what :func:`load_machine` returns."""

    #: What it is called, in one word, one line and one paragraph.
    name: str
    title: str
    description: str
    #: Its parts, from the compute node to the disks. Without `lnet` it has no LNET routers: the
    #: servers are service nodes of the network itself.
    network: Network
    nodes: Nodes
    mpi: Mpi
    lnet: Lnet | None = None
    lustre: Lustre
    #: How clients and the network get over parts that fail. What a machine file does not say is as
    #: its release of Lustre has it (``configs/recovery``).
    recovery: Recovery
    #: Where else jobs can write: the SSDs of the compute nodes, the service nodes with SSDs, and
    #: the home directories behind service nodes; None where the machine has none, or where nothing
    #: is known of them.
    ssd: Ssd | None = None
    burst_buffer: Service | None = None
    home: Service | None = None
    #: Whether it stands for no real machine: nothing is learnt from it about others, and no log is
    #: taken to be from there.
    imagined: bool = False
    #: Runs of it that were measured, with what the simulator was off: `xc40io fit` writes them, and
    #: the intervals of runs near them are made of them.
    measured: Annotated[tuple[MeasuredRun, ...], BeforeValidator(as_tuple)] = ()
    _provenance: dict[str, Provenance] = PrivateAttr(default_factory=dict)

    def __repr__(self) -> str:
        """Return a line: what it has of the parts that planners count."""
        routers = "" if self.lnet is None else f"{self.lnet.routers} LNET routers, "
        return (
            f"<Machine {self.name}: {self.nodes.count:,} nodes, {routers}{self.lustre.osts} OSTs>"
        )

    __str__ = __repr__

    @property
    def provenance(self) -> dict[str, Provenance]:
        """Source and firmness of every value, by dotted path (``lustre.osts``)."""
        return self._provenance

    @property
    def entry_nodes(self) -> int:
        """Service nodes at which the file system begins: the LNET routers, else the servers."""
        lustre = self.lustre
        return lustre.oss_count + lustre.mds.mdts if self.lnet is None else self.lnet.routers

    @property
    def message_size(self) -> int:
        """Largest LNET message in bytes."""
        size = self.lustre.message_size if self.lnet is None else self.lnet.message_size
        assert size is not None  # a machine without it is refused
        return size

    def values(self, *, units: bool = False) -> dict[str, Any]:
        """Return every sourced value by dotted path; with `units` as text where it has a unit."""
        mode = "json" if units else "python"
        return flat(self.model_dump(mode=mode, exclude=set(OWN), exclude_none=True))

    def value(self, path: str, *, units: bool = False) -> Any:
        """Return one value by its dotted path, None if the machine does not have it.

        Of ``lustre.release`` it is that of the version.
        """
        if path == RELEASE:
            return ".".join(map(str, release_of(self.lustre.version)))
        return self.values(units=units).get(path)

    def document(self) -> dict[str, Any]:
        """Return the machine as a machine file holds it; :func:`read_machine` reads it back."""
        unknown = Provenance(source="set by a program that named no source", firm="assumed")
        sourced = {
            path: {"value": value} | self.provenance.get(path, unknown).model_dump()
            for path, value in self.values(units=True).items()
        }
        own = self.model_dump(mode="json", include=set(OWN), exclude_defaults=True)
        return own | nested(sourced)

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Machine:
        network, nodes = self.network, self.nodes
        places = network.routers * network.nodes_per_router
        if places > _MOST_PLACES:
            raise ValueError(
                f"network: {network.routers:,} routers of {network.nodes_per_router:,} nodes each; "
                f"right would be {_MOST_PLACES:,} nodes at most"
            )
        per_blade = network.per_blade
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
        first = "the servers of Lustre" if self.lnet is None else "lnet.routers"
        parts = {first: self.entry_nodes} | parts
        if sum(parts.values()) > nodes.service_nodes:
            named = " + ".join(f"{name} = {count}" for name, count in parts.items())
            raise ValueError(
                f"{named} is more than the {nodes.service_nodes} service "
                "nodes (nodes.service_blades x nodes.service_nodes_per_blade)"
            )
        self._check_way_to_servers()
        return self

    def _check_way_to_servers(self) -> None:
        lnet, lustre = self.lnet, self.lustre
        if (lnet is None) == (lustre.message_size is None):
            raise ValueError(
                "lustre.message_size is missing; a machine without the section lnet says it there"
                if lnet is None
                else "lustre.message_size is only for a machine without the section lnet; right "
                "would be lnet.message_size"
            )
        if lnet is not None and lnet.groups * lnet.oss_per_group != lustre.oss_count:
            raise ValueError(
                f"lnet.groups x lnet.oss_per_group = {lnet.groups} x {lnet.oss_per_group}, but "
                f"lustre.osts / lustre.osts_per_oss makes {lustre.oss_count} OSSs; "
                "every OSS belongs to exactly one group"
            )

    def with_changes(self, changes: Mapping[str, Any]) -> Machine:
        """Return the machine as it would be with some values changed: a what-if study.

        What follows from a change follows, unless it is itself among the changes: new OSSs are
        shared out evenly over the FGR groups (``lnet.oss_per_group``), the routers of new groups
        are added up (``lnet.routers``), new routers are shared out over the groups
        (``lnet.routers_per_group``); those for metadata stay as many, or change in proportion if
        only that comes out even (``lnet.metadata_routers``). Routers for which there are no service
        nodes get blades of their own (``nodes.service_blades``), in place of compute blades where
        the network is full (``nodes.count``). Times of recovery are those of the release of Lustre
        that the machine gets. Where nothing comes out even, nothing is guessed: the
        nearest counts of OSTs or routers that do are named. Without ``lnet.groups`` (None) there is
        no fine-grained routing: all routers and OSSs are one group.

        Parameters
        ----------
        changes : mapping of str to value
            New values by dotted path, as in ``{"lustre.osts": 112, "lustre.oss_rate": "8 GB/s"}``.
            ``lustre.release`` stands for all values that a release of Lustre has by default
            (:mod:`xc40io.config.parts.releases`); another change goes before it.

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
        with naming(place):
            changes, of_release = with_release(changes)
        for path in changes:
            if path not in before and not self._leaves_out(path):
                hint = nearest(path, [*before, RELEASE]) or "; a value is named as in lustre.osts"
                raise InputError(f"{place}: {path}: there is no such value{hint}")
        values = before | dict(changes)
        let_follow(values, before, set(changes), place)
        strings = {name: getattr(self, name) for name in OWN}
        machine = checked(Machine, strings | nested(values), place)
        old, new = self.values(units=True), machine.values(units=True)
        changed = provenance_of_changes(old, new, changes)
        machine.provenance.update(self.provenance | changed | of_release)
        return machine

    def _leaves_out(self, path: str) -> bool:
        """Tell whether this is a value that a machine may have, and this one has not."""
        section: object = self
        *sections, name = path.split(".")
        for part in sections:
            if section is self and part in Machine.model_fields and getattr(self, part) is None:
                return True  # a part of the machine as a whole; checked tells what lacks of it
            section = getattr(section, part, None)
        if not sections or not isinstance(section, BaseModel):
            return False
        return name in type(section).model_fields and getattr(section, name) is None


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

    Examples
    --------
    >>> from xc40io import load_machine
    >>> theta = load_machine("theta")
    >>> theta.lustre.osts, theta.provenance["lustre.osts"].firm
    (56, 'verified')
    >>> theta.with_changes({"lustre.osts": 112}).lustre.oss_count
    112
    """
    path = find("machines", name_or_path)
    return _shipped(path) if path.is_relative_to(CONFIGS) else _own(path)


@reads("a machine file, as in configs/machines")
def _of_file(path: Path) -> Machine:
    return _machine(completed(read_mapping(path), str(path), path.parent, path), str(path))


# A study of small runs asks for the same machine hundreds of times. What ships does not change.
_shipped = cache(_of_file)


@reads("a machine file, as in configs/machines")
def _own(path: Path) -> Machine:
    texts = tuple(text_of(file, DESCRIPTION) for file in files_of(path))
    return _as_written(path, Path.cwd(), texts)


@lru_cache(maxsize=64)
def _as_written(path: Path, folder: Path, texts: tuple[str, ...]) -> Machine:  # noqa: ARG001
    """Return a machine of one's own, the same one while its files hold the same texts."""
    return _of_file(path)


def read_machine(document: Mapping[str, Any], place: str, folder: Path = Path()) -> Machine:
    """Return the machine that a machine file's mapping describes.

    Parameters
    ----------
    document
        What the file holds.
    place
        What messages call it.
    folder
        From where the path of a file goes out that it is ``like``.

    Raises
    ------
    InputError
        As :func:`load_machine` does.
    """
    return _machine(completed(document, place, folder), place)


def _machine(document: Mapping[str, Any], place: str) -> Machine:
    """Return the machine that a whole document describes."""
    strings = {name: document[name] for name in OWN if name in document}
    absent = {name for name, field in Machine.model_fields.items() if field.default is None}
    sections = {
        name: part
        for name, part in document.items()
        if name not in OWN and not (part is None and name in absent)
    }
    sections = merged({"recovery": recovery_of(_version(sections))}, sections)
    values, provenance = separate(sections, place)
    machine = checked(Machine, strings | values, place)
    machine.provenance.update(provenance)
    return machine


def _version(sections: Mapping[str, Any]) -> str:
    """Return the version of Lustre of a document that nobody has checked yet."""
    said = flat(sections).get("lustre.version.value", "")
    return str(said)


def shipped_machines() -> list[Machine]:
    """Return the machines that come with xc40io, by their names."""
    return [load_machine(name) for name in shipped("machines")]


def real_machines() -> list[Machine]:
    """Return those of them that stand for a real machine."""
    return [machine for machine in shipped_machines() if not machine.imagined]


def coarser(machine: Machine, rpcs: int) -> Machine:
    """Return a machine whose bulk RPCs stand for several each.

    Parameters
    ----------
    machine
        What is to be made coarser.
    rpcs
        RPCs that one stands for; 1 changes nothing.

    Returns
    -------
    Machine
        RPCs and LNET messages are longer, fewer are in flight, each costs the OST the overhead of
        all, and the variation of services is that of the mean of so many.

    Raises
    ------
    InputError
        If such an RPC would be larger than what a client may hold dirty for an OST.
    """
    if rpcs == 1:
        return machine
    lustre = machine.lustre
    if rpcs * lustre.rpc_size > lustre.max_dirty:
        raise InputError(
            f"rpcs_as_one = {rpcs} makes RPCs of {rpcs * lustre.rpc_size >> 20} MiB, more than a "
            f"client may hold dirty for an OST (lustre.max_dirty); right would be at most "
            f"{lustre.max_dirty // lustre.rpc_size}"
        )
    return machine.with_changes(
        {
            "lustre.rpc_size": rpcs * lustre.rpc_size,
            f"{'lustre' if machine.lnet is None else 'lnet'}.message_size": (
                rpcs * machine.message_size
            ),
            "lustre.max_rpcs_in_flight": max(
                _LEAST_IN_FLIGHT, math.ceil(lustre.max_rpcs_in_flight / rpcs)
            ),
            "lustre.ost_request_overhead": rpcs * lustre.ost_request_overhead,
            "lustre.ost_jitter": lustre.ost_jitter / math.sqrt(rpcs),
            "lustre.grant_chunk": rpcs * lustre.grant_chunk,
            "lustre.readahead_step": rpcs * lustre.readahead_step,
        }
    )
