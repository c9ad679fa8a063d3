"""On which machine a job ran: what in its log speaks for one, and what against it.

A mount speaks for a machine only if the job's own files lie there: centres mount the file systems
of one machine on others too. What speaks against it: OSTs that its file system does not have, nodes
that are called otherwise, a year in which it did not run. Without evidence the machine is unknown.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sim.config.machine import DEFAULT_MACHINE, Machine, load_machine, shipped_machines
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.mounts import (
    LUSTRE,
    bytes_of_files,
    described,
    file_systems,
    mount_of,
)
from sim.workloads.darshan_log.nodes import most_on_a_node

_GRACE = 1
"""Years before and after those of its service in which a machine may have run: trials, clocks."""

_FIRST_YEAR = 2000
"""What is dated before has no date: no log of Darshan is as old."""


@dataclass(frozen=True)
class Place:
    """Where a job is to run, and why there.

    Attributes
    ----------
    machine
        The name of a machine, or its file.
    why
        What in the log speaks for it, or why nothing does.
    known
        Whether the job did run there; else the machine is a stand-in, and times beside those of
        the log are no test of it.
    """

    machine: str
    why: str
    known: bool = True


def guess_machine(log: DarshanLog, typed: str | None = None, told: str | None = None) -> Place:
    """Guess on which machine a job ran: one that comes with xc40io, or the one that was typed.

    Machines with the same file system differ in their nodes: the one with the fewest cores is taken
    that has one for each rank of the fullest node. Of two that differ in nothing but their years it
    is the one that was longer in service.

    Parameters
    ----------
    log
        As read.
    typed
        The machine that the user wants to run it on: the stand-in for a machine that is unknown.
    told
        The machine on which it did run, where the user says so.

    Raises
    ------
    InputError
        If there is no such machine.
    """
    if told is not None:
        load_machine(told)
        return Place(told, f"--recorded machine={told}")
    machines = sorted(
        shipped_machines(), key=lambda machine: (machine.nodes.cores, -_years(machine))
    )
    shipped = {machine.name for machine in machines}
    if typed is not None and typed not in shipped:
        machines.append(load_machine(typed))
    found: dict[str, list[Machine]] = {}
    for machine in machines:
        if evidence := _evidence(log, machine):
            found.setdefault(evidence, []).append(machine)
    against = ""
    for evidence, sharing in found.items():
        possible = [machine for machine in sharing if not _against(log, machine)]
        if possible:
            chosen = _with_room(possible, log)
            others = [machine.name for machine in possible if machine is not chosen]
            also = f"; or on {', '.join(others)}, which has the same" if others else ""
            name = chosen.name if chosen.name in shipped or typed is None else typed
            return Place(name, f"{evidence}{also}")
        against = f"{evidence} as on {sharing[0].name}, but {_against(log, sharing[0])}"
    return Place(typed or DEFAULT_MACHINE, against or _nothing(log), known=False)


def _nothing(log: DarshanLog) -> str:
    """Say where the files lay of a log that tells no machine."""
    systems = file_systems(log)
    if not systems:
        return "it has no files"
    first = systems[0]
    if not first.kind and not first.mount:
        return "it does not say on which file system its files lay"
    return f"its files lay on {described(first)}, which is no machine's that is known here"


def _mounts(machine: Machine) -> tuple[str, ...]:
    """Return what the paths of a machine's file system begin with."""
    return machine.lustre.mounts or (f"/lus/{machine.name}",)


def _evidence(log: DarshanLog, machine: Machine) -> str:
    """Say what speaks for a machine; nothing if nothing does.

    Most of the bytes of the job must have been on its file system.
    """
    moved = bytes_of_files(log)
    table = [place for place, kind in log.mounts if kind == LUSTRE]
    own = [place for place in table if place.startswith(_mounts(machine))]
    on_it: dict[str, int] = {}
    for number, amount in moved.items():
        place, kind = mount_of(log, number)
        why = _sign(log.name_of(number), place, kind, machine, table, own)
        if why:
            on_it[why] = on_it.get(why, 0) + amount + 1
    if 2 * sum(on_it.values()) <= sum(moved.values()) + len(moved):
        return ""
    return max(on_it, key=lambda why: on_it[why])


def _sign(
    path: str, place: str, kind: str, machine: Machine, table: Sequence[str], own: Sequence[str]
) -> str:
    """Say why a file lay on the file system of a machine; nothing if it is not known to."""
    if kind not in ("", LUSTRE):
        return ""
    mount = next((mount for mount in _mounts(machine) if path.startswith(mount)), "")
    if mount and (place in own or not place):
        return f"its files lie below {place or mount}"
    if place or not own:
        return ""
    link = next((link for link in machine.lustre.links or () if path.startswith(link)), "")
    if link:
        return f"its files lie below {link}, which leads to {own[0]}, and that is mounted"
    if kind == LUSTRE and list(own) == list(table):
        return f"its files lie on Lustre, of which {own[0]} alone is mounted"
    return ""


def _against(log: DarshanLog, machine: Machine) -> str:
    """Say what speaks against a machine; nothing if nothing does."""
    lustre = machine.lustre
    highest = max((int(osts.max(initial=-1)) for osts in log.layouts.osts), default=-1)
    if highest >= lustre.osts:
        return f"the log names OST {highest}, and {machine.name} has {lustre.osts} OSTs"
    year = time.gmtime(log.began).tm_year
    first, last = _service(machine)
    if year >= _FIRST_YEAR and not first - _GRACE <= year <= last + _GRACE:
        return f"the log is of {year}, and {machine.name} was in service from {lustre.years}"
    pattern = _name_pattern(machine.nodes.names)
    strange = next((host for host in log.hosts.values() if not pattern.fullmatch(host)), None)
    if strange is not None:
        return f"a node is called {strange}, and on {machine.name} as {machine.nodes.names}"
    if most_on_a_node(log) > machine.nodes.cores * machine.nodes.threads_per_core:
        return f"a node had {most_on_a_node(log)} ranks"
    return ""


def _service(machine: Machine) -> tuple[int, int]:
    """Return the first and the last year of a machine; all years if they are not known."""
    first, last = (machine.lustre.years or "0 to 9999").split(" to ")
    return int(first), int(last)


def _years(machine: Machine) -> int:
    first, last = _service(machine)
    return last - first


def _name_pattern(names: str | None) -> re.Pattern[str]:
    """Return what the names of nodes look like: as the one that is known, with other figures."""
    if names is None:
        return re.compile(".*")
    return re.compile("".join(r"\d" if sign.isdigit() else re.escape(sign) for sign in names))


def _with_room(machines: Sequence[Machine], log: DarshanLog) -> Machine:
    """Return the first machine with a core for each rank of the fullest node, or the last one."""
    most = most_on_a_node(log)
    return next((machine for machine in machines if machine.nodes.cores >= most), machines[-1])
