"""The parameters of an mdtest command, as mdtest 4 has them, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from sim.config.errors import InputError
from sim.config.kept import kept


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


@kept
@dataclass(frozen=True, kw_only=True)
class MdtestTest:
    """An mdtest command.

    Attributes
    ----------
    items, items_per_directory
        Files, and directories, of each rank (``-n``), and in each directory of its tree (``-I``).
    depth, branches, leaf_only
        The tree of directories below each test directory; ``leaf_only``: items at its leaves only.
    create, stat, read, remove, rename
        Which phases to do; all if none is asked for.
    directories, files
        What the items are; both if neither is asked for.
    unique, time_unique
        Whether each rank has a tree of its own, and whether the time of finding it counts.
    shared_file
        Whether all ranks create the same files.
    collective
        Whether rank 0 creates and removes for all.
    make_node
        Whether files are made by ``mknod``.
    write_bytes, read_bytes
        What is written to each file when it has been created, and read of it.
    sync_file, call_sync
        Whether each file is synced when it has been written; whether every rank calls ``sync`` at
        the end of each phase.
    verify_write, verify_read
        Whether what was written is read back at once; whether what is read is looked at.
    stride
        By how many ranks, or nodes, the items of the next phase are shifted.
    paths
        The directories where it happens, dealt to the ranks in turn.
    iterations
        How often.
    first, last, step
        Numbers of ranks to do it with: from the first to the last; 0: with all ranks only.
    delay
        Seconds before directories, and before files.
    random, random_seed
        Whether stats and reads go in random order.
    deadline, status_file
        Seconds after which no rank begins to create another file, before all go on to as many as
        the fastest has; and the file that keeps how many these are.
    print_time, print_both, print_all, rank_statistics, verbose
        What is printed.
    rank_details_file, call_details_file
        Where the figures of each rank go, and of each call.
    warnings_are_errors
        Whether mdtest stops where it would warn.
    direct_io
        Whether files are opened with O_DIRECT.
    stripe_count, stripe_size, start_ost, pool, ignore_locks
        Of the files; 0, -1 and None: as the directory has it.
    before_phase, after_phase
        Commands to run around each phase.
    """

    items: int = 0  # -n
    items_per_directory: int = 0  # -I
    depth: int = 0  # -z
    branches: int = 1  # -b
    leaf_only: bool = False  # -L

    create: bool = False  # -C
    stat: bool = False  # -T
    read: bool = False  # -E
    remove: bool = False  # -r
    rename: bool = False  # -U
    directories: bool = False  # -D
    files: bool = False  # -F

    unique: bool = False  # -u
    time_unique: bool = False  # -t
    shared_file: bool = False  # -S
    collective: bool = False  # -c
    make_node: bool = False  # -k
    no_barriers: int = 0  # -B

    write_bytes: int = 0  # -w
    read_bytes: int = 0  # -e
    sync_file: bool = False  # -y
    call_sync: bool = False  # -Y
    verify_write: bool = False  # --verify-write
    verify_read: bool = False  # -X, --verify-read

    stride: int = 0  # -N
    paths: tuple[str, ...] = ("./out",)  # -d
    iterations: int = 1  # -i
    first: int = 1  # -f
    last: int = 0  # -l
    step: int = 1  # -s
    delay: int = 0  # -p
    random: bool = False  # -R
    random_seed: int = 0  # --random-seed
    deadline: int = 0  # -W
    status_file: str | None = None  # -x

    print_time: bool = False  # -Z
    print_both: bool = False  # -P
    print_all: bool = False  # --print-all-procs
    rank_statistics: bool = False  # --showRankStatistics
    verbose: int = 0  # -v, -V
    rank_details_file: str | None = None  # --saveRankPerformanceDetails
    call_details_file: str | None = None  # --savePerOpDataCSV
    warnings_are_errors: bool = False  # --warningAsErrors

    direct_io: bool = False  # --posix.odirect
    stripe_count: int = 0  # --posix.lustre.stripecount
    stripe_size: int = 0  # --posix.lustre.stripesize
    start_ost: int = -1  # --posix.lustre.startost
    pool: str | None = None  # --posix.lustre.pool
    ignore_locks: bool = False  # --posix.lustre.ignorelocks
    before_phase: str | None = None  # --run-cmd-before-phase
    after_phase: str | None = None  # --run-cmd-after-phase

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


_Rule = tuple[Callable[[MdtestTest], bool], str]

# What each rule forbids, and what to say then. Most are mdtest's own (4.1, md_validate_tests); the
# others are commands with which mdtest 4 itself stops, counts wrongly or never ends.
_RULES: tuple[_Rule, ...] = (
    (lambda t: t.items < 0, "-n {t.items}: the number of items must not be negative"),
    (
        lambda t: t.items_per_directory < 0,
        "-I {t.items_per_directory}: the number of items must not be negative",
    ),
    (lambda t: t.depth < 0, "-z {t.depth}: the depth must not be negative"),
    (lambda t: t.depth > 64, "-z {t.depth}: right would be a depth of at most 64"),
    (
        lambda t: t.branches < 1,
        "-b {t.branches}: each directory of a tree has at least 1 branch",
    ),
    (lambda t: t.iterations < 1, "-i {t.iterations}: there must be at least 1 iteration"),
    (lambda t: t.write_bytes < 0, "-w {t.write_bytes}: the bytes must not be negative"),
    (lambda t: t.read_bytes < 0, "-e {t.read_bytes}: the bytes must not be negative"),
    (lambda t: t.stride < 0, "-N {t.stride}: the stride must not be negative"),
    (lambda t: t.delay < 0, "-p {t.delay}: the delay must not be negative"),
    (lambda t: t.deadline < 0, "-W {t.deadline}: the seconds must not be negative"),
    (lambda t: t.random_seed < 0, "--random-seed {t.random_seed}: must not be negative"),
    (lambda t: t.step < 1, "-s {t.step}: the numbers of tasks must grow by at least 1"),
    (
        lambda t: t.last < 0 or t.first < 1,
        "-f {t.first} -l {t.last}: numbers of tasks are 1 or more",
    ),
    (
        lambda t: 0 < t.last < t.first,
        "-f {t.first} is above -l {t.last}: the first number of tasks is the smaller one",
    ),
    (
        lambda t: t.no_barriers != 0,
        "-B {t.no_barriers}: mdtest 4 stops at -B, since it needs its barriers; leave it out",
    ),
    (
        lambda t: t.shared_file and t.collective,
        "-c and -S cannot be combined: shared files are created once in any case",
    ),
    (
        lambda t: len(t.paths) > 1 and t.collective,
        "-c and several directories in -d cannot be combined",
    ),
    (
        lambda t: t.unique and t.shared_file,
        "-u and -S cannot be combined: shared files lie in one directory",
    ),
    (
        lambda t: len(t.paths) > 1 and t.stride > 0,
        "-N and several directories in -d cannot be combined: a neighbour's items would lie "
        "elsewhere",
    ),
    (
        lambda t: len(t.paths) > 1 and not t.unique,
        "several directories in -d need -u: a directory of all ranks is in one place",
    ),
    (
        lambda t: t.items > 0 and t.items_per_directory > 0 and t.unique,
        "-n and -I cannot be combined with -u: give one of them",
    ),
    (
        lambda t: t.items > 0 and t.items_per_directory > 0 and t.items % t.items_per_directory > 0,
        "-n {t.items} is not a multiple of -I {t.items_per_directory}",
    ),
    (
        lambda t: t.items > 0 and t.items_per_directory > 0 and t.depth > 0,
        "-n with -I and -z: mdtest counts other items than it makes; leave out -n or -z",
    ),
    (lambda t: t.write_bytes > 0 and t.make_node, "-k and -w cannot be combined"),
    (
        lambda t: t.verify_read and not t.read,
        "-X looks at what is read: add -E, or leave out -X",
    ),
    (
        lambda t: t.verify_read and t.read_bytes == 0,
        "-X looks at what is read: say with -e how many bytes, or leave out -X",
    ),
    (
        lambda t: t.create and t.read and t.read_bytes > t.write_bytes,
        "-e {t.read_bytes} is more than -w {t.write_bytes}: there is no more to read than was "
        "written",
    ),
    (
        lambda t: t.warnings_are_errors and t.reads_nothing,
        "--warningAsErrors: with -e 0 the read phase only opens and closes; say with -e how many "
        "bytes, or leave out one of the two",
    ),
    (
        lambda t: t.deadline > 0 and t.branches > 1,
        "-W with -b {t.branches}: a deadline works without branches only",
    ),
    (
        lambda t: t.deadline > 0 and t.loops * t.tree_directories > 1,
        "-W with several directories: mdtest ends with the first; leave out -z, and one of -n and "
        "-I",
    ),
    (
        lambda t: t.deadline > 0 and t.collective,
        "-W with -c: rank 0 would stop where the others do not; leave out one of the two",
    ),
    (lambda t: not all(t.paths), "-d: a directory has no name"),
    (
        lambda t: not t.operations,
        "there is nothing to do: only directories are renamed, at least 2 of them, and -S has none",
    ),
    (
        lambda t: not (t.rank_items or t.create or t.remove or t.reads_status),
        "there are no items: say with -n or -I how many",
    ),
    (
        lambda t: t.stripe_count < -1,
        "--posix.lustre.stripecount {t.stripe_count}: give a number of OSTs, -1 for all or 0 for "
        "the default",
    ),
    (lambda t: t.stripe_size < 0, "--posix.lustre.stripesize {t.stripe_size}: give a size"),
    (lambda t: t.start_ost < -1, "--posix.lustre.startost {t.start_ost}: give an index, or -1"),
)


def checked(test: MdtestTest) -> MdtestTest:
    """Complete and validate a command.

    Returns
    -------
    MdtestTest
        The same, with all phases where none was asked for, and with directories and files where
        neither was; shared files are files only.

    Raises
    ------
    InputError
        When two parameters contradict each other or one is out of range.
    """
    if not (test.create or test.stat or test.read or test.remove or test.rename):
        test = replace(test, create=True, stat=True, read=True, remove=True, rename=True)
    if not (test.directories or test.files):
        test = replace(test, directories=True, files=True)
    if test.shared_file:
        test = replace(test, directories=False)
    for broken, sentence in _RULES:
        if broken(test):
            raise InputError(sentence.format(t=test))
    return test
