"""The recipe of docs/adding-a-machine.md: rates and latencies of an MDS from two runs of mdtest."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from small_jobs import job

from xc40io.config.scenario import Scenario, machine_of
from xc40io.lustre.net.lnet import control_latency
from xc40io.results.programs.mdtest_output import mdtest_outcome
from xc40io.run.simulate import simulate

STRIPES, PER_NODE = 2, 4
KNOWN: dict[str, Any] = {
    "lustre.mds.stat_rate": 6000.0,
    "lustre.mds.unlink_rate": 3500.0,
    "lustre.mds.create_rate": 2500.0,
    "lustre.mds.close_rate": 9000.0,
    "lustre.mds.stripe_time": 40e-6,
    "lustre.mds.op_latency": 120e-6,
    "lustre.mds.change_latency": 200e-6,
    "nodes.mds_message_latency": 90e-6,
    "lustre.unused_locks_per_core": 1,
    "nodes.cores": PER_NODE,
}


def scenario(nodes: int, line: str) -> Scenario:
    mdtest = {"mdtest": f"-F -C -T -r -N {PER_NODE} {line}"}
    return job(mdtest, nodes, PER_NODE, striping={"count": STRIPES}, changes=KNOWN)


@cache
def measured(nodes: int, line: str) -> dict[str, float]:
    """Return operations/s of each phase of a simulated mdtest."""
    outcome = mdtest_outcome(simulate(scenario(nodes, line)))
    return {phase.operation.name: float(phase.rate) for phase in outcome.runs[0].phases}


def recipe() -> dict[str, float]:
    """Return what the page's formulas make of the two runs."""
    many, one = measured(32, "-n 25 -u"), measured(1, "-n 100")
    known = {name.rpartition(".")[2]: value for name, value in KNOWN.items()}
    create, stat, removal = (
        1 / many[name] for name in ("FILE_CREATION", "FILE_STAT", "FILE_REMOVAL")
    )
    made, looked = 1 / one["FILE_CREATION"], 1 / one["FILE_STAT"]
    stripes = STRIPES * known["stripe_time"]
    machine = machine_of(scenario(1, "-n 1"))
    message = control_latency(machine, machine.nodes.mds_message_latency)
    return {
        "stat_rate": 1 / stat,
        "unlink_rate": 1 / (removal - stat - stripes),
        "create_rate": 1 / (create - 1 / known["close_rate"] - stripes),
        "op_latency": looked - stat - 2 * message,
        "change_latency": made - create - (looked - stat),
    }


@pytest.mark.parametrize(
    "name", ["stat_rate", "unlink_rate", "create_rate", "op_latency", "change_latency"]
)
def test_the_recipe_gives_the_values_back(name: str) -> None:
    assert recipe()[name] == pytest.approx(KNOWN[f"lustre.mds.{name}"], rel=0.08)
