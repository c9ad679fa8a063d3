"""Messages between pairs of nodes: latency, message rate and bandwidth, without any file.

What the point-to-point tests of the OSU and Intel MPI benchmarks ask of a network: how long a
message takes, how many of them a core sends in a second, and how many bytes a pair of nodes, or all
nodes at once, move over it.

A message costs its sender ``mpi.message_time`` of the machine file, the latency of MPI's software
on its cores. Its bytes then leave through the interface of the node, cross the links of the routes
that the network chooses, and enter the other node: the same stations that file traffic and the
exchange of collective I/O use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.units import Count, Size
from sim.workloads.kernel import Kernel

if TYPE_CHECKING:
    from sim.config.scenario import Scenario

MOST_MESSAGES = 2**22
"""Messages of a run that memory holds at once."""


class PointToPoint(Kernel):
    """Ranks that send messages to the ranks of the same place on other nodes.

    With ``partners: half`` the first half of the nodes has the second half as partners, one each;
    with ``all`` each node sends to every other, one after another.
    """

    name: ClassVar[str] = "p2p"
    runtime: ClassVar[str] = "sim.workloads.p2p_run"

    mode: Literal["ping-pong", "one-way", "both-ways"] = Field(
        "both-ways",
        description="One message to and fro; or a stream, one way or both ways at once.",
    )
    partners: Literal["half", "all"] = Field(
        "half", description="A partner in the other half of the nodes, or all other nodes in turn."
    )
    size: Size = Field(1 << 20, description="Bytes of a message.")
    messages: Count = Field(256, description="Messages that a rank sends to each partner.")
    window: Count = Field(64, description="Messages of a stream that are under way at once.")

    def helpers(self) -> int:
        """Return the helper of each rank: it receives."""
        return 0 if self.mode == "ping-pong" else 1

    def turns(self, nodes: int) -> range:
        """Return by how many nodes the partners of each turn are apart."""
        return range(nodes // 2, nodes // 2 + 1) if self.partners == "half" else range(1, nodes)

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: ARG002
        """Raise InputError unless every node has its partners, and memory holds the messages."""
        nodes, ranks = scenario.nodes, scenario.nodes * scenario.ppn
        if self.partners == "half" and nodes % 2:
            raise InputError(
                f"kernel p2p: nodes = {nodes} cannot be halved; right would be an even number, or "
                "partners: all"
            )
        if nodes < 2:
            raise InputError("kernel p2p: nodes = 1 has nobody to send to; right would be 2")
        if self.partners == "all" and self.mode != "both-ways":
            raise InputError(
                f"kernel p2p: mode = {self.mode} with partners: all; right would be both-ways, or "
                "partners: half"
            )
        each = 2 if self.mode == "ping-pong" else 1
        sent = ranks * self.messages * each * len(self.turns(nodes))
        if sent > MOST_MESSAGES:
            raise InputError(
                f"kernel p2p: {sent:,} messages are too many to hold; right would be at most "
                f"{MOST_MESSAGES:,}: fewer nodes, ppn or messages"
            )

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return 0: no file takes part."""
        return 0
