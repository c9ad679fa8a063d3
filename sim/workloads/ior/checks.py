"""Whether a job can run the tests of an IOR command, and what is remarked on."""

from __future__ import annotations

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.mpi.hints import InForce
from sim.workloads.ior.files import hints_of, striping_of
from sim.workloads.ior.parameters import ELEMENT, OPTIONS, PAGE, WITHOUT_MPI, IorTest
from sim.workloads.ior.rules import NOT_SIMULATED, NOTED
from sim.workloads.option_table import refuse, refuse_set, said

_MOST_CALLS = 100_000_000
"""Reads or writes of one phase: their list takes about 60 bytes each."""

_MOST_TOGETHER = 10_000_000
"""The same for collective calls, counted for each rank: each takes some microseconds to plan."""

_MOST_REPETITIONS = 100_000
"""Repetitions of a test: each takes a millisecond or more, however little it moves."""


def check(tests: tuple[IorTest, ...], scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the machine can run the tests and the simulator knows how."""
    for test in tests:
        _check_threads(test, scenario.cores.threads)
        refuse_set(OPTIONS, test)
        refuse(NOT_SIMULATED, test)
        _check_size(test, scenario, machine)
        _check_chunks(test, scenario.nodes * scenario.ppn)
        striping_of(test, scenario.striping).check(machine.lustre.osts)
        if test.api not in WITHOUT_MPI:
            hints_of(test, scenario.striping, scenario.environment, machine)


def remarks(tests: tuple[IorTest, ...], scenario: Scenario, machine: Machine) -> tuple[str, ...]:
    """Return a sentence, once, for each kind of option and each hint that changes nothing."""
    ranks = scenario.nodes * scenario.ppn
    found = list(said(NOTED, *tests))
    for test in tests:
        if test.tasks_of(ranks) < (test.tasks or 0):
            found.append(f"-N {test.tasks}: IOR goes on with the {ranks} ranks of the job.")
        if test.api not in WITHOUT_MPI:
            hints = hints_of(test, scenario.striping, scenario.environment, machine)
            found += (f"{sentence}." for sentence in hints.in_force.ignored)
            found += _too_many_aggregators(hints.in_force, test, scenario)
    return tuple(dict.fromkeys(found))


def _too_many_aggregators(in_force: InForce, test: IorTest, scenario: Scenario) -> list[str]:
    """Return a sentence if more aggregators are asked for than there are ranks."""
    asked = in_force.hints.cb_nodes or 0
    tasks = test.tasks or scenario.nodes * scenario.ppn
    if asked <= tasks:
        return []
    return [f"cb_nodes={asked}: the job has {tasks:,} ranks, and no more can be aggregators."]


def _check_threads(test: IorTest, threads: int) -> None:
    """Raise InputError unless the calls of a test can be dealt to so many I/O threads a rank."""
    if threads == 1:
        return
    if test.api != "POSIX":
        raise InputError(
            f"{threads} I/O threads a rank with -a {test.api}: only POSIX calls can be shared out "
            "among threads; choose one of the two"
        )
    asked = {
        f"minTimeDuration={test.min_duration}": test.min_duration,
        "savePerOpDataCSV": test.call_details_file,
        "--posix.rangelocks": test.range_locks,
    }
    for option, given in asked.items():
        if given:
            raise InputError(
                f"{option} with {threads} I/O threads a rank is not simulated; choose one of the "
                "two"
            )


def _check_chunks(test: IorTest, ranks: int) -> None:
    """Raise InputError if a chunk of HDF5 would be larger than the dataset of a segment."""
    sharing = 1 if test.file_per_process else test.tasks_of(ranks)
    elements = test.block_size // ELEMENT * sharing
    if test.api == "HDF5" and test.chunk_size > elements:
        raise InputError(
            f"--hdf5.chunkSize={test.chunk_size}: more than the {elements:,} elements of a "
            f"dataset; right would be at most that, in elements of {ELEMENT} bytes"
        )


def _check_size(test: IorTest, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless a test fits the job, the machine and this computer."""
    ranks = scenario.nodes * scenario.ppn
    if test.repetitions > _MOST_REPETITIONS:
        raise InputError(
            f"-i {test.repetitions}: right would be at most {_MOST_REPETITIONS:,} repetitions"
        )
    tasks = test.tasks_of(ranks)
    moved, asked = test.aggregate_bytes(tasks), f"-b {test.block_size} -s {test.segments}"
    if moved > machine.lustre.capacity:
        raise InputError(
            f"{asked} on {tasks} tasks makes {moved / 1e15:.1f} PB; the file system of "
            f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
        )
    smallest = min(test.transfer_size, test.prefill or test.transfer_size)
    if moved // smallest > _MOST_CALLS:
        raise InputError(
            f"{asked} -t {smallest} on {tasks} tasks makes {moved // smallest:,} calls a phase, "
            f"too many to keep in memory; right would be at most {_MOST_CALLS:,}, by larger "
            "transfers (-t) or less data"
        )
    if test.api == "MMAP" and moved // PAGE > _MOST_CALLS:
        raise InputError(
            f"-a MMAP {asked} on {tasks} tasks touches {moved // PAGE:,} pages a phase; right "
            f"would be at most {_MOST_CALLS:,}, each of which is a page fault: less data"
        )
    if (
        test.collective
        and test.api not in WITHOUT_MPI
        and moved // test.transfer_size > _MOST_TOGETHER
    ):
        raise InputError(
            f"-c {asked} -t {test.transfer_size} on {tasks} tasks makes "
            f"{moved // test.transfer_size:,} calls a phase; right would be at most "
            f"{_MOST_TOGETHER:,} collective ones, by larger transfers (-t) or less data"
        )
    occupied = test.occupied_memory(machine.nodes.memory, min(scenario.ppn, tasks))
    if occupied >= machine.nodes.memory:
        raise InputError(
            f"-M, memoryPerTask: IOR would occupy {occupied / 2**30:.1f} GiB of a node; "
            f"a node of {machine.name} has {machine.nodes.memory / 2**30:.1f} GiB"
        )
