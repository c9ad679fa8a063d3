"""A skeleton as a kernel: its parameters are the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, create_model

from xc40io.config.errors import InputError, naming
from xc40io.config.files import read_mapping
from xc40io.config.machine import Machine
from xc40io.config.model import Model, explain
from xc40io.config.reading import reads
from xc40io.config.units import Bytes, Count, Rate, Seconds
from xc40io.libraries.hdf5_subfiles import Subfiling
from xc40io.workloads.kernels.kernel import TRIED, Kernel, Natural, check_capacity
from xc40io.workloads.skeleton.blocks import bytes_of
from xc40io.workloads.skeleton.consistency import check
from xc40io.workloads.skeleton.scope import Scope, walk
from xc40io.workloads.skeleton.skeleton_file import Move, Parameter, Preset, Skeleton, word

if TYPE_CHECKING:
    from xc40io.config.scenario import Scenario
    from xc40io.engine.types import Integers
    from xc40io.workloads.job import Job, Waiting


class SkeletonKernel(Kernel):
    """What all kernels made from skeletons have in common; the options are made of each."""

    skeleton: ClassVar[Skeleton]

    _moved: int = PrivateAttr(default=0)
    _threads: int = PrivateAttr(default=0)  # of each I/O concentrator

    @property
    def lays_out(self) -> bool:
        """Whether its files ask for stripes of their own where the job asks for none."""
        files = self.skeleton.files.values()
        return any(one.stripe_count is not None or one.stripe_size is not None for one in files)

    def scope(self, node: Integers, seed: int) -> Scope:
        """Return the names of the expressions for ranks on these nodes: int64 (ranks,)."""
        options = {name: getattr(self, name) for name in self.skeleton.parameters}
        return Scope(self.skeleton, options, node, seed)

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the conditions hold and the file system can hold everything."""
        node = np.repeat(np.arange(scenario.nodes), scenario.ppn)
        scope = self.scope(node, scenario.seed)
        with naming(f"kernel {self.name}"):
            for requirement in self.skeleton.require:
                if not scope.holds(requirement.that):
                    raise InputError(requirement.otherwise)
            read, written = self._count(scope)
            self._moved = read + written
            check_capacity(written, machine, "it writes")
            if any(scope.holds(files.subfiling) for files in self.skeleton.files.values()):
                if self.skeleton.overlaps:
                    raise InputError("subfiling beside background: right would be one of both")
                self._threads = Subfiling.told(scenario.environment).threads

    def helpers(self) -> int:
        """Return how many helpers each rank has: threads of an IOC, or one in the background."""
        return self._threads or int(self.skeleton.overlaps)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes of all phases."""
        if not self._moved:
            self._moved = sum(self._count(self.scope(np.zeros(ranks, np.int64), 1)))
        return self._moved

    def _count(self, scope: Scope) -> tuple[int, int]:
        """Return the bytes that are read and that are written."""
        moved = {"read": 0, "write": 0}
        for step in walk(self.skeleton.phases, scope, "phases"):
            what = step.phase.what
            if isinstance(what, Move):
                with naming(scope.where):
                    size = bytes_of(what, scope)
                    chosen = scope.true(what.only)
                moved[step.phase.verb] += int(size[chosen].sum(dtype=object))
        return moved["read"], moved["write"]

    def run(self, job: Job) -> Waiting:
        """Do everything, and leave the rows of the table."""
        from xc40io.workloads.skeleton.run import SkeletonRun

        _, node = np.unique(job.world.node, return_inverse=True)
        scope = self.scope(node, job.seed)
        with naming(f"kernel {self.name}"):
            yield from SkeletonRun(self.skeleton, scope, job).run()


@reads("a skeleton, as in configs/kernels")
def read_kernel(
    path: Path, name: str, written: Mapping[str, Callable[[], type[Kernel]]]
) -> type[Kernel]:
    """Return the kernel that a skeleton file describes.

    Parameters
    ----------
    path
        Of the file.
    name
        What the kernel is to be called.
    written
        The kernels that it may be with other defaults; each is imported by a call.

    Raises
    ------
    InputError
        If the file cannot be read, or holds no skeleton.
    """
    document = read_mapping(path)
    if "kernel" in document:
        return _preset(path, name, _model(Preset, document, path), written)
    skeleton = _model(Skeleton, document, path)
    with naming(str(path)):
        check(skeleton)
    taken = skeleton.parameters.keys() & {*dir(Kernel), "skeleton", "scope"}
    if taken:
        raise InputError(f"{path}: parameters.{min(taken)}: right would be another name")
    fields: dict[str, Any] = {
        option: _field(path, option, parameter) for option, parameter in skeleton.parameters.items()
    }
    kind = create_model("Skeleton", __base__=SkeletonKernel, **fields)
    kind.name = name
    kind.skeleton = skeleton
    kind.__doc__ = skeleton.description
    return kind


def _model(model: Any, document: dict[str, Any], path: Path) -> Any:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise explain(error, str(path), model) from None


_TYPES: dict[str, Any] = {
    "size": Bytes,
    "time": Seconds,
    "rate": Rate,
    "count": Count,
    "integer": Natural,
    "number": float,
    "switch": bool,
}


def _field(path: Path, name: str, parameter: Parameter) -> tuple[Any, Any]:
    """Return the option of a parameter: its type, and its default and description."""
    kind: Any = _TYPES.get(parameter.unit)
    if parameter.unit == "choice":
        kind = Annotated[Literal[tuple(parameter.choices)], BeforeValidator(word)]
    about: dict[str, Any] = {"description": parameter.description}
    if parameter.tried:
        about["json_schema_extra"] = {TRIED: True}
    if parameter.default is None:
        return kind, Field(**about)
    fields: dict[str, Any] = {name: (kind, ...)}
    one = create_model("One", __base__=Model, **fields)
    try:
        default = getattr(one.model_validate({name: parameter.default}), name)
    except ValidationError as error:
        raise explain(error, f"{path}: parameters.{name}.default", one) from None
    return kind, Field(default, **about)


def _preset(
    path: Path, name: str, preset: Preset, written: Mapping[str, Callable[[], type[Kernel]]]
) -> type[Kernel]:
    """Return a kernel that there is, with other defaults."""
    if preset.kernel not in written:
        raise InputError(
            f"{path}: kernel = {preset.kernel!r}: right would be one of "
            f"{', '.join(sorted(written))}"
        )
    base = written[preset.kernel]()
    try:
        values = base.model_validate(preset.defaults)
    except ValidationError as error:
        raise explain(error, f"{path}: defaults", base) from None
    fields: dict[str, Any] = {}
    for option in preset.defaults:
        info = base.model_fields[option]
        default = Field(getattr(values, option), description=info.description)
        fields[option] = (info.rebuild_annotation(), default)
    kind = create_model("Preset", __base__=base, **fields)
    kind.name = name
    kind.__doc__ = preset.description
    return kind
