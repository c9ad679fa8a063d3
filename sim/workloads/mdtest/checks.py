"""What is refused before a run begins, and what is remarked on."""

from __future__ import annotations

from collections.abc import Callable

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.config.striping import StripeRequest
from sim.workloads.mdtest.parameters import MdtestTest

_MOST_ITEMS = 4_000_000
"""Files and directories that one command makes: each takes some 700 bytes."""

_MOST_OPERATIONS = 16_000_000
"""Operations of one phase: their list takes 56 bytes each, and is put together from parts."""

_Asked = Callable[[MdtestTest], object]

_REFUSED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.call_details_file,
        "--savePerOpDataCSV: the times of single calls are not kept; --saveRankPerformanceDetails "
        "writes those of the ranks",
    ),
    (
        lambda t: t.before_phase or t.after_phase,
        "--run-cmd-before-phase, --run-cmd-after-phase: a simulation runs no commands; leave them "
        "out",
    ),
    (
        lambda t: t.pool,
        "--posix.lustre.pool: no machine file describes OST pools; choose the OSTs by count and "
        "start OST instead",
    ),
    (
        lambda t: t.ignore_locks,
        "--posix.lustre.ignorelocks: I/O without extent locks is not simulated; leave it out",
    ),
)

_NOTED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.print_time or t.print_both,
        "mdtest 4 writes ms/op above its times, but prints the seconds of the phase; so does this.",
    ),
    (
        lambda t: t.verbose > 1,
        "Of mdtest's messages those of -v are printed; more of it adds no others.",
    ),
)


def striping_of(test: MdtestTest, striping: StripeRequest) -> StripeRequest:
    """Return the striping of the files: the options of the command go before the scenario."""
    return striping.having(count=test.stripe_count, size=test.stripe_size, offset=test.start_ost)


def check(test: MdtestTest, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the job of a scenario can run a test."""
    for asked, sentence in _REFUSED:
        if asked(test):
            raise InputError(sentence)
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
    found = [sentence for asked, sentence in _NOTED if asked(test)]
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
