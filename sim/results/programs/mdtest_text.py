"""mdtest's own output, line for line as mdtest 4.1 prints it, so that scripts read this, too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

from xc40io.results.programs.ior_report import VERSION
from xc40io.results.programs.mdtest_summary import TREES, Spread, SummaryRow, summary_rows
from xc40io.results.programs.surroundings import EPOCH, file_system_of, moment
from xc40io.run.result import Result
from xc40io.workloads.mdtest.outcome import MdtestOutcome, MdtestPhase, MdtestRun
from xc40io.workloads.mdtest.parameters import (
    DIRECTORY_OPERATIONS,
    FILE_OPERATIONS,
    MdtestTest,
    Operation,
)

_NO_LINE = 0
"""The line of mdtest's source that stands in messages of a higher level: there is none here."""


def format_mdtest(result: Result, outcome: MdtestOutcome) -> str:
    """Print a run as mdtest does.

    Returns
    -------
    str
        Header, for each number of tasks the summary of rates, or of times, or of both, and the end;
        ends with a newline. Operations/s; times in simulated seconds.
    """
    test = outcome.command.test
    lines = [
        f"-- started at {_date(result.started)} --",
        "",
        f"mdtest-{VERSION} was launched with {outcome.tasks} total task(s) on "
        f"{outcome.nodes} node(s)",
        f"Command line used: {outcome.command.command_line}",
    ]
    if test.reads_nothing:
        lines.append("WARNING: Read bytes is 0, thus, a read test will actually just open/close.")
    if test.verbose > 0:
        lines += (_message(1, text) for text in _options(test))
    lines += _placement(result, outcome)
    for run in outcome.runs:
        lines += _run_lines(run, test)
    lines += [f"-- finished at {_date(result.started + result.simulated)} --", ""]
    return "\n".join(lines) + "\n"


def _date(seconds: float) -> str:
    return moment(seconds).strftime("%m/%d/%Y %H:%M:%S")


def _message(level: int, text: str) -> str:
    """Return a message that mdtest prints with its level, the rank and the line of its source."""
    return f"V-{level}: Rank {0:3d} Line {_NO_LINE:5d} {text}"


def _placement(result: Result, outcome: MdtestOutcome) -> Iterator[str]:
    """Yield where the ranks and the directories are."""
    test = outcome.command.test
    first = min(outcome.per_node, outcome.tasks)
    yield f"Nodemap: {'1' * first}{'0' * (outcome.tasks - first)}"
    yield f"{'Path':<20}: {test.paths[0]}"
    yield f"{'FS':<20}: {file_system_of(result.machine).line}"
    if test.stride:
        yield _message(0, f"Shifting ranks by {outcome.stride} for each phase.")
    if test.shuffles:
        # Without a seed mdtest takes the time.
        clock = int(EPOCH.replace(tzinfo=UTC).timestamp() + result.started)
        yield f"random seed: {test.random_seed or clock}"


def _options(test: MdtestTest) -> Iterator[str]:
    """Yield the options as mdtest -v echoes them."""
    echoed: dict[str, object] = {
        "api": "POSIX",
        "barriers": True,
        "collective_creates": test.collective,
        "create_only": test.create,
        "dirpath(s):": None,
        **{f"\t{path}": None for path in test.paths},
        "dirs_only": test.directories,
        "read_bytes": test.read_bytes,
        "read_only": test.read,
        "first": test.first,
        "files_only": test.files,
        "iterations": test.iterations,
        "items_per_dir": test.items_per_directory,
        "last": test.last,
        "leaf_only": test.leaf_only,
        "items": test.items,
        "nstride": test.stride,
        "pre_delay": test.delay,
        "remove_only": test.leaf_only,  # mdtest prints that of leaf_only
        "random_seed": test.random_seed,
        "stride": test.step,
        "shared_file": test.shared_file,
        "time_unique_dir_overhead": test.time_unique,
        "stone_wall_timer_seconds": test.deadline,
        "stat_only": test.stat,
        "unique_dir_per_task": test.unique,
        "write_bytes": test.write_bytes,
        "sync_file": test.sync_file,
        "call_sync": test.call_sync,
        "depth": test.depth,
        "make_node": int(test.make_node),
    }
    for name, value in echoed.items():
        yield name if value is None else f"{name:<24}: {value}"


def _run_lines(run: MdtestRun, test: MdtestTest) -> Iterator[str]:
    """Yield what is printed of the iterations with one number of tasks."""
    yield f"{run.tasks} tasks, {_counted(run, test)}"
    if test.verbose > 0:
        yield _message(1, "")
        yield _message(1, "   Operation               Duration              Rate")
        yield _message(1, "   ---------               --------              ----")
    for iteration in range(test.iterations):
        done = [phase for phase in run.phases if phase.iteration == iteration]
        if test.verbose > 0:
            yield _message(1, f"main: * iteration {iteration + 1} *")
        yield from _iteration_lines(done, test)
    if test.print_both or not test.print_time:
        yield from _summary_lines(run, test, times=False)
    if test.print_both or test.print_time:
        yield from _summary_lines(run, test, times=True)


def _counted(run: MdtestRun, test: MdtestTest) -> str:
    items = run.tasks * test.rank_items
    if test.files and test.directories:
        return f"{items} files/directories"
    if test.directories:
        return f"{items} directories"
    return "1 file" if test.shared_file else f"{items} files"


def _iteration_lines(done: list[MdtestPhase], test: MdtestTest) -> Iterator[str]:
    """Yield what is said of one iteration: of a deadline, and with -v of each phase."""
    for phase in done:
        if (wall := phase.stonewall) is not None:
            yield f"Continue stonewall hit min: {wall.least} max: {wall.most} avg: {wall.mean:.1f} "
            yield ""
        if test.verbose > 0:
            figures = f"{phase.seconds[0]:14.3f} sec, {phase.rates[0]:14.3f} ops/sec"
            yield _message(1, f"   {phase.operation.value:<18}: {figures}")


def _summary_lines(run: MdtestRun, test: MdtestTest, *, times: bool) -> Iterator[str]:
    """Yield the table of rates, or of times."""
    if test.print_all:
        yield from _ranks_lines(run, test, times=times)
    what = "time (in ms/op)" if times else "rate (in ops/sec)"
    both = test.rank_statistics
    columns = " Max            Min           Mean        Std Dev"
    rule = "---            ---           ----"
    yield ""
    yield f"SUMMARY {what}: (of {test.iterations} iterations)"
    ranks = "per Rank: Max            Min           Mean      per Iteration:" if both else " " * 15
    yield f"   Operation     {ranks}{columns}"
    ranks = f"         {rule}       " if both else ""
    yield f"   ---------      {ranks}               {rule}        -------"
    for row in summary_rows(run, test, times=times):
        yield _row(row, both=both)


def _row(row: SummaryRow, *, both: bool) -> str:
    width = 22 if row.operation in TREES else 18
    gap = "" if row.operation in TREES else "    "
    ranks = f"{_numbers(row.ranks)}    " if both else ""
    deviation = f"{row.iterations.deviation:14.3f}"
    return f"   {row.operation.value:<{width}} {ranks}{gap}{_numbers(row.iterations)}{deviation}"


def _numbers(spread: Spread) -> str:
    return f"{spread.largest:14.3f} {spread.smallest:14.3f} {spread.mean:14.3f} "


_AS_STORED = {
    "Directory creation": Operation.DIRECTORY_CREATION,
    "Directory stat": Operation.DIRECTORY_STAT,
    "Directory read": None,
    "Directory rename": Operation.DIRECTORY_RENAME,
    "Directory removal": Operation.DIRECTORY_REMOVAL,
    **{operation.value: operation for operation in FILE_OPERATIONS},
    **{operation.value: operation for operation in TREES},
}
"""What mdtest keeps figures of, in its order; directories are read by nobody."""


def _ranks_lines(run: MdtestRun, test: MdtestTest, *, times: bool) -> Iterator[str]:
    """Yield the figures of each rank, phase after phase (``--print-all-procs``)."""
    yield ""
    yield f"Per process result ({'time' if times else 'rate'}):"
    begin = 0 if test.directories else len(DIRECTORY_OPERATIONS) + 1
    for iteration in range(test.iterations):
        yield f"iteration: {iteration}"
        for name, operation in list(_AS_STORED.items())[begin:]:
            phase = phase_of(run, operation, iteration)
            figures = [0.0] * run.tasks  # of trees mdtest notes no time before the barrier
            if phase is not None and operation not in TREES:
                figures = (phase.own_seconds if times else phase.own_rates).tolist()
            yield f"Test {name} {','.join(f'{figure:e}' for figure in figures)}"


def phase_of(run: MdtestRun, operation: Operation | None, iteration: int) -> MdtestPhase | None:
    """Return a phase of an iteration; None if it was not asked for."""
    for phase in run.phases:
        if phase.operation is operation and phase.iteration == iteration:
            return phase
    return None


def ranks_csv(outcome: MdtestOutcome) -> str:
    """Return the figures of all ranks as mdtest's ``--saveRankPerformanceDetails`` writes them.

    For each number of tasks a line of the means over all ranks in the first iteration, then one for
    each iteration and rank; of phases that were not done the cells are empty.
    """
    heads = [f"rate-{name},time-{name}" for name in _AS_STORED]
    lines = [",".join(["rank,items", *heads])]
    for run in outcome.runs:
        lines.append(_csv_line("all", run, 0, None))
        for iteration in range(outcome.command.test.iterations):
            lines += (_csv_line(str(rank), run, iteration, rank) for rank in range(run.tasks))
    return "\n".join(lines) + "\n"


def _csv_line(name: str, run: MdtestRun, iteration: int, rank: int | None) -> str:
    """Return a line: of a rank before the barriers, without trees; or of all ranks after them."""
    cells = []
    for operation in _AS_STORED.values():
        if rank is not None and operation in TREES:
            continue
        phase = phase_of(run, operation, iteration)
        if phase is None or not phase.items:
            cells.append(",")
        elif rank is None:
            seconds = float(phase.seconds.max())
            cells.append(f"{phase.items * len(phase.start) / seconds:.10e},{seconds:.10e}")
        else:
            seconds = float(phase.own_seconds[rank])
            cells.append(f"{phase.items / seconds:.10e},{seconds:.10e}")
    made = max((phase.items for phase in run.phases if phase.operation not in TREES), default=0)
    return ",".join([name, str(made) if rank is None else "", *cells])
