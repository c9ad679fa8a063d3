"""How far the simulator is off, by kind of run: what the validation found.

The numbers stand in ``configs/model_error.yaml``; ``python -m xc40io.validation.model_error``
writes it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, ValidationError

from xc40io.config.files import read_mapping, shipped_file
from xc40io.config.model import Model, explain

FILE = "model_error.yaml"
_FEW = 3  # numbers: with fewer a median says little


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_tuple)]
Range = Annotated[tuple[int, int], BeforeValidator(_tuple)]
"""The least and the most."""


class Spread(Model):
    """How far off a simulated number may be that nothing was fitted to.

    Attributes
    ----------
    median, nine_of_ten
        Quantiles of ``|ln(simulated / measured)|``, cross-validated: with the parameters that a
        series of measurements helped to fix fitted again without it. Kinds with few numbers
        are pooled with other kinds.
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


class NarrowError(Model):
    """How far the simulated rates of a narrower kind of run are from the measured ones.

    Attributes
    ----------
    numbers, claims
        As of :class:`ModelError`.
    crossed
        What may be expected of a number that was not measured.
    """

    numbers: int
    claims: Names
    crossed: Spread


class UnmeasuredKinds(Model):
    """What may be expected of kinds of which nothing was measured.

    Attributes
    ----------
    kinds
        Which.
    crossed
        How far they may be off.
    """

    kinds: Names
    crossed: Spread


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
    """

    upward: float
    ratios: int
    claims: Names


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
    crossed
        What may be expected of a number that was not measured.
    reach
        Between which bounds its runs lie.
    """

    median: float
    largest: float
    numbers: int
    claims: Names
    crossed: Spread
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
    narrow
        The same by :func:`~xc40io.trust.run_kind.narrow_kind`.
    unmeasured
        What is known of no kind.
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
    narrow: dict[str, NarrowError]
    unmeasured: UnmeasuredKinds
    ratios: dict[str, RatioError]
    any_ratio: Spread
    changes: dict[str, ChangeError]


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
