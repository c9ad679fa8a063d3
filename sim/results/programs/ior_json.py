"""IOR's JSON (``-O summaryFormat=JSON``): the keys, nesting and order of IOR 4.1.

Two things are better than in IOR's own: the file is always valid JSON, and numbers keep their full
precision where IOR prints four decimals (a close of 15 microseconds is 0.0000 there).
"""

from __future__ import annotations

import math
from typing import Any

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
from xc40io.telling.data import json_text
from xc40io.workloads.ior.files import file_name
from xc40io.workloads.ior.outcome import IorRow, IorSummary, Removal, summarise
from xc40io.workloads.ior.parameters import IorTest


def format_json(report: IorReport) -> str:
    """Print a report as JSON, with a newline at the end."""
    return json_text(as_dict(report))


def as_dict(report: IorReport) -> dict[str, Any]:
    """Arrange a report as IOR's JSON does.

    Returns
    -------
    dict
        ``Version, Began, "Command line", Machine, tests, summary, Finished``; rates in MiB/s,
        times in seconds. A rate without end (a phase that took no time) is the string ``"inf"``.
    """
    return {
        "Version": VERSION,
        "Began": report.began.ctime(),
        "Command line": report.command_line,
        "Machine": report.machine,
        "tests": [_test(test, report) for test in report.tests],
        "summary": [
            _summary(test, summary) for test in report.tests for summary in summarise(test.rows)
        ],
        "Finished": report.finished.ctime(),
    }


def _test(report: TestReport, whole: IorReport) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "TestID": report.test_id,
        "StartTime": report.started.ctime(),
        "Path": file_name(report.test, 0, 0),
        **_capacity(whole.file_system),
        "Parameters": _parameters(report, whole.platform),
        "Options": options_section(report),
        "Results": [
            {"access": "remove", "totalTime": line.seconds}
            if isinstance(line, Removal)
            else _result(line, report.test)
            for line in in_order(report)
        ],
    }
    if report.test.verbose:
        entry["max"] = _best(report)
    return entry


def _capacity(disk: FileSystem) -> dict[str, str]:
    return {
        "Capacity": disk.capacity_text,
        "Used Capacity": disk.used_text,
        "Inodes": disk.inodes_text,
        "Used Inodes": disk.used_inodes_text,
    }


def _parameters(report: TestReport, platform: str) -> dict[str, str | int]:
    """List the parameters; those that a simulation does not have show IOR's defaults."""
    test = report.test
    return {
        "testID": report.test_id,
        "refnum": test.reference_number,
        "api": test.api_as_typed,
        "platform": platform,
        "testFileName": test.test_file,
        "deadlineForStonewall": test.deadline,
        "stoneWallingWearOut": int(test.wear_out),
        "maxTimeDuration": test.max_duration // 60,
        "outlierThreshold": 0,
        "options": "(null)",
        "dryRun": 0,
        "nodes": report.nodes,
        "memoryPerTask": test.task_memory,
        "memoryPerNode": report.memory_per_node,
        "tasksPerNode": report.tasks_per_node,
        "repetitions": test.repetitions,
        "multiFile": int(test.file_per_repetition),
        "interTestDelay": test.delay,
        "fsync": int(test.fsync),
        "fsyncperwrite": int(test.fsync_per_write),
        "useExistingTestFile": int(test.use_existing_file),
        "uniqueDir": int(test.unique_directory),
        "singleXferAttempt": 0,
        "readFile": int(test.read),
        "writeFile": int(test.write),
        "filePerProc": int(test.file_per_process),
        "reorderTasks": int(test.reorder_constant),
        "reorderTasksRandom": test.reorder_random,
        "reorderTasksRandomSeed": test.reorder_seed,
        "randomOffset": test.random_offset,
        "checkWrite": int(test.check_write),
        "checkRead": int(test.check_read),
        "dataPacketType": 0,
        "keepFile": int(test.keep_file),
        "keepFileWithError": 0,
        "warningAsErrors": 0,
        "verbose": test.verbose,
        "data packet type": "g",
        "setTimeStampSignature/incompressibleSeed": test.signature,
        "collective": int(test.collective),
        "segmentCount": test.segments,
        "transferSize": test.transfer_size,
        "blockSize": test.block_size,
    }


def _result(row: IorRow, test: IorTest) -> dict[str, str | float]:
    return {
        "access": access_name(row),
        "bwMiB": _number(row.bandwidth / MIB),
        "blockKiB": test.block_size / 1024,
        "xferKiB": test.transfer_size / 1024,
        "iops": _number(row.iops),
        "latency": row.latency,
        "openTime": row.open,
        "wrRdTime": row.io,
        "closeTime": row.close,
        "totalTime": row.total,
    }


def _summary(report: TestReport, summary: IorSummary) -> dict[str, str | float]:
    test, rate, operations = report.test, summary.bandwidth, summary.operations
    entry: dict[str, str | float] = {
        "operation": summary.access,
        "API": test.api_as_typed,
        "TestID": report.test_id,
        "ReferenceNumber": test.reference_number,
        "segmentCount": test.segments,
        "blockSize": test.block_size,
        "transferSize": test.transfer_size,
        "numTasks": report.tasks,
        "tasksPerNode": report.tasks_per_node,
        "repetitions": test.repetitions,
        "filePerProc": int(test.file_per_process),
        "reorderTasks": int(test.reorder_constant),
        "taskPerNodeOffset": test.task_offset,
        "reorderTasksRandom": test.reorder_random,
        "reorderTasksRandomSeed": test.reorder_seed,
        "bwMaxMIB": _number(rate.largest / MIB),
        "bwMinMIB": _number(rate.smallest / MIB),
        "bwMeanMIB": _number(rate.mean / MIB),
        "bwStdMIB": _number(rate.deviation / MIB),
        "OPsMax": _number(operations.largest),
        "OPsMin": _number(operations.smallest),
        "OPsMean": _number(operations.mean),
        "OPsSD": _number(operations.deviation),
        "MeanTime": summary.mean_time,
    }
    if summary.stonewall_time is not None and summary.stonewall_bandwidth is not None:
        entry["StoneWallTime"] = summary.stonewall_time
        entry["StoneWallbwMeanMIB"] = _number(summary.stonewall_bandwidth / MIB)
    entry["xsizeMiB"] = summary.bytes_moved / MIB
    return entry


def _best(report: TestReport) -> dict[str, str | float]:
    best: dict[str, str | float] = {}
    for summary in summarise(report.rows):
        best[f"{summary.access}MiB"] = _number(summary.bandwidth.largest / MIB)
        best[f"{summary.access}MB"] = _number(summary.bandwidth.largest / 1e6)
    return best


def _number(value: float) -> str | float:
    """Keep a finite number; JSON has no infinity, and IOR prints it as a string too."""
    return value if math.isfinite(value) else str(value)
