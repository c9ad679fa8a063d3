"""The site of a run: all that a component needs to know when its tables are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from xc40io.config.machine import Machine
from xc40io.engine.component import Component, annotated
from xc40io.engine.types import Indices
from xc40io.plane.stations import StationBook, StationKind
from xc40io.topology import Fabric

Kind = TypeVar("Kind", bound=Component)


class Occupants(NamedTuple):
    """What runs where."""

    # int32 (nodes,): the compute nodes of all jobs; service nodes at work for a job, numbered
    # behind all compute nodes of the machine
    nodes: Indices
    # program_node, program_core: int32 (programs,): where each program runs: a position in `nodes`,
    # a core of the node
    program_node: Indices
    program_core: Indices
    # cores of each node that no program uses (core specialisation); 0: the system's threads run on
    # any
    system_cores: int


class Background(NamedTuple):
    """Other jobs' traffic: bytes/s that they read and write in the whole file system."""

    read: float
    write: float


class NodeNames(NamedTuple):
    """What a person calls nodes.

    The labels of stations have it and not the whole site: a result that is kept keeps the labels.
    """

    nodes: Indices  # int32: the numbers of the nodes, by position
    compute_nodes: int  # how many compute nodes the machine has; those after them are service nodes
    fabric: Fabric  # where they are

    def __call__(self, position: int) -> str:
        """Return the name of the node at a position."""
        number = int(self.nodes[position])
        service = number - self.compute_nodes
        name = f"node {number}" if service < 0 else f"service node {service}"
        return f"{name} ({self.fabric.router_name(int(self.fabric.node_router[number]))})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Site:
    """What components are built from: the machine, the job, and the components built before."""

    # machine, fabric: its rates, latencies and limits, and its network
    machine: Machine
    fabric: Fabric
    occupants: Occupants  # what runs where
    background: Background  # what else the file system does
    seed: int  # of the scenario: speeds of the OSTs, jitter and drawn routes follow from it
    record: bool = False  # whether what happens is recorded (xc40io.plane.recorder)
    book: StationBook = field(default_factory=StationBook)  # where components enter their stations
    # the components so far, by their classes
    built: dict[type[Component], Component] = field(default_factory=dict)

    def make(self, kind: type[Kind], **own: Any) -> Kind:
        """Return a component with its own tables, upon the components that it uses."""
        fields = annotated(kind).items()
        used = {name: self.built[part] for name, part in fields if part in self.built}
        component = kind(**used, **own)
        self.built[kind] = component
        return component

    def part(self, kind: type[Kind]) -> Kind:
        """Return the component of a class that has been built."""
        component = self.built[kind]
        assert isinstance(component, kind)
        return component

    @cached_property
    def key(self) -> Hashable:
        """What its tables follow from, if nothing is recorded: equal for equal sites."""
        arrays = (part for part in self.occupants if isinstance(part, np.ndarray))
        occupants = (*map(bytes, arrays), self.occupants.system_cores)
        return self.machine, self.fabric, occupants, self.background, self.seed

    @property
    def nodes(self) -> int:
        """How many nodes take part."""
        return len(self.occupants.nodes)

    @cached_property
    def bulk_parts(self) -> int:
        """LNET messages of the bulk of a whole BRW RPC."""
        return -(-self.machine.lustre.rpc_size // self.machine.message_size)

    @cached_property
    def rows(self) -> int:
        """Rows of a table of things that come and go, at first: it grows with what is under way."""
        return 256 + 2 * len(self.occupants.program_node) * self.bulk_parts

    @property
    def few_rows(self) -> int:
        """The same where few may be: of what nodes know of files that their ranks share."""
        return min(self.rows, 4096 + 2 * self.nodes)

    def add_interfaces(
        self,
        count: int,
        label: Callable[[int], str],
        kind: StationKind = StationKind.NIC,
        delay: float = 0.0,
    ) -> int:
        """Enter one direction of some Aries interfaces in the book; return the first station.

        ``delay`` (s) passes behind an interface before the next station is reached.
        """
        network = self.machine.network
        return self.book.add(
            kind,
            count,
            label,
            rate=network.nic_rate,
            latency=network.nic_latency + delay,
            watched=kind == StationKind.LNET,
        )

    @cached_property
    def node_name(self) -> NodeNames:
        """What a person calls the nodes of the job, by their position in it."""
        return NodeNames(self.occupants.nodes, self.machine.nodes.count, self.fabric)
