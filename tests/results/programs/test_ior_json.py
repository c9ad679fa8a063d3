"""IOR's JSON and CSV: the keys and columns of IOR's own files."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from xc40io.results.programs.ior_csv import format_csv
from xc40io.results.programs.ior_json import as_dict, format_json
from xc40io.results.programs.ior_report import IorReport, TestReport
from xc40io.results.programs.surroundings import FileSystem
from xc40io.workloads.ior.options import Access, parse_arguments
from xc40io.workloads.ior.outcome import IorRow, Stonewall

PRINTED = Path(__file__).with_name("ior_output.json")
"""What IOR 4.1 writes for a job of two nodes with 4 tasks each and :data:`LINE`: written by the
rules of its source (ior-output.c), not by the code under test."""

LINE = "-a POSIX -F -w -r -b 4m -t 512k -s 2 -i 2 -e -g -C -k -o data"
MOMENT = datetime(2026, 11, 21, 9, 30)
MIB = 2**20


def row(access: Access, repetition: int, seconds: float) -> IorRow:
    rate = 64 * MIB / seconds
    return IorRow(
        access, repetition, rate, 128 / seconds, 0.25, 1e-5, seconds, 0.0, seconds, 64 * MIB, 128
    )


ROWS = (
    row(Access.WRITE, 0, 16.0),
    row(Access.READ, 0, 8.0),
    row(Access.WRITE, 1, 32.0),
    row(Access.READ, 1, 4.0),
)


def reported(line: str = LINE, rows: tuple[IorRow, ...] = ROWS) -> IorReport:
    (test,) = parse_arguments(line.split()).tests
    disk = FileSystem(3 * 2**39, 0.4, 2**26, 0.125)
    tested = TestReport(test, 0, 2, 8, 4, MOMENT, rows)
    command = f"ior {line}"
    return IorReport(command, "Linux host", "host(Linux)", disk, MOMENT, MOMENT, (tested,))


def keys(value: Any) -> Any:
    """Reduce JSON to its keys, their order and nesting, and the kind of each value."""
    if isinstance(value, dict):
        return [(key, keys(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [keys(item) for item in value]
    return "text" if isinstance(value, str) else "number"


def test_keys_nesting_and_order_are_iors() -> None:
    sample = json.loads(PRINTED.read_text())
    ours = json.loads(format_json(reported()))
    assert keys(ours) == keys(sample)
    for section in ("Parameters", "Options"):
        assert ours["tests"][0][section] == sample["tests"][0][section]
    (head, theirs) = (
        {k: v for k, v in part["tests"][0].items() if k != "Results"} for part in (ours, sample)
    )
    assert head == theirs
    for mine, yours in zip(ours["summary"], sample["summary"], strict=True):
        settings = list(mine)[: list(mine).index("bwMaxMIB")]
        assert [mine[key] for key in settings] == [yours[key] for key in settings]


def test_numbers_are_not_rounded() -> None:
    first = as_dict(reported())["tests"][0]["Results"][0]
    assert first["openTime"] == 1e-5
    assert (first["bwMiB"], first["totalTime"], first["blockKiB"]) == (4.0, 16.0, 4096.0)


def test_the_summary() -> None:
    write, read = as_dict(reported())["summary"]
    assert (write["bwMaxMIB"], write["bwMinMIB"], write["bwMeanMIB"]) == (4.0, 2.0, 3.0)
    assert (write["bwStdMIB"], write["OPsMax"], write["MeanTime"]) == (1.0, 8.0, 24.0)
    assert (read["operation"], read["bwMaxMIB"], read["xsizeMiB"]) == ("read", 16.0, 64.0)


def test_an_infinite_rate_is_a_string_as_in_ior() -> None:
    endless = replace(ROWS[0], bandwidth=math.inf)
    result = json.loads(format_json(reported(rows=(endless,))))
    assert result["tests"][0]["Results"][0]["bwMiB"] == "inf"


def test_verbose_and_stonewall_add_their_keys() -> None:
    wall = Stonewall(2.0, 1, 2, MIB, 3 * MIB)
    rows = (replace(ROWS[0], stonewall=wall),)
    line = f"{LINE} -v -D 2 -O stoneWallingWearOut=1"
    result = as_dict(reported(line, rows))
    assert result["tests"][0]["max"]["writeMiB"] == 4.0
    assert result["tests"][0]["Options"]["stonewallingTime"] == 2
    (summary,) = result["summary"]
    assert (summary["StoneWallTime"], summary["StoneWallbwMeanMIB"]) == (2.0, 1.5)


def test_csv_has_one_line_for_each_phase() -> None:
    table = list(csv.DictReader(format_csv(reported()).splitlines()))
    assert [line["access"] for line in table] == ["write", "read", "write", "read"]
    assert [line["iter"] for line in table] == ["0", "0", "1", "1"]
    assert [float(line["bw(MiB/s)"]) for line in table] == [4.0, 8.0, 2.0, 16.0]
    assert {line["numTasks"] for line in table} == {"8"}
    assert table[0]["Latency"] == "0.2500"
