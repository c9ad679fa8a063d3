"""IOR's comma-separated forms: the result table, and the times of ranks and of single calls."""

from __future__ import annotations

import numpy as np

from xc40io.config.units import MIB
from xc40io.engine.types import Floats
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.results.programs.ior_report import IorReport, access_name
from xc40io.results.programs.output import OutputFile
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.workloads.ior.options import CALLS_OPTION, call_file
from xc40io.workloads.ior.outcome import FinishedTest, PhaseRecord
from xc40io.workloads.ior.parameters import Access

_TITLES = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),"
    "open(s),wr/rd(s),close(s),total(s),numTasks,iter"
)

CALL_TITLES = "time,runtime,tp"

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
                row.bandwidth / MIB,
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


def call_lines(record: PhaseRecord, rank: int, starts: Floats, ends: Floats, size: int) -> str:
    """Print the calls of one rank in one phase (``-O savePerOpDataCSV=PREFIX``).

    ``record`` and ``rank``: the phase, and who. ``starts`` and ``ends``: float64 (calls,): when
    each began and ended, in seconds of the phase's clock. ``size``: bytes of each.

    Returns
    -------
    str
        `CALL_TITLES`, and a line for each call: seconds after the rank's first could begin, seconds
        that it took, bytes/s.
    """
    seconds = ends - starts
    with np.errstate(divide="ignore"):
        columns = np.column_stack((starts - record.io_start[rank], seconds, size / seconds))
    lines = (f"{begun:.8e},{took:.8e},{rate:e}" for begun, took, rate in columns.tolist())
    return "".join(f"{line}\n" for line in (CALL_TITLES, *lines))


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


def call_files(result: Result, tests: tuple[FinishedTest, ...]) -> list[OutputFile]:
    """Return the files of the tests that ask for them: one for each repetition and rank.

    IOR begins each file anew in each phase, so that the last phase of a repetition is what is left.
    """
    found: dict[str, str] = {}
    for test in tests:
        prefix, recording = test.test.call_details_file, result.recording
        if prefix is None or recording is None:
            continue
        calls = recording.of_job(recording.calls)
        for record in test.records:
            mine = _of_phase(calls, recording, record)
            for rank in range(test.tasks):
                own = mine[recording.ranks[mine["program"]] == rank]
                own = own[len(own) - int(record.calls[rank]) :]  # not what filled the file before
                path = call_file(prefix, record.repetition, rank)
                found[path] = call_lines(
                    record, rank, own["start"], own["end"], test.test.transfer_size
                )
    return [OutputFile(path, CALLS_OPTION, text) for path, text in found.items()]


def _of_phase(calls: Records, recording: Recording, record: PhaseRecord) -> Records:
    """Return the reads, or the writes, that ranks made in the transfers of a phase, by begin."""
    kind = Op.WRITE if record.access is Access.WRITE else Op.READ
    mine = calls[(calls["op"] == kind) & (calls["end"] <= record.io_end.max())]
    rank = recording.ranks[mine["program"]]
    taking_part = rank < len(record.io_start)
    mine, rank = mine[taking_part], rank[taking_part]
    mine = mine[(mine["start"] >= record.io_start[rank]) & (mine["end"] <= record.io_end[rank])]
    by_begin: Records = mine[np.argsort(mine["start"], kind="stable")]
    return by_begin
