"""The parameters of one IOR test and the rules between them.

IOR ("Interleaved Or Random") writes and reads files in parallel and reports the bandwidth. Every
rank moves ``block_size`` contiguous bytes in calls of ``transfer_size`` bytes; the blocks of all
ranks, one behind the other, are a *segment*; the file is ``segments`` of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from sim.config.errors import InputError
from sim.config.kept import kept

SIMULATED_APIS = ("POSIX", "MMAP", "MPIIO", "HDF5", "NCMPI", "DUMMY")

WITHOUT_MPI = ("POSIX", "MMAP", "DUMMY")
"""The APIs that know nothing of MPI-IO and its hints."""

ELEMENT = 8
"""Bytes of the words that IOR fills its buffers with; block and transfer are multiples of it."""


PAGE = 4096
"""Bytes of a page of memory."""


@kept
class Access(StrEnum):
    """What a phase does with the file; IOR runs the phases in the order of this list."""

    WRITE = "write"
    WRITE_CHECK = "write check"
    READ = "read"
    READ_CHECK = "read check"

    @property
    def reads(self) -> bool:
        """Whether bytes travel from the servers to the ranks."""
        return self is not Access.WRITE


@kept
@dataclass(frozen=True, kw_only=True)
class IorTest:
    """One IOR test, with IOR's defaults; sizes in bytes, times in seconds.

    The letter or directive that sets a field stands beside it. ``write``, ``read`` and the two
    checks are all false until something asks for them; `checked` then turns "nothing asked for"
    into write and read, as IOR does.
    """

    api: str = "POSIX"  # -a
    api_as_typed: str = field(default="POSIX", compare=False)  # IOR repeats it so
    test_file: str = "testFile"  # -o; with -F, names separated by @ are used in turn
    block_size: int = 1 << 20  # -b
    transfer_size: int = 256 << 10  # -t
    segments: int = 1  # -s
    repetitions: int = 1  # -i
    tasks: int | None = None  # -N; None is every rank of the job
    nodes: int | None = None  # numNodes; None as the job has it
    tasks_on_first_node: int | None = None  # numTasksOnNode0; None as the job has it

    write: bool = False  # -w
    read: bool = False  # -r
    check_write: bool = False  # -W, reads everything back and compares
    check_read: bool = False  # -R, compares while it reads
    keep_file: bool = False  # -k
    use_existing_file: bool = False  # -E

    file_per_process: bool = False  # -F
    unique_directory: bool = False  # -u
    file_per_repetition: bool = False  # -m
    collective: bool = False  # -c

    reorder_constant: bool = False  # -C
    task_offset: int = 1  # -Q, in nodes
    reorder_random: int = 0  # -Z: 1 a random shift for each rank; -Z -Z: 2 one permutation
    reorder_seed: int = 0  # -X; a negative one changes with the repetition
    random_offset: int = 0  # -z: 1 every offset once, shuffled; -z -z: 2 blocks at random
    random_offset_seed: int = -1  # --random-offset-seed; -1 leaves it to the run
    prefill: int = 0  # --randomPrefill: bytes of the calls that fill the file first

    fsync: bool = False  # -e
    fsync_per_write: bool = False  # -Y
    barriers: bool = False  # -g, between open, transfers and close
    delay: int = 0  # -d, before each write and each read phase
    call_delay: float = 0.0  # interIODelay (typed in microseconds), after each call

    deadline: int = 0  # -D; 0 is none
    wear_out: bool = False  # stoneWallingWearOut
    wear_out_calls: int = 0  # stoneWallingWearOutIterations; 0 is no limit
    stonewall_file: str | None = None  # stoneWallingStatusFile
    min_duration: int = 0  # minTimeDuration
    max_duration: int = 0  # -T (typed in minutes); 0 is no limit

    direct_io: bool = False  # --posix.odirect, -B
    range_locks: bool = False  # --posix.rangelocks: fcntl locks around each call
    stripe_count: int = 0  # --posix.lustre.stripecount; 0 inherits, -1 is all OSTs
    stripe_size: int = 0  # --posix.lustre.stripesize; 0 inherits
    start_ost: int = -1  # --posix.lustre.startost; -1 leaves it to Lustre
    pool: str | None = None  # --posix.lustre.pool
    ignore_locks: bool = False  # --posix.lustre.ignorelocks

    hints_file: str | None = None  # --mpiio.hintsFileName, -U; also of hdf5 and ncmpi
    show_hints: bool = False  # --mpiio.showHints, -H; also of hdf5 and ncmpi
    version: int = 4  # iorVersion: whose rules, 3 or 4, where the two differ
    preallocate: bool = False  # --mpiio.preallocate, -p
    file_view: bool = False  # --mpiio.useFileView, -V
    strided_datatype: bool = False  # --mpiio.useStridedDatatype, -S

    individual_datasets: bool = False  # --hdf5.individualDataSets, -I
    alignment: int = 1  # --hdf5.setAlignment, -J
    no_fill: bool = False  # --hdf5.noFill, -n
    chunk_size: int = 0  # --hdf5.chunkSize, in elements of 8 bytes; 0 is a contiguous dataset
    collective_metadata: bool = False  # --hdf5.collectiveMetadata

    dummy_create: float = 0.0  # --dummy.delay-create (typed in microseconds, as the next three)
    dummy_close: float = 0.0  # --dummy.delay-close
    dummy_sync: float = 0.0  # --dummy.delay-sync
    dummy_transfer: float = 0.0  # --dummy.delay-xfer
    dummy_first_only: bool = False  # --dummy.delay-only-rank0

    node_memory: int = 0  # -M as a size
    node_memory_percent: int = 0  # -M as a share of the node's memory
    task_memory: int = 0  # memoryPerTask

    dual_mount: bool = False  # -y
    signature: int = field(default=0, compare=False)  # -G
    reference_number: int = 0  # -A
    verbose: int = 0  # -v
    summary_file: str | None = None  # summaryFile
    summary_format: Literal["default", "JSON", "CSV"] = "default"  # summaryFormat
    rank_details_file: str | None = None  # saveRankPerformanceDetailsCSV
    call_details_file: str | None = None  # savePerOpDataCSV

    without_effect: tuple[str, ...] = field(default=(), compare=False)
    """The accepted options that cannot matter in a simulation, as the user spelled them."""

    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What IOR reads otherwise than it looks: a sentence each."""

    @property
    def strided(self) -> bool:
        """Whether one call takes the pieces of all segments: IOR then needs a file view, too."""
        return self.api == "MPIIO" and self.file_view and self.strided_datatype

    @property
    def reorders(self) -> bool:
        """Whether ranks may read what others wrote (``-C``, ``-Z``)."""
        return self.reorder_constant or self.reorder_random > 0

    @property
    def calls_per_block(self) -> int:
        """Transfers that make up one block."""
        return self.block_size // self.transfer_size

    @property
    def phases(self) -> tuple[Access, ...]:
        """The phases of one repetition, in order (IOR: one read phase, with or without -R)."""
        wanted = {
            Access.WRITE: self.write,
            Access.WRITE_CHECK: self.check_write,
            Access.READ: self.read and not self.check_read,
            Access.READ_CHECK: self.check_read,
        }
        return tuple(access for access, asked in wanted.items() if asked)

    def aggregate_bytes(self, tasks: int) -> int:
        """Bytes that ``tasks`` ranks move in one phase, and what their file or files hold."""
        return self.block_size * self.segments * tasks

    def tasks_of(self, ranks: int) -> int:
        """Return how many ranks of a job take part: IOR goes on with all where more are asked."""
        return min(self.tasks or ranks, ranks)

    def bytes_to_move(self, ranks: int) -> int:
        """Bytes that all phases move in a job of so many ranks, if nothing stops them early."""
        phases = self.repetitions * len(self.phases)
        return phases * self.aggregate_bytes(self.tasks_of(ranks))

    def occupied_memory(self, node_memory: int, tasks: int) -> int:
        """Bytes that IOR occupies of a node's memory, with so many tasks there.

        IOR allocates and touches so much before a test, to make a node's page cache small ("hogs"
        it).
        """
        of_node = self.memory_per_node(node_memory)
        if self.tasks_on_first_node:  # by which IOR divides it
            of_node = of_node * tasks // self.tasks_on_first_node
        return self.task_memory * tasks or of_node

    def memory_per_node(self, node_memory: int) -> int:
        """Return what ``-M`` asks to occupy of a node's memory, in bytes."""
        return self.node_memory or node_memory * self.node_memory_percent // 100


_Rule = tuple[Callable[[IorTest], bool], str]

# What each rule forbids, and what to say then. The combinations are those that IOR itself refuses
# (IOR 4.1, ValidateTests and the backends' check_params), where they concern a simulation.
_RULES: tuple[_Rule, ...] = (
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
    (lambda t: t.segments < 0, "-s {t.segments}: the number of segments must not be negative"),
    (lambda t: t.repetitions < 1, "-i {t.repetitions}: there must be at least 1 repetition"),
    (
        lambda t: t.tasks is not None and t.tasks < 1,
        "-N {t.tasks}: the number of tasks must be at least 1, or 0 for all of them",
    ),
    (
        lambda t: t.check_read and not t.write and not t.signature,
        "-R without -w needs -G: what is read can be checked only by the signature that the write "
        "had; right would be -G NUMBER, or -w as well",
    ),
    (
        lambda t: t.dual_mount and not t.file_per_process,
        "-y is for a file per process: right would be -F as well",
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
        "-S takes it that every rank is at its own part of a shared file: "
        "leave out -F, -C and -Z, or -S",
    ),
    (
        lambda t: t.api in ("HDF5", "NCMPI") and t.random_offset > 0,
        "-z: random offsets are not available with {t.api}",
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


def checked(test: IorTest) -> IorTest:
    """Complete and validate a test.

    Parameters
    ----------
    test
        The test as typed.

    Returns
    -------
    IorTest
        The same test; with ``write`` and ``read`` set where no access was asked for.

    Raises
    ------
    InputError
        When two parameters contradict each other or one is out of range.
    """
    if not test.phases:
        test = replace(test, write=True, read=True)
    for broken, sentence in _RULES:
        if broken(test):
            raise InputError(sentence.format(t=test))
    return test
