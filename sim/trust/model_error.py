"""How far the simulator is off, by kind of run: what the validation found.

The numbers stand in ``configs/model_error.yaml``; ``python -m xc40io.validation.model_error``
writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field, ValidationError

from xc40io.config.files import read_mapping, shipped_file
from xc40io.config.model import Model, as_tuple, explain
from xc40io.config.parts.measured_run import MeasuredRun, RunPlace
from xc40io.engine.types import Floats
from xc40io.trust.near_errors import Places, Weights, distances, errors_at, places

FILE = "model_error.yaml"
_FEW = 3  # numbers: with fewer a median says little


Names = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
Range = Annotated[tuple[int, int], BeforeValidator(as_tuple)]
"""The least and the most."""


class Spread(Model):
    """How far off a simulated ratio of two runs may be.

    Attributes
    ----------
    median, nine_of_ten
        Quantiles of ``|ln(simulated / measured)|``, cross-validated: with the parameters that a
        series of measurements helped to fix fitted again without it. Things with few ratios
        are pooled with others.
    """

    median: float
    nine_of_ten: float


class Reach(Model):
    """Between which bounds the measured runs of a kind lie.

    Attributes
    ----------
    nodes, ranks
        How many.
    bytes_a_rank
        That each of them writes or reads.
    call
        Bytes of a call; None where the workloads do not say.
    machines
        Names of the machine files.
    changes
        Values of these machines that were other than in their files: ``lustre.readahead=41943040``.
    """

    nodes: Range
    ranks: Range
    bytes_a_rank: Range
    call: Range | None = None
    machines: Names
    changes: Names = ()


class RatioError(Model):
    """How far simulated ratios of two runs are from measured ones, by what the runs differ in.

    Attributes
    ----------
    ratios
        How many there are.
    independent
        How many of them do not follow from others: a series of n runs has n - 1.
    turned
        In how many the slower run was simulated as the faster one.
    crossed
        As ``|ln(simulated ratio / measured ratio)|``.
    """

    ratios: int
    independent: float
    turned: int
    crossed: Spread


class MeasuredGain(Model):
    """What turning a knob from one value to another brought in measured runs.

    Attributes
    ----------
    before, after
        The values; in the file ``from`` and ``to``.
    at_most
        Times as fast.
    claims
        That say so.
    """

    before: int | float | str = Field(alias="from")
    after: int | float | str = Field(alias="to")
    at_most: float
    claims: Names


class ChangeError(Model):
    """What simulated gains of one kind of change are beside measured ones.

    Attributes
    ----------
    upward
        The median of ``ln(simulated gain / measured gain)`` of turning the knob up: to the larger
        number, or to the later word of the alphabet. Turned down it is as much with the other sign.
    ratios
        How many measured ratios there are.
    claims
        The claims that they belong to, the furthest off first.
    measured
        What such changes brought where they were measured.
    """

    upward: float
    ratios: int
    claims: Names
    measured: Annotated[tuple[MeasuredGain, ...], BeforeValidator(as_tuple)] = ()


class ModelError(Model):
    """How far the simulated rates of one kind of run are from the measured ones.

    Attributes
    ----------
    median, largest
        Of ``|ln(simulated / measured)|`` over all measured rates of this kind; 0.10 is 10 % off.
    numbers
        How many simulated rates were measured; several measurements of one count once.
    claims
        The claims of the validation that they belong to.
    reach
        Between which bounds its runs lie.
    """

    median: float
    largest: float
    numbers: int
    claims: Names
    reach: Reach

    @property
    def few(self) -> bool:
        """Whether there are so few numbers that their median says little."""
        return self.numbers < _FEW


class ModelErrors(Model):
    """What :data:`FILE` holds.

    Attributes
    ----------
    source
        How the numbers came about.
    kinds
        The errors by kind of run, as :func:`~xc40io.trust.run_kind.run_kind` calls it.
    weights
        How much what was measured of one run tells of another.
    runs
        The measured runs, each simulated number once, with their errors: cross-validated by series.
    ratios
        The errors of ratios by what the two runs differ in.
    any_ratio
        The errors of all of them together, for what no measured runs differ in.
    changes
        How much too fast changes of a kind are simulated, as
        :attr:`~xc40io.trust.turns.Turn.kind` calls it.
    """

    source: str
    kinds: dict[str, ModelError]
    weights: Weights
    runs: Annotated[tuple[MeasuredRun, ...], BeforeValidator(as_tuple)]
    ratios: dict[str, RatioError]
    any_ratio: Spread
    changes: dict[str, ChangeError]

    @cached_property
    def _columns(self) -> tuple[Places, Floats]:
        return _in_columns(self.runs)

    @property
    def anywhere(self) -> float:
        """How far nine of ten of all numbers are off, as logarithm."""
        _, errors = self._columns
        return self.weights.nine_of_ten * float(np.sqrt(np.mean(errors**2)))

    def at(self, place: RunPlace, own: Sequence[MeasuredRun] = ()) -> tuple[float, float]:
        """Return what is expected of a number that was not measured.

        Parameters
        ----------
        place
            Where its run lies.
        own
            Measured runs that are known besides.

        Returns
        -------
        center, nine_of_ten
            Of ``ln(simulated / measured)``: the middle, and how far to both sides nine of ten are.
        """
        at, errors = _in_columns([*self.runs, *own]) if own else self._columns
        center, deviation = errors_at(distances(places([place]), at), errors, self.weights)
        return float(center[0]), float(deviation[0]) * self.weights.nine_of_ten


def _in_columns(runs: Sequence[MeasuredRun]) -> tuple[Places, Floats]:
    return places(runs), np.array([run.error for run in runs])


@cache
def model_errors() -> ModelErrors:
    """Read the errors of all kinds that were measured.

    Raises
    ------
    InputError
        If the file does not say what it should.
    """
    path = shipped_file(FILE)
    try:
        return ModelErrors.model_validate(read_mapping(path))
    except ValidationError as error:
        raise explain(error, str(path), ModelErrors) from error
