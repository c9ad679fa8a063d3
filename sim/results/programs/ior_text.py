"""IOR's own table, line for line as IOR 4.1 prints it, so that scripts that read IOR read this."""

from __future__ import annotations

from collections.abc import Iterator

from xc40io.config.units import MIB
from xc40io.results.programs.ior_report import (
    VERSION,
    IorReport,
    TestReport,
    access_name,
    in_order,
    options_section,
)
from xc40io.results.programs.surroundings import FileSystem
from xc40io.workloads.ior.files import file_name
from xc40io.workloads.ior.outcome import IorRow, IorSummary, Removal, Stonewall, summarise
from xc40io.workloads.ior.parameters import Access, IorTest

# The Results table: title, width of the column, dashes under the title. Cells take ten places and
# then always a space (the latency two), even if a number needs more.
_COLUMNS = (
    ("access", 10, 6),
    ("bw(MiB/s)", 11, 9),
    ("IOPS", 11, 4),
    ("Latency(s)", 12, 10),
    ("block(KiB)", 11, 10),
    ("xfer(KiB)", 11, 9),
    ("open(s)", 11, 8),
    ("wr/rd(s)", 11, 8),
    ("close(s)", 11, 8),
    ("total(s)", 11, 8),
    ("iter", 4, 4),
)

# The summary: titles with the widths that IOR gives them; some differ from the cells' widths.
_SUMMARY_TITLES = (
    f"{'Operation':<9} {'Max(MiB)':>10} {'Min(MiB)':>10} {'Mean(MiB)':>10} {'StdDev':>10} "
    f"{'Max(OPs)':>10} {'Min(OPs)':>10} {'Mean(OPs)':>10} {'StdDev':>10} {'Mean(s)':>10} "
    "Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt "
    f"{'blksiz':>8} {'xsize':>8} {'aggs(MiB)':>9} {'API':>5} RefNum"
)


def format_text(report: IorReport) -> str:
    """Print a report as IOR does without ``summaryFormat``.

    Returns
    -------
    str
        Header, one block for each test (Options, Results) and the summary of all; ends with a
        newline. With ``-v`` also the best write and read of each test.
    """
    lines = [
        f"IOR-{VERSION}: MPI Coordinated Test of Parallel I/O",
        _pair("Began", report.began.ctime()),
        _pair("Command line", report.command_line),
        _pair("Machine", report.machine),
    ]
    for test in report.tests:
        lines += _test_lines(test, report.file_system)
    lines += ["", "Summary of all tests:", _SUMMARY_TITLES]
    for test in report.tests:
        lines += (_summary_line(test, summary) for summary in summarise(test.rows))
    lines.append(_pair("Finished", report.finished.ctime()))
    return "\n".join(lines) + "\n"


def _pair(key: str, value: str | int) -> str:
    return f"{key:<20}: {value}"


def _test_lines(report: TestReport, disk: FileSystem) -> Iterator[str]:
    yield _pair("TestID", report.test_id)
    yield _pair("StartTime", report.started.ctime())
    yield _pair("Path", file_name(report.test, 0, 0))
    yield _pair("FS", disk.line)
    yield from ("", "Options: ")
    for key, value in options_section(report).items():
        yield _pair(key, value)
    yield from ("", "Results: ", "")
    yield "".join(f"{title:<{width}}" for title, width, _ in _COLUMNS)
    yield "".join(f"{'-' * dashes:<{width}}" for _, width, dashes in _COLUMNS)
    for line in in_order(report):
        if isinstance(line, Removal):
            yield f"remove    {'-          ' * 6}{_decimals(line.seconds):<10} {line.repetition:<4}"
            continue
        yield from _remarks(line, report)
        yield _result_line(line, report.test)
    if report.test.verbose:
        yield from _best(report)
    yield from _worn_out(report)


def _result_line(row: IorRow, test: IorTest) -> str:
    numbers = (
        row.bandwidth / MIB,
        row.iops,
        row.latency,
        test.block_size / 1024,
        test.transfer_size / 1024,
        row.open,
        row.io,
        row.close,
        row.total,
    )
    cells = [f"{access_name(row):<10}"]
    for number, (_, width, _) in zip(numbers, _COLUMNS[1:-1], strict=True):
        cells.append(f"{_decimals(number):<10}" + " " * (width - 10))
    return "".join(cells) + f"{row.repetition:<4}"


def _decimals(number: float) -> str:
    """Print a number with fewer decimals the larger it is, as IOR does."""
    if number < 1:
        return f"{number:.6f}"
    return f"{number:.2f}" if number < 3600 else f"{number:.0f}"


def _remarks(row: IorRow, report: TestReport) -> Iterator[str]:
    """Say what IOR says before the line of a phase that a deadline cut short."""
    if row.stonewall is not None:
        yield _stonewall_line(row.stonewall)
    if row.bytes_moved != report.aggregate_bytes:
        yield f"WARNING: Expected aggregate file size       = {report.aggregate_bytes}"
        yield f"WARNING: Using actual aggregate bytes moved = {row.bytes_moved}"
        if report.test.deadline:
            yield "WARNING: Maybe caused by deadlineForStonewalling"


def _stonewall_line(wall: Stonewall) -> str:
    gib = 2**30
    return (
        f"stonewalling pairs accessed min: {wall.calls_min} max: {wall.calls_max} -- "
        f"min data: {wall.bytes_min / gib:.1f} GiB mean data: {wall.bytes_mean / gib:.1f} GiB "
        f"time: {wall.time:.1f}s"
    )


def _worn_out(report: TestReport) -> Iterator[str]:
    """Say how many calls a rank made by wear-out, unless a status file says so."""
    if report.test.wear_out and report.test.stonewall_file is None:
        written = [row for row in report.rows if row.access is Access.WRITE]
        wall = written[0].stonewall if written else None
        calls = 0 if wall is None else wall.calls_max
        yield f"Pairs deadlineForStonewallingaccessed: {calls}"


def _best(report: TestReport) -> Iterator[str]:
    for summary in summarise(report.rows):
        best = summary.bandwidth.largest
        label = f"Max {summary.access.capitalize()}:"
        yield f"{label:<10} {best / MIB:.2f} MiB/sec ({best / 1e6:.2f} MB/sec)"


def _summary_line(report: TestReport, summary: IorSummary) -> str:
    test, rate, operations = report.test, summary.bandwidth, summary.operations
    if summary.stonewall_time is None or summary.stonewall_bandwidth is None:
        stonewall = f"{'NA':>10} {'NA':>13}"
    else:
        stonewall = f"{summary.stonewall_time:10.2f} {summary.stonewall_bandwidth / MIB:13.2f}"
    return (
        f"{summary.access:<9} "
        f"{rate.largest / MIB:10.2f} {rate.smallest / MIB:10.2f} "
        f"{rate.mean / MIB:10.2f} {rate.deviation / MIB:10.2f} "
        f"{operations.largest:10.2f} {operations.smallest:10.2f} "
        f"{operations.mean:10.2f} {operations.deviation:10.2f} "
        f"{summary.mean_time:10.5f} {stonewall} "
        f"{report.test_id:5d} {report.tasks:6d} {report.tasks_per_node:3d} {test.repetitions:4d} "
        f"{test.file_per_process:3d} {test.reorder_constant:5d} {test.task_offset:8d} "
        f"{test.reorder_random:9d} {test.reorder_seed:4d} {test.segments:6d} "
        f"{test.block_size:8d} {test.transfer_size:8d} {summary.bytes_moved / MIB:9.1f} "
        f"{test.api_as_typed:>3} {test.reference_number:6d}"
    )
