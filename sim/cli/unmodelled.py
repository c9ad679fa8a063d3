"""Options of IOR that matter on a real machine, but not, or not honestly, in this simulation."""

from __future__ import annotations

from collections.abc import Callable

from sim.config.errors import InputError
from sim.workloads.ior.options import IorCommand, IorTest

_Asked = Callable[[IorTest], object]

# Refused, because the answer would be wrong. POSIX never looks at the options of MPI-IO.
_REFUSED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.call_details_file,
        "savePerOpDataCSV: the times of single calls are not kept; "
        "saveRankPerformanceDetailsCSV writes those of the ranks",
    ),
    (
        lambda t: t.pool,
        "--posix.lustre.pool: no machine file describes OST pools; "
        "choose the OSTs by count and start OST instead",
    ),
    (
        lambda t: t.api == "MPIIO" and t.preallocate,
        "-p: MPI_File_preallocate writes the whole file, which is not simulated; leave it out",
    ),
    (
        lambda t: t.api == "MPIIO" and t.file_view,
        "-V: file views are not simulated; without -V the same bytes move at the same offsets",
    ),
    (
        lambda t: t.api == "MPIIO" and t.strided_datatype,
        "-S: strided datatypes are not simulated; without -S each piece is a call of its own",
    ),
    (
        lambda t: t.api == "MPIIO" and t.hints_file,
        "-U: MPI-IO hints are not simulated; set the striping by --stripe-count and --stripe-size",
    ),
)

# Accepted, because today's model gives the same answer with and without them.
_NOTED: tuple[tuple[_Asked, str], ...] = (
    (
        lambda t: t.node_memory or t.node_memory_percent or t.task_memory,
        "No page cache is simulated, so memory that IOR occupies (-M, memoryPerTask) changes "
        "nothing.",
    ),
    (
        lambda t: t.ignore_locks,
        "No extent locks are simulated, so ignoring them (ignorelocks) changes nothing.",
    ),
    (
        lambda t: (
            t.api == "POSIX"
            and (t.preallocate or t.file_view or t.strided_datatype or t.hints_file)
        ),
        "POSIX does not look at the options of MPI-IO (-p, -V, -S, -U).",
    ),
)


def notes_on(command: IorCommand) -> tuple[str, ...]:
    """Return a remark, once, for each kind of option that changes nothing.

    Raises
    ------
    InputError
        If an option asks for what is not simulated and would change the answer.
    """
    for test in command.tests:
        for asked, sentence in _REFUSED:
            if asked(test):
                raise InputError(sentence)
    return tuple(
        sentence for asked, sentence in _NOTED if any(asked(test) for test in command.tests)
    )
