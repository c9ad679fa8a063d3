"""The patterns of h5bench: particles of eight variables, written or read once each time step.

``h5bench_write`` is VPIC-IO, ``h5bench_read`` is BD-CATS-IO. Every rank has ``DIM_1 * DIM_2 *
DIM_3`` particles; along the first dimension the ranks lie one behind the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from sim.config.errors import InputError
from sim.config.kept import kept
from sim.workloads.h5bench.section import Section

VARIABLES = ("x", "y", "z", "px", "py", "pz", "id_1", "id_2")
ELEMENT = 4
"""Bytes of a variable of a particle."""

PARTICLE = ELEMENT * len(VARIABLES)

PATTERNS = ("write", "write-unlimited", "overwrite", "read")
"""The benchmarks of this kind that are simulated."""

_NAMES = (
    *("MEM_PATTERN", "FILE_PATTERN", "TIMESTEPS", "DELAYED_CLOSE_TIMESTEPS", "NUM_PARTICLES"),
    *("COLLECTIVE_DATA", "COLLECTIVE_METADATA", "EMULATED_COMPUTE_TIME_PER_TIMESTEP"),
    *("NUM_DIMS", "DIM_1", "DIM_2", "DIM_3", "MODE", "CSV_FILE", "IO_MEM_LIMIT", "IO_OPERATION"),
    *("COMPRESS", "CHUNK_DIM_1", "CHUNK_DIM_2", "CHUNK_DIM_3", "READ_OPTION"),
    *("TO_READ_NUM_PARTICLES", "STRIDE_SIZE", "BLOCK_SIZE", "BLOCK_CNT", "SUBFILING"),
    *("FILE_PER_PROC", "ALIGN", "ALIGN_THRESHOLD", "ALIGN_LEN"),
)
_REFUSED = {
    "DATA_DIST_PATH": "the values of the data cannot matter in a simulation",
    "DATA_DIST_SCALE": "the values of the data cannot matter in a simulation",
    "ENV_METADATA_FILE": "there is no environment of a real job to record",
    "STDEV_DIM_1": "it belongs to write_var_normal_dist, which is not simulated",
    "STRIDE_SIZE_2": "it belongs to READ_OPTION = CS, which is not simulated",
    "BLOCK_SIZE_2": "it belongs to READ_OPTION = LDC, RDC and PRL, which are not simulated",
}
_LAYOUTS = ("CONTIG", "INTERLEAVED", "STRIDED")
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


@kept
@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One benchmark of particles.

    Attributes
    ----------
    operation
        One of :data:`PATTERNS`.
    memory, file
        How variables lie in memory and file: ``CONTIG``, each by itself; ``INTERLEAVED``, particle
        after particle; ``STRIDED``, in blocks with gaps between them.
    steps
        Time steps.
    compute
        Seconds of computing between two of them.
    dims
        Particles of a rank along each dimension.
    chunk
        Particles of a chunk along each dimension; None: in one piece.
    compress
        Whether gzip is asked for.
    collective, collective_metadata
        How data and metadata go.
    alignment, threshold
        Bytes: what is at least as large as the threshold begins at a multiple of the alignment.
    stride, block, blocks
        With ``STRIDED``: particles from one block to the next and in a block, and blocks.
    partial
        Particles of each rank that are read, with ``READ_OPTION = PARTIAL``; None: all.
    csv_file
        What the figures are written to besides.
    """

    operation: str
    memory: str
    file: str
    steps: int
    compute: float
    dims: tuple[int, ...]
    chunk: tuple[int, ...] | None
    compress: bool
    collective: bool
    collective_metadata: bool
    alignment: int
    threshold: int
    stride: int
    block: int
    blocks: int
    partial: int | None
    csv_file: str | None

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


def read_pattern(operation: str, section: Section) -> Pattern:
    """Return the pattern that a configuration describes.

    Raises
    ------
    InputError
        If a field is unknown, missing or out of range, or asks for what is not simulated.
    """
    section.only(_NAMES, _REFUSED)
    _refuse(section)
    number = section.number("NUM_DIMS", 1, least=1)
    memory, file = (section.choice(name, _LAYOUTS) for name in ("MEM_PATTERN", "FILE_PATTERN"))
    supported = _SUPPORTED.get(number, ())
    if operation in ("read", "overwrite"):
        supported = tuple(pair for pair in supported if "INTERLEAVED" not in pair)
    if (memory, file) not in supported:
        raise InputError(
            f"{section.place}: MEM_PATTERN = {memory} with FILE_PATTERN = {file} and NUM_DIMS = "
            f"{number} is none that h5bench {operation} has; right would be CONTIG with CONTIG"
        )
    read_option = section.choice("READ_OPTION", ("FULL", "PARTIAL", "STRIDED"), "FULL")
    partial = section.number("TO_READ_NUM_PARTICLES", 0) if read_option == "PARTIAL" else 0
    compress = section.switch("COMPRESS")
    chunked = compress or operation == "write-unlimited"
    aligned = section.switch("ALIGN")
    pattern = Pattern(
        operation=operation,
        memory=memory,
        file=file,
        steps=section.number("TIMESTEPS", least=1),
        compute=section.seconds("EMULATED_COMPUTE_TIME_PER_TIMESTEP"),
        dims=tuple(section.number(f"DIM_{i + 1}", least=1) for i in range(number)),
        chunk=_chunk(section, number) if chunked else None,
        compress=compress,
        collective=section.switch("COLLECTIVE_DATA") or compress,
        collective_metadata=section.switch("COLLECTIVE_METADATA"),
        alignment=section.number("ALIGN_LEN", 1, least=1) if aligned else 1,
        threshold=section.number("ALIGN_THRESHOLD", 0) if aligned else 1,
        stride=section.number("STRIDE_SIZE", 0),
        block=section.number("BLOCK_SIZE", 0),
        blocks=section.number("BLOCK_CNT", 0),
        partial=partial or None,
        csv_file=section.text("CSV_FILE") if "CSV_FILE" in section.values else None,
    )
    _check(pattern, section)
    return pattern


def _refuse(section: Section) -> None:
    """Raise InputError if what is asked for is known, but not simulated."""
    mode = section.choice("MODE", ("SYNC", "ASYNC", "LOG"), "SYNC")
    if mode != "SYNC":
        raise InputError(
            f"{section.place}.MODE = {mode}: the VOL connectors that it needs are not simulated; "
            "right would be SYNC"
        )
    for name in ("SUBFILING", "FILE_PER_PROC"):
        if section.switch(name):
            raise InputError(f"{section.place}.{name} = YES is not simulated; right would be NO")
    option = section.text("READ_OPTION", "FULL")
    if option in ("LDC", "RDC", "PRL", "CS"):
        raise InputError(
            f"{section.place}.READ_OPTION = {option} is not simulated; right would be FULL, "
            "PARTIAL or STRIDED"
        )


def _chunk(section: Section, number: int) -> tuple[int, ...]:
    return tuple(section.number(f"CHUNK_DIM_{i + 1}", least=1) for i in range(number))


def _check(pattern: Pattern, section: Section) -> None:
    """Raise InputError where two fields contradict each other."""
    place, own = section.place, pattern.dims[0]
    if pattern.file == "STRIDED":
        span = (pattern.stride + pattern.block) * pattern.blocks
        if min(pattern.stride, pattern.block, pattern.blocks) < 1 or span > own:
            raise InputError(
                f"{place}: STRIDE_SIZE, BLOCK_SIZE and BLOCK_CNT must be at least 1, and "
                f"(STRIDE_SIZE + BLOCK_SIZE) * BLOCK_CNT = {span} at most DIM_1 = {own}"
            )
        if pattern.blocks > 1 and pattern.stride < pattern.block:
            raise InputError(
                f"{place}: STRIDE_SIZE = {pattern.stride} is less than BLOCK_SIZE = "
                f"{pattern.block}; right would be blocks that do not overlap"
            )
    if pattern.partial is not None and (len(pattern.dims) > 1 or pattern.partial > own):
        raise InputError(
            f"{place}.TO_READ_NUM_PARTICLES = {pattern.partial}: right would be at most DIM_1 = "
            f"{own}, with NUM_DIMS = 1"
        )
    if pattern.chunk and any(
        part > whole for part, whole in zip(pattern.chunk, pattern.dims, strict=True)
    ):
        raise InputError(
            f"{place}: chunks of {list(pattern.chunk)} are larger than the dimensions "
            f"{list(pattern.dims)}; right would be CHUNK_DIM_n of at most DIM_n"
        )
