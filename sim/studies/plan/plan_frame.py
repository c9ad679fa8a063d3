"""A plan as a table of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sim.studies.plan.configuration import Configuration
from sim.studies.plan.mix_words import bottlenecks, job_ratio

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(
    paths: Sequence[str], jobs: Sequence[str], configurations: Sequence[Configuration]
) -> pd.DataFrame:
    """Return a table with a row for each job on each configuration, and one for the mix.

    A column for each value that was changed, with the number that the machine had; ``job``, which
    is ``mix`` for the mix; ``bandwidth`` (bytes/s), ``seconds``, ``bytes``, ``times_as_fast``,
    ``bound_by``; ``cost``, ``efficient`` and ``failure``.

    Parameters
    ----------
    paths
        Of the values that were changed.
    jobs
        Names of the jobs.
    configurations
        The machine as it is first.
    """
    import pandas as pd

    present = configurations[0]
    return pd.DataFrame(
        [row for each in configurations for row in _rows(paths, jobs, present, each)]
    )


def _rows(
    paths: Sequence[str], jobs: Sequence[str], present: Configuration, each: Configuration
) -> Iterator[dict[str, Any]]:
    machine = {} if each.machine is None else each.machine.values()
    common = {path: machine.get(path, each.values.get(path)) for path in paths}
    costs = {"cost": each.cost, "efficient": each.efficient, "failure": each.reason}
    ratio = 1.0 if each.ratio is None else each.ratio.value
    yield {
        **common,
        "job": "mix",
        "bandwidth": each.rate,
        "times_as_fast": None if each.rate is None else ratio,
        **costs,
    }
    for job, runs, before in zip(jobs, each.runs, present.runs, strict=False):
        yield {
            **common,
            "job": job,
            "bandwidth": runs.rate,
            "seconds": runs.mean,
            "bytes": runs.bytes,
            "times_as_fast": job_ratio(before, runs).value,
            "bound_by": bottlenecks(runs),
            **costs,
        }
