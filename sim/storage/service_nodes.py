"""The service nodes of a machine that serve files over DVS: which there are, and where they are."""

from __future__ import annotations

import numpy as np

from xc40io.config.machine import Machine
from xc40io.config.parts.storage import Service
from xc40io.engine.types import Indices, Table, make_table
from xc40io.topology import Fabric

BURST_BUFFER, HOME = "burst_buffer", "home"
"""What a machine file calls them."""

_NAMES = {BURST_BUFFER: "burst buffer", HOME: "home DVS"}


SERVER = np.dtype(  # a service node that serves files over DVS
    [
        ("read_seconds", "f8"),  # that a byte holds it
        ("write_seconds", "f8"),
        ("request_time", "f8"),  # that a block holds it besides
        ("read_latency", "f8"),
        ("write_latency", "f8"),
        ("latency", "f8"),  # of a small message, one way
        ("shared_read", "f8"),  # seconds that a byte holds what stands behind all of them
        ("shared_write", "f8"),
        ("file_write_time", "f8"),  # seconds that a block holds its file besides its bytes
        ("client_read", "f8"),  # seconds that a byte holds the DVS client
        ("client_write", "f8"),
        ("open_time", "f8"),
        ("sync_time", "f8"),
        ("block_size", "i8"),
        ("blocks_in_flight", "i4"),
        ("shared", "i4"),  # the station of what stands behind
    ],
    align=True,
)


def services_of(machine: Machine) -> list[tuple[str, Service]]:
    """Return the name of each kind of service nodes, for people, and its description."""
    kinds = {BURST_BUFFER: machine.burst_buffer, HOME: machine.home}
    return [(_NAMES[kind], service) for kind, service in kinds.items() if service is not None]


def first_server(machine: Machine, kind: str) -> int:
    """Return the number of the first service node of a kind; the others of the kind follow it."""
    before = machine.burst_buffer if kind == HOME else None
    return 0 if before is None else before.nodes


def service_routers(machine: Machine, fabric: Fabric) -> Indices:
    """Return the router of each such service node, int32: they come last."""
    first = machine.entry_nodes
    count = sum(service.nodes for _, service in services_of(machine))
    return fabric.service_router[first : first + count]


def make_servers(machine: Machine, first_shared: int) -> Table:
    """Return the service nodes as ``SERVER`` records.

    ``first_shared`` is the station of what stands behind all service nodes of the first kind; the
    station of the next kind follows it.
    """
    services = [service for _, service in services_of(machine)]
    servers = make_table(SERVER, sum(service.nodes for service in services))
    first = 0
    for i, service in enumerate(services):
        part = servers[first : first + service.nodes]
        part.read_seconds = 1.0 / service.read_rate
        part.write_seconds = 1.0 / service.write_rate
        part.request_time = service.request_time
        part.read_latency = service.read_latency
        part.write_latency = service.write_latency
        part.latency = service.message_latency
        part.shared_read = 1.0 / service.shared_read_rate
        part.shared_write = 1.0 / service.shared_write_rate
        part.file_write_time = service.file_write_time
        part.client_read = 1.0 / service.client_read_rate
        part.client_write = 1.0 / service.client_write_rate
        part.open_time = service.open_time
        part.sync_time = service.sync_time
        part.block_size = service.block_size
        part.blocks_in_flight = service.blocks_in_flight
        part.shared = first_shared + i
        first += service.nodes
    return servers


def dealt(files: int, width: int, servers: Indices, start: int) -> Indices:
    """Deal service nodes to files, as many each as ``width``, in turn from ``start`` on.

    Parameters
    ----------
    files, width
        How many files, and service nodes of each.
    servers
        int32 (service nodes,): the service nodes of the allocation.
    start
        Which of them is the first file's first.

    Returns
    -------
    int32 (files, width)
    """
    turn = start + np.arange(files)[:, None] + np.arange(width)
    return servers[turn % len(servers)]
