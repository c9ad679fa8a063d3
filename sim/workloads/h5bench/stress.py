"""The metadata stress test of h5bench, ``hdf5_iotest``: arrays of many time steps, in tiles."""

from __future__ import annotations

from dataclasses import dataclass

from sim.config.errors import InputError
from sim.config.kept import kept
from sim.workloads.h5bench.section import Section

DOUBLE = 8
"""Bytes of an element."""

_NAMES = (
    *("version", "steps", "arrays", "rows", "columns", "process-rows", "process-columns"),
    *("scaling", "dataset-rank", "slowest-dimension", "layout", "mpi-io", "csv-file"),
)
_MOST_WRITES = 20_000


@kept
@dataclass(frozen=True, kw_only=True)
class Stress:
    """One metadata stress test.

    Attributes
    ----------
    steps, arrays
        How many there are.
    rows, columns
        As typed: of a rank's tile with weak scaling, of an array with strong.
    process_rows, process_columns
        Ranks along each dimension of an array.
    scaling
        ``weak`` or ``strong``.
    rank
        Dimensions of a dataset: 4, one for all; 3, one for each step or array; 2, one for each
        array of each step.
    step_first
        Whether the steps are the slowest dimension.
    chunked, collective
        How the datasets lie, and how they are accessed.
    csv_file
        What the figures are written to besides.
    """

    steps: int
    arrays: int
    rows: int
    columns: int
    process_rows: int
    process_columns: int
    scaling: str
    rank: int
    step_first: bool
    chunked: bool
    collective: bool
    csv_file: str | None

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


def read_stress(section: Section) -> Stress:
    """Return the test that a configuration describes.

    Raises
    ------
    InputError
        If a field is unknown, missing or out of range.
    """
    section.only(_NAMES)
    section.choice("version", ("0",), "0")
    slowest = section.choice("slowest-dimension", ("step", "array"))
    stress = Stress(
        steps=section.number("steps", least=1),
        arrays=section.number("arrays", least=1),
        rows=section.number("rows", least=2),
        columns=section.number("columns", least=2),
        process_rows=section.number("process-rows", least=1),
        process_columns=section.number("process-columns", least=1),
        scaling=section.choice("scaling", ("weak", "strong")),
        rank=int(section.choice("dataset-rank", ("2", "3", "4"))),
        step_first=slowest == "step",
        chunked=section.choice("layout", ("contiguous", "chunked")) == "chunked",
        collective=section.choice("mpi-io", ("independent", "collective")) == "collective",
        csv_file=section.text("csv-file") if "csv-file" in section.values else None,
    )
    if stress.scaling == "strong" and (
        stress.rows % stress.process_rows or stress.columns % stress.process_columns
    ):
        raise InputError(
            f"{section.place}: rows = {stress.rows} and columns = {stress.columns} are not dealt "
            f"evenly to {stress.process_rows} x {stress.process_columns} ranks; right would be "
            "multiples"
        )
    if stress.steps * stress.arrays > _MOST_WRITES:
        raise InputError(
            f"{section.place}: steps x arrays = {stress.steps * stress.arrays:,} writes of each "
            f"rank; right would be at most {_MOST_WRITES:,}, to be done in minutes"
        )
    return stress
