"""The rules of an mdtest command: what mdtest refuses, what we refuse, and what is remarked on."""

from __future__ import annotations

from dataclasses import replace

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.workloads.mdtest.parameters import OPTIONS, MdtestTest
from xc40io.workloads.option_table import Rule, refuse, refuse_set, said

_MOST_ITEMS = 4_000_000
"""Files and directories that one command makes: each takes some 700 bytes."""

_MOST_OPERATIONS = 16_000_000
"""Operations of one phase: their list takes 56 bytes each, and is put together from parts."""

_MUST_HOLD: tuple[Rule[MdtestTest], ...] = (
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
        lambda t: t.unique and t.stride > 0 and t.depth > 0,
        "-u with -N and -z: mdtest looks in a neighbour's tree for directories with the rank's own "
        "number, and stops; leave out one of the three",
    ),
    (
        lambda t: len(t.paths) > 1 and not t.unique,
        "several directories in -d need -u: a directory of all ranks is in one place",
    ),
    (
        lambda t: t.unique and t.collective and t.files and t.create and (t.read or t.directories),
        "-u with -c: once rank 0 has created for all ranks it looks for its own files below a path "
        "that is doubled, and mdtest ends at the read, or at the first file where there are "
        "directories, too; leave out one of the two, or say with -F, -C, -T and -r that there are "
        "files only, and nothing is read",
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
        "-n with -I and -z: mdtest would count more or fewer items than it makes; leave out -n or "
        "-z",
    ),
    (lambda t: t.write_bytes > 0 and t.make_node, "-k and -w cannot be combined"),
    (
        lambda t: t.collective and t.make_node and t.files and t.create,
        "-c and -k cannot be combined for files: each rank would make by mknod what rank 0 has "
        "made for it",
    ),
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
        lambda t: t.deadline > 0 and t.files and t.loops * t.tree_directories > 1,
        "-W with files in several directories: mdtest ends with the first; leave out -z, and one "
        "of -n and -I, or make directories only (-D)",
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
"""Most are mdtest's own (4.1, md_validate_tests); with the others mdtest 4 stops, counts wrongly or
never ends."""

NOTED: tuple[Rule[MdtestTest], ...] = (
    (
        lambda t: t.print_time or t.print_both,
        "mdtest 4 writes ms/op above its times, but prints the seconds of the phase; so does this.",
    ),
    (
        lambda t: t.verbose > 1,
        "More than one -v changes nothing here: only the messages of the first are printed.",
    ),
)
"""What is otherwise than it seems."""


def checked(test: MdtestTest) -> MdtestTest:
    """Return a command with all phases where none was asked for.

    Directories and files are both meant where neither is asked for; shared files are files only.

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
    refuse(_MUST_HOLD, test)
    return test


def striping_of(test: MdtestTest, striping: StripeRequest) -> StripeRequest:
    """Return the striping of the files: the options of the command go before the scenario."""
    return striping.having(count=test.stripe_count, size=test.stripe_size, offset=test.start_ost)


def check(test: MdtestTest, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the job of a scenario can run a test."""
    refuse_set(OPTIONS, test)
    ranks = scenario.nodes * scenario.ppn
    if test.last > ranks:
        raise InputError(
            f"-l {test.last}: more than the {ranks} ranks of the job "
            f"({scenario.nodes} nodes x {scenario.ppn})"
        )
    if len(test.paths) > ranks:
        raise InputError(f"-d: {len(test.paths)} directories are more than the {ranks} ranks")
    _check_size(test, ranks)
    _check_target(test, scenario)
    striping_of(test, scenario.striping).check(machine.lustre.osts)


def remarks(test: MdtestTest, scenario: Scenario) -> tuple[str, ...]:
    """Return a sentence for each thing that the user should know."""
    found = list(said(NOTED, test))
    if test.call_sync and not test.write_bytes and scenario.target.kind == "lustre":
        found.append(
            "-Y costs nothing here: a sync on a client of Lustre writes back dirty pages, and "
            "there are none."
        )
    return tuple(found)


def _check_size(test: MdtestTest, ranks: int) -> None:
    """Raise InputError if there are more items than this computer has room for."""
    kinds = test.directories + test.files
    trees = ranks if test.unique else 1
    each = test.rank_items * kinds * max(test.tasks(ranks), default=0)
    made = each + test.tree_directories * test.loops * trees
    count = len(test.tasks(ranks)) * test.iterations
    if made * count > _MOST_ITEMS:
        raise InputError(
            f"{test.rank_items:,} items of each of {ranks:,} ranks in {count:,} iterations, with "
            f"{test.tree_directories:,} directories in a tree, make {made * count:,} items; right "
            f"would be at most {_MOST_ITEMS:,}, by a smaller -n, -I, -z, -b or -i"
        )
    if made * _operations_each(test) > _MOST_OPERATIONS:
        raise InputError(
            f"{made:,} items make {made * _operations_each(test):,} operations in a phase; right "
            f"would be at most {_MOST_OPERATIONS:,}, by a smaller -n or -I"
        )


def _operations_each(test: MdtestTest) -> int:
    """Return the most operations that one item is made of in one phase."""
    return 3 + bool(test.write_bytes) + test.sync_file + test.verify_write + test.collective


def _check_target(test: MdtestTest, scenario: Scenario) -> None:
    """Raise InputError unless the ranks can reach each other's directories."""
    target = scenario.target
    alone = target.kind == "ssd" or target.access == "private"
    if alone and scenario.nodes > 1 and (not test.unique or test.stride or test.collective):
        raise InputError(
            f"target {target.kind}: each node has directories of its own there; right would be -u "
            "without -N and -c, or one node"
        )
    if test.call_sync and test.write_bytes and target.kind != "lustre":
        raise InputError(
            f"-Y with target {target.kind}: sync is simulated for Lustre only; right would be -y, "
            "which syncs each file"
        )
