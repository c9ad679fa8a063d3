"""Where the job of a log ran: its machine, nodes and file systems, by what the log shows."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import DEFAULT_MACHINE, Machine, load_machine, real_machines
from xc40io.engine.types import Integers
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.facts import Facts
from xc40io.workloads.darshan.log import DarshanLog
from xc40io.workloads.darshan.module_counters import SHARED

LUSTRE = "lustre"

_BY_NAME = {"gpfs": "gpfs", "lustre": LUSTRE, "lus": LUSTRE, "daos": "daos", "nfs": "nfs"}
"""What a file system is where its paths have such a part and the log names no mount for them."""

# Names in a log: nothing is written there.
_LOCAL = ("/tmp", "/dev/shm", "/var/tmp")

_IMAGES = frozenset(("overlay", "rootfs", "squashfs", "tmpfs"))
"""Kinds of roots that hold the system: what a job reads and writes there is behind a link."""

_GRACE = 1
"""Years before and after its service in which a machine may have run: trials, wrong clocks."""

_FIRST_YEAR = 2000
"""What is dated before has no date: no log of Darshan is as old."""


class FileSystem(NamedTuple):
    """A file system, and what of the job's files lay on it."""

    mount: str  # where it was mounted; empty if the log does not tell
    kind: str  # `lustre`, `gpfs`, `nfs`, ...; empty if the log does not tell
    files: int
    bytes: int  # read and written


def below(path: str, mount: str) -> bool:
    """Tell whether a path lies at a mount, or below it."""
    return path == mount or path.startswith(mount.rstrip("/") + "/")


def bytes_of_files(log: DarshanLog) -> Mapping[int, int]:
    """Return the bytes that the job read and wrote in each replayed file, by its number.

    For a file accessed through MPI-IO: the bytes that MPI-IO was asked for.
    """
    moved: dict[int, int] = {}
    for records in (log.calls, log.mpiio):  # MPI-IO's bytes take precedence over POSIX's
        of_layer: dict[int, int] = {}
        amounts = (records["BYTES_READ"] + records["BYTES_WRITTEN"]).tolist()
        for number, amount in zip(records.number.tolist(), amounts, strict=True):
            of_layer[number] = of_layer.get(number, 0) + max(0, amount)
        moved |= of_layer
    return moved


def mount_of(log: DarshanLog, number: int) -> tuple[str, str]:
    """Return the mount and the kind of the file system that a file lay on; empty if unknown.

    Darshan writes a LUSTRE record of files on Lustre only, whatever their paths say: a path may
    lead through a link. Where nothing is mounted but the root, the path's parts say what they can.
    """
    path = log.name_of(number)
    mounts = [mount for mount in log.mounts if mount[0] != "/" and below(path, mount[0])]
    place, kind = max(mounts, key=lambda mount: len(mount[0]), default=("", ""))
    if number in log.layouts:
        return (place, LUSTRE) if kind == LUSTRE else ("", LUSTRE)
    if place or not path.startswith("/"):
        return place, kind
    local = next((folder for folder in _LOCAL if below(path, folder)), "")
    if local:
        return local, "local"
    root = next((kind for place, kind in log.mounts if place == "/"), "")
    named = next((_BY_NAME[part] for part in path.split("/") if part in _BY_NAME), "")
    return "", named or ("" if root in _IMAGES else root)


def file_systems(log: DarshanLog) -> list[FileSystem]:
    """Return the file systems of the files that are replayed, that with most bytes first."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, moved in bytes_of_files(log).items():
        found.setdefault(mount_of(log, number), []).append(moved)
    systems = [FileSystem(*key, len(moved), sum(moved)) for key, moved in found.items()]
    return sorted(systems, key=lambda system: (-system.bytes, -system.files, system.mount))


def elsewhere(systems: Iterable[FileSystem]) -> list[FileSystem]:
    """Return the file systems that are known not to be Lustre."""
    return [system for system in systems if system.kind not in ("", LUSTRE)]


def described(system: FileSystem) -> str:
    """Return a few words on a file system: what it is, where it was, and what lay on it."""
    place = f" at {system.mount}" if system.mount else ""
    moved = f"{format_count(system.files, 'file')}, {system.bytes / 1e9:,.4g} GB"
    return f"{system.kind or 'an unknown file system'}{place} ({moved})"


def most_on_a_node(log: DarshanLog) -> int:
    """Return how many ranks the fullest node had; 0 if the log does not tell all ranks' nodes."""
    if len(log.hosts) < log.ranks:
        return 0
    _, counts = np.unique(list(log.hosts.values()), return_counts=True)
    return int(counts.max())


@dataclass(frozen=True)
class Shape:
    """On how many nodes a job ran, with how many ranks each, and how that is known."""

    nodes: int
    ppn: int
    why: str
    guessed: bool = False


def shape_of(log: DarshanLog, cores: int) -> Shape:
    """Return the nodes and ranks of a job; ``cores``: the cores of a node of its machine.

    From the names of the nodes where the log has them for all ranks; or for some, if no other
    number of ranks a node fits them. Else from which ranks wrote for others: Cray's MPI-IO gives
    every node as many aggregators as the next, the first of its ranks. Else it is a guess: the
    nodes are taken to be full.
    """
    named, spaced = most_on_a_node(log), _from_aggregators(log, cores)
    partly = 0 if named else fitting(nodes_shown(log), log.ranks, cores)
    if 0 < named <= cores:
        most, why = named, "the log names the node of every rank"
    elif partly:
        most, why = partly, f"it fits the {len(nodes_shown(log)):,} ranks whose node the log shows"
    elif spaced:
        most, why = spaced, "the aggregators' ranks tell the ranks of a node"
    else:
        most, why = cores, f"a guess: as full as {cores} cores allow"
    nodes, ppn = dealt(log.ranks, most)
    return Shape(nodes, ppn, why, guessed=not (0 < named <= cores or partly or spaced))


def nodes_shown(log: DarshanLog) -> dict[int, str]:
    """Return the nodes of ranks that the log names, or that stand in the names of their files.

    Libraries put a node's name into the names of their files there (``/tmp/ompi.sn176.28751``):
    a word that looks like the name of a known node, with other digits.
    """
    found = {rank: host.partition(".")[0] for rank, host in log.hosts.items()}
    looks = {_other_figures(host) for host in found.values() if host[-1:].isdigit()}
    if not looks:
        return found
    pattern = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(sorted(looks))})(?![A-Za-z0-9])")
    for number, rank in zip(log.posix.number.tolist(), log.posix.rank.tolist(), strict=True):
        named = set(pattern.findall(log.names.get(number, "")))
        if len(named) != 1:
            continue
        for one in range(log.ranks) if rank == SHARED else (rank,):
            found.setdefault(one, *named)
    return found


def _other_figures(name: str) -> str:
    """Return a pattern for names that look like a node's name, with other digits."""
    return re.sub(r"\d", r"\\d", re.escape(name))


def fitting(nodes: Mapping[int, str], ranks: int, cores: int) -> int:
    """Return how many ranks a node had if some of them are known; 0 if more than one number fits.

    Ranks fill one node after the other. Of several numbers that fit, one that divides the ranks
    evenly goes before the others.
    """
    rank = np.array(list(nodes), np.int64)
    _, host = np.unique(np.array(list(nodes.values()), str), return_inverse=True)
    fit = []
    for each in range(1, min(cores, ranks) + 1):
        pairs = len(np.unique(rank // each * (len(rank) + 1) + host))
        if pairs == len(np.unique(rank // each)) == len(np.unique(host)):
            fit.append(each)
    for chosen in ([each for each in fit if ranks % each == 0], fit):
        if len(chosen) == 1:
            return chosen[0]
    return 0


def dealt(ranks: int, most: int) -> tuple[int, int]:
    """Deal ranks to nodes, at most ``most`` to each: return nodes, and ranks on each.

    All nodes get equally many, if that does not take twice the nodes or more; else the last one
    gets fewer than the others.
    """
    most = min(ranks, most)
    ppn = next(part for part in range(most, 0, -1) if ranks % part == 0)
    if 2 * ppn <= most:
        ppn = -(-ranks // -(-ranks // most))
    return -(-ranks // ppn), ppn


def dealt_to(
    ranks: int,
    cores: int,
    nodes: int | None,
    ppn: int | None,
    *,
    option: str = "--",
    idle: bool = False,
) -> tuple[int, int]:
    """Return nodes and ranks on each: as typed, or as full as the cores allow.

    ``option`` is what stands before their names where they were typed; with ``idle`` there may be
    nodes without any rank. Raises InputError if the ranks cannot be dealt so.
    """
    if nodes is None and ppn is None:
        return dealt(ranks, cores)
    nodes = nodes or -(-ranks // (ppn or 1))
    ppn = ppn or -(-ranks // nodes)
    least = 0 if idle else (nodes - 1) * ppn
    if not least < ranks <= nodes * ppn:
        raise InputError(
            f"{option}nodes {nodes} with {option}ppn {ppn}: the job has {ranks:,} ranks; right "
            f"would be nodes and ranks on each that have room for {ranks:,}"
            f"{'' if idle else ', and leave no node without any'}"
        )
    return nodes, ppn


def _from_aggregators(log: DarshanLog, cores: int) -> int:
    """Return the distance at which aggregators come in equal groups; 0 if they do not."""
    for number in log.mpiio.rows_of_file:
        mine = log.posix.of_file(number)
        ranks = np.unique(mine.rank[(mine.rank >= 0) & (mine["WRITES"] + mine["READS"] > 0)])
        found = _period(ranks)
        if 0 < found <= cores and log.ranks % found == 0:
            return found
    return 0


def _period(ranks: Integers) -> int:
    """Return p if ranks are runs of one length that begin at 0, p, 2 p, ...; else 0."""
    begins = ranks[np.flatnonzero(np.diff(ranks, prepend=-2) > 1)]
    if len(begins) < 3 or begins[0] != 0 or len(ranks) % len(begins):
        return 0
    steps = np.diff(begins)
    return int(steps[0]) if (steps == steps[0]).all() else 0


@dataclass(frozen=True)
class Place:
    """Where a job is to run, and why there."""

    machine: str  # the name of a machine, or its file
    why: str  # what in the log speaks for it, or why nothing does
    # Whether the job did run there; else the machine is a stand-in, and comparing its times
    # with the log's times is no test of it.
    known: bool = True


def guess_machine(log: DarshanLog, typed: str | None = None, told: str | None = None) -> Place:
    """Guess on which machine a job ran: one that comes with xc40io, or the one that was typed.

    Machines with the same file system differ in their nodes: the one with the fewest cores is taken
    that has one for each rank of the fullest node. Of two that differ in nothing but their years it
    is the one that was longer in service. ``typed`` is the machine that the user wants to run it
    on, the stand-in for a machine that is unknown; ``told`` the one on which it did run, where the
    user says so. Raises InputError if there is no such machine.
    """
    if told is not None:
        load_machine(told)
        return Place(told, f"--recorded machine={told}")
    machines = sorted(real_machines(), key=lambda machine: (machine.nodes.cores, -_years(machine)))
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
            also = f"; this fits {', '.join(others)}, too" if others else ""
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
    return f"its files lay on {described(first)}, which belongs to no machine known here"


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
    layouts = log.layouts.values()
    highest = max((int(layout.osts.max(initial=-1)) for layout in layouts), default=-1)
    if highest >= lustre.osts:
        return f"the log names OST {highest}, and {machine.name} has {lustre.osts} OSTs"
    year = time.gmtime(log.began).tm_year
    first, last = _service(machine)
    if year >= _FIRST_YEAR and not first - _GRACE <= year <= last + _GRACE:
        return f"the log is of {year}, and {machine.name} was in service from {lustre.years}"
    if machine.nodes.names is not None:
        alike = re.compile(_other_figures(machine.nodes.names))
        strange = next((host for host in log.hosts.values() if not alike.fullmatch(host)), None)
        if strange is not None:
            return f"a node is called {strange}, but on {machine.name} {machine.nodes.names}"
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


def _with_room(machines: Sequence[Machine], log: DarshanLog) -> Machine:
    """Return the first machine with a core for each rank of the fullest node, or the last one."""
    most = most_on_a_node(log)
    return next((machine for machine in machines if machine.nodes.cores >= most), machines[-1])


class Ran(NamedTuple):
    """Where a job ran: on which machine, and on which of its nodes."""

    place: Place
    shape: Shape


def where_it_ran(log: DarshanLog, facts: Facts, typed: str | None = None) -> Ran:
    """Return where a job ran; what is told goes before what the log shows.

    ``typed`` is the machine that the user wants to run it on: the stand-in for one that is unknown.
    Raises InputError if there is no such machine, or it has no such nodes or OSTs.
    """
    place = guess_machine(log, typed, facts.machine)
    machine = load_machine(place.machine)
    facts.striping.check(machine.lustre.osts)
    cores = machine.nodes.cores
    if facts.nodes is None and facts.ppn is None:
        return Ran(place, shape_of(log, cores))
    nodes, ppn = dealt_to(log.ranks, cores, facts.nodes, facts.ppn, option="--recorded ")
    words = " ".join(text for text in facts.told if text.startswith(("nodes=", "ppn=")))
    return Ran(place, Shape(nodes, ppn, f"--recorded {words}"))
