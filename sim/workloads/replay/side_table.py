"""The side table of a trace, YAML: what a table of calls does not say of the job and its files."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import yaml
from pydantic import Field, ValidationError

from xc40io.config.errors import InputError
from xc40io.config.files import read_mapping
from xc40io.config.model import Model, explain
from xc40io.config.reading import reads
from xc40io.config.striping import StripeRequest
from xc40io.config.units import Bytes, Count
from xc40io.workloads.trace import Trace, TraceFile

_Rank = Annotated[int, Field(ge=0)]
_Described = TypeVar("_Described", bound=Model)


class AboutFile(Model):
    """What is known of a file, or of all files whose names fit a pattern."""

    size: Bytes | None = Field(None, description="Bytes that it holds when the job begins.")
    stripe_count: int | None = Field(None, description="As lfs setstripe -c takes it.")
    stripe_size: Bytes | None = Field(None, description="As lfs setstripe -S takes it.")
    stripe_offset: int = Field(-1, description="As lfs setstripe -i takes it.")
    direct: bool = Field(False, description="Opened with O_DIRECT.")
    shared_directory: bool = Field(True, description="Its directory is that of other files too.")
    ranks: Literal["all"] | list[_Rank] | None = Field(
        None, description="The communicator that opens it: all, or a list of ranks."
    )

    def fields(self) -> dict[str, Any]:
        """Return the fields of a :class:`~xc40io.workloads.trace.TraceFile` that it settles."""
        found: dict[str, Any] = {
            "striping": StripeRequest(
                count=self.stripe_count, size=self.stripe_size, offset=self.stripe_offset
            ),
            "direct": self.direct,
            "shared_directory": self.shared_directory,
        }
        if self.size is not None:
            found["size"] = self.size
        if self.ranks == "all":
            found["ranks"] = None
        elif self.ranks is not None:
            found["ranks"] = np.unique(np.array(self.ranks, np.int64))
        return found


class SideTable(Model):
    """What is known of a job."""

    nodes: Count | None = Field(None, description="On how many nodes it ran.")
    ppn: Count | None = Field(None, description="Ranks on a node.")
    files: dict[str, AboutFile] = Field(
        default_factory=dict, description="By name, or by pattern as the shell has it."
    )

    def about(self, name: str) -> dict[str, Any]:
        """Return what is known of a file: its own entry, else the first pattern that fits."""
        if name in self.files:
            return self.files[name].fields()
        for pattern, about in self.files.items():
            if fnmatchcase(name, pattern):
                return about.fields()
        return {}


@reads("a side table of a trace")
def read_side_table(path: str) -> SideTable:
    """Read a side table; InputError if it cannot be read, or a field is wrong."""
    described = read_mapping(Path(path))
    files = described.get("files")
    if isinstance(files, dict):
        described["files"] = {
            name: _validated(AboutFile, about, f"{path}: files: {name}")
            for name, about in files.items()
        }
    return _validated(SideTable, described, path)


def _validated(model: type[_Described], described: object, place: str) -> _Described:
    """Make a model of what is described there."""
    try:
        found = model.model_validate(described)
        if isinstance(found, AboutFile):
            found.fields()  # the striping may be none
    except ValidationError as error:
        raise explain(error, place, model) from error
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    return found


def side_table_text(trace: Trace) -> str:
    """Return the side table of a trace: YAML that says what its rows do not."""
    described = _known(
        nodes=trace.nodes, ppn=trace.ppn, files={file.name: _about(file) for file in trace.files}
    )
    return yaml.safe_dump(described, sort_keys=False)


def _known(**told: object) -> dict[str, object]:
    return {name: value for name, value in told.items() if value is not None}


def _about(file: TraceFile) -> dict[str, object]:
    """Return what a side table says of a file: what differs from its defaults."""
    striping, ranks = file.striping, "all" if file.mpi else None
    return _known(
        size=file.size if file.size >= 0 else None,
        stripe_count=striping.count,
        stripe_size=striping.size,
        stripe_offset=striping.offset if striping.offset >= 0 else None,
        direct=file.direct or None,
        shared_directory=None if file.shared_directory else False,
        ranks=ranks if file.ranks is None else file.ranks.tolist(),
    )
