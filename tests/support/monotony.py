"""More work, or a slower part, does not end sooner: scenarios in pairs, by their numbers.

A number stands for a scenario, and for one thing about it that is worse: more bytes, a part of a
third of the speed, fewer routers or OSTs. Both are run with the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from statistics import fmean, stdev
from typing import Any, NamedTuple

from xc40io.config.machine import Machine, load_machine
from xc40io.config.scenario import checked_scenario
from xc40io.run.simulate import simulate

Document = dict[str, Any]

SLOWER = (
    "lustre.ost_write_rate lustre.ost_read_rate",
    "lustre.oss_rate",
    "lnet.ib_link_rate",
    "network.nic_rate",
    "nodes.node_copy_rate nodes.node_hit_rate",
)
LONGER = ("lustre.disk_seek", "lustre.ost_write_latency", "network.message_latency")
FEWER = ("OSTs", "routers")
FACTOR = 3.0

TOLERANCE = 0.02
"""Of the logarithm of two times. What is fewer also lies elsewhere, and what is slower comes in
another order: by as much, routes and turns that were drawn anew move a small run for good."""

FEW, MANY = 4, 16
"""Seeds at first, and of what then seems to end sooner."""

SURE = 3.0
"""Standard errors of the mean over many seeds: by chance, one pair in 200 lies beyond."""


class Pair(NamedTuple):
    """A scenario, and the same with something that is worse."""

    what: str  # in words, of the scenario and of what is worse
    better: Document
    worse: Document

    def ends_sooner(self) -> float:
        """Return by how much the worse one ends sooner beyond chance, as a share; 0 if not."""
        first = [self._gain(seed) for seed in range(1, FEW + 1)]
        if fmean(first) <= TOLERANCE:
            return 0.0
        gains = first + [self._gain(seed) for seed in range(FEW + 1, MANY + 1)]
        sure = fmean(gains) - SURE * stdev(gains) / math.sqrt(len(gains))
        return fmean(gains) if sure > TOLERANCE else 0.0

    def _gain(self, seed: int) -> float:
        return math.log(_seconds(self.better, seed) / _seconds(self.worse, seed))


def _seconds(document: Document, seed: int) -> float:
    result = simulate(checked_scenario(document | {"seed": seed}, "monotony"))
    return result.simulated


def pair(number: int) -> Pair:
    """Return the pair of a number: always the same."""
    random = Random(f"monotony {number}")
    name = random.choice(["theta", "theta", "cori-knl", "cori-haswell", "cori-2015", "titan"])
    nodes, ppn = random.choice([1, 2, 4, 4, 8, 16]), random.choice([1, 2, 4])
    transfer = random.choice([64, 256, 512, 1024, 4096])
    calls, segments = random.choice([1, 2, 4]), random.choice([1, 1, 2, 4])
    while nodes * ppn * calls * segments * transfer > MOST and transfer > 64:
        transfer //= 2
    access = [random.choice(["-w", "-w", "-w -r", "-w -r -C", "-w -r -C -e", "-w -e"])]
    api = random.choice(["POSIX", "POSIX", "MPIIO", "MPIIO", "HDF5", "NCMPI"])
    if api != "POSIX" and random.random() < 0.5:
        access.append("-c")
    if api in ("POSIX", "MPIIO") and "-c" not in access and random.random() < 0.4:
        access.append("-F")
    if api == "POSIX" and random.random() < 0.2:
        access.append("-B")
    count, size = random.choice([1, 2, 4, 8, -1]), random.choice(["256k", "1m", "1m", "8m"])
    striping = {"count": count, "size": size}
    worse = random.choice(["bytes"] * 3 + ["slower"] * 3 + ["longer"] + ["fewer"] * 2)

    def ior(more: tuple[int, int]) -> str:
        words = [f"-a {api}", *access, f"-t {transfer}k", f"-b {transfer * calls * more[0]}k"]
        return " ".join([*words, f"-s {segments * more[1]}"])

    job = {"machine": name, "nodes": nodes, "ppn": ppn, "striping": striping}
    better = job | {"workload": {"ior": ior((1, 1))}}
    said = f"{name}, {nodes} x {ppn}, {count} x {size}, ior {ior((1, 1))}"
    if worse == "bytes":
        more, words = random.choice([((2, 1), "-b twice"), ((1, 2), "-s twice")])
        return Pair(f"{said}: {words}", better, job | {"workload": {"ior": ior(more)}})
    words, changes = _WORSE[worse](random, load_machine(name))
    return Pair(f"{said}: {words}", better, better | {"changes": changes})


MOST = 96 << 10
"""KiB of all ranks."""


def _value(machine: Machine, path: str) -> float:
    value: Any = machine
    for name in path.split("."):
        value = getattr(value, name)
    return float(value)


def _slower(random: Random, machine: Machine) -> tuple[str, Document]:
    paths = random.choice(SLOWER)
    return f"{paths} / 3", {path: _value(machine, path) / FACTOR for path in paths.split()}


def _longer(random: Random, machine: Machine) -> tuple[str, Document]:
    path = random.choice(LONGER)
    return f"{path} x 3", {path: _value(machine, path) * FACTOR}


def _fewer(random: Random, machine: Machine) -> tuple[str, Document]:
    lnet = machine.lnet
    if random.choice(FEWER) == "OSTs":
        return "half the OSTs", {"lustre.osts": machine.lustre.osts // 2}
    routers = lnet.groups * (lnet.routers_per_group // 2) + lnet.metadata_routers
    return "half the routers", {"lnet.routers": routers}


_WORSE: dict[str, Callable[[Random, Machine], tuple[str, Document]]] = {
    "slower": _slower,
    "longer": _longer,
    "fewer": _fewer,
}
