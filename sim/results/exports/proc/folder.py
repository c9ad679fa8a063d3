"""A folder with what is below /proc/fs/lustre on servers and clients when a run has ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from xc40io.archive.whole_files import make_folder, write_whole
from xc40io.findings.servers import NAMES, counts_by_name, end_of, to_mds
from xc40io.lustre.requests import OST_SYNC, PUNCH
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.results.exports.machine_view import NOBODY, MachineView, parts_by, view_of
from xc40io.results.exports.proc.stats_texts import (
    Counters,
    brw_stats_text,
    count_bytes,
    count_names,
    extents_stats_text,
    job_stats_text,
    rpc_stats_text,
    stats_text,
)
from xc40io.results.exports.targets import (
    client_host,
    file_system_name,
    mds_host,
    mds_numbers,
    mdt_name,
    oss_host,
    ost_name,
)
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result

_NO_ID = re.compile(r"[^A-Za-z0-9_.@-]")  # letters that a job's identifier should not have

CLIENTS = 64
"""Clients that are written at most, spread evenly over those that did anything."""

OST_NAMES = (
    *("getattr", "setattr", "punch", "sync", "destroy", "create"),
    *("statfs", "get_info", "set_info", "quotactl"),
)
"""The requests that an OST counts, in the order in which it prints them."""


def write_proc(content: Result | JobsResult, path: str, option: str) -> list[str]:
    """Write the folder; return its path.

    Below it each host has a folder of its own, and in it ``proc/fs/lustre``. Files of the same
    names are replaced.

    Raises
    ------
    InputError
        If the run was not recorded, or the system refuses to write.
    """
    for place, text in proc_files(view_of(content, option)):
        whole = Path(path) / place
        make_folder(whole.parent, option)
        write_whole(whole, text, option)
    return [path]


def proc_files(view: MachineView) -> Iterator[tuple[str, str]]:
    """Yield the path of each file in the folder, and what is in it."""
    yield from _of_osts(view)
    yield from _of_mdts(view)
    yield from _of_clients(view)


def job_id(view: MachineView, job: int) -> str:
    """Return by what servers know a job: its program and a user (jobid_var=procname_uid).

    Of several jobs it is the name of the job in place of the program.
    """
    if job == NOBODY:
        return "other.0"
    name = view.names[job] or view.jobs[job].workload.name
    return f"{_NO_ID.sub('_', name)}.0"


def _of_osts(view: MachineView) -> Iterator[tuple[str, str]]:
    recording, machine, now = view.recording, view.result.machine, end_of(view.result)
    rpcs = parts_by(recording.rpcs, recording.rpcs["ost"])
    sent = recording.requests[np.isin(recording.requests["kind"], (OST_SYNC, PUNCH))]
    requests = parts_by(sent, recording.objects[sent["target"], 2])
    for ost in range(machine.lustre.osts):
        own, asked = rpcs.get(ost, recording.rpcs[:0]), requests.get(ost, sent[:0])
        host = oss_host(ost // machine.lustre.osts_per_oss)
        folder = f"{host}/proc/fs/lustre/obdfilter/{ost_name(machine, ost)}"
        job_of_rpc = view.job_of_file[recording.objects[own["object"], 0]]
        job_of_request = view.job_of_file[recording.objects[asked["target"], 0]]
        jobs = [
            (
                job_id(view, job),
                _ost_counters(own[job_of_rpc == job], asked[job_of_request == job]),
            )
            for job in np.union1d(job_of_rpc, job_of_request).tolist()
        ]
        yield f"{folder}/brw_stats", brw_stats_text(own, machine.lustre, now)
        yield f"{folder}/stats", stats_text(_ost_counters(own, asked), now)
        yield f"{folder}/job_stats", job_stats_text(jobs, now)


def _ost_counters(rpcs: Records, requests: Records) -> Counters:
    """Return the counters of an OST: bytes read and written, and its punches and syncs."""
    counts = {
        "punch": int(np.count_nonzero(requests["kind"] == PUNCH)),
        "sync": int(np.count_nonzero(requests["kind"] == OST_SYNC)),
    }
    return {
        "read_bytes": count_bytes(rpcs["bytes"][rpcs["write"] == 0]),
        "write_bytes": count_bytes(rpcs["bytes"][rpcs["write"] == 1]),
        **count_names(OST_NAMES, counts),
    }


def _of_mdts(view: MachineView) -> Iterator[tuple[str, str]]:
    machine, now = view.result.machine, end_of(view.result)
    numbers = mds_numbers(view.result.station_table)
    sent = to_mds(view.recording.requests)
    mdts = np.array([numbers[station] for station in sent["station"].tolist()], np.int64)
    parts = parts_by(sent, mdts)
    for mdt in range(machine.lustre.mds.mdts):
        own = parts.get(mdt, sent[:0])
        folder = f"{mds_host(mdt)}/proc/fs/lustre/mdt/{mdt_name(machine, mdt)}"
        jobs = [
            (job_id(view, job), count_names(NAMES, counts_by_name(part)))
            for job, part in parts_by(own, view.job_of_file[own["target"]]).items()
        ]
        yield f"{folder}/md_stats", stats_text(count_names(NAMES, counts_by_name(own)), now)
        yield f"{folder}/job_stats", job_stats_text(jobs, now)


def _of_clients(view: MachineView) -> Iterator[tuple[str, str]]:
    """Yield the files of clients, of some where there are many."""
    recording, machine, now = view.recording, view.result.machine, end_of(view.result)
    rpcs = parts_by(recording.rpcs, recording.nodes[recording.rpcs["node"]].astype(np.int64))
    calls = _calls_on_lustre(view)
    calls_of = parts_by(calls, view.node[calls["program"]])
    nodes = sorted({*rpcs, *calls_of})
    chosen = np.linspace(0, len(nodes) - 1, min(len(nodes), CLIENTS)).round().astype(int)
    for node in (nodes[place] for place in chosen.tolist()):
        folder = f"{client_host(node)}/proc/fs/lustre"
        mount = f"ffff8800{node:08x}"  # the address of the mount in the kernel, as it were
        if node in calls_of:
            name = f"{file_system_name(machine)}-{mount}"
            yield f"{folder}/llite/{name}/extents_stats", extents_stats_text(calls_of[node], now)
        sent = rpcs.get(node, recording.rpcs[:0])
        for ost, part in parts_by(sent, sent["ost"]).items():
            name = f"{ost_name(machine, ost)}-osc-{mount}"
            yield f"{folder}/osc/{name}/rpc_stats", rpc_stats_text(part, now)


def _calls_on_lustre(view: MachineView) -> Records:
    """Return the reads and writes of the jobs' ranks on files of Lustre."""
    calls = view.of_jobs(view.recording.calls)
    calls = calls[np.isin(calls["op"], (Op.READ, Op.WRITE))]
    on_lustre = np.zeros(len(view.file_names), bool)
    objects = view.recording.objects
    on_lustre[objects[objects[:, 2] >= 0, 0]] = True
    kept: Records = calls[on_lustre[calls["file"]]]
    return kept
