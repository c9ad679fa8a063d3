"""A job whose HDF5 file lies in subfiles: where, and the threads of its I/O concentrators."""

from __future__ import annotations

import numpy as np

from xc40io.config.striping import StripeRequest
from xc40io.libraries.hdf5_subfiles import Subfiling
from xc40io.libraries.hdf5_subfiling import Place
from xc40io.mpi.communicator import Communicator
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.job import Job


def place_of(job: Job, striping: StripeRequest, subfiles: int | None = None) -> Place:
    """Return where the subfiles of a job are, each so striped; one for each IOC unless given."""
    return Place(
        told=Subfiling.told(job.environment, subfiles),
        world=job.world,
        filesystem=job.filesystem,
        striping=striping,
        meetings=job.meetings,
    )


def of_stub(job: Job) -> Communicator:
    """Return who opens the file by its own name: rank 0."""
    return job.communicator(np.zeros(1, np.int64))


def batch_of(job: Job, place: Place | None) -> Batch:
    """Return an empty batch of all ranks, and of the threads of the IOCs if there are any."""
    if place is None:
        return job.batch()
    batch = job.batch(place.concentrators)
    batch.add(Op.WORK, np.arange(job.ranks, len(batch.programs)), seconds=0.0)  # one at least
    return batch
