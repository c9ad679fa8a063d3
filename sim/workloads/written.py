"""The kernels that are written in Python; importing this imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sim.workloads.kernel import Kernel


class Written(NamedTuple):
    """A kernel in Python: where it is, and what it does in a few words."""

    module: str
    kind: str
    summary: str

    def load(self) -> type[Kernel]:
        """Import the kernel's options."""
        kernel: type[Kernel] = getattr(import_module(self.module), self.kind)
        return kernel


WRITTEN = {
    "adios": Written(
        "sim.workloads.adios_kernel",
        "AdiosKernel",
        "ADIOS 1: steps of output through POSIX or MPI_AGGREGATE.",
    ),
    "exerciser": Written(
        "sim.workloads.exerciser",
        "Exerciser",
        "HDF5: hyperslabs of a dataset, written and read in many ways.",
    ),
    "h5bench": Written(
        "sim.workloads.h5bench.kernel",
        "H5bench",
        "h5bench: the HDF5 benchmarks that its JSON lists.",
    ),
    "replay": Written(
        "sim.workloads.replay.kernel",
        "Replay",
        "What a trace says that ranks did: CSV, Parquet, a Darshan log.",
    ),
    "dl-loading": Written(
        "sim.workloads.dl_loading",
        "DlLoading",
        "Deep learning: samples for training, one a file or packed.",
    ),
    "e3sm": Written(
        "sim.workloads.e3sm",
        "E3sm",
        "E3SM: PnetCDF records, of which each rank has many small parts.",
    ),
    "staging": Written(
        "sim.workloads.staging",
        "Staging",
        "Local SSDs before Lustre: output flushed in the background, input read ahead.",
    ),
    "production": Written(
        "sim.workloads.production",
        "Production",
        "A job by its totals, as accounting knows it: bytes, files, calls, computing.",
    ),
    "pread-threads": Written(
        "sim.workloads.pread_threads",
        "PreadThreads",
        "Threads of each rank that read a file with pread.",
    ),
    "p2p": Written(
        "sim.workloads.p2p",
        "PointToPoint",
        "Messages between nodes: latency, message rate, bandwidth; no files.",
    ),
}
"""By their names in scenarios."""
