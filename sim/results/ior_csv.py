"""IOR's comma-separated forms: the result table and the times of single ranks."""

from __future__ import annotations

import numpy as np

from sim.results.ior_report import IorReport, access_name
from sim.workloads.ior.parameters import Access
from sim.workloads.ior.phases import PhaseRecord

_MIB = 2**20
_TITLES = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),"
    "open(s),wr/rd(s),close(s),total(s),numTasks,iter"
)

RANK_TITLES = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"


def format_csv(report: IorReport) -> str:
    """Print a report as IOR does with ``summaryFormat=CSV``.

    Returns
    -------
    str
        For each test a line of titles and one line for each timed phase, without header and
        summary; rates in MiB/s and calls a second, times in seconds, all with four decimals.
    """
    lines = []
    for tested in report.tests:
        lines.append(_TITLES)
        for row in tested.printed_rows:
            numbers = (
                row.bandwidth / _MIB,
                row.iops,
                row.latency,
                tested.test.block_size / 1024,
                tested.test.transfer_size / 1024,
                row.open,
                row.io,
                row.close,
                row.total,
            )
            cells = ",".join(f"{number:.4f}" for number in numbers)
            lines.append(f"{access_name(row)},{cells},{tested.tasks},{row.repetition}")
    return "".join(f"{line}\n" for line in lines)


def rank_lines(record: PhaseRecord) -> str:
    """Print the times of each rank in one phase (``-O saveRankPerformanceDetailsCSV=FILE``).

    IOR writes `RANK_TITLES` once and appends these lines after each timed phase.

    Returns
    -------
    str
        One line for each rank: time with and without open and close in s, and the rank's even
        share of the bytes over each of the two, in bytes/s.
    """
    access = "write" if record.access is Access.WRITE else "read"
    whole = record.close_end - record.open_start
    transfers = record.io_end - record.io_start
    share = record.bytes_moved / len(whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = np.column_stack((whole, transfers, share / whole, share / transfers))
    return "".join(
        f"{access},{rank},{','.join(f'{number:.10e}' for number in numbers)}\n"
        for rank, numbers in enumerate(columns.tolist())
    )
