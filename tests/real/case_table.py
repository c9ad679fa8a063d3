"""The table of cases: what real programs were asked to do, and the same for the model."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
HINT = "IOR_HINT__MPI__"
PARAMETERS = {
    "AggregationType": "aggregation_type",
    "NumAggregators": "num_aggregators",
    "AggregatorRatio": "aggregator_ratio",
    "NumSubFiles": "num_sub_files",
    "SubStreams": "sub_streams",
    "AsyncWrite": "async_write",
    "BufferChunkSize": "buffer_chunk_size",
    "MinDeferredSize": "min_deferred_size",
    "MaxShmSize": "max_shm_size",
    "StripeSize": "data_alignment",
}
"""Of ADIOS 2's engines, and what kernel adios2 calls them."""
MOUNT = "/lus/theta"
INSTALLED = {"mpi.library": "romio", "mpi.release": "4", "mpi.hdf5": "1.10.2"}
"""Whose behaviour that of the recorded libraries is: MPICH 4.0.2 and HDF5 1.10.8."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run of a real program.

    ``line`` has ``@`` for the folder that all files lie in. ``options`` are those of a kernel of
    the model, or the keys of an h5bench configuration; ``model`` is what only the model is told.
    Files of programs with ``any_name`` are called as the program likes. Threads of a ``racing``
    program take requests as they come: which comes first is not compared.
    """

    group: str
    program: str
    line: str
    ranks: int
    ppn: int
    stripes: tuple[int, int] | None  # count, bytes; None: no Lustre driver has a part in it
    hints: Mapping[str, Any]
    variables: Mapping[str, Any]  # of the environment
    options: Mapping[str, Any]
    model: Mapping[str, Any]
    written: Mapping[str, Any]  # what h5bench's writer is told, which makes the file that is read
    kernel: str  # the kernel that stands for the program; empty: one that takes its options
    any_name: bool
    racing: bool
    name: str  # within its group

    @property
    def environment(self) -> dict[str, str]:
        """Return its variables, and those by which IOR is given hints."""
        hints = {HINT + key: str(value) for key, value in self.hints.items()}
        return hints | {key: str(value) for key, value in self.variables.items()}

    def scenario(self, folder: Path) -> dict[str, Any]:
        """Return the same for the model; files that it is to read are written to the folder."""
        scenario: dict[str, Any] = {
            "machine": "theta",
            "nodes": self.ranks // self.ppn,
            "ppn": self.ppn,
            "workload": self._workload(folder),
        }
        if self.stripes:
            count, size = self.stripes
            scenario["striping"] = {"count": count, "size": size}
        if self.stripes or self.program == "subfiling":
            scenario["changes"] = INSTALLED
        if self.environment:
            scenario["environment"] = self.environment
        return scenario

    def _workload(self, folder: Path) -> dict[str, Any]:
        if self.program in ("ior", "ior-pnetcdf", "mdtest"):
            return {self.program.partition("-")[0]: self._placed}
        if self.program == "h5bench_exerciser":
            return {"kernel": {"name": "exerciser", **self.options, **self.model}}
        if self.program == "io500":
            return {"io500": {"config": self.sections(), "steady": 0}}
        if self.program == "adios_write":
            told = {"name": "adios", "distribution": "fixed", **self.model, **self.options}
            return {"kernel": told}
        if self.program == "adios2_write":
            told = {PARAMETERS.get(key, key): value for key, value in self.options.items()}
            told |= {key: value == "true" for key, value in told.items() if key == "async_write"}
            return {"kernel": {"name": "adios2", **self.model, **told}}
        if self.program == "pieces":
            hints = {name: str(value) for name, value in self.hints.items()}
            return {"kernel": {"name": "pieces", "line": self._placed, "hints": hints}}
        if self.program == "subfiling":
            return {"kernel": {"name": str(HERE / "subfiling.yaml"), **self.options}}
        if self.kernel:
            return {"kernel": {"name": self.kernel, **self.model}}
        path = folder / "h5bench.json"
        path.write_text(json.dumps(self.h5bench()), encoding="utf-8")
        return {"kernel": {"name": "h5bench", "config": str(path), **self.model}}

    @property
    def _placed(self) -> str:
        return self.line.replace("@", MOUNT)

    def sections(self) -> dict[str, dict[str, Any]]:
        """Return IO500's options by their sections."""
        sections: dict[str, dict[str, Any]] = {}
        for key, value in self.options.items():
            section, _, option = key.partition(".")
            sections.setdefault(section, {})[option] = value
        return sections

    def h5bench(self) -> dict[str, Any]:
        """Return the configuration as h5bench's own program takes it."""
        kind = self.program.removeprefix("h5bench_")
        told = {"write": self.written, kind: self.options} if self.written else {kind: self.options}
        count, size = self.stripes or (1, 1 << 20)
        return {
            "mpi": {"command": "mpirun", "ranks": str(self.ranks)},
            "vol": {},
            "file-system": {"lustre": {"stripe-size": str(size), "stripe-count": str(count)}},
            "directory": "storage",
            "benchmarks": [
                {"benchmark": name, "file": "test.h5", "configuration": dict(options)}
                for name, options in told.items()
            ],
        }


def groups() -> list[str]:
    """Return the names of all groups."""
    return sorted(path.stem for path in (HERE / "cases").glob("*.yaml"))


@cache
def cases(group: str) -> tuple[Case, ...]:
    """Return the cases of a group, in the order of its file."""
    path = HERE / "cases" / f"{group}.yaml"
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    every = table.pop("every")
    found = tuple(_case(group, every, own) for own in _spread(table["cases"]))
    names = [case.name for case in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path}: more than one case is {', '.join(sorted(twice))}")
    return found


def _spread(entries: list[Any]) -> Iterator[dict[str, Any]]:
    """Let ``lines`` with common settings be a case each."""
    for entry in entries:
        own = {"line": entry} if isinstance(entry, str) else entry
        if "lines" not in own:
            yield own
            continue
        rest = {key: value for key, value in own.items() if key != "lines"}
        yield from (rest | {"line": line} for line in own["lines"])


def _case(group: str, every: Mapping[str, Any], own: dict[str, Any]) -> Case:
    both: dict[str, Any] = {"hints": {}, "variables": {}, "options": {}, "model": {}, "written": {}}
    both |= {"any_name": False, "racing": False, "stripes": None, "kernel": "", **every}
    both |= own | {part: {**both[part], **own.get(part, {})} for part in ("options", "model")}
    stripes = both["stripes"] and tuple(both["stripes"])
    line = both.get("line", "")
    if both["program"] == "h5bench_exerciser":
        line = " ".join(_argument(key, value) for key, value in both["options"].items())
    elif both["program"] == "adios_write":
        line = _of_adios(both["options"])
    elif both["program"] == "adios2_write":
        line = _of_adios2(both["options"])
    elif both["program"] == "subfiling":
        line = _of_subfiling(both["options"])
    elif "line" not in both:
        line = " ".join(f"{key}={value}" for key, value in own.get("options", {}).items())
    return Case(
        group=group,
        program=both["program"],
        line=f"{both.get('before', '')} {line}".strip(),
        ranks=both["ranks"],
        ppn=both["ppn"],
        stripes=stripes,
        hints=both["hints"],
        variables=both["variables"],
        options=both["options"],
        model=both["model"],
        written={**both["written"], **both.get("also_written", {})} if both["written"] else {},
        kernel=both["kernel"],
        any_name=both["any_name"],
        racing=both["racing"],
        name="; ".join([line or "as all", *_deviations(own)]),
    )


def _argument(key: str, value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return f"--{key}" if value is True else shlex.join([f"--{key}", *map(str, values)])


def _of_adios(options: Mapping[str, Any]) -> str:
    """Return the line of the rig's program; the parameters come in the order of the options."""
    apart = ("method", "size", "variables", "steps")
    given = {key: value for key, value in options.items() if key not in apart}
    if options["method"] == "POSIX":
        given = {}
    text = ";".join(f"{key}={int(value)}" for key, value in given.items())
    method, size, variables, steps = (options[key] for key in apart)
    return shlex.join([method, text, str(size), str(variables), str(steps), "@/out"])


def _of_adios2(options: Mapping[str, Any]) -> str:
    """Return the line of the rig's program; the engine's parameters are named as in ADIOS 2."""
    given = ";".join(f"{key}={value}" for key, value in options.items() if key[0].isupper())
    size, variables, steps = (str(options[key]) for key in ("size", "variables", "steps"))
    return shlex.join([options["engine"], given, size, variables, steps, "@/out.bp"])


def _of_subfiling(options: Mapping[str, Any]) -> str:
    """Return the line of the rig's program: words in its order."""
    how = "collective" if options["collective"] else "independent"
    words = [options[key] for key in ("subfiles", "size", "variables", "pieces")]
    return shlex.join([*map(str, words), how + ",read" * options["reads"], "@/test.h5"])


def _deviations(own: Mapping[str, Any]) -> Iterator[str]:
    if "ranks" in own or "ppn" in own:
        yield " ".join(f"{key} {own[key]}" for key in ("ranks", "ppn") if key in own)
    if "stripes" in own:
        yield "stripes {} x {}".format(*own["stripes"])
    for given in ("hints", "variables"):
        if own.get(given):
            yield " ".join(f"{key}={value}" for key, value in own[given].items())
