"""The parameters of one IOR test, with all that IOR and the simulator know of each option.

IOR ("Interleaved Or Random") writes and reads files in parallel and reports the bandwidth. Every
rank moves ``block_size`` contiguous bytes in calls of ``transfer_size`` bytes; the blocks of all
ranks, one behind the other, are a *segment*; the file is ``segments`` of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from xc40io.config.kept import kept
from xc40io.workloads.option_table import NO_GPU, NO_POOLS, option, row, rows_of, size, text

SIMULATED_APIS = ("POSIX", "MMAP", "MPIIO", "HDF5", "NCMPI", "DUMMY")

WITHOUT_MPI = ("POSIX", "MMAP", "DUMMY")
"""The APIs that know nothing of MPI-IO and its hints."""

# fmt: off
_OTHER_APIS = (
    "AIO", "CEPHFS", "CHFS", "DAOS", "DFS", "FINCHFS", "GFARM", "HDFS", "IME", "LIBNFS", "NC4",
    "PMDK", "RADOS", "S3", "S3-4C", "S3-LIBS3", "S3_EMC",
)
# fmt: on

ELEMENT = 8
"""Bytes of the words that IOR fills its buffers with; block and transfer are multiples of it."""


def _whole(typed: str) -> int:
    try:
        return size(typed)
    except ValueError as error:
        too_large = str(error).startswith("too large")
        raise ValueError(str(error) if too_large else "not a whole number") from None


def _digits(typed: str) -> int:
    """Read what IOR reads up to the first character that is no digit (atoi)."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", typed):
        raise ValueError("not a whole number without a unit, and IOR would not see the rest")
    return int(typed)


def _level(typed: str) -> int:
    level = _whole(typed)
    if level < 0:
        raise ValueError("negative")
    return level


def _verbosity(typed: str) -> dict[str, Any]:
    level = _level(typed)
    if level < 2:
        return {"verbose": level}
    more = "-v twice or more: what IOR then prints besides, for its own developers, is left out."
    return {"verbose": level, "remarks": (more,)}


def _api(typed: str) -> dict[str, Any]:
    api = typed.upper()
    if api in SIMULATED_APIS:
        return {"api": api, "api_as_typed": typed}
    simulated = f"{', '.join(SIMULATED_APIS[:-1])} and {SIMULATED_APIS[-1]}"
    if api in _OTHER_APIS:
        raise ValueError(f"an API of IOR that is not simulated; {simulated} are")
    raise ValueError(f"not an API of IOR; {simulated} are simulated")


def _version(typed: str) -> int:
    match = re.fullmatch(r"\s*([34])(?:\.[0-9]+)*\s*", typed)
    if match is None:
        raise ValueError("not a version of IOR that is simulated; give 3 or 4, as in 3.0.1")
    return int(match[1])


def _packet_type(typed: str) -> str:
    types = ("offset", "incompressible", "timestamp", "random", "o", "i", "t", "r")
    if typed not in types:
        raise ValueError(f"not a data packet type; give one of {', '.join(types)}")
    return typed


def _tasks(typed: str) -> int | None:
    return _whole(typed) or None


def _count(typed: str) -> int | None:
    """Read a number that is left to the job if it is 0, or -1 as IOR has it."""
    number = _whole(typed)
    return number if number > 0 else None


def _whole_seconds(typed: str) -> dict[str, Any]:
    """Read seconds; of a number with a point IOR reads what stands before it."""
    match = re.fullmatch(r"\s*([+-]?[0-9]+)\.[0-9]*\s*", typed)
    if match is None:
        return {"delay": _whole(typed)}
    delay = _whole(match[1])
    remark = f"-d {typed.strip()}: IOR takes whole seconds, and so reads {delay}."
    return {"delay": delay, "remarks": (remark,)}


def _microseconds(typed: str) -> float:
    return _whole(typed) * 1e-6


def _minutes(typed: str) -> int:
    return _whole(typed) * 60


def _summary_format(typed: str) -> str:
    formats = {"default": "default", "json": "JSON", "csv": "CSV"}
    if typed.lower() not in formats:
        raise ValueError("not a summary format; give default, JSON or CSV")
    return formats[typed.lower()]


_NO_MEMORY = {"node_memory": 0, "node_memory_percent": 0, "task_memory": 0}


def _node_memory(typed: str) -> dict[str, int]:
    """Read a size, or a percentage of the node's memory; each form unsets the other."""
    share = re.fullmatch(r"\s*([0-9]{1,3})\s*%\s*", typed)
    if share is None:
        return _NO_MEMORY | {"node_memory": size(typed)}
    if int(share[1]) > 100:
        raise ValueError("above 100 %")
    return _NO_MEMORY | {"node_memory_percent": int(share[1])}


def _task_memory(typed: str) -> dict[str, int]:
    return _NO_MEMORY | {"task_memory": size(typed)}


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

    @property
    def way(self) -> Literal["write", "read"]:
        """What it belongs to: a check of what was written to the write."""
        return "write" if self in (Access.WRITE, Access.WRITE_CHECK) else "read"


@kept
@dataclass(frozen=True, kw_only=True)
class IorTest:
    """One IOR test, with IOR's defaults; sizes in bytes, times in seconds.

    Each field has the option that sets it. ``write``, ``read`` and the two checks are all false
    until something asks for them; :func:`~xc40io.workloads.ior.checks.checked` then turns "nothing
    asked for" into write and read, as IOR does.
    """

    api: str = option("-a api", "POSIX", _api)
    api_as_typed: str = field(default="POSIX", compare=False)  # IOR repeats it so
    test_file: str = option(
        "-o testFile", "testFile", text
    )  # with -F, names separated by @ in turn
    block_size: int = option("-b blockSize", 1 << 20, size)
    transfer_size: int = option("-t transferSize", 256 << 10, size)
    segments: int = option("-s segmentCount", 1, _whole)
    repetitions: int = option("-i repetitions", 1, _whole)
    tasks: int | None = option("-N numTasks", None, _tasks)  # none is every rank of the job
    nodes: int | None = option("numNodes", None, _count)  # none as the job has it
    tasks_on_first_node: int | None = option("numTasksOnNode0", None, _count)  # the same

    write: bool = option("-w writeFile", False)
    read: bool = option("-r readFile", False)
    check_write: bool = option("-W checkWrite", False)  # reads everything back and compares
    check_read: bool = option("-R checkRead", False)  # compares while it reads
    keep_file: bool = option("-k keepFile", False)
    use_existing_file: bool = option("-E useExistingTestFile", False)

    file_per_process: bool = option("-F filePerProc", False)
    unique_directory: bool = option("-u uniqueDir", False)
    file_per_repetition: bool = option("-m multiFile", False)
    collective: bool = option("-c --collective collective", False)

    reorder_constant: bool = option("-C reorderTasks reorderTasksConstant", False)
    task_offset: int = option("-Q taskPerNodeOffset", 1, _whole)  # in nodes
    # -Z: 1 a random shift for each rank; -Z -Z: 2 one permutation
    reorder_random: int = option("-Z reorderTasksRandom", 0, _level, counts=True)
    # a negative one changes with the repetition
    reorder_seed: int = option("-X reorderTasksRandomSeed", 0, _whole)
    # -z: 1 every offset once, shuffled; -z -z: 2 blocks at random
    random_offset: int = option("-z randomOffset", 0, _level, counts=True)
    random_offset_seed: int = option("--random-offset-seed", -1, _whole)  # -1 leaves it to the run
    prefill: int = option("--randomPrefill", 0, size)  # bytes of the calls that fill the file first

    fsync: bool = option("-e fsync", False)
    fsync_per_write: bool = option("-Y fsyncPerWrite", False)
    barriers: bool = option("-g intraTestBarriers", False)  # between open, transfers and close
    delay: int = option("-d interTestDelay", 0, _whole_seconds)  # before each write and read phase
    call_delay: float = option("interIODelay", 0.0, _microseconds)  # after each call

    deadline: int = option("-D deadlineForStonewalling", 0, _whole)  # 0 is none
    wear_out: bool = option("stoneWallingWearOut", False)
    wear_out_calls: int = option("stoneWallingWearOutIterations", 0, _whole)  # 0 is no limit
    stonewall_file: str | None = option("stoneWallingStatusFile", None, text)
    min_duration: int = option("minTimeDuration", 0, _whole)
    max_duration: int = option("-T maxTimeDuration", 0, _minutes)  # 0 is no limit

    direct_io: bool = option("-B --posix.odirect useO_DIRECT", False)
    range_locks: bool = option("--posix.rangelocks rangeLocks", False)  # fcntl, around each call
    # 0 inherits, -1 is all OSTs
    stripe_count: int = option("--posix.lustre.stripecount lustreStripeCount", 0, _whole)
    stripe_size: int = option("--posix.lustre.stripesize lustreStripeSize", 0, size)  # 0 inherits
    # -1 leaves it to Lustre
    start_ost: int = option("--posix.lustre.startost lustreStartOST", -1, _whole)
    pool: str | None = option("--posix.lustre.pool lustrePool", None, text, refused=NO_POOLS)
    ignore_locks: bool = option(
        "--posix.lustre.ignorelocks lustreIgnoreLocks",
        False,
        refused="I/O without extent locks is not simulated; without the option the same bytes move "
        "under locks",
    )

    hints_file: str | None = option(
        "-U --mpiio.hintsFileName --hdf5.hintsFileName --ncmpi.hintsFileName hintsFileName",
        None,
        text,
    )
    show_hints: bool = option(
        "-H --mpiio.showHints --hdf5.showHints --ncmpi.showHints showHints", False
    )
    # whose rules, 3 or 4, where the two differ: the simulator's own, no IOR has it
    version: int = option("iorVersion", 4, _version)
    preallocate: bool = option("-p --mpiio.preallocate --ncmpi.preallocate preallocate", False)
    file_view: bool = option("-V --mpiio.useFileView --ncmpi.useFileView useFileView", False)
    strided_datatype: bool = option(
        "-S --mpiio.useStridedDatatype --ncmpi.useStridedDatatype useStridedDatatype", False
    )

    individual_datasets: bool = option("-I --hdf5.individualDataSets individualDataSets", False)
    alignment: int = option("-J --hdf5.setAlignment setAlignment", 1, size)
    no_fill: bool = option("-n --hdf5.noFill noFill", False)
    # in elements of 8 bytes; 0 is a contiguous dataset
    chunk_size: int = option("--hdf5.chunkSize chunkSize", 0, _digits, counts=True)
    collective_metadata: bool = option("--hdf5.collectiveMetadata collectiveMetadata", False)

    dummy_create: float = option("--dummy.delay-create dummyDelayCreate", 0.0, _microseconds)
    dummy_close: float = option("--dummy.delay-close dummyDelayClose", 0.0, _microseconds)
    dummy_sync: float = option("--dummy.delay-sync dummyDelaySync", 0.0, _microseconds)
    dummy_transfer: float = option("--dummy.delay-xfer dummyDelayXfer", 0.0, _microseconds)
    dummy_first_only: bool = option("--dummy.delay-only-rank0 dummyDelayOnlyRank0", False)

    node_memory: int = option("-M memoryPerNode", 0, _node_memory)  # -M as a size
    node_memory_percent: int = 0  # -M as a share of the node's memory
    task_memory: int = option("memoryPerTask", 0, _task_memory)

    single_attempt: bool = option(
        "-x singleXferAttempt",
        False,
        compare=False,
        idle="no call moves less than it should",
    )
    dual_mount: bool = option("-y dualMount", False)
    signature: int = option(
        "-G setTimeStampSignature", 0, _whole, compare=False, idle="no file has contents"
    )
    reference_number: int = option("-A refNum", 0, _whole)
    verbose: int = option("-v verbose", 0, _verbosity, counts=True)
    summary_file: str | None = option("summaryFile", None, text)
    summary_format: Literal["default", "JSON", "CSV"] = option(
        "summaryFormat", "default", _summary_format
    )
    rank_details_file: str | None = option("saveRankPerformanceDetailsCSV", None, text)
    call_details_file: str | None = option("savePerOpDataCSV", None, text)

    without_effect: tuple[str, ...] = field(default=(), compare=False)
    """The accepted options that cannot matter in a simulation, as the user spelled them."""

    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What IOR reads otherwise than it looks: a sentence each."""

    @property
    def strided(self) -> bool:
        """Whether one call takes the pieces of all segments: IOR then needs a file view, too."""
        return self.api == "MPIIO" and self.file_view and self.strided_datatype

    @property
    def scattered(self) -> bool:
        """Whether MPI-IO is told of holes in memory, where there are none.

        With a file view the transfers' type in memory has an extent of 0 since IOR 4.0
        (aiori-MPIIO.c).
        """
        return self.api == "MPIIO" and self.file_view and self.version >= 4

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


_NO_GPU = f"{NO_GPU}; leave this option out"
_NOT_LUSTRE = "the simulated file system is Lustre; leave this option out"
_NO_FILE = "a simulation touches no file in any case; leave this option out"
_NO_POINTER = "shared file pointers do not work in IOR either; leave this option out"
_OFF = ("0", "-1")

OPTIONS = (
    *rows_of(IorTest),
    row("-l --dataPacketType dataPacketType", _packet_type, idle="no file has contents"),
    row("debug", text, idle="it changes messages of IOR"),
    row("-K keepFileWithError", idle="no data are found wrong"),
    row("--mmap.madv_dont_need --mmap.madv_pattern mmapMadvise", idle="every page faults anyway"),
    row("-j outlierThreshold", _whole, idle="it warns of single ranks"),
    row("platform", text, idle="it changes messages of IOR"),
    row("-q quitOnError", idle="no data are found wrong"),
    row("storeFileOffset", idle="no file has contents"),
    row("summaryAlways", idle="it changes messages of IOR"),
    row("--warningAsErrors warningAsErrors", idle="IOR has nothing to warn of"),
    row("allocateBufferOnGPU", refused=_NO_GPU, harmless=_OFF),
    row("gpuID", refused=_NO_GPU, harmless=_OFF),
    row("--gpuDirect gpuDirect", refused=_NO_GPU, harmless=_OFF),
    row("--posix.beegfs.numTargets beegfsNumTargets", str, refused=_NOT_LUSTRE, harmless=_OFF),
    row("--posix.beegfs.chunkSize beegfsChunkSize", str, refused=_NOT_LUSTRE, harmless=_OFF),
    row("--posix.gpfs.hintaccess gpfsHintAccess", refused=_NOT_LUSTRE, harmless=_OFF),
    row("--posix.gpfs.releasetoken gpfsReleaseToken", refused=_NOT_LUSTRE, harmless=_OFF),
    row(
        "--posix.gpfs.finegrainwritesharing --posix.gpfs.finegrainreadsharing gpfsFineGrain",
        refused=_NOT_LUSTRE,
        harmless=_OFF,
    ),
    row("--dryRun dryRun", refused=_NO_FILE, harmless=("0",)),
    row("-P useSharedFilePointer", refused=_NO_POINTER, harmless=("0",)),
)
"""The options of IOR 3.x and 4.x and, where a letter is free today, of 2.x."""
