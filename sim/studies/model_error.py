"""How far the simulator is off, by kind of run: what the validation found.

A kind says how the ranks share their files, and where these are. The numbers stand in
``configs/model_error.yaml``; ``python -m validation.model_error`` writes it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, ValidationError

from sim.config.files import explain, read_mapping, shipped_file
from sim.config.model import Model
from sim.config.scenario import Scenario
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior

OWN, SHARED, COLLECTIVE = "own files", "shared file", "collective"
"""A file for each rank; one file, each rank by itself; one file, through MPI-IO's aggregators."""

_ELSEWHERE = {"ssd": "local SSDs", "bb": "burst buffer", "home": "home directories"}
_APPLICATION = "application"
_MIXED = "several tests"

KINDS = tuple(
    f"{layout}, {access}"
    for layout in (OWN, SHARED, COLLECTIVE, *_ELSEWHERE.values(), _APPLICATION, _MIXED)
    for access in ("write", "read")
)
"""All kinds that :func:`run_kind` knows; how many files are made in a second is none of them."""

FILE = "model_error.yaml"
_FEW = 3  # numbers: with fewer a median says little


def layout_of(scenario: Scenario) -> str:
    """Return how the ranks of a job share their files, or another property that names its kind.

    Returns
    -------
    str
        ``own files``, ``shared file`` or ``collective`` of files on Lustre, else where they are:
        ``local SSDs``. Of kernels that do not say whether their calls are collective, and of
        replayed logs, ``application``.

    Raises
    ------
    InputError
        If the workload is none.
    """
    if scenario.target.kind in _ELSEWHERE:
        return _ELSEWHERE[scenario.target.kind]
    workload = workload_of(scenario.workload)
    if not isinstance(workload, Ior):
        collective = getattr(workload, "collective", None)
        if collective is None:
            return _APPLICATION
        return COLLECTIVE if collective else SHARED
    found = {
        OWN if test.file_per_process else COLLECTIVE if test.collective else SHARED
        for test in workload.command.tests
    }
    return found.pop() if len(found) == 1 else _MIXED


def run_kind(scenario: Scenario, phase: str) -> str:
    """Return the kind of one phase of a run, as ``shared file, write``.

    Parameters
    ----------
    scenario
        Of the run.
    phase
        Its name: what has the word ``read`` in it reads, everything else writes.
    """
    return f"{layout_of(scenario)}, {access_of(phase)}"


def access_of(phase: str) -> str:
    """Return ``read`` of a phase with this word in its name, else ``write``."""
    return "read" if "read" in phase.lower() else "write"


def narrow_kind(scenario: Scenario, phase: str) -> str:
    """Return the kind of one phase of a run, as ``own files, write, direct, one node``.

    Parameters
    ----------
    scenario, phase
        As of :func:`run_kind`, of which it says whether all calls are direct, and whether one core,
        one node or several move the data: what binds one core is not what binds a thousand.
    """
    workload = workload_of(scenario.workload)
    words = [run_kind(scenario, phase)]
    if isinstance(workload, Ior) and all(test.direct_io for test in workload.command.tests):
        words.append("direct")
    alone = "one core" if scenario.ppn == 1 else "one node"
    words.append(alone if scenario.nodes == 1 else "several nodes")
    return ", ".join(words)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_tuple)]


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


class Unmeasured(Model):
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
    """

    median: float
    largest: float
    numbers: int
    claims: Names
    crossed: Spread

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
        The errors by kind of run, as :func:`~sim.studies.model_error.run_kind` calls it.
    narrow
        The same by :func:`~sim.studies.model_error.narrow_kind`.
    unmeasured
        What is known of no kind.
    ratios
        The errors of ratios by what the two runs differ in.
    """

    source: str
    kinds: dict[str, ModelError]
    narrow: dict[str, NarrowError]
    unmeasured: Unmeasured
    ratios: dict[str, RatioError]


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


def spread_of(scenario: Scenario, phase: str) -> Spread:
    """Return how far off a phase of a run may be: of its narrow kind, its kind, or any kind."""
    errors = model_errors()
    found = errors.narrow.get(narrow_kind(scenario, phase)) or model_error_of(scenario, phase)
    return found.crossed if found is not None else errors.unmeasured.crossed
