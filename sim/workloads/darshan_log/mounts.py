"""On which file systems the files of a log lay, by its table of mounts and its LUSTRE records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sim.workloads.darshan_log.log import DarshanLog

LUSTRE = "lustre"

_BY_NAME = {"gpfs": "gpfs", "lustre": LUSTRE, "lus": LUSTRE, "daos": "daos", "nfs": "nfs"}
"""What a file system is where its paths have such a part and the log names no mount for them."""

# Names in a log: nothing is written there.
_LOCAL = ("/tmp", "/dev/shm", "/var/tmp")


class FileSystem(NamedTuple):
    """A file system, and what of the job's files lay on it.

    Attributes
    ----------
    mount
        Where it was mounted; empty if the log does not tell.
    kind
        ``lustre``, ``gpfs``, ``nfs``, ...; empty if the log does not tell.
    files, bytes
        How many files, and what was read and written there.
    """

    mount: str
    kind: str
    files: int
    bytes: int


_IMAGES = frozenset(("overlay", "rootfs", "squashfs", "tmpfs"))
"""Kinds of roots that hold the system: what a job reads and writes there is behind a link."""


def below(path: str, mount: str) -> bool:
    """Tell whether a path lies at a mount, or below it."""
    return path == mount or path.startswith(mount.rstrip("/") + "/")


def bytes_of_files(log: DarshanLog) -> Mapping[int, int]:
    """Return what the job read and wrote of each file that is replayed, by its number.

    Of a file that went through MPI-IO that is what MPI-IO was asked for.
    """
    moved: dict[int, int] = {}
    for records in (log.posix, log.mpiio):  # MPI-IO's go before those of POSIX below
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
    if number in log.layout_of:
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
    """Return those that are known not to be Lustre."""
    return [system for system in systems if system.kind not in ("", LUSTRE)]


def described(system: FileSystem) -> str:
    """Return a few words on a file system: what it is, where it was, and what lay on it."""
    place = f" at {system.mount}" if system.mount else ""
    files = f"{system.files:,} file{'' if system.files == 1 else 's'}"
    return (
        f"{system.kind or 'an unknown file system'}{place} ({files}, {system.bytes / 1e9:,.4g} GB)"
    )
