"""The benchmarks of h5bench that are simulated: the fields that describe them, what they leave.

The *patterns* are particles of eight variables, written or read once each time step:
``h5bench_write`` is VPIC-IO, ``h5bench_read`` is BD-CATS-IO. Every rank has ``DIM_1 * DIM_2 *
DIM_3`` particles; along the first dimension the ranks lie one behind the other. The *metadata
stress test*, ``hdf5_iotest``, has arrays of many time steps, in tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import gt

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.workloads.h5bench.section import Section, number, one_of, seconds, switch
from xc40io.workloads.option_table import Rule, by_name, refuse, row

VARIABLES = ("x", "y", "z", "px", "py", "pz", "id_1", "id_2")
"""The variables of a particle, in the order in which they are created."""

OPENED = ("x", "y", "z", "id_1", "id_2", "px", "py", "pz")
"""The order in which they are opened, and read or overwritten."""

SIZED = "px"
"""The one whose size is looked up as soon as the file is open."""

ELEMENT = 4
"""Bytes of a variable of a particle."""

PARTICLE = ELEMENT * len(VARIABLES)

PATTERNS = ("write", "write-unlimited", "overwrite", "read")
"""The patterns that are simulated."""

DOUBLE = 8
"""Bytes of an element of the metadata stress test."""

FOR_ASYNC = "it is for asynchronous I/O"
"""Why some options of a pattern count for nothing, unless it is ``MODE = ASYNC``."""

_MOST_WRITES = 20_000


# --- particles ---

PATTERN_OPTIONS = by_name(
    row("MEM_PATTERN FILE_PATTERN", one_of("CONTIG", "INTERLEAVED", "STRIDED")),
    row("TIMESTEPS", number(1)),
    row("DELAYED_CLOSE_TIMESTEPS", number(), "0", idle=FOR_ASYNC),
    row("NUM_PARTICLES", str, idle="DIM_1, DIM_2 and DIM_3 say it"),
    row("COLLECTIVE_DATA COLLECTIVE_METADATA", switch, "NO"),
    row("EMULATED_COMPUTE_TIME_PER_TIMESTEP", seconds, "0 s"),
    row("NUM_DIMS", number(1), "1"),
    row("DIM_1 DIM_2 DIM_3", number(1)),
    row("MODE", one_of("SYNC", "ASYNC", "LOG"), "SYNC"),
    row("CSV_FILE", str),
    row("IO_MEM_LIMIT", number(), "0", idle=FOR_ASYNC),
    row("IO_OPERATION", str, idle="the name of the benchmark says it"),
    row("COMPRESS", switch, "NO"),
    row("CHUNK_DIM_1 CHUNK_DIM_2 CHUNK_DIM_3", number(1)),
    row("READ_OPTION", one_of("FULL", "PARTIAL", "STRIDED"), "FULL"),
    row("TO_READ_NUM_PARTICLES STRIDE_SIZE BLOCK_SIZE BLOCK_CNT", number(), "0"),
    row("SUBFILING FILE_PER_PROC ALIGN", switch, "NO"),
    row("ALIGN_THRESHOLD", number(), "0"),
    row("ALIGN_LEN", number(1), "1"),
    row(
        "DATA_DIST_PATH DATA_DIST_SCALE",
        refused="the values of the data cannot matter in a simulation",
    ),
    row("ENV_METADATA_FILE", refused="there is no environment of a real job to record"),
    row("STDEV_DIM_1", refused="it belongs to write_var_normal_dist, which is not simulated"),
    row("STRIDE_SIZE_2", refused="it belongs to READ_OPTION = CS, which is not simulated"),
    row(
        "BLOCK_SIZE_2",
        refused="it belongs to READ_OPTION = LDC, RDC and PRL, which are not simulated",
    ),
)
_SUPPORTED = {
    1: (
        *(("CONTIG", "CONTIG"), ("CONTIG", "INTERLEAVED"), ("INTERLEAVED", "CONTIG")),
        *(("INTERLEAVED", "INTERLEAVED"), ("CONTIG", "STRIDED")),
    ),
    2: (
        *(("CONTIG", "CONTIG"), ("CONTIG", "INTERLEAVED"), ("INTERLEAVED", "CONTIG")),
        ("INTERLEAVED", "INTERLEAVED"),
    ),
    3: (("CONTIG", "CONTIG"),),
}


@kept(before={"subfiling": False, "delay": None, "limit": 0})
@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One benchmark of particles."""

    operation: str  # one of PATTERNS
    # how variables lie in memory and file: CONTIG, each by itself; INTERLEAVED, particle after
    # particle; STRIDED, in blocks with gaps between them
    memory: str
    file: str
    steps: int  # time steps
    compute: float  # seconds of computing between two of them
    dims: tuple[int, ...]  # particles of a rank along each dimension
    chunk: tuple[int, ...] | None  # particles of a chunk along each dimension; None: in one piece
    compress: bool  # whether gzip is asked for
    # how data and metadata go
    collective: bool
    collective_metadata: bool
    subfiling: bool  # whether the file lies in subfiles
    # bytes: what is at least as large as the threshold begins at a multiple of the alignment
    alignment: int
    threshold: int
    # with STRIDED: particles from one block to the next and in a block, and blocks
    stride: int
    block: int
    blocks: int
    # particles of each rank that are read, with READ_OPTION = PARTIAL; None: all
    partial: int | None
    # through the asynchronous connector: after so many time steps they are closed, and waited for
    # as soon as those that are not done take so many bytes; None: without the connector
    delay: int | None
    limit: int
    csv_file: str | None  # what the figures are written to besides

    @property
    def asynchronous(self) -> bool:
        """Whether it goes through the asynchronous connector."""
        return self.delay is not None

    @property
    def makes(self) -> bool:
        """Whether it makes the file that it works on."""
        return self.operation in ("write", "write-unlimited")

    @property
    def particles(self) -> int:
        """Particles of a rank."""
        return prod(self.dims)

    @property
    def moved(self) -> int:
        """Bytes that a rank moves in a time step."""
        if self.file == "STRIDED":
            return self.block * self.blocks * PARTICLE
        return (self.partial or self.particles) * PARTICLE

    @property
    def datasets(self) -> int:
        """Datasets of a time step."""
        return 1 if self.file == "INTERLEAVED" else len(VARIABLES)

    @property
    def span(self) -> int:
        """Particles that the blocks take, with the gaps between them."""
        return (self.stride + self.block) * self.blocks


_PATTERN_RULES: tuple[Rule[Pattern], ...] = (
    (
        lambda t: (
            t.file == "STRIDED" and (min(t.stride, t.block, t.blocks) < 1 or t.span > t.dims[0])
        ),
        ": STRIDE_SIZE, BLOCK_SIZE and BLOCK_CNT must be at least 1, and "
        "(STRIDE_SIZE + BLOCK_SIZE) * BLOCK_CNT = {t.span} at most DIM_1 = {t.dims[0]}",
    ),
    (
        lambda t: t.file == "STRIDED" and t.blocks > 1 and t.stride < t.block,
        ": STRIDE_SIZE = {t.stride} is less than BLOCK_SIZE = {t.block}; right would be blocks "
        "that do not overlap",
    ),
    (
        lambda t: t.partial is not None and (len(t.dims) != 1 or t.partial > t.dims[0]),
        ".TO_READ_NUM_PARTICLES = {t.partial}: right would be at most DIM_1 = {t.dims[0]}, with "
        "NUM_DIMS = 1",
    ),
    (
        lambda t: 0 < t.limit <= t.particles * PARTICLE,
        ".IO_MEM_LIMIT = {t.limit}: a time step takes as much or more; right would be 0, or more "
        "than a time step",
    ),
)


def read_pattern(operation: str, benchmark: Section) -> Pattern:
    """Return the pattern that the configuration of a benchmark describes.

    Raises
    ------
    InputError
        If a field is unknown, missing or out of range, or asks for what is not simulated.
    """
    section = benchmark.section("configuration", PATTERN_OPTIONS)
    _refuse(section)
    count = section["NUM_DIMS"]
    memory, file = (section[name] for name in ("MEM_PATTERN", "FILE_PATTERN"))
    supported = _SUPPORTED.get(count, ())
    if operation in ("read", "overwrite"):
        supported = tuple(pair for pair in supported if "INTERLEAVED" not in pair)
    if (memory, file) not in supported:
        raise InputError(
            f"{section.place}: MEM_PATTERN = {memory} with FILE_PATTERN = {file} and NUM_DIMS = "
            f"{count}: h5bench {operation} cannot do this; right would be CONTIG with CONTIG"
        )
    read_option = section["READ_OPTION"]
    partial = section["TO_READ_NUM_PARTICLES"] if read_option == "PARTIAL" else 0
    asynchronous = section["MODE"] == "ASYNC"
    compress = section["COMPRESS"]
    chunked = compress or operation == "write-unlimited"
    aligned = section["ALIGN"]
    pattern = Pattern(
        operation=operation,
        memory=memory,
        file=file,
        steps=section["TIMESTEPS"],
        compute=section["EMULATED_COMPUTE_TIME_PER_TIMESTEP"],
        dims=tuple(section[f"DIM_{i + 1}"] for i in range(count)),
        chunk=_chunk(section, count) if chunked else None,
        compress=compress,
        collective=section["COLLECTIVE_DATA"] or compress,
        collective_metadata=section["COLLECTIVE_METADATA"],
        subfiling=section["SUBFILING"],
        alignment=section["ALIGN_LEN"] if aligned else 1,
        threshold=section["ALIGN_THRESHOLD"] if aligned else 1,
        stride=section["STRIDE_SIZE"],
        block=section["BLOCK_SIZE"],
        blocks=section["BLOCK_CNT"],
        partial=partial or None,
        delay=section["DELAYED_CLOSE_TIMESTEPS"] if asynchronous else None,
        limit=section["IO_MEM_LIMIT"] if asynchronous else 0,
        csv_file=section.text("CSV_FILE") if "CSV_FILE" in section.values else None,
    )
    refuse(_PATTERN_RULES, pattern, section.place)
    if pattern.chunk and any(map(gt, pattern.chunk, pattern.dims)):
        raise InputError(
            f"{section.place}: chunks of {list(pattern.chunk)} are larger than the dimensions "
            f"{list(pattern.dims)}; right would be CHUNK_DIM_n of at most DIM_n"
        )
    return pattern


def _refuse(section: Section) -> None:
    """Raise InputError if what is asked for is known, but not simulated."""
    mode = section["MODE"]
    if mode == "LOG":
        raise InputError(
            f"{section.place}.MODE = {mode}: the VOL connector that it needs is not simulated; "
            "right would be SYNC or ASYNC"
        )
    if section["FILE_PER_PROC"]:
        raise InputError(f"{section.place}.FILE_PER_PROC = YES is not simulated; right would be NO")
    option = section.text("READ_OPTION")
    if option in ("LDC", "RDC", "PRL", "CS"):
        raise InputError(
            f"{section.place}.READ_OPTION = {option} is not simulated; right would be FULL, "
            "PARTIAL or STRIDED"
        )


def _chunk(section: Section, count: int) -> tuple[int, ...]:
    return tuple(section[f"CHUNK_DIM_{i + 1}"] for i in range(count))


# --- the metadata stress test ---

STRESS_OPTIONS = by_name(
    row("version", one_of("0"), "0"),
    row("steps arrays", number(1)),
    row("rows columns", number(2)),
    row("process-rows process-columns", number(1)),
    row("scaling", one_of("weak", "strong")),
    row("dataset-rank", one_of("2", "3", "4")),
    row("slowest-dimension", one_of("step", "array")),
    row("layout", one_of("contiguous", "chunked")),
    row("mpi-io", one_of("independent", "collective")),
    row("csv-file", str),
)


@kept
@dataclass(frozen=True, kw_only=True)
class Stress:
    """One metadata stress test."""

    # how many there are
    steps: int
    arrays: int
    # as typed: of a rank's tile with weak scaling, of an array with strong
    rows: int
    columns: int
    # ranks along each dimension of an array
    process_rows: int
    process_columns: int
    scaling: str  # weak or strong
    # dimensions of a dataset: 4, one for all; 3, one for each step or array; 2, one for each array
    # of each step
    rank: int
    step_first: bool  # whether the steps are the slowest dimension
    # how the datasets lie, and how they are accessed
    chunked: bool
    collective: bool
    csv_file: str | None  # what the figures are written to besides

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of a rank."""
        if self.scaling == "weak":
            return self.rows, self.columns
        return self.rows // self.process_rows, self.columns // self.process_columns

    @property
    def whole(self) -> tuple[int, int]:
        """Rows and columns of an array."""
        rows, columns = self.tile
        return rows * self.process_rows, columns * self.process_columns

    @property
    def moved(self) -> int:
        """Bytes that a rank writes, and reads."""
        rows, columns = self.tile
        return self.steps * self.arrays * rows * columns * DOUBLE

    @property
    def writes(self) -> int:
        """Arrays that a rank writes in all."""
        return self.steps * self.arrays


_STRESS_RULES: tuple[Rule[Stress], ...] = (
    (
        lambda t: (
            t.scaling == "strong" and (t.rows % t.process_rows or t.columns % t.process_columns)
        ),
        ": rows = {t.rows} and columns = {t.columns} are not dealt evenly to {t.process_rows} x "
        "{t.process_columns} ranks; right would be multiples",
    ),
    (
        lambda t: t.writes > _MOST_WRITES,
        ": steps x arrays = {t.writes:,} writes of each rank; right would be at most "
        f"{_MOST_WRITES:,}, to be done in minutes",
    ),
)


def read_stress(benchmark: Section) -> Stress:
    """Return the test that the configuration of a benchmark describes.

    Raises
    ------
    InputError
        If a field is unknown, missing or out of range.
    """
    section = benchmark.section("configuration", STRESS_OPTIONS)
    _, slowest = section["version"], section["slowest-dimension"]
    stress = Stress(
        steps=section["steps"],
        arrays=section["arrays"],
        rows=section["rows"],
        columns=section["columns"],
        process_rows=section["process-rows"],
        process_columns=section["process-columns"],
        scaling=section["scaling"],
        rank=int(section["dataset-rank"]),
        step_first=slowest == "step",
        chunked=section["layout"] == "chunked",
        collective=section["mpi-io"] == "collective",
        csv_file=section.text("csv-file") if "csv-file" in section.values else None,
    )
    refuse(_STRESS_RULES, stress, section.place)
    return stress


# --- what they leave ---


@kept
@dataclass(frozen=True, kw_only=True)
class PatternTimes:
    """What rank 0 has measured of a pattern; seconds."""

    size: int  # bytes of all ranks and time steps
    # in the calls that move data, and in those that make or open groups and datasets
    raw: float
    metadata: float
    # H5Fcreate or H5Fopen, H5Fflush (0 where nothing is written) and H5Fclose
    create: float
    flush: float
    close: float
    observed: float  # from the first call to the end of the last one


@kept
@dataclass(frozen=True, kw_only=True)
class StressTimes:
    """What the ranks of a metadata stress test have measured: least and most of them, seconds."""

    wall: float  # the whole test
    file_size: int  # bytes of the file
    # pairs: of the rank with the least and of that with the most
    write_phase: tuple[float, float]
    create: tuple[float, float]
    write: tuple[float, float]
    read_phase: tuple[float, float]
    read: tuple[float, float]


@kept
@dataclass(frozen=True, kw_only=True)
class FinishedBenchmark:
    """One benchmark that has run."""

    # as the configuration has them
    name: str
    file: str
    # what it did and what it measured; None of an exerciser, whose rows tell all
    task: Pattern | Stress | None
    times: PatternTimes | StressTimes | None
    csv_path: str | None  # where its figures are written to besides; None: nowhere
    rows: int  # how many rows of the table there were at its end


@kept
@dataclass(frozen=True, kw_only=True)
class H5benchOutcome:
    """A finished configuration: its benchmarks, in order."""

    benchmarks: tuple[FinishedBenchmark, ...]
