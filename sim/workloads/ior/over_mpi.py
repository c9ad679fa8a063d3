"""IOR's APIs over MPI-IO: the backend of a phase.

Imported when a test uses one of them: a test of POSIX needs neither MPI-IO nor the libraries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sim.config.machine import Machine
from sim.engine.types import Table
from sim.machine.filesystem import FileSet
from sim.mpi.communicator import Communicator
from sim.workloads.ior.apart import ApartBackend, first_of
from sim.workloads.ior.backend import Backend, Task
from sim.workloads.ior.contents import Contents
from sim.workloads.ior.hdf5 import Hdf5Backend
from sim.workloads.ior.hints import IorHints
from sim.workloads.ior.mpiio import MpiioBackend, MpiSetting
from sim.workloads.ior.ncmpi import NcmpiBackend

_BACKENDS: dict[str, Callable[[MpiSetting], Backend]] = {
    "MPIIO": MpiioBackend,
    "HDF5": Hdf5Backend,
    "NCMPI": NcmpiBackend,
}


def backend_of(
    task: Task,
    world: Communicator,
    files: FileSet,
    *,
    inner_meeting: int,
    hints: IorHints,
    machine: Machine,
    file_name: str,
    contents: Contents,
    table: Table,
) -> Backend:
    """Return the backend of a test's API, ready for one phase.

    Parameters
    ----------
    task, world, files
        What to do, the ranks that do it, and the files that they do it to.
    inner_meeting, hints, machine, file_name, contents
        As :class:`~sim.workloads.ior.mpiio.MpiSetting` has them.
    table
        The data plane's table of files.
    """
    apart = task.test.file_per_process
    setting = MpiSetting(
        task=first_of(task) if apart else task,
        communicator=world.part(task.ranks.all[:1], world.meeting) if apart else world,
        inner_meeting=inner_meeting,
        hints=hints,
        machine=machine,
        file_name=file_name,
        layout=files.layout(),
        contents=contents,
        files=table,
        numbers=np.unique(task.file),
    )
    backend = _BACKENDS[task.test.api](setting)
    return ApartBackend(task, backend, world.node) if apart else backend
