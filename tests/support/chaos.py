"""Random scenarios, each small enough to run in a blink: machines, jobs, hints, targets, faults.

What is drawn is a document, as a scenario file has it, so that a failing example can be run again
by hand: ``xc40io run failing.yaml``.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]

MACHINES = {
    "theta": ("lustre", "ssd", "home"),
    "cori-knl": ("lustre", "bb"),
    "cori-haswell": ("lustre", "bb"),
    "titan": ("lustre",),
}
"""The machines, and where files may be on each."""

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
}

_LUSTRE_FAULTS = (
    "OST {few} slow 5 from 1 ms to 1 s",
    "OST {few} rebuilding 0.5",
    "OST {few} gone from {soon} ms to 30 ms, recovery 10 ms",
    "OSS {few} down from {soon} ms to 60 ms, taken over after 5 ms",
    "MDS 0 paused from {soon} ms to 40 ms",
    "LNET router {few} down from {soon} ms to 80 ms, noticed after 3 ms",
    "FGR group {few} down from {soon} ms to 80 ms, noticed after 3 ms",
    "FGR group {few} down from {soon} ms to 4 min",
    "node 0 evicted at {soon} ms",
    "node 0 hung from {soon} ms to 1 s, evicted after 0.1 s",
)
_SSD_FAULTS = ("SSD 0 lost at {soon} ms",)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a scenario of one job, or of two that share the machine."""
    machine = draw(st.sampled_from(["theta", *MACHINES]))  # most often the first
    system = draw(st.integers(0, 2))  # of all jobs alike
    jobs = [draw(_jobs(machine, system)) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
    target = jobs[0].get("target", "lustre")
    common = {
        "machine": machine,
        "seed": draw(st.integers(0, 2**40)),
        "changes": _some(draw, _CHANGES, 4),
        "background": draw(st.sampled_from([{}, {}, {"write": "5 GB/s", "read": "9 GB/s"}])),
        "faults": _faults(draw, str(target)),
    }
    if len(jobs) == 1:
        return common | jobs[0] | {"rpcs_as_one": draw(st.sampled_from([1, 1, 1, 2]))}
    named = [job | {"name": f"job{number}"} for number, job in enumerate(jobs)]
    named[1]["start"] = f"{draw(st.integers(0, 40))} ms"
    return common | {"faults": [], "jobs": named}


@st.composite
def _jobs(draw: st.DrawFn, machine: str, system: int) -> Document:
    target = draw(st.sampled_from(["lustre", "lustre", *MACHINES[machine]]))
    api = draw(st.sampled_from(["POSIX", "POSIX", "MPIIO", "MPIIO", "HDF5", "NCMPI"]))
    job: Document = {
        "nodes": draw(st.integers(1, 4)),
        "ppn": draw(st.integers(1, 4)),
        "placement": draw(st.sampled_from(["contiguous", "random", "spread"])),
        "cores": {"system": system, "bind": draw(st.sampled_from(["cores", "none"]))},
        "target": target,
        "workload": draw(_workloads(api)),
    }
    if target == "lustre":
        count, size = st.sampled_from([1, 2, 3, 7, -1]), st.sampled_from(["64k", "1m", "4m"])
        job["striping"] = {"count": draw(count), "size": draw(size)}
    if api == "POSIX" and "ior" in job["workload"]:
        job["cores"]["threads"] = draw(st.sampled_from([1, 1, 2]))
    if api != "POSIX":
        hints = ":".join(f"{name}={value}" for name, value in _some(draw, _HINTS, 3).items())
        job["environment"] = {"MPICH_MPIIO_HINTS": f"*:{hints}"} if hints else {}
    return job


@st.composite
def _workloads(draw: st.DrawFn, api: str) -> Document:
    """Draw a command of IOR, sometimes one of mdtest or a kernel, of a few hundred calls."""
    kind = draw(st.sampled_from(["ior"] * 8 + ["mdtest", "kernel"]))
    if kind == "mdtest":
        options = draw(st.sampled_from(["-F -u", "-D", "-F -w 3901 -e 3901", "-z 2 -b 2 -u"]))
        return {"mdtest": f"-n {draw(st.integers(1, 9))} {options}"}
    if kind == "kernel":
        options = {"adios": {}, "vpic-io": {"particles": 20_000}, "hacc-io": {"particles": 20_000}}
        name = draw(st.sampled_from(sorted(options)))
        return {"kernel": {"name": name, **options[name]}}
    transfer = draw(st.sampled_from([4, 47, 64, 256, 1024, 1536]))  # KiB
    calls, segments = draw(st.integers(1, 6)), draw(st.sampled_from([1, 1, 2, 5]))
    words = [f"-a {api}", f"-t {transfer}k", f"-b {transfer * calls}k", f"-s {segments}"]
    words += draw(st.sampled_from([["-w"], ["-r"], ["-w", "-r"], ["-w", "-r", "-W"]]))
    orders = [[], ["-C"], ["-Z"], *([["-z"]] if calls > 1 and api == "POSIX" else [])]
    words += draw(st.sampled_from(orders))
    flags = [
        "-e",
        "-i 2",
        "-m",
        *{"POSIX": ["-F", "-B", "-Y"], "NCMPI": ["-c"]}.get(api, ["-F", "-c"]),
    ]
    words += draw(st.lists(st.sampled_from(flags), max_size=4, unique=True))
    return {"ior": " ".join(words)}


def _some(draw: st.DrawFn, choices: dict[str, st.SearchStrategy[Any]], most: int) -> dict[str, Any]:
    """Draw a few names and a value for each."""
    names = draw(st.lists(st.sampled_from(sorted(choices)), max_size=most, unique=True))
    return {name: draw(choices[name]) for name in names}


def _faults(draw: st.DrawFn, target: str) -> list[str]:
    sentences = {"lustre": _LUSTRE_FAULTS, "ssd": _SSD_FAULTS}.get(target, ())
    if not sentences or draw(st.booleans()):
        return []
    chosen = draw(st.lists(st.sampled_from(sentences), min_size=1, max_size=2, unique=True))
    return [
        sentence.format(few=draw(st.integers(0, 9)), soon=draw(st.integers(1, 25)))
        for sentence in chosen
    ]
