"""The configuration file of h5bench: JSON with ``mpi``, ``vol``, ``file-system`` and benchmarks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from xc40io.config.errors import InputError
from xc40io.config.files import Kind, text_of
from xc40io.config.model import explain
from xc40io.config.reading import reading
from xc40io.config.striping import StripeRequest
from xc40io.config.text.json_text import parse_json
from xc40io.workloads.batch.launchers import LaunchLine, is_launcher, read_launch
from xc40io.workloads.h5bench.benchmarks import (
    FOR_ASYNC,
    PATTERN_OPTIONS,
    PATTERNS,
    Pattern,
    Stress,
    read_pattern,
    read_stress,
)
from xc40io.workloads.h5bench.section import Section, number, one_of
from xc40io.workloads.kernels.exerciser import Exerciser
from xc40io.workloads.option_table import by_name, row

Task: TypeAlias = Pattern | Stress | Exerciser

_NEEDED = ("mpi", "vol", "file-system", "directory", "benchmarks")
_SIMULATED = (*PATTERNS, "metadata", "exerciser")
_NOT_SIMULATED = ("append", "write_var_normal_dist", "amrex", "openpmd", "e3sm", "macsio")

_ROWS = by_name(row(" ".join(_NEEDED), str))
_VOL_ROWS = by_name(row("library path connector preload", str))
_MPI_ROWS = by_name(row("command", str), row("ranks", number(1)), row("configuration", str, ""))
_LUSTRE_ROWS = by_name(row("stripe-size", number(1)), row("stripe-count", str, ""))
_BENCHMARK_ROWS = by_name(
    row("benchmark", one_of(*_SIMULATED, *_NOT_SIMULATED)),
    row("file configuration", str),
)
_ONLY_WITH = {
    **dict.fromkeys(("CHUNK_DIM_1", "CHUNK_DIM_2", "CHUNK_DIM_3"), ("COMPRESS", "YES")),
    **dict.fromkeys(("ALIGN_LEN", "ALIGN_THRESHOLD"), ("ALIGN", "YES")),
    "TO_READ_NUM_PARTICLES": ("READ_OPTION", "PARTIAL"),
}
"""Options of a pattern that only another one makes count."""

_SWITCHES = ("keepfile", "usechunked", "indepio", "addattr", "derivedtype", "metacoll")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark of a configuration."""

    name: str  # as h5bench calls it: write, metadata
    file: str  # the HDF5 file, with its folder
    task: Task  # what it does


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a file asks for."""

    place: str  # the file, as messages call it
    ranks: int  # that MPI is to start
    nodes: int | None  # on so many nodes
    ppn: int | None  # so many on each
    notes: tuple[str, ...]  # what of the file counts for nothing: sentences
    striping: StripeRequest  # of the folder; what is not said is left to the job
    directory: str  # the folder of the files
    benchmarks: tuple[Benchmark, ...]  # in order
    asynchronous: bool  # whether any of them goes through the asynchronous connector


def read_configuration(path: str) -> Configuration:
    """Read a configuration, from a file or from its text.

    Raises
    ------
    InputError
        If the file cannot be read, is no JSON, or asks for what there is not or is not simulated;
        the message names file, field and value.
    """
    place, text = (_WRITTEN, path) if "\n" in path else (path, text_of(path, _KIND))
    document = parse_json(text, place)
    with reading(place, "a configuration of h5bench"):
        return _configuration(document, place)


_KIND = Kind("h5bench", 1 << 20, piped=True)
_WRITTEN = "the configuration"
"""What messages call one whose text is given."""


def _configuration(document: object, path: str) -> Configuration:
    section = Section(path, document, _ROWS)
    for name in _NEEDED:
        if name not in section.values:
            raise InputError(f"{path}.{name} is missing; h5bench wants {', '.join(_NEEDED)}")
    directory, listed = section.text("directory"), section.values["benchmarks"]
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}.benchmarks: right would be a list of at least one benchmark")
    benchmarks = tuple(
        _benchmark(Section(f"{path}.benchmarks[{at}]", one, _BENCHMARK_ROWS), directory)
        for at, one in enumerate(listed)
    )
    _check_files(benchmarks, path)
    mpi, vol = section.section("mpi", _MPI_ROWS), section.section("vol", _VOL_ROWS)
    launch = _launch(mpi)
    notes = [f"mpi.configuration: {note.partition(': ')[2]}." for note in launch.notes]
    asynchronous = any(
        isinstance(one.task, Pattern) and one.task.asynchronous for one in benchmarks
    )
    if asynchronous and not str(vol.values.get("connector", "")).startswith("async"):
        raise InputError(
            f"{vol.place}.connector does not name the asynchronous connector, which MODE = ASYNC "
            "needs; right would be async under_vol=0;under_info={}"
        )
    notes += [
        f"vol.{name} = {value}: connectors of HDF5 are not simulated; it is left out."
        for name, value in vol.values.items()
        if not asynchronous
    ]
    notes += [note for at, one in enumerate(listed) for note in _idle(one, at)]
    return Configuration(
        place=path,
        ranks=_number(launch.ranks) or mpi["ranks"],
        nodes=_number(launch.nodes),
        ppn=_number(launch.ppn),
        notes=tuple(notes),
        striping=_striping(section.section("file-system", by_name(row("lustre", str)))),
        directory=directory,
        benchmarks=benchmarks,
        asynchronous=asynchronous,
    )


def _idle(benchmark: dict[str, Any], at: int) -> Iterator[str]:
    """Yield a sentence for each option of a benchmark that counts for nothing here."""
    given, operation = benchmark.get("configuration", {}), benchmark["benchmark"]
    for name, value in given.items():
        why = PATTERN_OPTIONS[name].idle if operation in PATTERNS else ""
        why = "" if why == FOR_ASYNC and given.get("MODE") == "ASYNC" else why
        needed, wanted = _ONLY_WITH.get(name, (name, value)) if operation in PATTERNS else ("", "")
        chunked = name.startswith("CHUNK_DIM") and operation == "write-unlimited"
        if needed and given.get(needed, "") != wanted and not chunked:
            why = f"only {needed} = {wanted} looks at it"
        if operation == "exerciser" and name == "metacoll":
            why = "h5bench builds the program without METACOLOK"
        if why:
            yield f"benchmarks[{at}].configuration.{name} = {value} changes nothing: {why}."


def _launch(section: Section) -> LaunchLine:
    """Return what ``configuration`` says to the launcher, which ``command`` names."""
    command, typed = section.text("command"), section.text("configuration")
    launcher = command if is_launcher(command) else "mpirun"
    try:
        words = shlex.split(typed)
    except ValueError as error:
        raise InputError(f"{section.place}.configuration: {error}") from error
    return read_launch([launcher, *words], 1, f"{section.place}.configuration")


def _number(text: str | None) -> int | None:
    """Return a number of ranks or nodes, if it is one."""
    return int(text) if text is not None and re.fullmatch("0*[1-9][0-9]{0,6}", text) else None


def _striping(section: Section) -> StripeRequest:
    """Return the striping of the folder."""
    lustre = section.section("lustre", _LUSTRE_ROWS)
    count = lustre.text("stripe-count")
    size = lustre["stripe-size"] if "stripe-size" in lustre.values else None
    if count and not re.fullmatch(r"-?[0-9]{1,6}", count):
        raise InputError(f"{lustre.place}.stripe-count = {count}: right would be a number of OSTs")
    try:
        return StripeRequest(count=int(count) if count else None, size=size)
    except InputError as error:
        raise InputError(f"{lustre.place}: {error}") from None


def _benchmark(section: Section, directory: str) -> Benchmark:
    """Return one benchmark."""
    name = section["benchmark"]
    if name in _NOT_SIMULATED:
        raise InputError(
            f"{section.place}.benchmark = {name}: it is not simulated; {', '.join(_SIMULATED)} are"
        )
    if name == "exerciser":
        inner = section.section("configuration")
        return Benchmark(name=name, file="hdf5TestFile", task=_exerciser(inner))
    task = read_stress(section) if name == "metadata" else read_pattern(name, section)
    return Benchmark(name=name, file=f"{directory}/{section.text('file')}", task=task)


def _exerciser(section: Section) -> Exerciser:
    """Return the exerciser with its options as h5bench has them: all of them text.

    ``metacoll`` is taken, and does nothing: h5bench builds the program without METACOLOK.
    """
    options = {name: section.text(name) for name in section.values}
    for name in _SWITCHES:
        if name in options:
            options[name] = str(options[name].lower() == "true" and name != "metacoll")
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
    for at, benchmark in enumerate(benchmarks):
        task, place = benchmark.task, f"{path}.benchmarks[{at}]"
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
