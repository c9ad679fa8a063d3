"""Many runs on a cluster of Dask workers: the result of each, as they end.

The scheduler and its workers are there already: a batch job has started them. A worker that dies
costs nothing but time, since Dask gives its runs to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from xc40io.config.errors import FailureError, InputError
from xc40io.config.extras import need
from xc40io.studies.processes import Failure, attempt
from xc40io.studies.store import code_hash

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_PATIENCE = 30.0
"""Seconds in which a scheduler answers."""


def each_on_cluster(
    work: Callable[[Item], Outcome],
    items: Mapping[str, Item],
    scheduler: str,
    *,
    size: Callable[[Item], float],
) -> Iterator[tuple[str, Outcome | Failure]]:
    """Call a function on scenarios, or similar; yield each result with its name, as they end.

    Parameters
    ----------
    work
        What to do: a function of a module, which a worker can import.
    items
        With what, by name.
    scheduler
        The address of the scheduler, ``tcp://HOST:PORT``, or the file that it has written.
    size
        About how long the work on an item takes, in any unit; the longest go first.

    Raises
    ------
    InputError
        If there is no such scheduler.
    FailureError
        If Dask is not installed, or a worker has other sources than this process: what came of a
        run would be kept as that of these.
    """
    if not items:
        return
    distributed = _distributed()
    with _client(distributed, scheduler) as client:
        names = {
            client.submit(
                _on_worker, work, item, code_hash(), pure=False, priority=size(item)
            ): name
            for name, item in items.items()
        }
        for future in distributed.as_completed(list(names)):
            yield names.pop(future), _outcome(distributed, future)


def check_scheduler(scheduler: str) -> None:
    """Raise InputError unless this may be a scheduler; FailureError if Dask is not installed."""
    if "://" not in scheduler and not Path(scheduler).is_file():
        raise InputError(
            f"--scheduler {scheduler}: there is no such file; right would be tcp://HOST:PORT, or "
            "the file that dask scheduler --scheduler-file has written"
        )
    _distributed()


def _distributed() -> Any:
    need("cluster", "--scheduler")
    import distributed

    return distributed


def _client(distributed: Any, scheduler: str) -> Any:
    """Return a connection to a scheduler."""
    check_scheduler(scheduler)
    where = {"address": scheduler} if "://" in scheduler else {"scheduler_file": scheduler}
    try:
        return distributed.Client(**where, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--scheduler {scheduler}: no scheduler answers there: {error}; right would be the "
            "address that dask scheduler prints"
        ) from error


def _on_worker(
    work: Callable[[Item], Outcome], item: Item, sources: str
) -> Outcome | Failure | None:
    """Do the work; None if this worker has other sources."""
    return attempt(work, item) if code_hash() == sources else None


def _outcome(distributed: Any, future: Any) -> Any:
    try:
        ended = future.result()
    except distributed.KilledWorker:
        return Failure("its workers ended one after another; why, their own logs say")
    if ended is None:
        raise FailureError(
            "--scheduler: a worker has other sources of xc40io, or other versions of its "
            "libraries; right would be the same installation everywhere"
        )
    return ended
