"""From a finished run to what IOR would report about it."""

from __future__ import annotations

from sim.config.errors import InputError
from sim.results.dates import moment
from sim.results.file_system import file_system_of
from sim.results.ior_report import IorReport, TestReport
from sim.run.result import Result
from sim.workloads.ior.outcome import FinishedTest, IorOutcome, IorRow, reduce


def ior_rows(result: Result) -> tuple[IorRow, ...]:
    """Return one row of IOR's table for each phase of a run, in the order in which they ran.

    Rates are in bytes/s, times in seconds.

    Raises
    ------
    InputError
        If it was no run of IOR.

    Examples
    --------
    >>> from sim import Scenario, ior_rows, simulate
    >>> scenario = Scenario(
    ...     machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"}
    ... )
    >>> (row,) = ior_rows(simulate(scenario))
    >>> row.access.value, row.bandwidth > 0
    ('write', True)
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
        file_system=file_system_of(result.machine),
        began=moment(result.started),
        finished=moment(result.started + result.simulated),
        tests=tuple(
            _test_report(test, number, result) for number, test in enumerate(outcome.tests)
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


def _test_report(finished: FinishedTest, number: int, result: Result) -> TestReport:
    test, ppn = finished.test, result.scenario.ppn
    return TestReport(
        test=test,
        test_id=number,
        nodes=test.nodes or -(-finished.tasks // ppn),
        tasks=finished.tasks,
        tasks_per_node=test.tasks_on_first_node or min(ppn, finished.tasks),
        started=moment(finished.started),
        rows=tuple(reduce(record) for record in finished.records),
        removals=finished.removals,
        memory_per_node=test.memory_per_node(result.machine.nodes.memory),
    )
