"""The values of a machine that can be bought: their names, and the steps in which they change.

What software decides, such as the limit of RPCs in flight, and what was fitted, is not among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.parts.machine_changes import nearest_count
from xc40io.config.parts.networks import NETWORKS
from xc40io.config.scenario import Scenario
from xc40io.config.units import GB
from xc40io.config.workload_mix import WorkloadMix
from xc40io.run.fabric import check_network
from xc40io.run.job_list import all_jobs
from xc40io.studies.axes import Axis
from xc40io.studies.simulations import Runnable

_NETWORK = "network."
_SECTIONS = {"ssd": "ssd", "burst_buffer": "bb", "home": "home"}
"""Parts that matter only to jobs with such a target."""

NAMES = {
    "lustre.osts": "OST",
    "lnet.routers": "LNET router",
    **{
        f"network.{name}": words
        for network in NETWORKS.values()
        for name, words in network.bought.items()
    },
    "network.hop_latency": "latency of a hop",
    "network.nic_rate": "rate of a NIC",
    "network.nic_latency": "latency of a NIC",
    "nodes.memory": "memory of a node",
    "nodes.write_copy_rate": "rate of a core's copies, writing",
    "nodes.read_copy_rate": "rate of a core's copies, reading",
    "nodes.node_copy_rate": "rate of a node's copies",
    "lnet.ib_links_per_router": "InfiniBand link of a router",
    "lnet.ib_link_rate": "rate of an InfiniBand link",
    "lnet.ib_latency": "latency of InfiniBand",
    "lnet.router_latency": "latency of an LNET router",
    "lustre.oss_rate": "rate of an OSS",
    "lustre.oss_request_time": "time of an OSS for a request",
    "lustre.ost_write_rate": "rate of an OST, writing",
    "lustre.ost_read_rate": "rate of an OST, reading",
    "lustre.ost_request_overhead": "time of an OST for an RPC",
    "lustre.ost_write_latency": "latency of an OST, writing",
    "lustre.ost_disks": "disk an OST",
    "lustre.disk_seek": "seek of a disk",
    "lustre.disk_turn": "turn of a disk's platter",
    "lustre.journal_commit": "commit of an OST's journal",
    "lustre.shared_commit": "commit of an OST's journal, of a file that several nodes write",
    "lustre.mds.mdts": "MDT",
    "lustre.mds.open_rate": "opens of an MDT",
    "lustre.mds.create_rate": "creates of an MDT",
    "lustre.mds.op_latency": "latency of an MDT",
    "ssd.read_rate": "rate of an SSD, reading",
    "ssd.write_rate": "rate of an SSD, writing",
    "ssd.read_latency": "latency of an SSD, reading",
    "ssd.write_latency": "latency of an SSD, writing",
    "burst_buffer.nodes": "burst-buffer node",
    "burst_buffer.read_rate": "rate of a burst-buffer node, reading",
    "burst_buffer.write_rate": "rate of a burst-buffer node, writing",
    "burst_buffer.shared_read_rate": "rate of the burst buffer, reading",
    "burst_buffer.shared_write_rate": "rate of the burst buffer, writing",
    "home.nodes": "DVS node of home",
    "home.read_rate": "rate of a DVS node of home, reading",
    "home.write_rate": "rate of a DVS node of home, writing",
    "home.shared_read_rate": "rate of home, reading",
    "home.shared_write_rate": "rate of home, writing",
}
"""What one more of it is called, by path; rates and times by what they are of."""

FIRST = (
    "lustre.osts",
    "lustre.ost_disks",
    "lnet.routers",
    "lnet.ib_links_per_router",
    *(f"network.{name}" for one in NETWORKS.values() for name in one.first_bought),
    "network.nic_rate",
    "lustre.mds.mdts",
    "ssd.write_rate",
    "ssd.read_rate",
    "burst_buffer.nodes",
    "home.nodes",
)
"""What a plan doubles and halves, or buys for a budget, unless told what to change."""


class Hardware(NamedTuple):
    """A value of a machine as something that is bought."""

    path: str  # of the value
    words: str  # what one more is called, or what it is of
    unit: str  # what a gain is given for: ``OST``, ``GB/s``; empty for what is not bought by units
    scale: float  # the value of one unit: 10^9 for rates in bytes/s


def hardware_of(path: str, machine: Machine) -> Hardware:
    """Return the description of a value of a machine, also of one that is not bought."""
    words = NAMES.get(path, path)
    if str(machine.value(path, units=True)).endswith("B/s"):
        return Hardware(path, words, "GB/s", GB)
    return Hardware(path, words, words if is_count(path, machine) else "", 1.0)


def is_count(path: str, machine: Machine) -> bool:
    """Tell whether a value counts something."""
    return type(machine.value(path, units=True)) is int


def all_hardware(mix: WorkloadMix) -> tuple[str, ...]:
    """Return the paths of all hardware that may affect a mix; SSDs only if a job writes to them."""
    values = mix.machine.values()
    targets = {target for job in mix.jobs for target in _targets(job.run)}
    return tuple(
        path
        for path in NAMES
        if path in values
        and _SECTIONS.get(path.partition(".")[0], "") in {"", *targets}
        and values[path] > 0
    )


def _targets(run: Runnable) -> Iterator[str]:
    """Yield the kind of target that holds the files, for each job."""
    if isinstance(run, Scenario):
        yield run.target.kind
        return

    yield from (job.target.kind for job in all_jobs(run))


def scaled(path: str, factor: float, machine: Machine) -> Any:
    """Return a value of a machine times a factor; counts become the nearest possible one."""
    now = machine.value(path)
    if not isinstance(now, int):
        return now * factor
    count = nearest_count(path, round(now * factor), machine.values())
    if not path.startswith(_NETWORK):
        return count
    near = (count + sign * step for step in range(abs(count - now) + 1) for sign in (-1, 1))
    return next(each for each in near if each == now or can_be(path, each, machine))


def doubled_and_halved(mix: WorkloadMix) -> tuple[Axis, ...]:
    """Return the axes of a plan unless told: each kind of hardware half and twice as much.

    Raises
    ------
    InputError
        If the machine has nothing that could be so.
    """
    axes = []
    for path in all_hardware(mix):
        if path not in FIRST:
            continue
        now = mix.machine.value(path)
        values = [scaled(path, factor, mix.machine) for factor in (0.5, 2.0)]
        possible = [value for value in values if value != now and can_be(path, value, mix.machine)]
        if possible:
            values = [written(path, value, mix.machine) for value in dict.fromkeys(possible)]
            axes.append(Axis(path, tuple(values)))
    if not axes:
        raise InputError("--over is missing; right would be --over lustre.osts=56,112")
    return tuple(sorted(axes, key=lambda axis: FIRST.index(axis.path)))


def written(path: str, value: Any, machine: Machine) -> Any:
    """Return a value as it is typed: a count as it is, else with its unit."""
    if is_count(path, machine):
        return value
    return machine.with_changes({path: value}).value(path, units=True)


def can_be(path: str, value: Any, machine: Machine) -> bool:
    """Tell whether a machine can have a value."""
    try:
        check_network(machine.with_changes({path: value}))
    except InputError:
        return False
    return True
