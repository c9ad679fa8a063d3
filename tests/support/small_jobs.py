"""Small jobs on Theta, described in a line, and what tests look at in their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.run.simulate import simulate


def job(asked: str | Mapping[str, Any], /, nodes: int = 4, ppn: int = 4, **more: Any) -> Scenario:
    """Describe a job: a workload, or the arguments of IOR, and fields of the scenario."""
    asked = {"ior": asked} if isinstance(asked, str) else asked
    document = {"machine": "theta", "nodes": nodes, "ppn": ppn, "workload": asked}
    return Scenario.model_validate(document | more)


def run(asked: str | Mapping[str, Any], /, *, record: bool = False, **more: Any) -> Result:
    """Simulate a job."""
    return simulate(job(asked, **more), record=record)


def run_kernel(kernel: str, nodes: int = 2, ppn: int = 2, **options: Any) -> Result:
    """Simulate a kernel with some options; what a scenario has too is in ``job``."""
    more = options.pop("job", None) or {}
    return run({"kernel": {"name": kernel, **options}}, nodes=nodes, ppn=ppn, **more)


def run_faulty(faults: tuple[str, ...], ior: str, **more: Any) -> Result:
    """Simulate IOR on files of one stripe on OST 1 while parts fail."""
    striping = {"count": 1, "size": 1 << 20, "offset": 1}
    return run(ior, **({"striping": striping, "faults": list(faults)} | more))


def served(result: Result, kind: StationKind) -> dict[str, float]:
    """Return the bytes that the stations of a kind have moved, by their names."""
    return {use.name: use.bytes for use in result.stations() if use.kind == kind}
