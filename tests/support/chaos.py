"""Random scenarios, each small enough to run in a blink: machines, jobs, hints, targets, faults.

What is drawn is a document, as a scenario file has it, so that a failing example can be run again
by hand: ``xc40io run failing.yaml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from chaos_workloads import APIS, workloads
from hypothesis import strategies as st

from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.run.fabric import fabric_of

Document = dict[str, Any]

MACHINES = sorted(shipped("machines"))

_RELEASES = [None, None, None, *sorted(shipped("releases"))]
_COMPOSITE = ("2.10", "2.12", "2.14", "2.15")
_ON_MDT, _OVERSTRIPED = _COMPOSITE[1:], _COMPOSITE[2:]
"""The releases that have a kind of layouts."""

_SECTIONS = {"ssd": "ssd", "bb": "burst_buffer", "home": "home"}


@cache
def targets(machine: str) -> tuple[str, ...]:
    """Return where files may be on a machine."""
    made = load_machine(machine)
    return ("lustre", *(kind for kind, name in _SECTIONS.items() if getattr(made, name)))


@cache
def _cables(machine: str) -> tuple[str, ...]:
    """Return some links, near the first nodes."""
    fabric = fabric_of(load_machine(machine))
    return tuple(fabric.link_name(link) for link in range(0, 60, 7))


_CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "lustre.max_rpcs_in_flight": st.sampled_from([1, 2, 8, 256]),
    "lustre.max_dirty": st.sampled_from(["1 MiB", "4 MiB", "256 MiB"]),
    "lustre.readahead": st.sampled_from(["0 B", "1 MiB", "64 MiB"]),
    "lustre.ost_write_rate": st.sampled_from(["200 MB/s", "3 GB/s", "20 GB/s"]),
    "lustre.ost_read_rate": st.sampled_from(["200 MB/s", "4 GB/s", "20 GB/s"]),
    "lustre.ost_write_latency": st.sampled_from(["0 s", "1 ms", "40 ms"]),
    "lustre.ost_spread": st.sampled_from([0.0, 0.1, 0.3]),
    "lustre.slow_share": st.sampled_from([0.0, 0.2, 1.0]),
    "lustre.oss_rate": st.sampled_from(["300 MB/s", "6 GB/s"]),
    "lustre.journal_commit": st.sampled_from(["0 s", "5 ms", "100 ms"]),
    "lnet.message_size": st.sampled_from(["64 KiB", "1 MiB", "4 MiB"]),
    "lnet.ib_link_rate": st.sampled_from(["400 MB/s", "5.8 GB/s"]),
    "network.nic_rate": st.sampled_from(["500 MB/s", "10.2 GB/s"]),
    "network.message_latency": st.sampled_from(["1 us", "100 us", "3 ms"]),
    "nodes.memory": st.sampled_from(["64 MiB", "1 GiB", "96 GiB"]),
    "nodes.node_copy_rate": st.sampled_from(["500 MB/s", "10 GB/s"]),
    "nodes.lock_thread_time": st.sampled_from(["0 s", "50 us", "2 ms"]),
    "nodes.tree_page_time": st.sampled_from(["0 s", "4.7 us"]),
    "mpi.messages_under_way": st.sampled_from([1, 4]),
    "mpi.barrier_skew": st.sampled_from(["0 s", "100 us", "5 ms"]),
    "mpi.library": st.sampled_from(["romio", "romio", "cray"]),
    "lustre.lock_ahead": st.just(True),
}
"""What may be changed on every machine, to what: from starved to plenty."""

_HINTS: dict[str, st.SearchStrategy[Any]] = {
    "cb_nodes": st.integers(1, 9),
    "striping_factor": st.sampled_from([1, 3, 8, -1]),
    "striping_unit": st.sampled_from([65536, 1048576]),
    "romio_cb_write": st.sampled_from(["enable", "disable", "automatic"]),
    "romio_cb_read": st.sampled_from(["enable", "disable", "automatic"]),
    "romio_ds_write": st.sampled_from(["enable", "disable"]),
    "romio_no_indep_rw": st.sampled_from(["true", "false"]),
    "cray_cb_nodes_multiplier": st.integers(1, 3),
    "cb_buffer_size": st.sampled_from([4096, 1048576]),
    "cb_config_list": st.sampled_from(["*:1", "*:2", "*:*"]),
    "start_iodevice": st.integers(0, 5),
    "romio_ds_read": st.sampled_from(["enable", "disable"]),
    "ind_wr_buffer_size": st.sampled_from([50000, 524288]),
    "ind_rd_buffer_size": st.sampled_from([50000, 4194304]),
    "cray_cb_write_lock_mode": st.integers(0, 2),
    "aggregator_placement_stride": st.sampled_from([-1, 1, 2]),
    "direct_io": st.sampled_from(["true", "false"]),
    "romio_lustre_co_ratio": st.integers(1, 3),
    "romio_lustre_coll_threshold": st.sampled_from([0, 65536]),
    "romio_lustre_ds_in_coll": st.sampled_from(["enable", "disable"]),
    "romio_lustre_cb_lock_ahead_write": st.integers(0, 1),
    "direct_read": st.sampled_from(["true", "false"]),
    "direct_write": st.sampled_from(["true", "false"]),
    "xc40io_intra_node_aggregation": st.sampled_from(["enable", "disable"]),
}

_VARIABLES: dict[str, st.SearchStrategy[Any]] = {
    "MPICH_MPIIO_HINTS_DISPLAY": st.sampled_from(["0", "1"]),
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": st.sampled_from(["-1", "1", "3"]),
    "MPICH_MPIIO_STATS": st.just("1"),
    "MPICH_MPIIO_TIMERS": st.just("1"),
    "ROMIO_WRITE_AGGMETHOD": st.sampled_from(["0", "1", "2"]),
    "ROMIO_READ_AGGMETHOD": st.sampled_from(["0", "1", "2"]),
    "ROMIO_ONESIDED_NO_RMW": st.sampled_from(["0", "1"]),
    "ROMIO_ONESIDED_ALWAYS_RMW": st.sampled_from(["0", "1"]),
    "ROMIO_TUNEGATHER": st.sampled_from(["0", "1"]),
}

_FAULTS = (
    "link {link} down from {soon} ms to 60 ms, rerouted after 5 ms",
    "link {link} slow 4 from {soon} ms to 1 s",
    "node 0 hung from {soon} ms to 1 s, evicted after 0.1 s",
)
"""What may happen wherever the files are."""

_OWN_FAULTS = {
    "lustre": (
        "OST {few} slow 5 from 1 ms to 1 s",
        "OST {few} rebuilding 0.5",
        "OST {few} rebuilding from {soon} ms to 60 ms",
        "OST {few} gone from {soon} ms to 30 ms, recovery 10 ms",
        "OSS {few} down from {soon} ms to 60 ms, taken over after 5 ms",
        "OSS {few} down from {soon} ms",
        "OSS {few} slow 3",
        "MDS 0 paused from {soon} ms to 40 ms",
        "LNET router {few} down from {soon} ms to 80 ms, noticed after 3 ms",
        "LNET router {few} slow 9 from {soon} ms to 80 ms",
        "FGR group {few} down from {soon} ms to 80 ms, noticed after 3 ms",
        "FGR group {few} down from {soon} ms to 4 min",
        "node 0 evicted at {soon} ms",
        "node 0 evicted by OST {few} at {soon} ms",
    ),
    "ssd": ("SSD 0 lost at {soon} ms",),
}
"""And of what keeps them."""


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a scenario of one job, or of some that share the machine."""
    machine = draw(st.sampled_from(["theta", "theta", *MACHINES]))  # most often the first
    system = draw(st.integers(0, 2))  # of all jobs alike
    release = draw(st.sampled_from(_RELEASES))
    changes = _some(draw, _CHANGES, 4)
    if release is not None:
        changes["lustre.release"] = release
    several = draw(st.sampled_from([1, 1, 1, 1, 2, 3]))
    jobs = [draw(_jobs(machine, system, release, changes, several)) for _ in range(several)]
    common = {
        "machine": machine,
        "seed": draw(st.integers(0, 2**40)),
        "changes": changes,
        "background": draw(st.sampled_from(_backgrounds(machine))),
        "slow": draw(st.sampled_from(_SLOW)),
        "faults": _faults(draw, machine, str(jobs[0]["target"]), of_job=several > 1),
    }
    if common["background"]:  # what others do in four minutes would be simulated, too
        common["faults"] = [one for one in common["faults"] if "4 min" not in one]
    if several == 1:
        return common | jobs[0] | {"rpcs_as_one": draw(st.sampled_from([1, 1, 1, 2]))}
    named = [job | {"name": f"job{number}"} for number, job in enumerate(jobs)]
    for job in named[1:]:
        job["start"] = f"{draw(st.integers(0, 40))} ms"
    return common | {"jobs": named}


_SLOW = ({}, {}, {}, {}, {"computing of rank 0": 3}, {"computing": 2}, {"OST 1": 4})


@cache
def _backgrounds(machine: str) -> tuple[Document, ...]:
    lustre = load_machine(machine).lustre
    typical = ({"typical": True},) if lustre.other_reads and lustre.other_writes else ()
    return ({}, {}, {}, {"write": "5 GB/s", "read": "9 GB/s"}, *typical)


@st.composite
def _jobs(
    draw: st.DrawFn, machine: str, system: int, release: str | None, changes: Document, several: int
) -> Document:
    target = draw(st.sampled_from(["lustre", "lustre", *targets(machine)]))
    api = draw(st.sampled_from(APIS))
    most = draw(st.sampled_from([1, 2, 4, 4, 4, 9, 17, 33])) if several == 1 else 4
    nodes = draw(st.integers(1, most))
    ppn = draw(st.integers(1, 4 if nodes < 10 else 2))
    job: Document = {
        "nodes": nodes,
        "ppn": ppn,
        "placement": draw(st.sampled_from(["contiguous", "random", "spread"])),
        "cores": {"system": system, "bind": draw(st.sampled_from(["cores", "none"]))},
        "target": target,
        "workload": draw(workloads(api, nodes * ppn, target)),
    }
    if target == "ssd" and " -F" not in str(job["workload"].get("ior")):
        job["nodes"] = nodes = 1  # no others can share its files
    if target == "bb" and draw(st.booleans()):
        alone = "private" if " -F" in str(job["workload"].get("ior")) or nodes == 1 else "striped"
        access = draw(st.sampled_from(["striped", alone]))
        job["target"] = {"kind": "bb", "access": access, "capacity": "1 TB"}
    if target == "lustre":
        job["striping"] = draw(_layouts(release, changes))
    if api == "POSIX" and "ior" in job["workload"]:
        job["cores"]["threads"] = draw(st.sampled_from([1, 1, 2]))
    if api not in ("POSIX", "MMAP", "DUMMY"):
        job["environment"] = draw(_environments(changes.get("mpi.library") == "romio", job))
    return job


@st.composite
def _layouts(draw: st.DrawFn, release: str | None, changes: Document) -> Document | str:
    """Draw a layout that the release has."""
    counts, sizes = st.sampled_from([1, 2, 3, 7, -1]), st.sampled_from(["64k", "1m", "4m"])
    kinds = ["plain", "plain", "plain", "offset"]
    kinds += ["composite"] * (2 if release in _COMPOSITE else 0)
    kinds += ["on an MDT"] * (release in _ON_MDT) + ["overstriped"] * (release in _OVERSTRIPED)
    kinds += ["pool"]
    kind = draw(st.sampled_from(kinds))
    if kind == "plain":
        return {"count": draw(counts), "size": draw(sizes)}
    if kind == "offset":
        return f"-c {draw(counts)} -S {draw(sizes)} -i {draw(st.integers(0, 9))}"
    if kind == "pool":
        changes["lustre.pools"] = "flash=0-7, disk=8-20"
        return (
            f"-c {draw(st.sampled_from([1, 3, -1]))} -p {draw(st.sampled_from(['flash', 'disk']))}"
        )
    if kind == "overstriped":
        return f"-C {draw(st.sampled_from([3, 8, 70]))} -S {draw(sizes)}"
    ends = draw(st.lists(st.sampled_from(_ENDS), min_size=1, max_size=3, unique=True))
    parts = []
    for at, end in enumerate([*sorted(ends, key=_ENDS.index), "-1"]):
        over = f"-C {draw(st.sampled_from([2, 9]))}" if release in _OVERSTRIPED else "-c 2"
        parts.append(f"-E {end} {draw(st.sampled_from([f'-c {draw(counts)}', over]))}")
        if at == 0 and kind == "on an MDT":
            parts[0] = f"-E {draw(st.sampled_from(['64k', '1M']))} -L mdt"
    return " ".join(parts)


_ENDS = ("1M", "4M", "5M", "64M")


@st.composite
def _environments(draw: st.DrawFn, romio: bool, job: Document) -> Document:
    hints = _some(draw, _HINTS, 3)
    variables = _some(draw, _VARIABLES, 2) if draw(st.booleans()) else {}
    if romio and "ior" in job["workload"]:
        return variables | {f"IOR_HINT__MPI__{name}": str(hint) for name, hint in hints.items()}
    hints.pop("cb_config_list", None)  # it has colons of its own
    text = ":".join(f"{name}={value}" for name, value in hints.items())
    return variables | ({"MPICH_MPIIO_HINTS": f"*:{text}"} if text else {})


def _some(draw: st.DrawFn, choices: dict[str, st.SearchStrategy[Any]], most: int) -> dict[str, Any]:
    """Draw a few names and a value for each."""
    names = draw(st.lists(st.sampled_from(sorted(choices)), max_size=most, unique=True))
    return {name: draw(choices[name]) for name in names}


def _faults(draw: st.DrawFn, machine: str, target: str, *, of_job: bool) -> list[str]:
    sentences: Sequence[str] = (*_OWN_FAULTS.get(target, ()), *_FAULTS)
    if draw(st.booleans()):
        return []
    if target == "bb":  # to find other ways to hundreds of service nodes takes seconds
        sentences = [
            one for one in sentences if "rerouted" not in one or draw(st.integers(0, 7)) == 0
        ]
    chosen = draw(st.lists(st.sampled_from(sentences), min_size=1, max_size=3, unique=True))
    said = [
        sentence.format(
            few=draw(st.integers(0, 9)),
            soon=draw(st.integers(1, 25)),
            link=draw(st.sampled_from(_cables(machine))),
        )
        for sentence in chosen
    ]
    if not of_job:
        return said
    return [
        one.replace("node 0", "node 0 of job job0").replace("SSD 0", "SSD 0 of job job0")
        for one in said
    ]
