"""A small Theta, its data plane alone: programs in, what they left in the tables out.

Everything is small (RPCs of 64 KiB, four of them dirty at most), so that a few hundred kilobytes
meet every limit and every rule of the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.machine.assembly import assemble
from xc40io.machine.tables import Tables
from xc40io.plane.batch import Batch
from xc40io.plane.counters import Stat
from xc40io.plane.operations import COLUMNS, Op
from xc40io.plane.site import Background, Occupants
from xc40io.plane.stations import StationKind
from xc40io.run.fabric import fabric_of

KIB = 1 << 10
PAGE = 4 * KIB
RPC = 64 * KIB
OSTS = 4

SMALL: dict[str, object] = {
    "lustre.osts": OSTS,
    "lnet.groups": 1,
    "lnet.routers_per_group": 2,
    "lnet.metadata_routers": 0,
    "lustre.rpc_size": RPC,
    "lustre.max_dirty": 4 * RPC,
    "lustre.initial_grant": 4 * RPC,
    "lustre.grant_chunk": 2 * RPC,
    "lustre.max_rpcs_in_flight": 2,
    "lustre.readahead": 4 * RPC,
    "lustre.readahead_step": RPC,
    "lustre.raid_stripe": RPC,
    "lustre.raid_chunk": RPC // 8,
    "lustre.disk_seek": 0.0,
    "lustre.disk_turn": 0.0,
    "lustre.ost_jitter": 0.0,
    "lustre.ost_write_latency": 0.0,
    "mpi.barrier_skew": 0.0,
}
"""What is small: four OSTs behind two routers, and the limits of the client."""


class Step(NamedTuple):
    """One operation of a program; reads and writes are ``count`` calls ``stride`` bytes apart."""

    kind: Op
    file: int = 0
    offset: int = 0
    length: int = 0
    count: int = 1
    stride: int = 0
    seconds: float = 0.0
    timer: int = 0
    group: int = 0
    meeting: int = 0
    members: int = 0
    within: int = 0
    transfer: int = 0
    received: int = 0
    sent: int = 0
    sent_first: int = 0
    mark: int = 0
    first_entry: int = 0
    entries: int = 0
    program: int = 0

    def columns(self) -> dict[str, Any]:
        """Return the columns of the operation, and whatever else has been given."""
        default, given = self._field_defaults, self._asdict()
        del given["kind"]
        known = COLUMNS[self.kind]
        return {
            name: value for name, value in given.items() if name in known or value != default[name]
        }


Program = Sequence[Step]


@cache
def _machine(changes: tuple[tuple[str, object], ...]) -> Machine:
    job = {"machine": "theta", "nodes": 1, "ppn": 1, "workload": {"ior": "-w"}}
    return machine_of(Scenario.model_validate({**job, "changes": SMALL | dict(changes)}))


class SmallPlane:
    """The data plane of a few nodes; program ``i`` runs on node ``i // per_node``.

    ``changes`` name the machine's values with ``__`` in place of the dot.
    """

    def __init__(
        self,
        nodes: int = 2,
        per_node: int = 1,
        *,
        record: bool = False,
        seed: int = 1,
        **changes: object,
    ) -> None:
        named = tuple((name.replace("__", "."), value) for name, value in changes.items())
        self.machine = _machine(named)
        self.nodes, self.per_node = nodes, per_node
        node = np.repeat(np.arange(nodes, dtype=np.int32), per_node)
        core = np.tile(np.arange(per_node, dtype=np.int32), nodes)
        job = Occupants(np.arange(nodes, dtype=np.int32), node, core, 0)
        quiet = Background(0.0, 0.0)
        fabric = fabric_of(self.machine)
        self.plane = assemble(self.machine, fabric, job, quiet, seed, record=record).plane
        self._began = np.zeros(len(node))

    @property
    def tables(self) -> Tables:
        return self.plane.tables

    def add_files(
        self, count: int = 1, stripes: int = 1, stripe_size: int = RPC, **options: Any
    ) -> tuple[int, ...]:
        """Add files of one shape, each from the next OST on; return their numbers."""
        osts = (np.arange(count)[:, None] + np.arange(stripes)) % self.machine.lustre.osts
        first = self.plane.namespace.add_files(stripe_size, osts.astype(np.int32), **options)
        return tuple(range(first, first + count))

    def run(
        self,
        programs: Sequence[Program],
        check: Callable[[SmallPlane], None] | None = None,
        transfers: Sequence[tuple[int, int, int, int]] = (),
    ) -> npt.NDArray[np.float64]:
        """Run one program a rank to their ends, and the plane until nothing happens any more.

        Returns how long each took, in seconds. ``check`` is called whenever time has advanced.
        ``transfers`` are those of the programs' exchanges: source, target, bytes and turn.
        """
        batch = Batch(np.flatnonzero([bool(program) for program in programs]))
        for number, program in enumerate(p for p in programs if p):
            for step in (*program, Step(Op.MARK)):
                batch.add(step.kind, np.array([number]), **step.columns())
        if transfers:
            batch.add_transfers(*zip(*transfers, strict=True))
        self._began = np.full(len(batch.programs), self.plane.now)
        now = self.plane.now
        number = self.plane.batches.submit(batch.programs, *batch.listing(), now, batch.transfers)
        ended: list[int] = []
        while (due := self.plane.next_time()) < np.inf:
            until = np.nextafter(due, np.inf) if check is not None else np.inf
            ended += self.plane.advance(until)[1]
            if check is not None:
                check(self)
        assert ended == [number], "a program waits for ever"
        return self.plane.marks[batch.programs, 0] - self._began

    def stat(self, stat: Stat) -> int:
        return int(self.plane.stats[stat])

    def served(self, kind: StationKind) -> npt.NDArray[np.float64]:
        """Return the bytes that each station of a kind has served."""
        stations = self.plane.stations
        return np.asarray(stations.bytes[stations.kind == kind])
