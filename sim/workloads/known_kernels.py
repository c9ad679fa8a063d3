"""The kernels there are: each is imported, or read, when somebody asks for it by its name.

Some kernels are written in Python, the others are skeletons: YAML files under ``configs/kernels``,
or of the user's own, which are given by their path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from xc40io.config.errors import InputError, nearest
from xc40io.config.files import read_mapping, shipped
from xc40io.config.model import explain
from xc40io.config.places import found_at

if TYPE_CHECKING:
    from xc40io.workloads.kernels.kernel import Kernel


class PythonKernel(NamedTuple):
    """A kernel in Python."""

    home: str  # module:class
    summary: str  # what it does, in a few words
    outcome: str = ""  # the module of the records that it alone leaves in a result
    is_program: bool = False  # whether it is called as the program is whose I/O it does
    # the option for the file that the program of its name is started with, and how that ends
    started: tuple[str, ...] = ()

    def load(self) -> type[Kernel]:
        """Import the kernel."""
        kernel: type[Kernel] = found_at(self.home)
        return kernel


WRITTEN = {
    "adios": PythonKernel(
        "xc40io.workloads.kernels.adios:AdiosKernel",
        "ADIOS 1: steps of output through POSIX or MPI_AGGREGATE.",
    ),
    "adios2": PythonKernel(
        "xc40io.workloads.kernels.adios2:Adios2Kernel",
        "ADIOS 2: steps of an output through BP5 or BP4.",
    ),
    "exerciser": PythonKernel(
        "xc40io.workloads.kernels.exerciser:Exerciser",
        "HDF5: hyperslabs of a dataset, written and read in many ways.",
        is_program=True,
    ),
    "h5bench": PythonKernel(
        "xc40io.workloads.h5bench.kernel:H5bench",
        "h5bench: the HDF5 benchmarks that its JSON lists.",
        outcome="xc40io.workloads.h5bench.benchmarks",
        started=("config", ".json"),
    ),
    "replay": PythonKernel(
        "xc40io.workloads.replay.kernel:Replay",
        "What a trace says that ranks did: CSV, Parquet, a Darshan log.",
        outcome="xc40io.workloads.replay.outcome",
    ),
    "dl-loading": PythonKernel(
        "xc40io.workloads.kernels.dl_loading:DlLoading",
        "Deep learning: samples for training, one a file or packed.",
    ),
    "e3sm": PythonKernel(
        "xc40io.workloads.kernels.e3sm:E3sm",
        "E3SM: PnetCDF records, of which each rank has many small parts.",
        is_program=True,
    ),
    "staging": PythonKernel(
        "xc40io.workloads.kernels.staging:Staging",
        "Local SSDs before Lustre: output flushed in the background, input read ahead.",
    ),
    "production": PythonKernel(
        "xc40io.workloads.kernels.production:Production",
        "A job by its totals, as accounting knows it: bytes, files, calls, computing.",
    ),
    "pread-threads": PythonKernel(
        "xc40io.workloads.kernels.pread_threads:PreadThreads",
        "Threads of each rank that read a file with pread.",
    ),
    "p2p": PythonKernel(
        "xc40io.workloads.kernels.p2p:PointToPoint",
        "Messages between nodes: latency, message rate, bandwidth; no files.",
    ),
}
"""The kernels in Python, by their names in scenarios."""


class Skeletal(NamedTuple):
    """A kernel that a YAML file describes."""

    name: str
    path: Path

    @property
    def summary(self) -> str:
        """What it does in a few words: the first thing that the file says."""
        return str(read_mapping(self.path).get("summary", ""))

    def load(self) -> type[Kernel]:
        """Read the kernel."""
        from xc40io.workloads.skeleton.kernel import read_kernel

        written = {name: kernel.load for name, kernel in WRITTEN.items()}
        return read_kernel(self.path, self.name, written)


class Kernels(Mapping[str, PythonKernel | Skeletal]):
    """All kernels by name. A path that ends in ``.yaml`` or ``.yml`` is a name too."""

    @cached_property
    def _skeletal(self) -> Mapping[str, Path]:

        return shipped("kernels")

    def __getitem__(self, name: str) -> PythonKernel | Skeletal:
        if name in WRITTEN:
            return WRITTEN[name]
        if name.endswith((".yaml", ".yml")):
            return Skeletal(name, Path(name))
        return Skeletal(name, self._skeletal[name])

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        own = name.endswith((".yaml", ".yml"))
        return own or name in WRITTEN or name in self._skeletal

    def __iter__(self) -> Iterator[str]:
        yield from sorted((*WRITTEN, *self._skeletal))

    def __len__(self) -> int:
        return len(WRITTEN) + len(self._skeletal)


KERNELS = Kernels()


def kernel_named(name: object) -> PythonKernel | Skeletal:
    """Return the kernel of a name; raise InputError if there is none."""
    if name not in KERNELS:
        raise InputError(
            f"kernel.name = {name!r}: right would be one of {', '.join(KERNELS)}, or the path of a "
            f"skeleton, which ends in .yaml{nearest(str(name), KERNELS)}"
        )
    return KERNELS[str(name)]


def make_kernel(options: dict[str, Any]) -> Kernel:
    """Return a kernel from the options of a scenario; ``name`` says which.

    Raises
    ------
    InputError
        If there is no such kernel, or an option is unknown or of the wrong type.
    """
    options = dict(options)
    name = options.pop("name", None)
    kernel = kernel_named(name).load()
    try:
        return kernel.model_validate(options)
    except ValidationError as error:
        raise explain(error, f"kernel {name}", kernel) from error


def with_option(options: Mapping[str, Any], name: str, value: object) -> dict[str, Any]:
    """Return the options of a kernel with one of them set."""
    return {**options, name: value}
