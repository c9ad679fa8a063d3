"""From a finished run to what IOR reports of it, before it is text, JSON or CSV."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from xc40io.config.errors import InputError
from xc40io.results.programs.surroundings import FileSystem, file_system_of, moment
from xc40io.run.result import Result
from xc40io.workloads.ior.outcome import FinishedTest, IorOutcome, IorRow, Removal, reduce
from xc40io.workloads.ior.parameters import Access, IorTest

VERSION = "4.1.0+xc40io"
"""IOR's version whose output this is; the part behind ``+`` says who made it."""

# As each library names itself: of MPI the standard, of the others the release they behave like.
_API_VERSIONS = {"MPIIO": "(3.1)", "HDF5": "{hdf5} (Parallel)", "NCMPI": "PnetCDF 1.12.3"}


@dataclass(frozen=True)
class TestReport:
    """One test and its results."""

    __test__ = False  # not a test of ours, whatever pytest thinks of the name

    test: IorTest  # the parameters
    test_id: int  # its place in the command, from 0
    nodes: int  # where it ran
    tasks: int  # after ``-N``
    tasks_per_node: int
    started: datetime  # when, on the simulated calendar
    rows: tuple[IorRow, ...]  # all phases in the order in which they ran
    hdf5: str = "1.10.1"  # its release
    removals: tuple[Removal, ...] = ()  # of the files, after each repetition, unless they were kept
    memory_per_node: int = 0  # bytes that ``-M`` occupies of a node's memory

    @property
    def aggregate_bytes(self) -> int:
        """Bytes that each phase is to move."""
        return self.test.aggregate_bytes(self.tasks)

    @property
    def printed_rows(self) -> tuple[IorRow, ...]:
        """The phases that IOR times and prints: all but the re-reading of ``-W``."""
        return tuple(row for row in self.rows if row.access is not Access.WRITE_CHECK)

    @property
    def printed_removals(self) -> tuple[Removal, ...]:
        """The removals, which IOR prints with ``-v``."""
        return self.removals if self.test.verbose else ()


@dataclass(frozen=True)
class IorReport:
    """One IOR command and its results."""

    command_line: str  # as typed
    machine: str  # what stands behind ``Machine``, such as ``Cray XC40 theta (simulated)``
    platform: str  # the same in one word, such as ``theta(Cray XC40)``; JSON only
    file_system: FileSystem  # the file system that the test file lies on
    began: datetime  # on the simulated calendar
    finished: datetime  # likewise
    tests: tuple[TestReport, ...]  # in order


def access_name(row: IorRow) -> str:
    """Name a phase as IOR's tables do: a verifying read is a read."""
    return "write" if row.access is Access.WRITE else "read"


def in_order(report: TestReport) -> list[IorRow | Removal]:
    """Return the phases and removals of a test that IOR prints, in the order in which they ran."""
    printed: list[IorRow | Removal] = [*report.printed_rows, *report.printed_removals]
    return sorted(printed, key=lambda line: line.repetition)


def human_readable(size: int) -> str:
    """Print a size as IOR does: whole or with two decimals, in bytes, MiB, GiB or TiB."""
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if size >= 1 << shift:
            whole, rest = divmod(size, 1 << shift)
            return f"{size / (1 << shift):.2f} {unit}" if rest else f"{whole} {unit}"
    return f"{size} bytes"


def options_section(report: TestReport) -> dict[str, str | int]:
    """List IOR's Options, in order, for text and JSON alike."""
    test = report.test
    options: dict[str, str | int] = {
        "api": test.api_as_typed,
        "apiVersion": _API_VERSIONS.get(test.api, "").format(hdf5=report.hdf5),
        "test filename": test.test_file,
        "access": "file-per-process" if test.file_per_process else "single-shared-file",
        "type": "collective" if test.collective else "independent",
        "segments": test.segments,
        "ordering in a file": "random" if test.random_offset else "sequential",
    }
    options |= _reordering(test)
    options |= {
        "nodes": report.nodes,
        "tasks": report.tasks,
        "clients per node": report.tasks_per_node,
        "memoryBuffer": "CPU",
        "dataAccess": "CPU",
        "GPUDirect": "0",
    }
    if test.task_memory:
        options["memoryPerTask"] = human_readable(test.task_memory)
    if report.memory_per_node:
        options["memoryPerNode"] = human_readable(report.memory_per_node)
    options |= {
        "repetitions": test.repetitions,
        "xfersize": human_readable(test.transfer_size),
        "blocksize": human_readable(test.block_size),
        "aggregate filesize": human_readable(report.aggregate_bytes),
    }
    if test.verbose:
        options["verbose"] = test.verbose
    if test.deadline:
        options["stonewallingTime"] = test.deadline
        options["stoneWallingWearOut"] = int(test.wear_out)
    return options


def _reordering(test: IorTest) -> dict[str, str | int]:
    if test.reorder_constant:
        return {"ordering inter file": "constant task offset", "task offset": test.task_offset}
    if test.reorder_random:
        return {
            "ordering inter file": "random task offset",
            "task offset": test.task_offset,
            "reorder random seed": test.reorder_seed,
        }
    return {"ordering inter file": "no tasks offsets"}


def ior_rows(result: Result) -> tuple[IorRow, ...]:
    """Return one row of IOR's table for each phase of a run, in the order in which they ran.

    Rates are in bytes/s, times in seconds.

    Raises
    ------
    InputError
        If it was no run of IOR.

    Examples
    --------
    >>> from xc40io import Scenario, ior_rows, simulate
    >>> scenario = Scenario(
    ...     machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"}
    ... )
    >>> (row,) = ior_rows(simulate(scenario))
    >>> row.access.value, row.bandwidth > 0
    ('write', True)
    """
    return tuple(reduce(record) for test in ior_outcome(result).tests for record in test.records)


def ior_report(result: Result) -> IorReport:
    """Return the report of a run, for :mod:`xc40io.results.programs.ior_text` and its neighbours.

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
        raise InputError("the run is not one of IOR; its results are its rows")
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
        hdf5=result.machine.mpi.hdf5_release,
        removals=finished.removals,
        memory_per_node=test.memory_per_node(result.machine.nodes.memory),
    )
