"""Writing the Darshan log of a run."""

from __future__ import annotations

import hashlib
import shlex
from datetime import UTC
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xc40io.archive.whole_files import replacing
from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.engine.types import Integers
from xc40io.results.darshan_log.layers import Calls, mpi_calls, posix_calls, segments_of
from xc40io.results.darshan_log.library import JobHead, Mount, log_file
from xc40io.results.darshan_log.modules import mpiio_records, posix_records
from xc40io.results.programs.surroundings import EPOCH
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.workloads.darshan.log import Layout
from xc40io.workloads.darshan.module_counters import Numbers

BEGIN = int(EPOCH.replace(tzinfo=UTC).timestamp())
"""When the simulation began, in seconds since 1970: on the day that IOR's output names. A run has
no date, and the same run is to give the same log."""

USER = 1000
"""The number of the user whose job it was."""

_MOUNTS = {"ssd": ("/local/scratch", "ext4"), "bb": ("/var/opt/cray/dws/mounts/batch", "dvs")}
"""Path and type of the file systems of Cray machines that are not Lustre."""

_HOME = ("/home", "dvs")


def head_of(result: Result) -> JobHead:
    """Return the head of a result's log."""
    scenario = result.scenario
    metadata = {"xc40io": result.version}
    hints = scenario.environment.get(HINTS)
    if hints:
        metadata["h"] = " ".join(hints.split())
    mounts = {lustre_mount(result.machine), mount_of(scenario, result.machine)}
    return JobHead(
        user=USER,
        number=job_number(scenario),
        ranks=scenario.nodes * scenario.ppn,
        begin=BEGIN + result.started,
        end=BEGIN + result.started + result.simulated,
        metadata=metadata,
        command=command_of(scenario),
        mounts=sorted(mounts),
    )


def job_number(scenario: Scenario) -> int:
    """Return the number of the job: the same whenever the same program is run on as many nodes."""
    told = f"{command_of(scenario)} {scenario.nodes} {scenario.ppn} {scenario.seed}"
    return int.from_bytes(hashlib.blake2b(told.encode(), digest_size=4).digest(), "little") >> 1


def command_of(scenario: Scenario) -> str:
    """Return the command line of the program that ran."""
    workload = scenario.workload
    if not workload.options:
        return workload.command
    options = dict(workload.options)
    name = str(options.pop("name", "kernel"))
    return shlex.join([name, *(f"{key}={value}" for key, value in options.items())])


def lustre_mount(machine: Machine) -> Mount:
    """Return where Lustre is mounted: by what its paths begin with, as the machine's file says."""
    known = machine.lustre.mounts
    path = known[0] if known else f"/lus/{machine.name}"
    return Mount(path.rstrip("/"), "lustre")


def mount_of(scenario: Scenario, machine: Machine) -> Mount:
    """Return the file system that the files of a job are on."""
    kind = scenario.target.kind
    return lustre_mount(machine) if kind == "lustre" else Mount(*_MOUNTS.get(kind, _HOME))


def path_of(name: str, mount: Mount) -> str:
    """Return the whole path of a file: below the mount, unless its name is a whole path."""
    return name if name.startswith("/") else f"{mount.path}/{name.removeprefix('./')}"


def record_number(path: str) -> int:
    """Return the number by which a log knows a file: a hash of its path."""
    return int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest(), "little")


class LoggedFiles(NamedTuple):
    """The files of a log."""

    # int64 (files,): by the number of a file, the number of the first one of the same path: a
    # program that makes a file anew has two files, and Darshan one.
    same: Integers
    identity: Numbers  # uint64 (files,): the number by which the log knows each
    paths: tuple[str, ...]
    layouts: dict[int, Layout]  # by number; without files that are not on Lustre
    hinted: frozenset[int]  # the numbers of those that the program opens with hints of its own

    @property
    def stripe_sizes(self) -> Integers:
        """Bytes of a stripe of each file: int64 (files,); 1 where it is not striped."""
        sizes = np.ones(len(self.same), np.int64)
        for number, layout in self.layouts.items():
            sizes[number] = layout.size
        return sizes


def files_of(result: Result, recording: Recording) -> LoggedFiles:
    """Return the files of a job as its log knows them."""
    mount = mount_of(result.scenario, result.machine)
    paths = [
        path_of(name or f"file.{number}", mount) for number, name in enumerate(recording.file_names)
    ]
    first: dict[str, int] = {}
    same = [first.setdefault(path, number) for number, path in enumerate(paths)]
    return LoggedFiles(
        np.array(same, np.int64),
        np.array([record_number(path) for path in paths], np.uint64),
        tuple(paths),
        _layouts(result, recording),
        _hinted(result, same),
    )


def _layouts(result: Result, recording: Recording) -> dict[int, Layout]:
    """Return how the job's files on Lustre are striped, by their numbers.

    The result knows the stripes of the last file of a name; those before were striped likewise.
    """
    names = recording.file_names
    file, _, ost = recording.objects.T
    bounds = np.searchsorted(file, np.arange(len(names) + 1))
    sizes = {
        names[alike.first + index]: alike.stripe_size
        for alike in result.files.values()
        for index in range(len(alike.osts))
    }
    layouts = {}
    for number, name in enumerate(names):
        osts = ost[bounds[number] : bounds[number + 1]].astype(np.int64)
        if name in sizes and len(osts) and osts[0] >= 0:
            layouts[number] = Layout(sizes[name], osts)
    return layouts


def _hinted(result: Result, same: list[int]) -> frozenset[int]:
    """Return the numbers of files that the program opens with hints of its own.

    IOR hands over an MPI_Info also where nobody gave a hint (SetHints of its utilities.c).
    """
    if any(one.hinted for one in result.traits.phases):
        return frozenset(same)
    hinted: set[int] = set()
    for _, record in result.mpi_records:
        alike = result.files.get(record.file_name)
        if record.given and alike is not None:
            hinted.update(same[alike.first : alike.first + len(alike.osts)])
    return frozenset(hinted)


MODULES = ("POSIX", "MPI-IO", "LUSTRE", "DXT_POSIX", "DXT_MPIIO")
"""What a log has; MPI-IO where it was used, LUSTRE where files were on it."""


def write(result: Result, path: str, option: str) -> list[str]:
    """Write what a run did as a Darshan log; return its path.

    ``option`` is where the user named it, for messages. Raises InputError if nothing was recorded,
    if no file was opened, or if the log cannot be written.
    """
    recording = result.recording
    if recording is None:
        raise InputError(
            f"{option}: the result has no recording of its calls, of which the log is made; right "
            f"would be {option} with the run itself, or a result that was recorded"
        )
    files = files_of(result, recording)
    ranks, began = recording.ranks, result.started
    posix = _by_path(posix_calls(recording.calls, ranks, began), files)
    mpi = _by_path(mpi_calls(recording.calls, recording.library_calls, ranks, began), files)
    if not len(posix):
        raise InputError(
            f"{option}: the job opened no file, so that there is nothing to log; right would be a "
            "workload that reads or writes"
        )
    partial = MODULES if recording.stopped is not None else ()
    with replacing(path, option) as draft:
        _write(draft, result, files, posix, mpi, partial)
    return [path]


def _by_path(calls: Calls, files: LoggedFiles) -> Calls:
    """Let the calls on files of one path be on the first of them."""
    calls["file"] = files.same[calls["file"]]
    return calls[np.lexsort((calls["end"], calls["rank"], calls["file"]))]


def _hosts(result: Result) -> list[str]:
    """Return the name of each rank's node, as an XC40 has it."""
    scenario = result.scenario
    names = [f"nid{node:05d}" for node in result.allocation.nodes.tolist()]
    return [names[rank // scenario.ppn] for rank in range(scenario.nodes * scenario.ppn)]


def _write(
    draft: Path,
    result: Result,
    files: LoggedFiles,
    posix: Calls,
    mpi: Calls,
    partial: tuple[str, ...],
) -> None:
    """Write the log: the modules in the order of their numbers in Darshan."""
    head = head_of(result)
    below = posix_records(posix, head.ranks, files.stripe_sizes)
    above = mpiio_records(mpi, head.ranks, files.hinted)
    opened = np.unique(np.concatenate([below.file, above.file])).tolist()
    striped = (
        (int(files.identity[file]), rank, files.layouts[file])
        for file, rank in zip(below.file.tolist(), below.rank.tolist(), strict=True)
        if file in files.layouts
    )
    hosts = _hosts(result)
    with log_file(draft, partial) as log:
        log.put_head(head)
        log.put_names({int(files.identity[file]): files.paths[file] for file in opened})
        log.put_counters("POSIX", below, files.identity)
        log.put_counters("MPI-IO", above, files.identity)
        log.put_layouts(striped)
        log.put_raw("DXT_POSIX", segments_of(posix, files.identity, hosts))
        log.put_raw("DXT_MPIIO", segments_of(mpi, files.identity, hosts))
