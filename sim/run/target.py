"""The place that a scenario names for its files, on the machine at rest."""

from __future__ import annotations

import numpy as np

from sim.config.machine import Machine
from sim.config.scenario import Scenario, Target
from sim.config.storage import Service
from sim.engine.randomness import stream
from sim.engine.types import Indices
from sim.machine.plane import Plane
from sim.storage.places import LUSTRE, Storage
from sim.storage.servers import BURST_BUFFER, HOME, first_server

_SECTIONS = {"ssd": "ssd", "bb": "burst_buffer", "home": "home"}
_MEASURED = {"measured", "calibrated"}  # calibrated: fitted to a measurement


def storage_of(
    scenario: Scenario, machine: Machine, plane: Plane, nodes: Indices, servers: Indices
) -> Storage:
    """Return where the files of a scenario are; make the allocation that they are in.

    Its ``nodes`` are those of the data plane, int32 (nodes,); its part of the burst buffer is on
    the ``servers`` that :func:`allocated_servers` returns.
    """
    target = scenario.target
    if target.kind == "ssd":
        for node, seconds in target.lost.items():
            plane.lose_ssd(int(nodes[node]), seconds)
        return Storage(kind="ssd")
    if target.kind == "bb":
        assert machine.burst_buffer is not None  # machine_of has looked
        return _allocation(target, machine.burst_buffer, servers, plane)
    if target.kind == "home":
        assert machine.home is not None
        first, service = first_server(machine, HOME), machine.home
        every = np.arange(first, first + service.nodes, dtype=np.int32)
        volume = plane.add_volume(service.capacity)
        return Storage("home", every, volume, service.stripe_size)
    return LUSTRE


def doubts(target: Target, machine: Machine) -> tuple[str, ...]:
    """Return what the user should know of a target of whose speed nothing has been measured."""
    section = _SECTIONS.get(target.kind)
    if section is None:
        return ()
    firm = {
        source.firm for path, source in machine.provenance.items() if path.startswith(f"{section}.")
    }
    if firm & _MEASURED:
        return ()
    return (
        f"nothing measured stands behind the speed of --target {target.kind} of {machine.name}: "
        f"its rates and times ({section}.*) are inferred, and no published run has been compared",
    )


def allocated_nodes(target: Target, service: Service) -> int:
    """Return over how many service nodes an allocation of the burst buffer is spread."""
    if target.capacity is None:
        return service.nodes
    return min(-(-target.capacity // service.granularity), service.nodes)


def allocated_servers(scenario: Scenario, machine: Machine) -> Indices:
    """Return the service nodes of a scenario's allocation, int32: those that chance has chosen.

    None where it has no burst buffer.
    """
    service = machine.burst_buffer
    if scenario.target.kind != "bb" or service is None:
        return np.zeros(0, np.int32)
    count = allocated_nodes(scenario.target, service)
    order = stream(scenario.seed, "burst buffer").permutation(service.nodes)[:count]
    return (first_server(machine, BURST_BUFFER) + order).astype(np.int32)


def _allocation(target: Target, service: Service, servers: Indices, plane: Plane) -> Storage:
    """Allocate parts of the burst buffer."""
    asked = len(servers) * service.granularity if target.capacity is None else target.capacity
    parts = -(-asked // service.granularity)
    volume = plane.add_volume(parts * service.granularity)
    private = target.access == "private"
    width = 1 if private else len(servers)
    return Storage("bb", servers, volume, service.stripe_size, width, private)
