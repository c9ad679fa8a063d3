"""From a finished run to what IOR would report about it."""

from __future__ import annotations

from datetime import datetime, timedelta

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.results.ior_report import FileSystem, IorReport, TestReport
from sim.run.result import Result
from sim.workloads.ior.outcome import FinishedTest, IorOutcome
from sim.workloads.ior.rows import IorRow, reduce

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
    return tuple(reduce(record) for test in ior_outcome(result).tests for record in test.records)


def ior_report(result: Result) -> IorReport:
    """Return the report of a run, for :mod:`sim.results.ior_text` and its neighbours.

    Raises
    ------
    InputError
        If it was no run of IOR.
    """
    outcome, name = ior_outcome(result), result.machine.name
    return IorReport(
        command_line=outcome.command.command_line,
        machine=f"{name} (simulated)",
        platform=f"{name}(simulated)",
        file_system=_file_system(result.machine),
        began=_moment(result.started),
        finished=_moment(result.started + result.simulated),
        tests=tuple(
            _test_report(test, number, result.scenario.ppn)
            for number, test in enumerate(outcome.tests)
        ),
    )


def ior_outcome(result: Result) -> IorOutcome:
    """Return the tests of an IOR command that was run.

    Raises
    ------
    InputError
        If it was no run of IOR.
    """
    if not isinstance(result.outcome, IorOutcome):
        raise InputError("the run of a kernel has no report of IOR; its table is in its rows")
    return result.outcome


def _moment(seconds: float) -> datetime:
    """Return the date of a simulated time.

    Raises
    ------
    InputError
        If the calendar has no such year.
    """
    try:
        return EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise InputError(
            f"the run takes {seconds:.3g} s, more years than IOR's dates have; right would be "
            "shorter delays, or faster parts of the machine"
        ) from error


def _file_system(machine: Machine) -> FileSystem:
    """Return the file system as it is before the job: empty."""
    lustre = machine.lustre
    return FileSystem(
        capacity=lustre.capacity,
        used=0.0,
        inodes=lustre.mds.mdts * _INODES_PER_MDT,
        used_inodes=0.0,
    )


def _test_report(finished: FinishedTest, number: int, ppn: int) -> TestReport:
    return TestReport(
        test=finished.test,
        test_id=number,
        nodes=-(-finished.tasks // ppn),
        tasks=finished.tasks,
        tasks_per_node=min(ppn, finished.tasks),
        started=_moment(finished.started),
        rows=tuple(reduce(record) for record in finished.records),
    )
