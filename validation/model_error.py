"""How far the simulator is off, by kind of run: ``python -m xc40io.validation.model_error``.

Takes every claim that sets a simulated rate beside a measured one, as the results and the
cross-validation are kept, and writes the errors of each kind of run, and those of ratios of two
runs, into ``configs/model_error.yaml``, where studies read them. It simulates nothing.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from xc40io.archive.whole_files import write_whole
from xc40io.config.files import shipped_file
from xc40io.config.parts.measured_run import MeasuredRun, RunPlace
from xc40io.config.scenario import Scenario
from xc40io.engine.types import Floats
from xc40io.trust.extent import Extent, extent_of
from xc40io.trust.model_error import FILE
from xc40io.trust.near_errors import Weights, place_of
from xc40io.trust.run_kind import run_kind
from xc40io.trust.turns import Value
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.cross_validation import (
    CrossNumber,
    CrossValidation,
    counted,
    kept_cross_validation,
)
from xc40io.validation.fold import series_of
from xc40io.validation.kept import Result, load_kept
from xc40io.validation.metric import EACH
from xc40io.validation.pooling import WeightedError, pooled, quantile, spread
from xc40io.validation.ratio_error import (
    Gain,
    RatedRatio,
    RatioPair,
    bounded,
    claimed,
    compared,
    gains_of,
)
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import METADATA, Traits

_RATES = ("write", "read", "median", "phase")
"""Functions of metrics that return a rate: bytes/s of a phase."""

_PHASES = ("median", "phase", "operations")
"""Those that are told the phase."""

_BOUNDS = ("nodes", "ranks", "bytes_a_rank", "call")
"""What of an extent has a least and a most among several runs."""

_DIGITS = 3

_WIDTH = 200  # characters: a measured run stands in a line

_SOURCE = (
    "written by python -m xc40io.validation.model_error from the kept results: "
    "|ln(simulated / measured)| of the rates that xc40io validate sets beside published ones, "
    "each simulated number once; "
    "median and largest as fitted; errors of runs: ln(simulated / measured), cross-validated by "
    "series, and weights as validation/near_weights.py finds them; crossed, of ratios: the same, "
    "pooled with what is known of other things (validation/pooling.py)"
)


@dataclass(frozen=True)
class Rate:
    """A measured rate of a claim."""

    claim: str  # Its id.
    point: str  # Name of the point, empty where the claim has one number.
    # Of the run.
    scenario: Scenario
    phase: str

    @cached_property
    def traits(self) -> Traits:
        """What the phases of the run are."""
        return traits_of(self.scenario)

    @cached_property
    def kind(self) -> str:
        """Of the run, as :func:`~xc40io.trust.run_kind.run_kind` has it."""
        return run_kind(self.traits, self.phase)

    @cached_property
    def place(self) -> RunPlace:
        """Where it lies among other runs."""
        return place_of(self.scenario, self.traits, self.phase, self.extent)

    @cached_property
    def extent(self) -> Extent:
        """How large the run is."""
        return extent_of(self.scenario, self.traits, self.phase)


def rates_of(claim: Claim) -> Iterator[Rate]:
    """Yield the measured rates of a judged claim with their kinds; none of a ratio or a trend."""
    for rate in _phases_of(claim, _RATES):
        if rate.traits.bytes:  # messages between nodes are no I/O
            yield rate


def metadata_rates_of(claim: Claim) -> Iterator[Rate]:
    """Yield the measured rates of operations on metadata, in the same way."""
    yield from (rate for rate in _phases_of(claim, ("operations",)) if rate.kind == METADATA)


def _phases_of(claim: Claim, functions: Sequence[str]) -> Iterator[Rate]:
    """Yield the numbers of a judged claim that some functions return, with run and phase."""
    metric, relation = claim.metric, claim.relation
    if metric is None or relation is None or claim.role not in ("calibration", "check"):
        return
    if claim.unjudged:
        return
    calls = list(metric.expression.calls)
    if len(calls) != 1 or calls[0][0] not in functions or relation.ratio is not None:
        return
    function, (run, *words) = calls[0]
    phase = " ".join(words) if function in _PHASES else function
    for point in counted(claim):
        named = point if run == EACH and point in claim.runs else run
        if named == EACH:
            named = next(iter(claim.runs))
        yield Rate(claim.id, point, claim.runs[named], phase)


class MeasuredErrors(NamedTuple):
    """A distinct simulated rate with all that was measured of it."""

    rates: tuple[Rate, ...]  # Of the claims that read it.
    # ``ln(simulated / measured)``, with the geometric mean of what was measured.
    fitted: float
    crossed: float


def measured_rates(
    crossed: CrossValidation, rates: Callable[[Claim], Iterable[Rate]] = rates_of
) -> list[MeasuredErrors]:
    """Return the distinct rates that were measured, in the order of the claims."""
    known = {(number.claim, number.point): number for number in crossed.numbers}
    same: dict[str, list[tuple[Rate, CrossNumber]]] = {}
    for claim in crossed.claims.values():
        for rate in rates(claim):
            if (number := known.get((rate.claim, rate.point))) is not None:
                same.setdefault(number.number, []).append((rate, number))
    return [
        MeasuredErrors(
            tuple(rate for rate, _ in pairs),
            statistics.fmean(number.fitted for _, number in pairs),
            statistics.fmean(number.crossed for _, number in pairs),
        )
        for pairs in same.values()
    ]


def errors_by_kind(measured: Sequence[MeasuredErrors]) -> dict[str, dict[str, Any]]:
    """Return the errors of each kind of run, as the file holds them; in alphabetical order."""
    found: dict[str, dict[str, Any]] = {}
    for kind, own in _by_kind(measured).items():
        fitted = [abs(one.fitted) for one in own]
        found[kind] = {
            "median": round(statistics.median(fitted), _DIGITS),
            "largest": round(max(fitted), _DIGITS),
            "numbers": len(own),
            "claims": _claims(own),
            "reach": reach_of(own),
        }
    return found


def runs_of(measured: Iterable[MeasuredErrors]) -> list[MeasuredRun]:
    """Return the measured runs with their cross-validated errors."""
    return [
        MeasuredRun(
            **one.rates[0].place.model_dump(),
            error=round(one.crossed, _DIGITS),
        )
        for one in measured
    ]


def errors_of_ratios(ratios: Sequence[RatioPair]) -> dict[str, dict[str, Any]]:
    """Return the errors of ratios by what the two runs differ in, as the file holds them."""
    things: dict[str, list[RatioPair]] = {}
    for ratio in ratios:
        things.setdefault(ratio.thing, []).append(ratio)
    return {
        thing: {
            "ratios": len(own),
            "independent": round(sum(ratio.weight for ratio in own), 1),
            "turned": sum(1 for ratio in own if ratio.turned),
            "crossed": pooled(
                _weights(own), [], _weights(ratio for ratio in ratios if ratio.thing != thing)
            )._asdict(),
        }
        for thing, own in sorted(things.items())
    }


def errors_of_changes(gains: Iterable[Gain]) -> dict[str, dict[str, Any]]:
    """Return how much too fast changes of each kind are simulated, as the file holds it."""
    kinds: dict[str, list[Gain]] = {}
    for gain in gains:
        kinds.setdefault(gain.turn.kind, []).append(gain)
    return {kind: _errors_of(own) for kind, own in sorted(kinds.items())}


def _errors_of(gains: Sequence[Gain]) -> dict[str, Any]:
    upward = [WeightedError(one.off if one.turn.upward else -one.off, one.weight) for one in gains]
    furthest = sorted(gains, key=lambda one: -abs(one.off))
    return {
        "upward": round(quantile(upward, 0.5), _DIGITS),
        "ratios": len(gains),
        "claims": list(dict.fromkeys(claim for one in furthest for claim in one.claims)),
        "measured": list(_measured(gains)),
    }


def _measured(gains: Sequence[Gain]) -> Iterator[dict[str, Any]]:
    """Yield the most that turning a knob from one value to another brought, as was measured."""
    found: dict[tuple[Value, Value], list[tuple[float, tuple[str, ...]]]] = {}
    for one in gains:
        least, most = one.measured
        found.setdefault((one.turn.before, one.turn.after), []).append((most, one.claims))
        back = 1.0 / least if least else math.inf
        found.setdefault((one.turn.after, one.turn.before), []).append((back, one.claims))
    for (before, after), told in found.items():
        most = max(gain for gain, _ in told)
        if math.isfinite(most):
            claims = list(dict.fromkeys(claim for _, names in told for claim in names))
            most = round(most, _DIGITS)
            yield {"from": before, "to": after, "at_most": most, "claims": claims}


def bounded_gains(claims: Iterable[Claim], results: Mapping[str, Result]) -> Iterator[Gain]:
    """Yield the gains of claims that bound them, from what was simulated."""
    for claim in claims:
        if claim.id in results:
            yield from bounded(claim, _numbers(results[claim.id].simulated))


def _numbers(words: str) -> list[float]:
    """Return numbers in a row, as results are kept; none where it is something else."""
    with suppress(ValueError):
        return [float(word) for word in words.split(", ")]
    return []


def rated(crossed: CrossValidation) -> Iterator[RatedRatio]:
    """Yield the measured rates, each as often as it was measured."""
    numbers = {(number.claim, number.point): number for number in crossed.numbers}
    for claim in crossed.claims.values():
        for rate in rates_of(claim):
            number = numbers.get((rate.claim, rate.point))
            measured = counted(claim)[rate.point].base
            if number is not None and measured:
                yield RatedRatio(
                    series_of(claim),
                    rate.scenario,
                    rate.phase,
                    number.number,
                    number.fitted,
                    number.crossed,
                    measured,
                    claim.id,
                )


def ratios_of(crossed: CrossValidation) -> list[RatioPair]:
    """Return all ratios of two measured runs that differ in one thing, each once."""
    numbers = {(number.claim, number.point): number for number in crossed.numbers}
    found = compared(rated(crossed))
    pairs = {ratio.numbers for ratio in found}
    for claim in crossed.claims.values():
        number = numbers.get((claim.id, ""))
        if number is not None:
            ratio = claimed(claim, number.fitted, number.crossed)
            if ratio is not None and ratio.numbers not in pairs:
                found.append(ratio)
    return found


def _weights(ratios: Iterable[RatioPair]) -> list[WeightedError]:
    return [WeightedError(abs(ratio.crossed), ratio.weight) for ratio in ratios]


def _by_kind(measured: Iterable[MeasuredErrors]) -> dict[str, list[MeasuredErrors]]:
    """Return rates by kind of run, in alphabetical order."""
    kinds: dict[str, list[MeasuredErrors]] = {}
    for one in measured:
        kinds.setdefault(one.rates[0].kind, []).append(one)
    return dict(sorted(kinds.items()))


def reach_of(measured: Iterable[MeasuredErrors]) -> dict[str, Any]:
    """Return between which bounds the runs of measured rates lie, as the file holds it."""
    extents = [rate.extent for one in measured for rate in one.rates]
    bounds = {
        name: [min(values), max(values)]
        for name in _BOUNDS
        if (values := [value for one in extents if (value := getattr(one, name)) is not None])
    }
    machines = sorted({one.machine for one in extents})
    changes = sorted({change for one in extents for change in one.changes})
    return {**bounds, "machines": machines, **({"changes": changes} if changes else {})}


def _claims(measured: Iterable[MeasuredErrors]) -> list[str]:
    return list(dict.fromkeys(rate.claim for one in measured for rate in one.rates))


class KnownErrors(NamedTuple):
    """All that is known of the simulator's errors."""

    # Errors of rates of bytes, and of operations on metadata.
    rates: Sequence[MeasuredErrors]
    metadata: Sequence[MeasuredErrors]
    ratios: Sequence[RatioPair]  # Errors of ratios of the former.
    bounds: Sequence[Gain] = ()  # Gains of which bounds alone are known.


def known_errors(crossed: CrossValidation) -> KnownErrors:
    """Return what a cross-validation tells of the simulator's errors."""
    return KnownErrors(
        measured_rates(crossed),
        measured_rates(crossed, metadata_rates_of),
        ratios_of(crossed),
        list(bounded_gains(load_claims().values(), load_kept())),
    )


def weights_of(known: KnownErrors, claims: Mapping[str, Claim]) -> Weights:
    """Return how much what was measured of one run tells of another."""
    from xc40io.validation.near_weights import near_weights  # it takes SciPy

    measured = [*known.rates, *known.metadata]
    runs = runs_of(measured)
    series = [{series_of(claims[rate.claim]) for rate in one.rates} for one in measured]
    sites = [{site_of(run.machine)} for run in runs]
    rows = [{number} for number in range(len(runs))]
    return near_weights(runs, [_told_apart(groups) for groups in (rows, series, sites)])


def site_of(machine: str) -> str:
    """Return the site of a machine: the first word of its name."""
    return re.split(r"[- ]", machine, maxsplit=1)[0]


def _told_apart(groups: Sequence[Set[object]]) -> Floats:
    """Return for each run by which others it is told: by those of no group of its own."""
    return np.array([[float(not one & other) for other in groups] for one in groups])


def document(known: KnownErrors, weights: Weights) -> dict[str, Any]:
    """Return what the file holds."""
    measured = [*known.rates, *known.metadata]
    return {
        "source": _SOURCE,
        "kinds": errors_by_kind(measured),
        "weights": weights.model_dump(),
        "runs": [run.model_dump(exclude_none=True) for run in runs_of(measured)],
        "ratios": errors_of_ratios(known.ratios),
        "any_ratio": spread(_weights(known.ratios))._asdict(),
        "changes": errors_of_changes([*gains_of(known.ratios), *known.bounds]),
    }


def kept_document() -> dict[str, Any]:
    """Return what the kept results give."""
    crossed = kept_cross_validation()
    known = known_errors(crossed)
    return document(known, weights_of(known, crossed.claims))


def main(path: Path) -> None:
    """Write the file."""
    text = yaml.safe_dump(
        kept_document(),
        sort_keys=False,
        default_flow_style=None,
        width=_WIDTH,
    )
    write_whole(path, text, "model_error")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shipped_file(FILE))
