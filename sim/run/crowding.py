"""Nodes with more ranks than cores."""

from __future__ import annotations

from sim.config.machine import Machine
from sim.config.scenario import Scenario


def crowded(scenario: Scenario, machine: Machine) -> tuple[str, ...]:
    """Return a sentence if the ranks of a node share cores: they run on its hardware threads."""
    cores = machine.nodes.cores - scenario.cores.system
    if scenario.ppn <= cores:
        return ()
    return (
        f"the {scenario.ppn} ranks of a node share {cores} cores: those on the hardware threads of "
        "one core take turns",
    )
