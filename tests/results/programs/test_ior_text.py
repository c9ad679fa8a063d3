"""IOR's table: the same lines, labels and columns as IOR's own output."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from xc40io.results.programs.ior_report import IorReport, TestReport, human_readable
from xc40io.results.programs.ior_text import format_text
from xc40io.results.programs.surroundings import FileSystem
from xc40io.workloads.ior.options import Access, parse_arguments
from xc40io.workloads.ior.outcome import IorRow, Stonewall

PRINTED = Path(__file__).with_name("ior_output.txt")
"""What IOR 4.1 prints of the job of :func:`printed_report`: written by the rules of its source
(ior-output.c: labels, widths, PPDouble), not by the code under test."""

LINE = "-a POSIX -w -r -b 1m -t 256k -s 2 -i 2 -e -g -C -o tf2"
MOMENT = datetime(2026, 11, 20, 15, 3, 53)
MIB = 2**20


def row(access: Access, repetition: int, numbers: str, mib: int = 8, calls: int = 32) -> IorRow:
    """Make a row of so many MiB from bw (MiB/s), IOPS, latency, open, wr/rd and close."""
    rate, iops, latency, opened, moved, closed = (float(number) for number in numbers.split())
    return IorRow(
        access=access,
        repetition=repetition,
        bandwidth=rate * MIB,
        iops=iops,
        latency=latency,
        open=opened,
        io=moved,
        close=closed,
        total=mib / rate,
        bytes_moved=mib * MIB,
        calls=calls,
    )


def ran(line: str, *rows: IorRow, number: int = 0) -> TestReport:
    (test,) = parse_arguments(line.split()).tests
    return TestReport(test, number, 1, 4, 4, MOMENT, rows)


def reported(*tests: TestReport, line: str = LINE) -> IorReport:
    disk = FileSystem(252 * 2**30, 0.058, 2**24, 0.029)
    command = f"ior/src/ior {line}"
    return IorReport(command, "Linux vm", "vm(Linux)", disk, MOMENT, MOMENT, tests)


# Four phases as IOR measured them. Its operations a second, with 4 to the MiB, tell the bandwidths
# more exactly than the bandwidths themselves.
SAMPLE_ROWS = (
    row(Access.WRITE, 0, "1468.6575 5934 0.000674 0.000030 0.005393 0.000016"),
    row(Access.READ, 0, "16392.004 75488 0.000027 0.000043 0.000424 0.000015"),
    row(Access.WRITE, 1, "1877.4855 7583 0.000527 0.000015 0.004220 0.000018"),
    row(Access.READ, 1, "13288.884 64127 0.000015 0.000028 0.000499 0.000028"),
)


def printed_report() -> IorReport:
    """Return the report of 8 tasks on two nodes that read and write 64 MiB."""
    line = "-a POSIX -w -r -b 4m -t 512k -s 2 -i 2 -e -g -C -o data"
    numbers = {
        (Access.WRITE, 0): "256 528.93 0.030250 0.004 0.242 0.0035",
        (Access.READ, 0): "6400 14222.22 0.001125 0.0005 0.009 0.0004",
        (Access.WRITE, 1): "200 404.40 0.039250 0.003 0.3165 0.00025",
        (Access.READ, 1): "3200 6736.84 0.002300 0.0006 0.019 0.0003",
    }
    rows = [row(*phase, numbers[phase], 64, 128) for phase in numbers]
    (test,) = parse_arguments(line.split()).tests
    disk = FileSystem(3 * 2**39, 0.4, 2**26, 0.125)
    moment = datetime(2026, 11, 21, 9, 30)
    tested = TestReport(test, 0, 2, 8, 4, moment, tuple(rows))
    return IorReport(f"ior {line}", "Linux host", "host(Linux)", disk, moment, moment, (tested,))


def test_iors_own_numbers_come_out_as_iors_own_lines() -> None:
    ours = format_text(printed_report()).splitlines()
    theirs = PRINTED.read_text().splitlines()
    assert re.fullmatch(r"IOR-4\.1\.0\+\w+: MPI Coordinated Test of Parallel I/O", ours[0])
    assert ours[1:] == theirs[1:]


def test_tests_of_a_script_follow_each_other_and_share_one_summary() -> None:
    report = reported(ran("-F", SAMPLE_ROWS[0]), ran("-Z -X 3", SAMPLE_ROWS[1], number=1))
    text = format_text(report)
    assert text.count("Summary of all tests:") == 1
    assert text.count("Options: \n") == 2
    assert "Path                : testFile.00000000\n" in text
    assert "access              : file-per-process\n" in text
    assert "ordering inter file : no tasks offsets\n" in text
    assert "ordering inter file : random task offset\n" in text
    assert "reorder random seed : 3\n" in text
    assert [line.split()[12] for line in text.splitlines()[-3:-1]] == ["0", "1"]


def test_the_write_check_is_not_printed_and_a_verifying_read_is_a_read() -> None:
    checks = [
        replace(SAMPLE_ROWS[1], access=Access.WRITE_CHECK),
        replace(SAMPLE_ROWS[1], access=Access.READ_CHECK),
    ]
    lines = format_text(reported(ran("-W -R -w", SAMPLE_ROWS[0], *checks))).splitlines()
    assert [line.split()[0] for line in lines if re.match(r"(write|read) ", line)] == [
        *("write", "read"),
        *("write", "read"),
    ]


def test_verbose_names_the_best_of_each() -> None:
    text = format_text(reported(ran(f"{LINE} -v", *SAMPLE_ROWS)))
    assert "verbose             : 1\n" in text
    assert "Max Write: 1877.49 MiB/sec (1968.69 MB/sec)\n" in text
    assert "Max Read:  16392.00 MiB/sec (17188.26 MB/sec)\n" in text


def test_a_deadline_is_explained() -> None:
    wall = Stonewall(30.0, 4, 8, 2**30, 3 * 2**29)
    cut = replace(SAMPLE_ROWS[0], bytes_moved=6 * MIB, stonewall=wall)
    text = format_text(reported(ran(f"{LINE} -D 30 -O stoneWallingWearOut=1", cut)))
    assert "stonewallingTime    : 30\nstoneWallingWearOut : 1\n" in text
    assert (
        "stonewalling pairs accessed min: 4 max: 8 -- "
        "min data: 1.0 GiB mean data: 1.5 GiB time: 30.0s\n"
        "WARNING: Expected aggregate file size       = 8388608\n"
        "WARNING: Using actual aggregate bytes moved = 6291456\n"
        "WARNING: Maybe caused by deadlineForStonewalling\n"
        "write     1468.66" in text
    )
    assert "     30.00         51.20     0 " in text


@pytest.mark.parametrize(
    ("size", "printed"),
    [
        (262144, "262144 bytes"),
        (2**20, "1 MiB"),
        (3 * 2**19, "1.50 MiB"),
        (5 * 2**30, "5 GiB"),
        (2358120710144, "2.14 TiB"),
    ],
)
def test_sizes_as_ior_prints_them(size: int, printed: str) -> None:
    assert human_readable(size) == printed


def test_a_large_file_system_is_counted_in_tebibytes() -> None:
    disk = FileSystem(9_200 * 2**40, 0.5, 2**30, 0.25)
    text = format_text(replace(reported(ran(LINE)), file_system=disk))
    assert "FS                  : 9200.0 TiB   Used FS: 50.0%   Inodes: 1024.0 Mi   " in text
