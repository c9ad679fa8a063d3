"""What the servers, targets and clients of a simulated machine are called, as Lustre calls them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from xc40io.config.machine import Machine
from xc40io.plane.stations import StationKind
from xc40io.run.station_table import StationTable

_LONGEST = 8  # letters of the name of a file system (LUSTRE_MAXFSNAME)


def file_system_name(machine: Machine) -> str:
    """Return the name of the machine's file system: letters and digits, 8 at most."""
    return re.sub(r"[^A-Za-z0-9]", "", machine.name)[:_LONGEST].lower() or "lustre"


def ost_name(machine: Machine, ost: int) -> str:
    """Return the name of an OST in Lustre: ``theta-OST000a``, with its number in hexadecimal.

    Behind the OSTs stand the MDTs that have data of files.
    """
    if ost >= machine.lustre.osts:
        return mdt_name(machine, ost - machine.lustre.osts)
    return f"{file_system_name(machine)}-OST{ost:04x}"


def mdt_name(machine: Machine, mdt: int) -> str:
    """Return the name of an MDT in Lustre: ``theta-MDT0000``."""
    return f"{file_system_name(machine)}-MDT{mdt:04x}"


def oss_host(oss: int) -> str:
    """Return the name of the host of an OSS."""
    return f"oss{oss:04d}"


def mds_host(mds: int) -> str:
    """Return the name of the host of an MDS."""
    return f"mds{mds:04d}"


def client_host(node: int) -> str:
    """Return the name of a compute node, as a Cray has it: ``nid00012``."""
    return f"nid{node:05d}"


def mds_numbers(table: StationTable) -> Mapping[int, int]:
    """Return which MDS each station of MDS threads is, by the number of the station."""
    found = {}
    for position in np.flatnonzero(table.kind == StationKind.MDS).tolist():
        part = table.part(position)
        # The locks of its directories are stations of their own.
        if part is not None and (part.what, part.way) == ("MDS", ""):
            found[int(table.number[position])] = part.number
    return found
