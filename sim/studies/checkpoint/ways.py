"""The ways to write a checkpoint: each a run that writes it, and one that reads it back.

As the job does it; on Lustre as a file for each rank, or as one file of all, which lies on all OSTs
and is written collectively; through the SSDs of the nodes or a burst buffer, from which it is
drained to Lustre while the job computes. Two checkpoints are drained in one run, the second written
while the first is drained: so the drain takes from the second write what it takes in reality. Then
the job computes until all is drained, and sends its messages: so it takes that from these, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, Target, machine_of
from xc40io.config.striping import StripeRequest
from xc40io.config.units import MIB
from xc40io.engine.page import PAGE
from xc40io.studies.advice.knobs import AS_IT_IS
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.job_records.coarseness import rpcs_as_one
from xc40io.workloads.traits import OWN

TARGETS = ("lustre", "ssd", "bb")

_CALL, _TOGETHER = 16 * MIB, 1024 * MIB  # bytes of a call of a rank at most: alone, with others
_STRIPE = 8 * MIB
_CYCLES = 4  # of computing, in the time of a drain at peak rate
_MOST_RPCS = 1 << 20  # of a run that are handled one by one
_OWN = StripeRequest(count=1)
_SHARED = StripeRequest(count=-1, size=_STRIPE)


class Way(NamedTuple):
    """A way to write a checkpoint."""

    name: str
    target: str  # one of :data:`TARGETS`
    write: Scenario
    read: Scenario  # what a restart reads; partners then copy as they do behind a write
    staged: bool = False  # whether it is drained to Lustre
    survives: bool = True  # whether it is safe from a failing node before that
    partner: bool = False  # whether another node has a copy

    def peak(self) -> float:
        """Return the bytes/s at which all disks of its target write together."""
        machine = machine_of(self.write)
        if self.target == "ssd":
            assert machine.ssd is not None
            return machine.ssd.write_rate * self.write.nodes
        if self.target == "bb":
            service = machine.burst_buffer
            assert service is not None
            return min(service.nodes * service.write_rate, service.shared_write_rate)
        return machine.lustre.osts * machine.lustre.ost_write_rate


def ways_of(
    job: Scenario, state: int, targets: tuple[str, ...], exchange: float = 0.0
) -> Iterator[Way]:
    """Yield the ways in which a job can write its state, each to a target that its machine has.

    Parameters
    ----------
    job
        The nodes, the ranks, the machine and what happens there.
    state
        Bytes of a checkpoint, of all ranks together.
    targets
        Of those in :data:`TARGETS`, which are looked at.
    exchange
        Bytes that a rank sends to its neighbours for a second of computing.
    """
    machine = machine_of(job)
    size, call = _piece(-(-state // (job.nodes * job.ppn)), _CALL)
    each, together = _piece(size, _TOGETHER)
    moved = size * job.nodes * job.ppn

    def moving(times: int) -> Scenario:
        """Return the job on Lustre, as coarse as a run that moves its state so often."""
        together = rpcs_as_one(times * moved, _MOST_RPCS, machine)
        coarse = together if job.rpcs_as_one == 1 else job.rpcs_as_one
        return job.model_copy(update={"target": Target(), "rpcs_as_one": coarse})

    plain = moving(1)
    own = _with(plain, _OWN, ior=f"-a POSIX -F -w -e -b {size} -t {call}")
    own_read = _with(plain, _OWN, ior=f"-a POSIX -F -r -b {size} -t {call}")
    shared = _with(plain, _SHARED, ior=f"-a MPIIO -c -w -e -b {each} -t {together}")
    if "lustre" in targets:
        read = _with(plain, _SHARED, ior=f"-a MPIIO -c -r -b {each} -t {together}")
        yield Way("Lustre, a file for each rank", "lustre", own, own_read)
        yield Way("Lustre, one file on all OSTs", "lustre", shared, read)
    beside = {"overlap": True, "cycle": _cycle(machine, moved), "exchange": exchange}
    if "ssd" in targets and machine.ssd is not None:
        near = {"steps": 2, "layout": "rank", "helper": "idle", **beside}
        staged = _staging(moving(2), size, call, **near)
        yield Way("SSDs, drained", "ssd", staged, own_read, staged=True, survives=False)
        if job.nodes > 1:
            staged = _staging(moving(4), size, call, partner=True, **near)
            back = _staging(plain, size, call, mode="back")
            name = "SSDs with a partner copy, drained"
            yield Way(name, "ssd", staged, back, staged=True, partner=True)
    if "bb" in targets and machine.burst_buffer is not None:
        target = Target(kind="bb", capacity=_room(machine, moved))
        staged = _staging(moving(2), size, call, steps=2, **beside)
        staged = staged.model_copy(update={"target": target})
        read = own_read.model_copy(update={"target": target})
        yield Way("burst buffer, staged out", "bb", staged, read, staged=True)


def as_it_is(job: Scenario, state: int) -> Way:
    """Return the way in which a job writes already; what it reads back are files like its own."""
    own, shared = ways_of(job, state, ("lustre",))
    read = own.read if traits_of(job).sharing == OWN else shared.read
    if job.target.kind in TARGETS:
        read = read.model_copy(update={"target": job.target})
    return Way(AS_IT_IS, job.target.kind, job, read)


def check_targets(targets: tuple[str, ...], machine: Machine) -> None:
    """Raise InputError if a target is none, or not there."""
    for target in targets:
        if target not in TARGETS:
            raise InputError(f"--targets {target}: right would be some of {', '.join(TARGETS)}")
    there = {"lustre": True, "ssd": machine.ssd, "bb": machine.burst_buffer}
    if not any(there[target] for target in targets):
        raise InputError(
            f"--targets {','.join(targets)}: {machine.name} has none of them; right would be lustre"
        )


def _piece(size: int, most: int) -> tuple[int, int]:
    """Return the bytes of a rank, and of a call, which has ``most``: whole pages, whole calls."""
    call = min(-(-size // PAGE) * PAGE, most)
    return -(-size // call) * call, call


def _room(machine: Machine, moved: int) -> int:
    """Return the bytes of an allocation for two checkpoints, one of which is drained."""
    service = machine.burst_buffer
    assert service is not None
    return min(-(-2 * moved // service.granularity) * service.granularity, service.capacity)


def _cycle(machine: Machine, moved: int) -> float:
    """Return how long ranks compute between two exchanges: several times while so much is drained.

    The OSTs are seldom as fast as their peak rate, so there will be more.
    """
    return moved / (machine.lustre.osts * machine.lustre.ost_write_rate) / _CYCLES


def _staging(job: Scenario, size: int, call: int, **more: Any) -> Scenario:
    options = {"name": "staging", "size": size, "transfer": call, **more}
    return _with(job, _OWN if "layout" in more else _SHARED, kernel=options)


def _with(job: Scenario, striping: StripeRequest, **workload: Any) -> Scenario:
    """Return a job that does something else; no hints of the one that is left stay."""
    environment = {name: text for name, text in job.environment.items() if name != HINTS}
    document = job.model_dump(exclude={"machine"}) | {
        "workload": workload,
        "striping": striping,
        "environment": environment,
    }
    return Scenario.model_validate(document | {"machine": job.machine})
