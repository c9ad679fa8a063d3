"""Jobs that cannot go on: nothing is left that could happen, and who waits for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from xc40io.config.errors import FailureError, InputError
from xc40io.lustre.locks import MODE_NAMES
from xc40io.machine.plane import Plane
from xc40io.plane.operations import Op
from xc40io.run.job_run import JobRun
from xc40io.topology.text import format_count

_SOME = 3  # waits for locks that a sentence lists


def deadlock(plane: Plane, runs: Sequence[JobRun], now: float) -> InputError | FailureError:
    """Return the message about jobs that have not ended when nothing is left to happen.

    Parameters
    ----------
    plane
        The data plane.
    runs
        The jobs.
    now
        The time in simulated seconds.

    Returns
    -------
    InputError or FailureError
        The first if ranks wait for locks that others keep until these have been waited for, as a
        group lock; else it is a mistake of the simulator, and the sentence says so.
    """
    names = _names(plane, runs)
    locks = list(_locks_waited_for(plane, names))
    said = "; ".join([*locks[:_SOME], *_what_ranks_are_at(plane, runs)])
    begin = f"after {now:.4g} simulated s ranks wait for each other for ever: {said}"
    if not locks:
        return FailureError(f"{begin}; that is a bug in the simulator, please report it")
    return InputError(
        f"{begin}; right would be that no rank by itself accesses a file with a group lock "
        "(cray_cb_write_lock_mode=1) before it is closed"
    )


def _names(plane: Plane, runs: Sequence[JobRun]) -> list[str]:
    """Return the names of all files by their numbers."""
    names = [f"file {number}" for number in range(len(plane.files))]
    for run in runs:
        for name, alike in run.job.files.ever:
            names[alike.first : alike.first + len(alike.osts)] = [name] * len(alike.osts)
    return names


def _locks_waited_for(plane: Plane, names: Sequence[str]) -> Iterator[str]:
    """Yield of each request for a lock that waits: who wants what, and who holds it."""
    for wait in plane.lock_waits():
        file, stripe = _object(plane, wait.resource)
        kinds = sorted({(node, MODE_NAMES[mode]) for node, mode in wait.holders})
        said = [f"node {node} holds a {mode} lock" for node, mode in kinds]
        held = " and ".join(said[:_SOME]) or "others, who wait themselves, are before it in line"
        yield (
            f"node {wait.node} waits for a {MODE_NAMES[wait.mode]} lock on stripe object "
            f"{stripe} of {names[file]}, where {held}"
        )


def _object(plane: Plane, number: int) -> tuple[int, int]:
    """Return file and stripe of a stripe object."""
    file, stripe, _ = plane.objects()[number].tolist()
    return file, stripe


def _what_ranks_are_at(plane: Plane, runs: Sequence[JobRun]) -> Iterator[str]:
    """Yield of each kind of operation how many ranks are in one."""
    for run in runs:
        kinds = plane.operations_of(run.job.all_ranks.programs)
        for kind, count in Counter(kinds.tolist()).items():
            yield f"{format_count(count, 'rank')} in {Op(kind).name.replace('_', ' ')}"
