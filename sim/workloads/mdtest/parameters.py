"""The parameters of an mdtest command, as mdtest 4 has them, with all that is known of each option.

The options are from the table in mdtest.c, plus the POSIX backend's options that IOR has, too;
options that only mdtest 1.9 had are named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from xc40io.config.kept import kept
from xc40io.workloads.option_table import NO_GPU, NO_POOLS, option, row, rows_of, size, text

# fmt: off
_OTHER_APIS = (
    "AIO", "CEPHFS", "CHFS", "DFS", "DUMMY", "FINCHFS", "GFARM", "HDFS", "IME", "LIBNFS", "MMAP",
    "MPIIO", "NCMPI", "PMDK", "RADOS", "S3",
)
# fmt: on

_NO_COMMANDS = "a simulation runs no commands; leave them out"


@kept
class Operation(Enum):
    """What mdtest counts, in the order in which it does it; the values are the names it prints."""

    TREE_CREATION = "Tree creation"
    DIRECTORY_CREATION = "Directory creation"
    DIRECTORY_STAT = "Directory stat"
    DIRECTORY_RENAME = "Directory rename"
    DIRECTORY_REMOVAL = "Directory removal"
    FILE_CREATION = "File creation"
    FILE_STAT = "File stat"
    FILE_READ = "File read"
    FILE_REMOVAL = "File removal"
    TREE_REMOVAL = "Tree removal"

    @property
    def phase(self) -> str:
        """What its phase is called elsewhere: ``file stat``."""
        return self.value.lower()


DIRECTORY_OPERATIONS = tuple(Operation)[1:5]
FILE_OPERATIONS = tuple(Operation)[5:9]


def _api(typed: str) -> dict[str, Any]:
    """Read an API: there is one."""
    if typed.upper() == "POSIX":
        return {}
    known = typed.upper() in _OTHER_APIS
    raise ValueError(
        f"{'an API of mdtest that is not simulated' if known else 'no API of mdtest'}; POSIX is"
    )


def _paths(typed: str) -> tuple[str, ...]:
    return tuple(typed.split("@"))


@kept
@dataclass(frozen=True, kw_only=True)
class MdtestTest:
    """An mdtest command; each field has the option that sets it. 4k is 4096, whatever it counts."""

    # files, and directories, of each rank, and in each directory of its tree
    items: int = option("-n", 0, size)
    items_per_directory: int = option("-I", 0, size)
    # the tree of directories below each test directory; whether its leaves alone have items
    depth: int = option("-z", 0, size)
    branches: int = option("-b", 1, size)
    leaf_only: bool = option("-L", False)

    # which phases to do; all if none is asked for
    create: bool = option("-C", False)
    stat: bool = option("-T", False)
    read: bool = option("-E", False)
    remove: bool = option("-r", False)
    rename: bool = option("-U", False)
    # what the items are; both if neither is asked for
    directories: bool = option("-D", False)
    files: bool = option("-F", False)

    unique: bool = option("-u", False)  # whether each rank has a tree of its own
    time_unique: bool = option("-t", False)  # whether the time of finding that counts
    shared_file: bool = option("-S", False)  # whether all ranks create the same files
    collective: bool = option("-c", False)  # whether rank 0 creates and removes for all
    make_node: bool = option("-k", False)  # whether files are made by mknod
    no_barriers: int = option("-B", 0, size)

    write_bytes: int = option("-w", 0, size)  # written to each file when it has been created
    read_bytes: int = option("-e", 0, size)  # read of each file
    sync_file: bool = option("-y", False)  # whether each file is synced when it has been written
    call_sync: bool = option("-Y", False)  # whether all ranks call sync at the end of each phase
    verify_write: bool = option("--verify-write", False)  # whether it is read back at once
    verify_read: bool = option("-X --verify-read", False)  # whether what is read is looked at

    stride: int = option("-N", 0, size)  # ranks, or nodes, by which items shift for the next phase
    paths: tuple[str, ...] = option("-d", ("./out",), _paths)  # dealt to the ranks in turn
    iterations: int = option("-i", 1, size)
    # numbers of ranks to do it with: from the first to the last; 0: with all ranks only
    first: int = option("-f", 1, size)
    last: int = option("-l", 0, size)
    step: int = option("-s", 1, size)
    delay: int = option("-p", 0, size)  # seconds before directories, and before files
    random: bool = option("-R", False)  # whether stats and reads go in random order
    random_seed: int = option("--random-seed", 0, size)
    # seconds after which no rank begins to create another file, before all go on to as many as the
    # fastest has; and the file that keeps how many these are
    deadline: int = option("-W", 0, size)
    status_file: str | None = option("-x", None, text)

    # what is printed
    print_time: bool = option("-Z", False)
    print_both: bool = option("-P", False)
    print_all: bool = option("--print-all-procs", False)
    rank_statistics: bool = option("--showRankStatistics", False)
    verbose: int = option("-V", 0, size)
    # where the figures of each rank go, and of each call
    rank_details_file: str | None = option("--saveRankPerformanceDetails", None, text)
    call_details_file: str | None = option(
        "--savePerOpDataCSV",
        None,
        text,
        refused="the times of single calls are not kept; --saveRankPerformanceDetails writes those "
        "of the ranks",
    )
    warnings_are_errors: bool = option("--warningAsErrors", False)  # stops where it would warn

    direct_io: bool = option("--posix.odirect", False)
    # of the files; 0, -1 and None: as the directory has it
    stripe_count: int = option("--posix.lustre.stripecount", 0, size)
    stripe_size: int = option("--posix.lustre.stripesize", 0, size)
    start_ost: int = option("--posix.lustre.startost", -1, size)
    pool: str | None = option("--posix.lustre.pool", None, text, refused=NO_POOLS)
    ignore_locks: bool = option(
        "--posix.lustre.ignorelocks",
        False,
        refused="I/O without extent locks is not simulated; leave it out",
    )
    # commands to run around each phase
    before_phase: str | None = option("--run-cmd-before-phase", None, text, refused=_NO_COMMANDS)
    after_phase: str | None = option("--run-cmd-after-phase", None, text, refused=_NO_COMMANDS)

    without_effect: tuple[str, ...] = field(default=(), compare=False)
    """The accepted options that cannot matter in a simulation, as the user spelled them."""

    @property
    def loops(self) -> int:
        """Test directories one after the other: with ``-n`` and ``-I`` without trees."""
        if self.items and self.items_per_directory and not self.unique:
            return self.items // self.items_per_directory
        return 1

    @property
    def tree_directories(self) -> int:
        """Directories of one tree, its root among them."""
        return sum(self.branches**level for level in range(self.depth + 1))

    @property
    def item_directories(self) -> int:
        """Directories of one tree that hold items: the last ones, level after level."""
        return self.branches**self.depth if self.leaf_only else self.tree_directories

    @property
    def each(self) -> int:
        """Items of a rank in each such directory."""
        return self.items_per_directory or self.items // self.item_directories

    @property
    def rank_items(self) -> int:
        """Items of a rank in one iteration."""
        return self.each * self.item_directories * self.loops

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What is done in one iteration, in order."""
        asked = {
            Operation.TREE_CREATION: self.create,
            Operation.DIRECTORY_CREATION: self.directories and self.create,
            Operation.DIRECTORY_STAT: self.directories and self.stat,
            # A rename needs a name that is free: of one item there is none.
            Operation.DIRECTORY_RENAME: self.directories and self.rename and self.rank_items > 1,
            Operation.DIRECTORY_REMOVAL: self.directories and self.remove,
            Operation.FILE_CREATION: self.files and self.create,
            Operation.FILE_STAT: self.files and self.stat,
            Operation.FILE_READ: self.files and self.read,
            Operation.FILE_REMOVAL: self.files and self.remove,
            Operation.TREE_REMOVAL: self.remove,
        }
        return tuple(operation for operation in Operation if asked[operation])

    @property
    def shuffles(self) -> bool:
        """Whether stats and reads go in random order: a seed alone is enough for mdtest."""
        return self.random or self.random_seed > 0

    @property
    def reads_nothing(self) -> bool:
        """Whether its reads only open and close: mdtest warns."""
        return self.read and self.read_bytes <= 0

    @property
    def writes_status(self) -> bool:
        """Whether it keeps how many files a rank has made before its deadline."""
        return self.status_file is not None and self.deadline > 0 and self.files and self.create

    @property
    def reads_status(self) -> bool:
        """Whether an earlier run has told how many files there are; mdtest then makes none."""
        return self.status_file is not None and self.files and not self.create

    def tasks(self, ranks: int) -> range:
        """Return the numbers of ranks that it runs with, in a job of so many."""
        return range(self.first, self.last + 1, self.step) if self.last else range(ranks, ranks + 1)

    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that so many ranks write and read in all."""
        written = self.write_bytes * (self.files and self.create) * (1 + self.verify_write)
        read = self.read_bytes * (self.files and self.read)
        return self.iterations * sum(self.tasks(ranks)) * self.rank_items * (written + read)

    def item_operations(self, ranks: int) -> int:
        """Return how many operations so many ranks do on items in all."""
        trees = {Operation.TREE_CREATION, Operation.TREE_REMOVAL}
        of_item = sum(operation not in trees for operation in self.operations)
        return self.iterations * sum(self.tasks(ranks)) * self.rank_items * of_item


_NO_GPU = f"{NO_GPU}; leave it out"

OPTIONS = (
    *rows_of(MdtestTest),
    row("-a", _api),
    row("-v", size, field="verbose", counts=True),
    row("-g", idle="no machine here has layouts to inherit"),
    row("-G", str, idle="no file has contents"),
    row("--dataPacketType", str, idle="no file has contents"),
    row("--allocateBufferOnGPU", str, refused=_NO_GPU),
    row("--gpuID", str, refused=_NO_GPU),
    row("--gpuDirect", refused=_NO_GPU),
)
"""All options."""
