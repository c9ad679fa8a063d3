"""The configuration file of h5bench: JSON with ``mpi``, ``vol``, ``file-system`` and benchmarks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from sim.config.errors import InputError
from sim.config.files import explain
from sim.config.sealed import check_may_open
from sim.config.striping import StripeRequest
from sim.workloads.h5bench.pattern import PATTERNS, Pattern, read_pattern
from sim.workloads.h5bench.section import Section
from sim.workloads.h5bench.stress import Stress, read_stress
from sim.workloads.kernels.exerciser import Exerciser

Task: TypeAlias = Pattern | Stress | Exerciser

_NEEDED = ("mpi", "vol", "file-system", "directory", "benchmarks")
_NOT_SIMULATED = ("append", "write_var_normal_dist", "amrex", "openpmd", "e3sm", "macsio")
_SWITCHES = ("keepfile", "usechunked", "indepio", "addattr", "derivedtype", "metacoll")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark of a configuration.

    Attributes
    ----------
    name
        As h5bench calls it: ``write``, ``metadata``.
    file
        The HDF5 file, with its folder.
    task
        What it does.
    """

    name: str
    file: str
    task: Task


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a file asks for.

    Attributes
    ----------
    ranks
        That MPI is to start.
    striping
        Of the folder; what is not said is left to the job.
    directory
        The folder of the files.
    benchmarks
        In order.
    """

    ranks: int
    striping: StripeRequest
    directory: str
    benchmarks: tuple[Benchmark, ...]


def read_configuration(path: str) -> Configuration:
    """Read a configuration.

    Raises
    ------
    InputError
        If the file cannot be read, is no JSON, or asks for what there is not or is not simulated;
        the message names file, field and value.
    """
    check_may_open(path, "h5bench")
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise InputError(f"{path}: is not JSON as h5bench reads it: {reason}") from None
    section = Section(path, document)
    section.only(_NEEDED)
    for name in _NEEDED:
        if name not in section.values:
            raise InputError(f"{path}.{name} is missing; h5bench wants {', '.join(_NEEDED)}")
    directory, listed = section.text("directory"), section.values["benchmarks"]
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}.benchmarks: right would be a list of at least one benchmark")
    section.section("vol").only(("library", "path", "connector", "preload"))
    benchmarks = tuple(
        _benchmark(Section(f"{path}.benchmarks[{number}]", one), directory)
        for number, one in enumerate(listed)
    )
    _check_files(benchmarks, path)
    return Configuration(
        ranks=_ranks(section.section("mpi")),
        striping=_striping(section.section("file-system")),
        directory=directory,
        benchmarks=benchmarks,
    )


def _ranks(section: Section) -> int:
    """Return how many ranks are started: as ``configuration`` says, else ``ranks``."""
    section.only(("command", "ranks", "configuration"))
    section.text("command")
    typed = re.search(
        r"(?:^|\s)(?:-np|-n|--ntasks)[ =]?([0-9]{1,7})(?:\s|$)", section.text("configuration", "")
    )
    return max(int(typed[1]), 1) if typed else section.number("ranks", least=1)


def _striping(section: Section) -> StripeRequest:
    """Return the striping of the folder."""
    section.only(("lustre",))
    lustre = section.section("lustre")
    lustre.only(("stripe-size", "stripe-count"))
    count, size = lustre.text("stripe-count", ""), None
    if "stripe-size" in lustre.values:
        size = lustre.number("stripe-size", least=1)
    if count and not re.fullmatch(r"-?[0-9]{1,6}", count):
        raise InputError(f"{lustre.place}.stripe-count = {count}: right would be a number of OSTs")
    try:
        return StripeRequest(count=int(count) if count else None, size=size)
    except InputError as error:
        raise InputError(f"{lustre.place}: {error}") from None


def _benchmark(section: Section, directory: str) -> Benchmark:
    """Return one benchmark."""
    section.only(("benchmark", "file", "configuration"))
    known = (*PATTERNS, "metadata", "exerciser")
    name = section.choice("benchmark", (*known, *_NOT_SIMULATED))
    if name in _NOT_SIMULATED:
        raise InputError(
            f"{section.place}.benchmark = {name}: it is not simulated; {', '.join(known)} are"
        )
    inner = section.section("configuration")
    if name == "exerciser":
        return Benchmark(name=name, file="hdf5TestFile", task=_exerciser(inner))
    task = read_stress(inner) if name == "metadata" else read_pattern(name, inner)
    return Benchmark(name=name, file=f"{directory}/{section.text('file')}", task=task)


def _exerciser(section: Section) -> Exerciser:
    """Return the exerciser with its options as h5bench has them: all of them text."""
    options = {name: section.text(name) for name in section.values}
    for name in _SWITCHES:
        if name in options:
            options[name] = str(options[name].lower() == "true")
    try:
        return Exerciser.model_validate({name: _plain(text) for name, text in options.items()})
    except ValidationError as error:
        raise explain(error, section.place, Exerciser) from None


def _plain(text: str) -> object:
    """Return a number or a switch where the text is one."""
    if text in ("True", "False"):
        return text == "True"
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else text


def _check_files(benchmarks: tuple[Benchmark, ...], path: str) -> None:
    """Raise InputError if a file is read that nobody has written, or not so."""
    written: dict[str, Pattern] = {}
    for number, benchmark in enumerate(benchmarks):
        task, place = benchmark.task, f"{path}.benchmarks[{number}]"
        if not isinstance(task, Pattern):
            continue
        if task.operation in ("write", "write-unlimited"):
            written[benchmark.file] = task
            continue
        before = written.get(benchmark.file)
        if before is None or before.datasets == 1:
            raise InputError(
                f"{place}.file = {benchmark.file}: no benchmark before it writes it, with "
                "FILE_PATTERN = CONTIG; right would be a file that one has written"
            )
        fits = len(before.dims) == len(task.dims) and all(
            mine <= theirs for mine, theirs in zip(task.dims, before.dims, strict=True)
        )
        if not fits or task.steps > before.steps:
            raise InputError(
                f"{place}: {task.steps} time steps of {list(task.dims)} particles; "
                f"{benchmark.file} has {before.steps} of {list(before.dims)}; right would be no "
                "more than that"
            )
