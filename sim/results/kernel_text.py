"""The table of a kernel, as text."""

from __future__ import annotations

from collections.abc import Sequence

from sim.config.units import format_bytes, format_rate, format_seconds
from sim.lustre.striping import getstripe_text
from sim.results.columns import format_columns
from sim.results.mpiio_report import mpiio_blocks
from sim.run.result import KernelResult
from sim.workloads.row import Figure, Row

_FILES_SHOWN = 4


def format_kernel(result: KernelResult) -> str:
    """Print the rows of a kernel: times in simulated seconds, rates in 10^9 bytes/s.

    ``start`` is when the first rank began, ``time`` from then to the end of the last one, and
    ``longest`` what the slowest rank took. What MPI-IO prints in the job stands below.
    """
    kernel = result.kernel
    parts = [f"Kernel {kernel.name}: {format_options(result)}\n", _table(result.records)]
    records = [record for _, record in result.mpi_records]
    parts += mpiio_blocks(records, result.scenario.environment)
    return "\n".join(parts)


def format_options(result: KernelResult) -> str:
    """Return the options of a kernel that are set, as ``NAME=VALUE``; defaults are left out."""
    options = result.kernel.model_dump(mode="json", exclude_defaults=True)
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "all defaults"


def format_kernel_layouts(result: KernelResult) -> str:
    """Print the striping of a kernel's files as ``lfs getstripe`` does; the first few files."""
    names = [
        (name if len(files.osts) == 1 else f"{name}.{index}", files, index)
        for name, files in result.files.items()
        for index in range(len(files.osts))
    ]
    shown = names[:_FILES_SHOWN]
    parts = [getstripe_text(name, files.layout(index)) for name, files, index in shown]
    if len(names) > len(shown):
        parts.append(f"# and {len(names) - len(shown):,} files more\n")
    return "".join(parts)


def _table(records: Sequence[Row]) -> str:
    """Return a row for each record, with a column for each figure that one of them has."""
    figures = list(dict.fromkeys(name for record in records for name in record.figures))
    head = ["step", "phase", "start (s)", "time (s)", "longest (s)", "data", "rate", *figures]
    rows = [head, *(_cells(record, figures) for record in records)]
    return format_columns(rows, left=(0, 1))


def _cells(record: Row, figures: Sequence[str]) -> list[str]:
    bandwidth = record.bandwidth
    return [
        record.step,
        record.phase,
        f"{record.start:.4f}",
        f"{record.seconds:.4f}",
        f"{record.longest:.4f}",
        format_bytes(record.bytes, 3) if record.bytes else "",
        "" if bandwidth is None else format_rate(bandwidth, 4),
        *(_figure(record.figures.get(name)) for name in figures),
    ]


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return ""
    value, unit = figure
    if unit == "bytes":
        return format_bytes(int(value), 3)
    if unit == "seconds":
        return format_seconds(value, 3)
    return format_rate(value, 3) if unit == "bytes/s" else f"{value:,.6g}"
