"""Runs of IOR on Theta, each simulated once, and what several tests look at in them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result, StationUse
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.outcome import IorRow, reduce

MIB = 1 << 20
HEADLINE = "-a MPIIO -O iorVersion=3 -w -r -C -e -k -b 8m -t 8m"
"""4,096 ranks, 8 MiB each, one shared file; with 256 x 16 and 48 stripes of 8 MiB."""


def scenario(
    ior: str,
    nodes: int = 4,
    ppn: int = 4,
    *,
    count: int = 48,
    size: str = "1m",
    seed: int = 1,
    system_cores: int = 0,
    bind: str = "cores",
    background: str = "0 GB/s",
    **changes: object,
) -> Scenario:
    """Describe a run; ``changes`` name the machine's values with ``__`` in place of the dot.

    Other jobs write at the rate ``background``.
    """
    return Scenario.model_validate(
        {
            "machine": "theta",
            "changes": {name.replace("__", "."): value for name, value in changes.items()},
            "nodes": nodes,
            "ppn": ppn,
            "striping": {"count": count, "size": size},
            "workload": {"ior": ior},
            "cores": {"system": system_cores, "bind": bind},
            "background": {"write": background},
            "seed": seed,
        }
    )


@cache
def run(ior: str, nodes: int = 4, ppn: int = 4, **options: object) -> Result:
    """Simulate a run, or return it if it has been simulated before."""
    return kept(simulate(scenario(ior, nodes, ppn, **options)))  # type: ignore[arg-type]


def kept(result: Result) -> Result:
    """Return a result to be kept while the tests run: without its data plane, 50 MB and more."""
    return replace(result, plane=None)


def headline() -> Result:
    return run(HEADLINE, 256, 16, size="8m")


def rows(result: Result) -> list[IorRow]:
    return [reduce(record) for test in result.outcome.tests for record in test.records]


@cache
def stations(result: Result) -> list[StationUse]:
    """Return all stations that served anything."""
    return result.stations()


def used(result: Result, kind: StationKind, words: str = "") -> list[StationUse]:
    """Return the stations of a kind that served anything and whose names contain ``words``."""
    return [use for use in stations(result) if use.kind == kind and words in use.name]


def total_bytes(result: Result, kind: StationKind, words: str = "") -> float:
    return sum(use.bytes for use in used(result, kind, words))
