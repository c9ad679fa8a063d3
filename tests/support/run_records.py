"""Records of runs that were never run, and claims about them."""

from __future__ import annotations

from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.studies.record import Bound, Library, Phase, RunRecord
from xc40io.validation.claim import Claim

SCENARIO: dict[str, Any] = {
    "machine": "theta",
    "nodes": 1,
    "ppn": 1,
    "workload": {"ior": "-a POSIX -w -b 1m -t 1m"},
}


def phase(name: str, bandwidth: float, step: str = "0", **parts: float) -> Phase:
    """A phase of 10 GB."""
    return Phase(name, step, 1e10 / bandwidth, 10**10, bandwidth, bandwidth / 1e6, parts)


def record(write: float = 1e9, *more: Phase) -> RunRecord:
    """A run that wrote at some rate, and did more."""
    return RunRecord(
        phases=(phase("write", write, open=0.5, io=2.0, close=0.25), *more),
        library=(Library("write", "0", 2 * write, write, 8, {"exchange": 0.5}),),
        bounds=(Bound("write", "bound by OST 3", "OST 3", 0.9, "queues at OSTs", 0.5),),
        stats={"enqueues": 12},
        waits={"lock": 0.125},
        notes=(),
        simulated=20.0,
    )


def claim(runs: str, relation: dict[str, Any], **fields: Any) -> Claim:
    """A claim with runs of some names, one a letter; it is about how fast they write."""
    said = {
        "id": "B02",
        "role": "check",
        "runs": {name: Scenario.model_validate(SCENARIO) for name in runs},
        "metric": "write" if len(runs) > 1 else f"write({runs})",
        "relation": relation,
    }
    return Claim.model_validate(said | fields)
