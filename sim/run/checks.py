"""What is refused before a run begins, and what is remarked on.

An option of IOR that cannot matter in a simulation is accepted and named; one that would change
the answer, but is not simulated, is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.run.memory import occupied_memory
from sim.workloads.ior.job import striping_of
from sim.workloads.ior.parameters import IorTest

_MOST_CALLS = 100_000_000
"""Reads or writes of one phase: their list takes about 60 bytes each."""

_Asked = Callable[[IorTest], object]

_REFUSED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.collective,
        "-c: collective I/O arrives with collective buffering; "
        "without -c the same transfers run independently",
    ),
    (
        lambda t: t.call_details_file,
        "savePerOpDataCSV: the times of single calls are not kept; "
        "saveRankPerformanceDetailsCSV writes those of the ranks",
    ),
    (
        lambda t: t.pool,
        "--posix.lustre.pool: no machine file describes OST pools; "
        "choose the OSTs by count and start OST instead",
    ),
    (
        lambda t: t.ignore_locks,
        "--posix.lustre.ignorelocks: I/O without extent locks is not simulated; "
        "without the option the same bytes move under locks",
    ),
    (
        lambda t: t.api == "MPIIO" and t.preallocate,
        "-p: MPI_File_preallocate writes the whole file, which is not simulated; leave it out",
    ),
    (
        lambda t: t.api == "MPIIO" and t.file_view,
        "-V: file views are not simulated; without -V the same bytes move at the same offsets",
    ),
    (
        lambda t: t.api == "MPIIO" and t.strided_datatype,
        "-S: strided datatypes are not simulated; without -S each piece is a call of its own",
    ),
    (
        lambda t: t.api == "MPIIO" and t.hints_file,
        "-U: MPI-IO hints are not simulated; set the striping by --stripe-count and --stripe-size",
    ),
)

_NOTED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: (
            t.api == "POSIX"
            and (t.preallocate or t.file_view or t.strided_datatype or t.hints_file)
        ),
        "POSIX does not look at the options of MPI-IO (-p, -V, -S, -U).",
    ),
    (
        lambda t: t.api == "MPIIO" and t.direct_io,
        "MPI-IO does not look at the option of POSIX for direct I/O (-B, --posix.odirect): "
        "the page cache is used.",
    ),
)


def check(tests: tuple[IorTest, ...], scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the machine can run the tests and the simulator knows how."""
    for test in tests:
        if test.min_duration and scenario.cores.threads > 1:
            raise InputError(
                f"minTimeDuration={test.min_duration} with {scenario.cores.threads} I/O threads a "
                "rank is not simulated; choose one of the two"
            )
        for asked, sentence in _REFUSED:
            if asked(test):
                raise InputError(sentence)
        _check_size(test, scenario, machine)
        striping_of(test, scenario.striping).check(machine.lustre.osts)


def remarks(tests: tuple[IorTest, ...]) -> tuple[str, ...]:
    """Return a sentence, once, for each kind of option that changes nothing."""
    return tuple(sentence for asked, sentence in _NOTED if any(asked(test) for test in tests))


def _check_size(test: IorTest, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless a test fits the job, the machine and this computer."""
    ranks = scenario.nodes * scenario.ppn
    tasks = test.tasks or ranks
    if tasks > ranks:
        raise InputError(
            f"-N {tasks}: more than the {ranks} ranks of the job "
            f"({scenario.nodes} nodes x {scenario.ppn})"
        )
    moved, asked = test.aggregate_bytes(tasks), f"-b {test.block_size} -s {test.segments}"
    if moved > machine.lustre.capacity:
        raise InputError(
            f"{asked} on {tasks} tasks makes {moved / 1e15:.1f} PB; the file system of "
            f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
        )
    if moved // test.transfer_size > _MOST_CALLS:
        raise InputError(
            f"{asked} -t {test.transfer_size} on {tasks} tasks makes "
            f"{moved // test.transfer_size:,} calls a phase, too many to keep in memory; "
            f"right would be at most {_MOST_CALLS:,}, by larger transfers (-t) or less data"
        )
    occupied = occupied_memory(test, machine, min(scenario.ppn, tasks))
    if occupied >= machine.nodes.memory:
        raise InputError(
            f"-M, memoryPerTask: IOR would occupy {occupied / 2**30:.1f} GiB of a node; "
            f"a node of {machine.name} has {machine.nodes.memory / 2**30:.1f} GiB"
        )
