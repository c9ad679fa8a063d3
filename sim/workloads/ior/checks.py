"""What is refused before a run begins, and what is remarked on.

An option of IOR that cannot matter in a simulation is accepted and named; one that would change
the answer, but is not simulated, is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.mpi.hints import InForce
from sim.workloads.ior.hints import hints_of, striping_of
from sim.workloads.ior.parameters import ELEMENT, PAGE, WITHOUT_MPI, Access, IorTest

_MOST_CALLS = 100_000_000
"""Reads or writes of one phase: their list takes about 60 bytes each."""

_MOST_TOGETHER = 10_000_000
"""The same for collective calls, counted for each rank: each takes some microseconds to plan."""

_MOST_REPETITIONS = 100_000
"""Repetitions of a test: each takes a millisecond or more, however little it moves."""

_LIBRARIES = ("HDF5", "NCMPI")

_Asked = Callable[[IorTest], object]

_REFUSED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.call_details_file and t.api != "POSIX",
        "savePerOpDataCSV with -a {t.api}: the times of single calls are kept for POSIX only; "
        "saveRankPerformanceDetailsCSV writes those of the ranks",
    ),
    (
        lambda t: t.prefill and (t.api != "POSIX" or t.deadline or t.check_write),
        "--randomPrefill is simulated for POSIX without -D and -W only: with a deadline IOR fills "
        "a segment at a time; leave out one of the two",
    ),
    (
        lambda t: t.api == "MMAP" and t.transfer_size % PAGE != 0,
        "-a MMAP with -t {t.transfer_size}: pages of 4096 bytes are what faults bring in; right "
        "would be a multiple of that",
    ),
    (
        lambda t: t.range_locks and t.api == "POSIX" and t.min_duration,
        "--posix.rangelocks with minTimeDuration is not simulated; leave out one of the two",
    ),
    (
        lambda t: not t.segments and (t.random_offset or t.collective or t.api in _LIBRARIES),
        "-s 0: a test without any call is simulated for POSIX, MMAP and DUMMY, and MPIIO without "
        "-c, in order only; right would be -s 1 or more",
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
        lambda t: t.api in WITHOUT_MPI and t.collective and t.deadline,
        "-c with -D on {t.api}: that rank 0 decides for all after each call is simulated for "
        "collective calls only; leave out -c, which {t.api} does not have",
    ),
    (
        lambda t: t.api not in WITHOUT_MPI and t.collective and t.min_duration,
        "minTimeDuration with -c: each rank would look at its own clock, and those that went on "
        "would wait for the others for ever; leave out one of the two",
    ),
    (
        lambda t: t.api in (*_LIBRARIES, "DUMMY") and t.min_duration,
        "minTimeDuration is simulated for POSIX, MMAP and MPIIO only",
    ),
    (
        lambda t: t.api in _LIBRARIES and t.deadline and not t.collective,
        "-D without -c on HDF5 and NCMPI: datasets are made and closed by all ranks together, and "
        "those that stop early would keep the others waiting; add -c",
    ),
    (
        lambda t: t.strided and (t.deadline or t.min_duration or t.wear_out_calls),
        "-S with -D or minTimeDuration: one call with a strided datatype takes the transfers of "
        "all segments with it, and IOR would count them wrongly; leave out one of the two",
    ),
)

_NOTED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: (
            t.api in WITHOUT_MPI
            and (t.collective or t.preallocate or t.file_view or t.strided_datatype)
        ),
        "{t.api} does not look at the options of MPI-IO (-c, -p, -V, -S).",
    ),
    (
        lambda t: t.api in WITHOUT_MPI and (t.hints_file or t.show_hints),
        "{t.api} has no hints (-U, -H).",
    ),
    (
        lambda t: t.api not in WITHOUT_MPI and t.direct_io,
        "MPI-IO does not look at the option of POSIX for direct I/O (-B, --posix.odirect): "
        "the page cache is used.",
    ),
    (
        lambda t: t.api in ("MMAP", "DUMMY") and t.direct_io,
        "{t.api} does not look at the option for direct I/O (-B, --posix.odirect).",
    ),
    (
        lambda t: t.api != "POSIX" and t.range_locks,
        "{t.api} does not look at the option of POSIX for range locks (--posix.rangelocks).",
    ),
    (
        lambda t: (
            t.api != "DUMMY"
            and (
                t.dummy_create
                or t.dummy_close
                or t.dummy_sync
                or t.dummy_transfer
                or t.dummy_first_only
            )
        ),
        "Only DUMMY looks at its delays (--dummy.delay-create and its like).",
    ),
    (
        lambda t: t.phases == (Access.WRITE_CHECK,),
        "-W alone: IOR does not time what it reads back, so its table is empty.",
    ),
    (
        lambda t: t.api == "MPIIO" and t.strided_datatype and not t.file_view,
        "IOR looks at -S only together with a file view (-V).",
    ),
    (
        lambda t: (
            t.api in ("HDF5", "NCMPI") and (t.preallocate or t.file_view or t.strided_datatype)
        ),
        "Only MPIIO looks at -p, -V and -S.",
    ),
    (
        lambda t: (
            t.api != "HDF5"
            and (
                *(t.individual_datasets, t.alignment, t.no_fill),
                *(t.chunk_size, t.collective_metadata),
            )
            != (False, 1, False, 0, False)
        ),
        "Only HDF5 looks at its options (-I, -J, -n, --hdf5.chunkSize, --hdf5.collectiveMetadata).",
    ),
    (
        lambda t: t.api == "HDF5" and t.no_fill and not t.chunk_size,
        "-n changes nothing: without --hdf5.chunkSize a dataset is in one piece, which HDF5 fills "
        "only with a value that somebody has set.",
    ),
    (
        lambda t: t.api == "NCMPI" and t.reorders,
        "With NCMPI a rank reads what it wrote itself, whatever -C and -Z say: IOR goes by the "
        "rank's own number there.",
    ),
)


def check(tests: tuple[IorTest, ...], scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the machine can run the tests and the simulator knows how."""
    for test in tests:
        _check_threads(test, scenario.cores.threads)
        for asked, sentence in _REFUSED:
            if asked(test):
                raise InputError(sentence.format(t=test))
        _check_size(test, scenario, machine)
        _check_chunks(test, scenario.nodes * scenario.ppn)
        striping_of(test, scenario.striping).check(machine.lustre.osts)
        if test.api not in WITHOUT_MPI:
            hints_of(test, scenario.striping, scenario.environment, machine)


def remarks(tests: tuple[IorTest, ...], scenario: Scenario, machine: Machine) -> tuple[str, ...]:
    """Return a sentence, once, for each kind of option and each hint that changes nothing."""
    ranks = scenario.nodes * scenario.ppn
    found = [sentence.format(t=test) for asked, sentence in _NOTED for test in tests if asked(test)]
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
            f"{threads} I/O threads a rank with -a {test.api}: only the calls of POSIX are dealt "
            "to threads; choose one of the two"
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
