"""How far the simulator is off, by kind of run: ``python -m validation.model_error``.

Runs the validation, takes every claim that sets a simulated rate beside a measured one, and writes
the errors of each kind of run into ``configs/model_error.yaml``, where studies read them.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from sim.archive.files import write_whole
from sim.config.files import shipped_file
from sim.config.scenario import Scenario
from sim.engine.processors import processors
from sim.results.progress import ProgressBar
from sim.studies.model_error import FILE
from sim.studies.processes import bytes_to_move
from sim.studies.run_kind import run_kind
from sim.studies.simulations import Simulations
from sim.studies.store import Store
from validation.claim import Claim, load_claims
from validation.metric import EACH
from validation.report import validate
from validation.verdict import Outcome

_RATES = ("write", "read", "phase")
"""Functions of metrics that return a rate: bytes/s of a phase."""

_SOURCE = (
    "written by python -m validation.model_error: |ln(simulated / measured)| of all rates that "
    "xc40io validate sets beside published ones"
)


class Rate(NamedTuple):
    """A measured rate of a claim.

    Attributes
    ----------
    claim
        Its id.
    point
        Name of the point, empty where the claim has one number.
    scenario, phase
        Of the run.
    """

    claim: str
    point: str
    scenario: Scenario
    phase: str

    @property
    def kind(self) -> str:
        """Of the run, as :func:`~sim.studies.run_kind.run_kind` has it."""
        return run_kind(self.scenario, self.phase)


def rates_of(claim: Claim) -> Iterator[Rate]:
    """Yield the measured rates of a claim with their kinds; none of a ratio or a trend."""
    metric, relation = claim.metric, claim.relation
    if metric is None or relation is None or claim.role not in ("calibration", "check"):
        return
    calls = list(metric.expression.calls())
    if len(calls) != 1 or calls[0][0] not in _RATES:
        return
    function, (run, *words) = calls[0]
    phase = " ".join(words) if function == "phase" else function
    measured = [""] if relation.value is not None else list(relation.values or ())
    if relation.quantiles is not None:
        measured = ["p50"]
    for point in measured:
        named = point if run == EACH and point in claim.runs else run
        if named == EACH:
            named = next(iter(claim.runs))
        scenario = claim.runs[named]
        if bytes_to_move(scenario):  # messages between nodes are no I/O
            yield Rate(claim.id, point, scenario, phase)


def errors_by_kind(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """Return the errors of each kind of run, as the file holds them; in alphabetical order."""
    found: dict[str, list[tuple[str, float]]] = {}
    for outcome in outcomes:
        points = {point.name: point for point in outcome.points}
        for rate in rates_of(outcome.claim):
            if rate.point in points:
                error = points[rate.point].error
                found.setdefault(rate.kind, []).append((rate.claim, error))
    return {
        kind: {
            "median": round(statistics.median(error for _, error in errors), 3),
            "largest": round(max(error for _, error in errors), 3),
            "numbers": len(errors),
            "claims": list(dict.fromkeys(claim for claim, _ in errors)),
        }
        for kind, errors in sorted(found.items())
    }


def main(path: Path) -> None:
    """Run the validation and write the file."""
    with ProgressBar("runs") as progress:
        simulations = Simulations(processors(), Store(), progress)
        report = validate(load_claims().values(), simulations)
    document = {"source": _SOURCE, "kinds": errors_by_kind(report.outcomes)}
    write_whole(
        path,
        yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100),
        "model_error",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shipped_file(FILE))
