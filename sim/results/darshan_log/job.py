"""What stands at the head of a log: the job, its command line, and where its files were mounted."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import NamedTuple

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.results.programs.surroundings import EPOCH
from sim.run.result import Result

BEGIN = int(EPOCH.replace(tzinfo=UTC).timestamp())
"""When the simulation began, in seconds since 1970: on the day that IOR's output names. A run has
no date, and the same run is to give the same log."""

USER = 1000
"""The number of the user whose job it was."""

_MOUNTS = {"ssd": ("/local/scratch", "ext4"), "bb": ("/var/opt/cray/dws/mounts/batch", "dvs")}
"""Path and type of the file systems of Cray machines that are not Lustre."""

_HOME = ("/home", "dvs")


class Mount(NamedTuple):
    """A file system: its path, and its type."""

    path: str
    kind: str


class JobHead(NamedTuple):
    """The head of a log."""

    user: int
    number: int
    ranks: int
    begin: float  # in seconds since 1970
    end: float  # likewise
    metadata: Mapping[str, str]  # what else Darshan notes, by name
    command: str  # what was run
    mounts: Sequence[Mount]  # the file systems


def head_of(result: Result) -> JobHead:
    """Return the head of a result's log."""
    scenario = result.scenario
    metadata = {"xc40io": result.version}
    hints = scenario.environment.get("MPICH_MPIIO_HINTS")
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
    if workload.kernel is None:
        return workload.command
    options = dict(workload.kernel)
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
