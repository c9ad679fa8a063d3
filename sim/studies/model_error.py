"""How far the simulator is off, by kind of run: what the validation found.

The numbers stand in ``configs/model_error.yaml``; ``python -m validation.model_error`` writes it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, ValidationError

from sim.config.files import explain, read_mapping, shipped_file
from sim.config.model import Model
from sim.config.scenario import Scenario
from sim.studies.run_kind import run_kind

FILE = "model_error.yaml"
_FEW = 3  # numbers: with fewer a median says little


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class ModelError(Model):
    """How far the simulated rates of one kind of run are from the measured ones.

    Attributes
    ----------
    median, largest
        Of ``|ln(simulated / measured)|`` over all measured rates of this kind; 0.10 is 10 % off.
    numbers
        How many measured rates these are.
    claims
        The claims of the validation that they belong to.
    """

    median: float
    largest: float
    numbers: int
    claims: Annotated[tuple[str, ...], BeforeValidator(_tuple)]

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
        The errors by kind of run, as :func:`~sim.studies.run_kind.run_kind` calls it.
    """

    source: str
    kinds: dict[str, ModelError]


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


def model_error_of(scenario: Scenario, phase: str) -> ModelError | None:
    """Return how far the simulator is off for a phase of a run; None where nothing was measured."""
    return model_errors().kinds.get(run_kind(scenario, phase))
