"""The kernels there are; importing this imports none of them.

Some are written in Python, the others are skeletons: YAML files under ``configs/kernels``, or of
the user's own, which are given by their path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sim.config.errors import InputError
from sim.workloads.written import WRITTEN

if TYPE_CHECKING:
    from sim.workloads.kernel import Kernel


class Entry(Protocol):
    """A kernel that can be imported or read."""

    @property
    def summary(self) -> str:
        """What it does in a few words."""

    def load(self) -> type[Kernel]:
        """Import the kernel, or read it."""


class Skeletal(NamedTuple):
    """A kernel that a YAML file describes."""

    name: str
    path: Path

    @property
    def summary(self) -> str:
        """What it does in a few words: the first thing that the file says."""
        from sim.config.files import read_mapping

        return str(read_mapping(self.path).get("summary", ""))

    def load(self) -> type[Kernel]:
        """Read the kernel."""
        from sim.workloads.skeleton.kernel import read_kernel

        return read_kernel(self.path, self.name)


class Kernels(Mapping[str, Entry]):
    """All kernels by name. A path that ends in ``.yaml`` or ``.yml`` is a name too."""

    @cached_property
    def _skeletal(self) -> dict[str, Path]:
        from sim.config.files import shipped

        return shipped("kernels")

    def __getitem__(self, name: str) -> Entry:
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


def make_kernel(options: dict[str, Any]) -> Kernel:
    """Return a kernel from the options of a scenario; ``name`` says which.

    Raises
    ------
    InputError
        If there is no such kernel, or an option is unknown or of the wrong type.
    """
    from pydantic import ValidationError

    from sim.config.files import explain, nearest

    options = dict(options)
    name = options.pop("name", None)
    if name not in KERNELS:
        raise InputError(
            f"kernel.name = {name!r}: right would be one of {', '.join(KERNELS)}, or the path of a "
            f"skeleton, which ends in .yaml{nearest(str(name), KERNELS)}"
        )
    kernel = KERNELS[str(name)].load()
    try:
        return kernel.model_validate(options)
    except ValidationError as error:
        raise explain(error, f"kernel {name}", kernel) from error
