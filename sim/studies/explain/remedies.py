"""Changes that a user, or the buyer of the machine, can make: candidates for a better run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

from sim.config.errors import InputError
from sim.config.job_form import HINTS
from sim.config.machine import Machine
from sim.config.scenario import Scenario, Workload
from sim.config.units import MIB, format_bytes
from sim.mpi.hint_text import with_more_hints
from sim.plane.causes import Cause
from sim.run.result import Result
from sim.studies.case import GROUP_LOCK, Case, collective, may_share_locks
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior

_LONG = 120  # characters of hints that are printed in full

_SIZES = (1, 4, 8, 16, 32)
"""Sizes of stripes that are tried, in MiB."""


class Kind(StrEnum):
    """Who can make a change."""

    SETTING = "settings"  # whoever submits the job
    PROGRAM = "the program"  # whoever wrote it
    MACHINE = "the machine"  # whoever buys it, or runs it


class Remedy(NamedTuple):
    """A change, and the run with it."""

    words: str  # what is changed: the end of a sentence that begins with "with"
    typed: str  # how it is asked for on the command line
    case: Case  # with the change made
    kind: Kind = Kind.SETTING  # who can make it


class _Patient(NamedTuple):
    """A job that remedies are made for."""

    name: str  # empty where it is the only one
    case: Case
    result: Result

    @property
    def scenario(self) -> Scenario:
        """The job as if it were alone."""
        return self.result.scenario

    @property
    def machine(self) -> Machine:
        """With the scenario's changes made."""
        return self.result.machine

    @property
    def ior(self) -> Ior | None:
        """Its IOR command; None if it runs a kernel."""
        workload = workload_of(self.scenario.workload)
        return workload if isinstance(workload, Ior) else None

    def remedy(self, words: str, typed: str, kind: Kind, **updates: Any) -> Remedy:
        """Return the remedy of some new fields of the job."""
        changed = self.scenario.model_copy(update=updates)
        if self.name:  # what describes one of several jobs stands in the scenario alone
            words, typed = f"{words}, for job {self.name}", f"like {typed} for a job by itself"
        return Remedy(words, typed, self.case.with_job(self.name, changed), kind)

    def with_hints(self, words: str, hints: str) -> Remedy:
        """Return the remedy of some hints for MPI-IO, beside those that are there."""
        present = self.scenario.environment.get(HINTS, "")
        joined = with_more_hints(present, hints)
        typed = f'--hints "{joined}"'
        if len(joined) > _LONG:
            typed = f"hints {hints}, appended to each pattern of --hints"
        environment = {**self.scenario.environment, HINTS: joined}
        return self.remedy(words, typed, Kind.SETTING, environment=environment)

    def with_changes(self, words: str, changes: dict[str, Any]) -> Remedy:
        """Return the remedy of some new values of the machine."""
        typed = " ".join(f"--set {name}={value}" for name, value in changes.items())
        return Remedy(words, typed, self.case.with_machine(changes, {}), Kind.MACHINE)

    def with_ior(
        self, words: str, arguments: tuple[str, ...], typed: str, **updates: Any
    ) -> Remedy:
        """Return the remedy of another command of IOR."""
        workload = Workload(ior=arguments)
        return self.remedy(words, typed, Kind.PROGRAM, workload=workload, **updates)


def remedies(name: str, case: Case, result: Result, causes: Collection[Cause]) -> list[Remedy]:
    """Return the changes that may help a job whose ranks waited for some causes.

    ``name``: the job's, empty where there is only one. ``result``: its result in the run.
    """
    patient = _Patient(name, case, result)
    kinds = [make for on, make in _KINDS if on.intersection(causes)]
    if result.scenario.target.kind != "lustre":
        kinds = [make for make in kinds if make not in _OF_LUSTRE]
    return [one for make in kinds for one in make(patient)]


def _striping(patient: _Patient) -> Iterator[Remedy]:
    """Yield other stripe counts and sizes."""
    files = patient.result.files.values()
    if not files:
        return
    osts = patient.machine.lustre.osts
    counts = {each.stripe_count for each in files}
    sizes = {each.stripe_size for each in files}
    count, size = max(counts), max(sizes)
    several = len(counts) > 1
    present = f"{min(counts)} to {count}" if several else f"{count}"
    alike = None if len(sizes) > 1 else size  # else each file keeps its own
    for more in sorted({min(2 * count, osts), osts, max(count // 4, 1)} - counts):
        yield _restriped(patient, more, alike, f"{more} stripes in place of {present}")
    of_size = format_bytes(size) if alike else "each file's own size"
    for mebibytes in _SIZES:
        if (other := mebibytes * MIB) != alike:
            words = f"stripes of {format_bytes(other)} in place of {of_size}"
            yield _restriped(patient, count if not several else None, other, words)
    if count < osts:
        words = f"{osts} stripes of 8 MiB in place of {present} of {of_size}"
        yield _restriped(patient, osts, 8 * MIB, words)


def _restriped(patient: _Patient, count: int | None, size: int | None, words: str) -> Remedy:
    asked = patient.scenario.striping
    striping = asked.having(count=count or 0, size=size or 0)
    typed = [f"--stripe-count {count}"] if count else []
    typed += [f"--stripe-size {_typed(size)}"] if size else []
    return patient.remedy(words, " ".join(typed), Kind.SETTING, striping=striping)


def _typed(size: int) -> str:
    """Return a size of stripes as it is typed."""
    return f"{size // MIB}m" if size % MIB == 0 else f"{size // 1024}k"


def _aggregation(patient: _Patient) -> Iterator[Remedy]:
    """Yield other ways for MPI-IO's aggregators to share the file."""
    if not collective(patient.result):
        return
    yield patient.with_hints("one aggregator a stripe", "cray_cb_nodes_multiplier=1")
    for factor in (2, 4) if may_share_locks(patient.result) else ():
        hints = ":".join((f"cray_cb_nodes_multiplier={factor}", *GROUP_LOCK))
        yield patient.with_hints(f"{factor} aggregators a stripe that share group locks", hints)
    arguments = () if patient.ior is None else patient.ior.options()["arguments"]
    if "-c" in arguments:
        without = tuple(word for word in arguments if word != "-c")
        yield patient.with_ior("independent calls in place of collective ones", without, "no -c")


def _own_files(patient: _Patient) -> Iterator[Remedy]:
    """Yield a file for each rank."""
    if patient.ior is None:
        return
    tests = patient.ior.command.tests
    arguments = tuple(patient.ior.options()["arguments"])
    if not any(test.file_per_process for test in tests) and "-f" not in arguments:
        striping = replace(patient.scenario.striping, count=1, offset=-1)
        yield patient.with_ior(
            "a file for each rank, of one stripe",
            (*arguments, "-F"),
            "--stripe-count 1 and -F",
            striping=striping,
        )


def _spread(patient: _Patient) -> Iterator[Remedy]:
    """Yield the same ranks on twice the nodes."""
    scenario, nodes = patient.scenario, 2 * patient.scenario.nodes
    if scenario.ppn % 2 == 0 and nodes <= patient.machine.nodes.count:
        ppn = scenario.ppn // 2
        words = f"the same ranks on {nodes} nodes, {ppn} on each"
        typed = f"--nodes {nodes} --ppn {ppn}"
        yield patient.remedy(words, typed, Kind.SETTING, nodes=nodes, ppn=ppn)


def _client(patient: _Patient) -> Iterator[Remedy]:
    """Yield other limits of the client."""
    lustre = patient.machine.lustre
    flight, dirty = 4 * lustre.max_rpcs_in_flight, 4 * lustre.max_dirty
    yield patient.with_changes(
        f"{flight} RPCs in flight to an OST in place of {lustre.max_rpcs_in_flight}",
        {"lustre.max_rpcs_in_flight": flight},
    )
    yield patient.with_changes(
        f"room for {format_bytes(dirty)} of dirty pages an OST in place of "
        f"{format_bytes(lustre.max_dirty)}",
        {"lustre.max_dirty": format_bytes(dirty).replace(" ", "")},
    )


def _hardware(patient: _Patient) -> Iterator[Remedy]:
    """Yield twice the OSTs, and twice the LNET routers, or as many routers as fit."""
    lustre, lnet = patient.machine.lustre, patient.machine.lnet
    wide = patient.scenario.striping.count in (-1, lustre.osts)
    osts = {"lustre.osts": 2 * lustre.osts}
    more = patient.with_changes(f"{2 * lustre.osts} OSTs in place of {lustre.osts}", osts)
    if wide:
        striping = replace(patient.scenario.striping, count=-1, offset=-1)
        changed = patient.scenario.model_copy(update={"striping": striping})
        wider = patient.case.with_job(patient.name, changed).with_machine(osts, {})
        more = more._replace(case=wider)
    yield more
    for each in range(2 * lnet.routers_per_group, lnet.routers_per_group, -1):
        changes = {"lnet.routers_per_group": each}
        with suppress(InputError):  # the machine has no room for so many on its service blades
            more_routers = patient.machine.with_changes(changes).lnet.data_routers
            words = f"{more_routers} LNET routers for data in place of {lnet.data_routers}"
            yield patient.with_changes(words, changes)
            return


def _mdts(patient: _Patient) -> Iterator[Remedy]:
    """Yield four times the MDTs; directories spread their names over all of them (DNE)."""
    mdts = patient.machine.lustre.mds.mdts
    changes = {"lustre.mds.mdts": 4 * mdts}
    striping = replace(patient.scenario.striping, mdts=-1)
    dealt = patient.scenario.model_copy(update={"striping": striping})
    more = patient.with_changes(f"{4 * mdts} MDTs in place of {mdts}", changes)
    case = patient.case.with_job(patient.name, dealt).with_machine(changes, {})
    yield more._replace(typed=f"{more.typed} --mdt-count -1", case=case)


_BULK = {
    *(Cause.NIC, Cause.LINK, Cause.LNET, Cause.IB, Cause.OSS, Cause.OST, Cause.OSC),
    *(Cause.TRANSFER, Cause.FLUSH, Cause.MUTEX, Cause.LOCK, Cause.CACHE, Cause.SYNC),
}
_MPI = {Cause.MEETING, Cause.EXCHANGE, Cause.LIBRARY, Cause.LOCK}
_NODE = {Cause.COPY, Cause.CALL, Cause.CORE, Cause.MEMORY, Cause.TREE, Cause.MUTEX, Cause.CACHE}

_KINDS: tuple[tuple[set[Cause], Callable[[_Patient], Iterator[Remedy]]], ...] = (
    (_BULK | {Cause.METADATA, Cause.TREE, Cause.MEETING}, _striping),
    (_MPI | _BULK, _aggregation),
    ({Cause.LOCK, Cause.TREE, Cause.RANGE, Cause.MUTEX}, _own_files),
    (_NODE | {Cause.TURN}, _spread),
    ({Cause.OSC, Cause.CACHE, Cause.FLUSH}, _client),
    (_BULK, _hardware),
    ({Cause.MDS}, _mdts),
)
_OF_LUSTRE = (_striping, _aggregation, _own_files, _client, _hardware, _mdts)
"""Changes that mean nothing to files on SSDs or behind service nodes."""
