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

import numpy as np
from pydantic import Field

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import Count, Size
from xc40io.engine.types import Integers
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.job_results import Figure
from xc40io.workloads.kernels.kernel import Kernel, KernelRun

if TYPE_CHECKING:
    from xc40io.workloads.job import Job, Waiting

MOST_MESSAGES = 2**22
"""Messages of a run that memory holds at once."""

_BEGIN, _END = range(2)  # marks


class PointToPoint(Kernel):
    """Ranks that send messages to the ranks of the same place on other nodes.

    With ``partners: half`` the first half of the nodes has the second half as partners, one each;
    with ``all`` each node sends to every other, one after another.
    """

    name: ClassVar[str] = "p2p"

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
            raise InputError("kernel p2p: nodes = 1: one node has no partner; right would be 2")
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

    def run(self, job: Job) -> Waiting:
        """Send all messages."""
        yield from _Run(self, job).run()


class _Run(KernelRun[PointToPoint]):
    """One run: the messages of all ranks are put together before they begin."""

    def __init__(self, options: PointToPoint, job: Job) -> None:
        super().__init__(options, job)
        mpi = job.machine.mpi
        self._software = mpi.message_time
        """Seconds of a core for a message."""
        moving = 0.0 if mpi.rank_rate is None else options.size / mpi.rank_rate
        self._moving = max(moving - self._software, 0.0)
        """Seconds for which a rank that streams still moves a message when it has prepared one."""

    def run(self) -> Waiting:
        """Meet, send all messages, and tell how long that took."""
        options, job = self._options, self._job
        streams = options.mode != "ping-pong"
        ranks = np.arange(job.ranks)
        batch = job.batch(ranks[self._receivers :] if streams else None)
        job.meet(batch)
        batch.add(Op.MARK, ranks, mark=_BEGIN)
        sent = self._stream(batch) if streams else self._ping_pong(batch)
        batch.add(Op.MARK, ranks, mark=_END)
        yield from job.do(batch, "send")
        self._record(sent)

    @property
    def _receivers(self) -> int:
        """The first rank that receives: rank 0, or the first of the second half of the nodes."""
        return self._job.ranks // 2 if self._options.mode == "one-way" else 0

    def _record(self, sent: int) -> None:
        """Add the row, with what such tests tell: messages a second, or the latency of one."""
        options, times = self._options, self._job.marks()
        seconds = float(times[:, _END].max() - times[:, _BEGIN].min())
        figures = {"messages/s": Figure(sent / seconds, "")}
        if options.mode == "ping-pong":
            figures["latency"] = Figure(seconds / (2 * options.messages), "seconds")
        moved = sent * options.size
        self._job.record("-", options.mode, times[:, _BEGIN], times[:, _END], moved, figures)

    def _pairs(self, apart: int) -> tuple[Integers, Integers]:
        """Return the senders and the receivers of a turn: int64 (pairs,) ranks each.

        Ranks are numbered node after node, and partners have the same place on their nodes.
        """
        job, options = self._job, self._options
        each = job.ranks // job.world.nodes
        sender = np.arange(job.ranks)
        if options.mode != "both-ways":
            sender = sender[: job.ranks // 2]
        return sender, (sender + apart * each) % job.ranks

    def _ping_pong(self, batch: Batch) -> int:
        """Add messages to and fro between the pairs; return how many there are."""
        job, count = self._job, self._options.messages
        (apart,) = self._options.turns(job.world.nodes)
        near, far = self._pairs(apart)
        both = np.concatenate([near, far])
        meeting = np.tile(job.meetings(len(near)), 2)
        for _ in range(count):
            for source, target in ((near, far), (far, near)):
                batch.add(Op.MEET, both, meeting=meeting, members=2)
                batch.add(Op.WORK, both, seconds=self._software)  # of sender and receiver
                self._receive(batch, source, target, target, 1)
        batch.add(Op.MEET, both, meeting=meeting, members=2)
        return 2 * count * len(near)

    def _stream(self, batch: Batch) -> int:
        """Add streams of messages; return how many messages there are.

        While the helper of the receiver takes what a rank has sent, that one prepares the next
        window: a stream goes at the pace of the slower, the rank or the network. Of a rank it is
        its core, or what moves its data: one that has a node for itself stays below the rate of
        the node's network interface (``mpi.rank_rate``). A collective buffer is sent so much more
        quickly than written that this matters to streams alone.
        """
        job, options = self._job, self._options
        windows = _windows(options.messages, options.window)
        sent = 0
        for apart in options.turns(job.world.nodes):
            sender, receiver = self._pairs(apart)
            meeting = job.meetings(len(sender))
            helper = job.ranks + receiver - self._receivers
            both, where = np.concatenate([sender, helper]), np.tile(meeting, 2)
            for count in windows:
                batch.add(Op.WORK, sender, seconds=count * self._software)
                batch.add(Op.MEET, both, meeting=where, members=2)
                self._receive(batch, sender, receiver, helper, count)
                batch.add(Op.WORK, sender, seconds=count * self._moving)
                sent += count * len(sender)
            batch.add(Op.MEET, both, meeting=where, members=2)
        return sent

    def _receive(
        self, batch: Batch, source: Integers, target: Integers, owner: Integers, count: int
    ) -> None:
        """Let the programs at ``owner`` take messages of some ranks to others, ``count`` each."""
        node = self._job.world.node
        first = batch.add_transfers(
            np.repeat(node[source], count), np.repeat(node[target], count), self._options.size
        )
        transfer = first + count * np.arange(len(owner))
        batch.add(Op.EXCHANGE, owner, transfer=transfer, received=count)


def _windows(messages: int, window: int) -> list[int]:
    """Return how many messages there are in each window."""
    whole, rest = divmod(messages, window)
    return [window] * whole + [rest] * bool(rest)
