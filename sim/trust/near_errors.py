"""How far the simulator is off where a run lies: what it was off at the measured runs near it.

Each measured run has a weight that falls with its distance from the run that is asked for: whether
it writes or reads, the kind of run, the machine, and the logarithms of its sizes. The weighted mean
and variance of their errors are those of the run, as a Student distribution has them; where none
is near, they are those of all runs (a local model with partial pooling: Hastie, Tibshirani and
Friedman, The Elements of Statistical Learning, section 6.6; Gelman et al., Bayesian Data Analysis,
section 5.4). How much each difference counts was found from the errors themselves: see
``validation/near_weights.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.model import Model
from xc40io.config.parts.measured_run import RunPlace
from xc40io.config.scenario import Scenario
from xc40io.engine.types import Floats
from xc40io.trust.extent import Extent
from xc40io.trust.run_kind import run_kind
from xc40io.workloads.traits import Traits, access_of

_LEAST = 1e-6
"""A deviation that is less than any: of runs without any error."""


class Weights(Model):
    """What makes two runs differ, and how errors at several are put together.

    Attributes
    ----------
    access, kind, machine
        The distance of two runs that differ in it.
    nodes, ranks_a_node, bytes_a_rank, call
        The distance of two runs one of which has e times as much.
    zero
        How many runs without error the mean is drawn to.
    pool
        How many runs the variance of all of that access counts for.
    freedom
        Degrees of freedom of the Student distribution: with few, one that is far off moves little.
    nine_of_ten
        How many standard deviations nine of ten numbers are within.
    """

    access: float
    kind: float
    machine: float
    nodes: float
    ranks_a_node: float
    bytes_a_rank: float
    call: float
    zero: float
    pool: float
    freedom: float
    nine_of_ten: float


class Places(NamedTuple):
    """Many runs, a column for each thing in which they differ."""

    words: npt.NDArray[np.str_]  # (3, runs): access, kind, machine
    sizes: Floats  # (4, runs): logarithms, NaN where it is not known


class Errors(NamedTuple):
    """What may be expected of numbers that were not measured, as ``ln(simulated / measured)``."""

    center: Floats
    deviation: Floats


def place_of(scenario: Scenario, traits: Traits, phase: str, extent: Extent) -> RunPlace:
    """Return where a phase of a run lies, which is so large."""
    faults = tuple(str(fault) for fault in scenario.faults)
    return RunPlace(
        access=traits.of(phase).access or access_of(phase),
        kind=run_kind(traits, phase),
        machine=" ".join((extent.machine, *extent.changes, *faults)),
        nodes=extent.nodes,
        ranks_a_node=scenario.ppn,
        bytes_a_rank=max(extent.bytes_a_rank, 1),
        call=extent.call,
    )


def places(runs: Iterable[RunPlace]) -> Places:
    """Return runs as columns."""
    every = list(runs)
    words = [(one.access, one.kind, one.machine) for one in every]
    sizes = [
        (one.nodes, one.ranks_a_node, one.bytes_a_rank, np.nan if one.call is None else one.call)
        for one in every
    ]
    return Places(np.array(words).T, np.log(np.array(sizes, float)).T)


def distances(some: Places, others: Places) -> Floats:
    """Return in what runs differ, (7, some, others): 1 or 0, and squares of logarithms.

    What is not known of one of them makes no distance.
    """
    words = some.words[:, :, None] != others.words[:, None, :]
    sizes = some.sizes[:, :, None] - others.sizes[:, None, :]
    return np.concatenate([words.astype(float), np.nan_to_num(sizes) ** 2])


def errors_at(
    apart: Floats, errors: Floats, weights: Weights, known: Floats | float = 1.0
) -> Errors:
    """Return what may be expected at some runs.

    Parameters
    ----------
    apart
        Distances of these from the measured runs, as of :func:`distances`.
    errors
        Of the measured runs.
    weights
        What makes two runs differ.
    known
        (some, measured): 0 for those that one is not to know of.
    """
    words = (weights.access, weights.kind, weights.machine)
    sizes = (weights.nodes, weights.ranks_a_node, weights.bytes_a_rank, weights.call)
    near = known * np.exp(-np.tensordot((*words, *sizes), apart, 1))
    alike = known * np.exp(-weights.access * apart[0])
    every = weights.pool * (alike @ errors**2) / alike.sum(axis=1)
    count = weights.pool + near.sum(axis=1)
    told = _told(near, errors, weights, every, count)
    # What is far from the others counts less: one step towards the most probable Student scale.
    off = (errors - told.center[:, None]) / told.deviation[:, None]
    counting = near * (weights.freedom + 1.0) / (weights.freedom + off**2)
    return _told(counting, errors, weights, every, count)


def _told(
    counting: Floats, errors: Floats, weights: Weights, every: Floats, count: Floats
) -> Errors:
    """Return weighted mean and deviation, with what is known of all."""
    center = (counting @ errors) / (weights.zero + counting.sum(axis=1))
    off = (counting * (errors - center[:, None]) ** 2).sum(axis=1)
    squares = (every + off + weights.zero * center**2) / count
    return Errors(center, np.sqrt(np.maximum(squares, _LEAST**2)))
