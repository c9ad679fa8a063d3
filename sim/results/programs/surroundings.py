"""What a program sees around it: the date, and the file system as ``statfs`` tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from xc40io.config.machine import Machine

EPOCH = datetime(2020, 1, 1)
"""When every run begins on the simulated calendar, so that the same run prints the same dates."""

_INODES_PER_MDT = 1 << 32  # most that one MDT can number (Lustre manual, on ldiskfs)


@dataclass(frozen=True)
class FileSystem:
    """The state of the file system, as ``statfs`` tells it."""

    capacity: int  # bytes
    used: float  # share of the bytes in use, 0 to 1
    inodes: int  # files that it can hold
    used_inodes: float  # share of the inodes in use, 0 to 1

    @property
    def capacity_text(self) -> str:
        """The capacity as IOR and mdtest print it, in GiB or TiB."""
        gib = self.capacity / 2**30
        return f"{gib / 1024:.1f} TiB" if gib > 1024 else f"{gib:.1f} GiB"

    @property
    def used_text(self) -> str:
        """The used share of the bytes in per cent."""
        return f"{100 * self.used:.1f}%"

    @property
    def inodes_text(self) -> str:
        """The number of inodes in units of 2^20."""
        return f"{self.inodes / 2**20:.1f} Mi"

    @property
    def used_inodes_text(self) -> str:
        """The used share of the inodes in per cent."""
        return f"{100 * self.used_inodes:.1f}%"

    @property
    def line(self) -> str:
        """All of it in the line that stands behind ``FS``."""
        return (
            f"{self.capacity_text}   Used FS: {self.used_text}   "
            f"Inodes: {self.inodes_text}   Used Inodes: {self.used_inodes_text}"
        )


def file_system_of(machine: Machine) -> FileSystem:
    """Return the file system of a machine as it is before the job: empty."""
    lustre = machine.lustre
    return FileSystem(
        capacity=lustre.capacity,
        used=0.0,
        inodes=lustre.mds.mdts * _INODES_PER_MDT,
        used_inodes=0.0,
    )


def moment(seconds: float) -> datetime:
    """Return the date of a simulated time."""
    return EPOCH + timedelta(seconds=seconds)
