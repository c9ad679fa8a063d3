"""What a user, or who buys the machine, can change: candidates for a better run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any, NamedTuple

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario, Workload
from sim.config.striping import StripeRequest
from sim.config.units import format_bytes
from sim.plane.causes import Cause
from sim.workloads.ior.command import Ior
from sim.workloads.workload import Workload as Runnable

_MIB = 1 << 20
_SIZES = (1, 4, 8, 16, 32)
"""Sizes of stripes that are tried, in MiB."""


class Kind(StrEnum):
    """Who can make a change."""

    SETTING = "settings"  # whoever submits the job
    PROGRAM = "the program"  # whoever wrote it
    MACHINE = "the machine"  # whoever buys it, or runs it


class Remedy(NamedTuple):
    """A change, and the scenario with it.

    Attributes
    ----------
    words
        What is changed: the end of a sentence that begins with "with".
    typed
        How it is asked for on the command line.
    scenario
        With the change made.
    kind
        Who can make it.
    """

    words: str
    typed: str
    scenario: Scenario
    kind: Kind = Kind.SETTING


class _Case(NamedTuple):
    """What remedies are made from."""

    scenario: Scenario
    machine: Machine
    workload: Runnable

    def with_hints(self, words: str, hints: str) -> Remedy:
        """Return the remedy of some hints for MPI-IO, beside those that are there."""
        name = "MPICH_MPIIO_HINTS"
        present = self.scenario.environment.get(name, "")
        joined = f"{present}:{hints}" if present else f"*:{hints}"
        environment = {**self.scenario.environment, name: joined}
        scenario = self.scenario.model_copy(update={"environment": environment})
        return Remedy(words, f'--hints "{joined}"', scenario)

    def with_changes(self, words: str, changes: dict[str, Any]) -> Remedy:
        """Return the remedy of some new values of the machine."""
        typed = " ".join(f"--set {name}={value}" for name, value in changes.items())
        scenario = self.scenario.model_copy(update={"changes": self.scenario.changes | changes})
        return Remedy(words, typed, scenario, Kind.MACHINE)

    def with_ior(self, words: str, arguments: tuple[str, ...], typed: str) -> Remedy:
        """Return the remedy of another command of IOR."""
        workload = Workload(ior=arguments)
        scenario = self.scenario.model_copy(update={"workload": workload})
        return Remedy(words, typed, scenario, Kind.PROGRAM)


def remedies(
    scenario: Scenario, machine: Machine, workload: Runnable, causes: set[Cause]
) -> list[Remedy]:
    """Return the changes that may help a run whose ranks waited for some causes.

    Parameters
    ----------
    scenario, machine, workload
        Of the run.
    causes
        What the ranks waited for, as far as it is worth a look.
    """
    case = _Case(scenario, machine, workload)
    return [one for on, make in _KINDS if causes & on for one in make(case)]


def _striping(case: _Case) -> Iterator[Remedy]:
    """Yield other stripe counts and sizes."""
    if case.scenario.target.kind != "lustre":
        return
    asked, lustre = case.scenario.striping, case.machine.lustre
    size = asked.size or lustre.default_stripe_size
    count = asked.count or lustre.default_stripe_count
    count = lustre.osts if count == -1 else count
    for more in sorted({min(2 * count, lustre.osts), lustre.osts, max(count // 4, 1)} - {count}):
        yield _restriped(case, more, size, f"{more} stripes in place of {count}")
    for mebibytes in _SIZES:
        if (other := mebibytes * _MIB) != size:
            words = f"stripes of {format_bytes(other)} in place of {format_bytes(size)}"
            yield _restriped(case, count, other, words)
    if count < lustre.osts:
        words = f"{lustre.osts} stripes of 8 MiB in place of {count} of {format_bytes(size)}"
        yield _restriped(case, lustre.osts, 8 * _MIB, words)


def _restriped(case: _Case, count: int, size: int, words: str) -> Remedy:
    striping = StripeRequest(count=count, size=size, offset=case.scenario.striping.offset)
    typed = f"--stripe-count {count} --stripe-size {size // _MIB}m"
    return Remedy(words, typed, case.scenario.model_copy(update={"striping": striping}))


def _aggregation(case: _Case) -> Iterator[Remedy]:
    """Yield other ways for MPI-IO's aggregators to share the file."""
    if not isinstance(case.workload, Ior) or not _collective(case.workload):
        return
    yield case.with_hints("one aggregator a stripe", "cray_cb_nodes_multiplier=1")
    for factor in (2, 4):
        group = f"cray_cb_nodes_multiplier={factor}:cray_cb_write_lock_mode=1"
        yield case.with_hints(f"{factor} aggregators a stripe that share group locks", group)
    arguments = case.workload.options()["arguments"]
    if "-c" in arguments:
        without = tuple(word for word in arguments if word != "-c")
        yield case.with_ior("independent calls in place of collective ones", without, "no -c")


def _collective(workload: Ior) -> bool:
    return any(test.collective for test in workload.command.tests)


def _own_files(case: _Case) -> Iterator[Remedy]:
    """Yield a file for each rank."""
    if not isinstance(case.workload, Ior):
        return
    tests = case.workload.command.tests
    arguments = tuple(case.workload.options()["arguments"])
    if not any(test.file_per_process for test in tests) and "-f" not in arguments:
        striping = StripeRequest(count=1, size=case.scenario.striping.size)
        own = case.with_ior(
            "a file for each rank, of one stripe", (*arguments, "-F"), "--stripe-count 1 and -F"
        )
        yield own._replace(scenario=own.scenario.model_copy(update={"striping": striping}))


def _spread(case: _Case) -> Iterator[Remedy]:
    """Yield the same ranks on twice the nodes."""
    scenario, nodes = case.scenario, 2 * case.scenario.nodes
    if scenario.ppn % 2 == 0 and nodes <= case.machine.nodes.count:
        spread = scenario.model_copy(update={"nodes": nodes, "ppn": scenario.ppn // 2})
        words = f"the same ranks on {nodes} nodes, {spread.ppn} on each"
        yield Remedy(words, f"--nodes {nodes} --ppn {spread.ppn}", spread)


def _client(case: _Case) -> Iterator[Remedy]:
    """Yield other limits of the client."""
    lustre = case.machine.lustre
    flight, dirty = 4 * lustre.max_rpcs_in_flight, 4 * lustre.max_dirty
    yield case.with_changes(
        f"{flight} RPCs in flight to an OST in place of {lustre.max_rpcs_in_flight}",
        {"lustre.max_rpcs_in_flight": flight},
    )
    yield case.with_changes(
        f"room for {format_bytes(dirty)} of dirty pages an OST in place of "
        f"{format_bytes(lustre.max_dirty)}",
        {"lustre.max_dirty": format_bytes(dirty).replace(" ", "")},
    )


def _hardware(case: _Case) -> Iterator[Remedy]:
    """Yield twice the OSTs, and twice the LNET routers, or as many as find room."""
    lustre, lnet = case.machine.lustre, case.machine.lnet
    wide = case.scenario.striping.count in (-1, lustre.osts)
    more = case.with_changes(
        f"{2 * lustre.osts} OSTs in place of {lustre.osts}", {"lustre.osts": 2 * lustre.osts}
    )
    if wide:
        striping = StripeRequest(count=-1, size=case.scenario.striping.size)
        more = more._replace(scenario=more.scenario.model_copy(update={"striping": striping}))
    yield more
    for each in range(2 * lnet.routers_per_group, lnet.routers_per_group, -1):
        changes = {"lnet.routers_per_group": each}
        with suppress(InputError):  # the machine has no room for so many on its service blades
            more_routers = case.machine.with_changes(changes).lnet.data_routers
            words = f"{more_routers} LNET routers for data in place of {lnet.data_routers}"
            yield case.with_changes(words, changes)
            return


_BULK = {
    *(Cause.NIC, Cause.LINK, Cause.LNET, Cause.IB, Cause.OSS, Cause.OST, Cause.OSC),
    *(Cause.TRANSFER, Cause.FLUSH, Cause.MUTEX, Cause.LOCK, Cause.CACHE, Cause.SYNC),
}
_MPI = {Cause.MEETING, Cause.EXCHANGE, Cause.LIBRARY, Cause.LOCK}
_NODE = {Cause.COPY, Cause.CORE, Cause.MEMORY, Cause.TREE, Cause.MUTEX, Cause.CACHE}

_KINDS: tuple[tuple[set[Cause], Callable[[_Case], Iterator[Remedy]]], ...] = (
    (_BULK | {Cause.METADATA, Cause.TREE, Cause.MEETING}, _striping),
    (_MPI | _BULK, _aggregation),
    ({Cause.LOCK, Cause.TREE, Cause.RANGE, Cause.MUTEX}, _own_files),
    (_NODE, _spread),
    ({Cause.OSC, Cause.CACHE, Cause.FLUSH}, _client),
    (_BULK, _hardware),
)
