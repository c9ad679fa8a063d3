"""From a finished run to what IOR would report about it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.results.ior_phases import IorRow, reduce
from sim.results.ior_report import FileSystem, IorReport, TestReport
from sim.run.result import IorResult, Result, TestOutcome

EPOCH = datetime(2020, 1, 1)
"""When every run begins on the simulated calendar, so that the same run prints the same dates."""

_INODES_PER_MDT = 1 << 32  # most that one MDT can number (Lustre manual, on ldiskfs)


def ior_rows(result: Result) -> tuple[IorRow, ...]:
    """Return one row of IOR's table for each phase of a run, in the order in which they ran.

    Rates are in bytes/s, times in seconds.

    Raises
    ------
    InputError
        If it was no run of IOR.
    """
    return tuple(reduce(record) for outcome in _of_ior(result).tests for record in outcome.records)


def ior_report(result: Result) -> IorReport:
    """Return the report of a run, for :mod:`sim.results.ior_text` and its neighbours.

    Raises
    ------
    InputError
        If it was no run of IOR.
    """
    result = _of_ior(result)
    name = result.machine.name
    return IorReport(
        command_line=result.command.command_line,
        machine=f"{name} (simulated)",
        platform=f"{name}(simulated)",
        file_system=_file_system(result.machine),
        began=EPOCH + timedelta(seconds=result.started),
        finished=EPOCH + timedelta(seconds=result.started + result.simulated),
        tests=tuple(
            _test_report(outcome, number, result.scenario.ppn)
            for number, outcome in enumerate(result.tests)
        ),
    )


def _of_ior(result: Result) -> IorResult:
    """Return a result as what it should be: one of IOR."""
    if not isinstance(result, IorResult):
        raise InputError("the run of a kernel has no report of IOR; its table is in its records")
    return result


def _file_system(machine: Machine) -> FileSystem:
    """Return the file system as it is before the job: empty."""
    lustre = machine.lustre
    return FileSystem(
        capacity=lustre.capacity,
        used=0.0,
        inodes=lustre.mds.mdts * _INODES_PER_MDT,
        used_inodes=0.0,
    )


def _test_report(outcome: TestOutcome, number: int, ppn: int) -> TestReport:
    return TestReport(
        test=outcome.test,
        test_id=number,
        nodes=-(-outcome.tasks // ppn),
        tasks=outcome.tasks,
        tasks_per_node=min(ppn, outcome.tasks),
        started=EPOCH + timedelta(seconds=outcome.started),
        rows=tuple(reduce(record) for record in outcome.records),
    )
