"""What IOR refuses, we refuse, and we remark on; whether a job can run the tests of a command.

An option of IOR that cannot matter in a simulation is accepted and named; one that would change
the answer, but is not simulated, is refused.
"""

from __future__ import annotations

import re
from dataclasses import replace

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.engine.page import MOST_A_CALL, PAGE
from xc40io.mpi.hints import InForce
from xc40io.workloads.ior.files import hints_of, striping_of
from xc40io.workloads.ior.parameters import ELEMENT, OPTIONS, WITHOUT_MPI, Access, IorTest
from xc40io.workloads.option_table import Rule, refuse, refuse_set, said

_LIBRARIES = ("HDF5", "NCMPI")

_MUST_HOLD: tuple[Rule[IorTest], ...] = (
    (lambda t: t.block_size < 1, "-b {t.block_size}: the block size must be at least 1 byte"),
    (lambda t: t.transfer_size < 1, "-t {t.transfer_size}: the transfer size must be at least 1"),
    (
        lambda t: t.block_size % ELEMENT != 0,
        "-b {t.block_size}: the block size must be a multiple of 8 bytes",
    ),
    (
        lambda t: t.transfer_size % ELEMENT != 0,
        "-t {t.transfer_size}: the transfer size must be a multiple of 8 bytes",
    ),
    (
        lambda t: t.block_size < t.transfer_size,
        "-b {t.block_size} is smaller than -t {t.transfer_size}: "
        "a block holds one or more whole transfers",
    ),
    (
        lambda t: t.block_size % t.transfer_size != 0,
        "-b {t.block_size} is not a multiple of -t {t.transfer_size}: "
        "a block holds one or more whole transfers",
    ),
    (
        lambda t: t.single_attempt and t.api == "POSIX" and t.transfer_size > MOST_A_CALL,
        f"-x with -t {{t.transfer_size}}: Linux moves at most {MOST_A_CALL} bytes a call, and IOR, "
        "which is not to call again, ends with an error; right would be at most that, or no -x",
    ),
    (lambda t: t.segments < 0, "-s {t.segments}: the number of segments must not be negative"),
    (lambda t: t.repetitions < 1, "-i {t.repetitions}: there must be at least 1 repetition"),
    (
        lambda t: t.tasks is not None and t.tasks < 1,
        "-N {t.tasks}: the number of tasks must be at least 1, or 0 for all of them",
    ),
    (
        lambda t: t.check_read and not t.write and not t.signature,
        "-R without -w needs -G: data can be checked only against the signature that they were "
        "written with; right would be -G NUMBER, or -w as well",
    ),
    (
        lambda t: t.dual_mount and not t.file_per_process,
        "-y is for a file per process: right would be -F as well",
    ),
    (
        lambda t: t.dual_mount,
        "-y: IOR takes two mounts whose names end in 0 and 1, one for each socket of a node; the "
        "machine has one: right would be no -y",
    ),
    (lambda t: t.task_offset < 0, "-Q {t.task_offset}: the task offset must not be negative"),
    (lambda t: t.random_offset_seed < -1, "--random-offset-seed must be -1 or more"),
    (lambda t: t.delay < 0, "-d {t.delay}: the delay must not be negative"),
    (lambda t: t.call_delay < 0, "interIODelay must not be negative"),
    (lambda t: t.node_memory < 0, "-M {t.node_memory}: the memory must not be negative"),
    (lambda t: t.task_memory < 0, "memoryPerTask={t.task_memory} must not be negative"),
    (lambda t: t.deadline < 0, "-D {t.deadline}: the deadline must not be negative"),
    (lambda t: t.max_duration < 0, "-T: the duration must not be negative"),
    (lambda t: t.min_duration < 0, "minTimeDuration={t.min_duration} must not be negative"),
    (lambda t: t.wear_out_calls < 0, "stoneWallingWearOutIterations must not be negative"),
    (
        lambda t: t.wear_out and t.deadline == 0,
        "stoneWallingWearOut needs a deadline: give it with -D SECONDS",
    ),
    (
        lambda t: t.stonewall_file is not None and not t.keep_file,
        "stoneWallingStatusFile is for writing and reading in two runs: keep the file with -k",
    ),
    (
        lambda t: t.stonewall_file is not None and t.write and not t.wear_out,
        "stoneWallingStatusFile with a write needs stoneWallingWearOut=1",
    ),
    (
        lambda t: t.reorder_constant and t.reorder_random > 0,
        "-C and -Z cannot be combined: choose the constant or the random reordering",
    ),
    (
        lambda t: t.random_offset > 0 and t.reorder_random > 0 and not t.file_per_process,
        "-z and -Z cannot be combined on a shared file: drop one, or add -F",
    ),
    (
        lambda t: t.random_offset > 0 and t.reorder_constant and not t.file_per_process,
        "-z and -C cannot be combined on a shared file: drop one, or add -F",
    ),
    (
        lambda t: t.random_offset == 1 and t.block_size == t.transfer_size,
        "-z shuffles the transfers of a block, so -b must be larger than -t {t.transfer_size}",
    ),
    (
        lambda t: t.prefill < 0 or (t.prefill > 0 and t.block_size % t.prefill != 0),
        "--randomPrefill={t.prefill}: -b {t.block_size} must be a multiple of it",
    ),
    (
        lambda t: t.prefill > 0 and not t.random_offset,
        "--randomPrefill={t.prefill} fills a file before it is accessed at random: it needs -z",
    ),
    (
        lambda t: t.random_offset > 0 and t.check_read and t.random_offset_seed == -1,
        "-z with -R needs --random-offset-seed=N, so that the read repeats the write's offsets",
    ),
    (
        lambda t: t.api == "MPIIO" and t.random_offset > 0 and t.collective,
        "-z and -c cannot be combined: collective MPI-IO has no random offsets",
    ),
    (
        lambda t: t.api == "MPIIO" and t.random_offset > 0 and t.file_view,
        "-z and a file view (-V) cannot be combined: a file view has no random offsets",
    ),
    (
        lambda t: t.strided and (t.file_per_process or t.reorders),
        "-S (--mpiio.useStridedDatatype) assumes that every rank has its own part of a shared "
        "file: leave out -F, -C and -Z, or -S",
    ),
    (
        lambda t: t.api in ("HDF5", "NCMPI") and t.random_offset > 0,
        "-z: random offsets are not available with {t.api}",
    ),
    (
        lambda t: t.random_offset > 1 and (t.write or t.check_write),
        "-z -z with -w or -W: IOR asks for the file's size, of which it draws the blocks, before a "
        "read only, and so divides by 0 and ends (SIGFPE); right would be -z, or -r alone",
    ),
    (
        lambda t: t.api == "NCMPI" and t.file_per_process,
        "-F: a file per process is not available with NCMPI",
    ),
    (
        lambda t: t.api == "HDF5" and t.individual_datasets,
        "-I: individual datasets are not implemented in IOR; leave it out",
    ),
    (
        lambda t: t.alignment < 0 or (t.api == "HDF5" and t.alignment == 0),
        "-J {t.alignment}: the alignment must be at least 1 byte",
    ),
    (
        lambda t: t.api == "MMAP" and t.fsync_per_write and t.transfer_size % PAGE != 0,
        "-Y with MMAP: -t {t.transfer_size} must be a multiple of the page, 4096 bytes",
    ),
    (lambda t: t.chunk_size < 0, "--hdf5.chunkSize={t.chunk_size} must not be negative"),
    (
        lambda t: t.unique_directory and "@" in t.test_file,
        "-u and several file names in -o {t.test_file} cannot be combined",
    ),
    (lambda t: not t.test_file, "-o: the file name is empty"),
    (
        lambda t: t.stripe_count < -1,
        "stripe count {t.stripe_count}: give a number of OSTs, -1 for all or 0 for the default",
    ),
    (
        lambda t: t.stripe_size < 0,
        "stripe size {t.stripe_size}: give a size, or 0 for the default",
    ),
    (lambda t: t.start_ost < -1, "start OST {t.start_ost}: give an index, or -1 for any"),
    (
        lambda t: t.pool is not None and (t.stripe_count == 0 or t.stripe_size == 0),
        "a Lustre pool needs a stripe count and a stripe size beside it",
    ),
)
"""What IOR itself refuses, where it concerns a simulation (IOR 4.1, ValidateTests and the backends'
check_params)."""

NOT_SIMULATED: tuple[Rule[IorTest], ...] = (
    (
        lambda t: t.call_details_file and t.api != "POSIX",
        "savePerOpDataCSV with -a {t.api}: the times of single calls are kept for POSIX only; "
        "right would be saveRankPerformanceDetailsCSV, which writes the times of each rank",
    ),
    (
        lambda t: t.prefill and (t.api != "POSIX" or t.deadline or t.check_write),
        "--randomPrefill is simulated for POSIX without -D and -W only: with a deadline IOR fills "
        "a segment at a time; leave out one of the two",
    ),
    (
        lambda t: t.api == "MMAP" and t.transfer_size % PAGE != 0,
        "-a MMAP with -t {t.transfer_size}: page faults bring in pages of 4096 bytes; right would "
        "be a multiple of that",
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
        lambda t: t.api in WITHOUT_MPI and t.collective and t.deadline,
        "-c with -D on {t.api}: rank 0 would decide for all ranks after each call, which is "
        "simulated for collective calls only; leave out -c, for {t.api} has no collective calls",
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
        lambda t: t.strided and t.segments > 1 and (t.check_write or t.check_read),
        "-S with -W or -R: one call with a strided datatype takes the transfers of all segments "
        "with it, whose data IOR would find wrong; leave out one of the two",
    ),
    (
        lambda t: t.strided and (t.deadline or t.min_duration or t.wear_out_calls),
        "-S with -D or minTimeDuration: one call with a strided datatype takes the transfers of "
        "all segments with it, and IOR would count them wrongly; leave out one of the two",
    ),
    (
        lambda t: (
            t.transfer_size > MOST_A_CALL
            and (t.deadline or t.min_duration or (t.fsync_per_write and t.api == "POSIX"))
        ),
        f"-t {{t.transfer_size}} with -D, minTimeDuration or -Y: Linux moves at most {MOST_A_CALL} "
        "bytes a call, and what comes between the parts of a transfer is not simulated; right "
        "would be shorter transfers",
    ),
)
"""What would change the answer, but is not simulated."""

_DRIVER = re.compile(r"(ufs|nfs|lustre|panfs|pvfs2|gpfs|xfs|testfs|daos|unifyfs|quobytefs):")
"""Names that ROMIO knows of drivers (ADIO_ResolveFileType)."""

NOTED: tuple[Rule[IorTest], ...] = (
    (
        lambda t: (
            t.api not in ("MMAP", "DUMMY")
            and t.transfer_size > MOST_A_CALL
            and not (t.collective and t.api != "POSIX")
        ),
        f"Linux moves at most {MOST_A_CALL:,} bytes a call; the rest of a longer transfer follows "
        "in calls of its own.",
    ),
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
        "With NCMPI a rank reads what it wrote itself, whatever -C and -Z say: there IOR uses the "
        "rank's own number.",
    ),
    (
        lambda t: t.api not in WITHOUT_MPI and _DRIVER.match(t.test_file),
        "-o {t.test_file}: what stands before the colon names a driver of ROMIO, which changes "
        "nothing: files are opened by that of the file system they are on.",
    ),
)
"""What changes nothing, or another thing than it seems."""

_MOST_CALLS = 100_000_000
"""Reads or writes of one phase: their list takes about 60 bytes each."""

_MOST_TOGETHER = 10_000_000
"""The same for collective calls, counted for each rank: each takes some microseconds to plan."""

_MOST_REPETITIONS = 100_000
"""Repetitions of a test: each takes a millisecond or more, however little it moves."""


def checked(test: IorTest) -> IorTest:
    """Return a test as typed with ``write`` and ``read`` set where no access was asked for.

    Raises
    ------
    InputError
        When two parameters contradict each other or one is out of range.
    """
    if not test.phases:
        test = replace(test, write=True, read=True)
    refuse(_MUST_HOLD, test)
    return test


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
            found += (f"{one}{'' if one.endswith('?') else '.'}" for one in hints.in_force.ignored)
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
