"""What the sites' guides say: the settings that are tried first.

ALCF's guide for Theta: a large shared file over all OSTs, or 48 of them, in stripes of 8 MiB or of
a rank's block; a file of one stripe for each rank; several aggregators an OST only with one group
lock (facts of Theta's I/O slides). NERSC's and Titan's guides say the same with other numbers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from sim.config.units import MIB
from sim.studies.tune.aggregation_knobs import AGGREGATORS, BUFFERING, LOCKS
from sim.studies.tune.job_knobs import LAYOUT, OWN_FILES
from sim.studies.tune.job_nature import JobNature
from sim.studies.tune.striping_knobs import COUNT, SIZE

_GUIDED = 8 * MIB
_LARGE = 16 * MIB
_SEVERAL = 4


def guided(nature: JobNature, names: Container[str]) -> Iterator[dict[str, Any]]:
    """Yield values of knobs that the guides of sites propose for a job, the likeliest first.

    Parameters
    ----------
    nature
        What the job is.
    names
        Of the knobs that can be turned. Others are named here, too, and stay as they are:
        :meth:`~sim.studies.tune.space.Space.near` passes over them.
    """
    osts = nature.machine.lustre.osts
    if nature.own_files:
        yield {COUNT: 1, SIZE: _GUIDED}
        yield {COUNT: 1, SIZE: MIB}
        yield {COUNT: 4, SIZE: _GUIDED}
        yield {COUNT: 2, SIZE: nature.block or _GUIDED}
        return
    block = nature.block or _GUIDED
    regular = _regular(osts, nature.ranks)
    yield {COUNT: osts, SIZE: _GUIDED, BUFFERING: "on"}
    if LAYOUT in names:
        yield {LAYOUT: OWN_FILES, COUNT: 1, SIZE: _GUIDED}
    yield {COUNT: regular, SIZE: block, BUFFERING: "on"}
    if nature.collective:
        # A call keeps all OSTs busy only if each of them has a stripe of it.
        yield {COUNT: osts, SIZE: max((nature.call or 0) // osts, MIB), BUFFERING: "on"}
        grouped = {BUFFERING: "on", LOCKS: "group"}
        yield {COUNT: osts, SIZE: _GUIDED, AGGREGATORS: _SEVERAL, **grouped}
        yield {COUNT: osts, SIZE: _LARGE, AGGREGATORS: 1, **grouped}
        return
    yield {COUNT: osts, SIZE: block}
    yield {COUNT: 3 * osts // 4, SIZE: _GUIDED}
    yield {COUNT: osts, SIZE: _LARGE}


def _regular(osts: int, ranks: int) -> int:
    """Return the largest count of OSTs with which each serves the same ranks in every segment.

    It divides the ranks, or they divide it: then no two ranks come to conflict over the extent
    locks of one stripe object where each has a stripe to itself.
    """
    counts = (3 << power for power in range(osts.bit_length()))
    doublings = (1 << power for power in range(osts.bit_length()))
    fitting = [count for count in (osts, *counts, *doublings) if count <= osts]
    return max(count for count in fitting if ranks % count == 0 or count % ranks == 0)
