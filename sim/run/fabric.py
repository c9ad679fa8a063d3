"""The network of a machine, from its description; kept as arrays from one run to the next.

To build the graph of a whole machine takes longer than a small run on it. A network is known by all
that it follows from: its description, the numbers of its nodes and the sources that build it. What
cannot be read is built anew, and where nothing can be kept, nothing is.
"""

from __future__ import annotations

import hashlib
import json
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from xc40io import topology
from xc40io.archive.user_cache import forget_old, is_there, user_cache, written
from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.topology import Fabric, LinkClass, build_fabric, graph_of, shape_of

_UNREADABLE = (
    *(OSError, EOFError, MemoryError, ValueError, TypeError, LookupError, SyntaxError),
    RuntimeError,  # of zipfile: encrypted, or of a kind that it does not know
    *(tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What NumPy raises of a file that is damaged, whichever bit it is."""


def fabric_of(machine: Machine) -> Fabric:
    """Return the network of a machine with its nodes plugged in; it is built once and kept."""
    network, nodes = machine.network, machine.nodes
    plugged = {
        "compute_nodes": nodes.count,
        "service_blades": nodes.service_blades,
        "service_nodes_per_blade": nodes.service_nodes_per_blade,
        "lnet_routers": 0 if machine.lnet is None else machine.lnet.routers,
        "nodes_per_router": network.nodes_per_router,
        "seed": nodes.placement_seed,
    }

    check_network(machine)
    try:
        return _built(network, tuple(plugged.items()))  # pyright: ignore[reportArgumentType]
    except ValueError as error:
        raise InputError(f"network of {machine.name}: {error}") from error


@lru_cache(maxsize=4)  # machines of a study differ, their networks seldom
def _built(network: NetworkBase, plugged: tuple[tuple[str, int], ...]) -> Fabric:
    def build() -> Fabric:
        return build_fabric(graph_of(network.kind, network.model_dump()), **dict(plugged))

    return kept_fabric({"network": network.model_dump(mode="json")} | dict(plugged), build)


def check_network(machine: Machine) -> None:
    """Raise InputError if the links of a machine's network cannot be shared out over its ports."""
    try:
        shape_of(machine.network.kind, machine.network.model_dump())
    except ValueError as error:
        raise InputError(f"network: {error}") from error


def kept_fabric(description: dict[str, Any], build: Callable[[], Fabric]) -> Fabric:
    """Return the network of a description: one that is kept, or a new one, kept from now on."""
    path = user_cache("networks") / f"{_key(description)}.npz"
    try:
        if not is_there(path):
            raise FileNotFoundError(path)
        with np.load(path, allow_pickle=False) as arrays:
            return _fabric(dict(arrays))
    except _UNREADABLE:
        fabric = build()
        _keep(path, fabric)
        return fabric


def _key(description: dict[str, Any]) -> str:
    """Return a hash of all that a network follows from."""
    digest = hashlib.sha256(json.dumps([np.__version__, description], sort_keys=True).encode())
    for source in sorted(Path(topology.__path__[0]).glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:32]


def _keep(path: Path, fabric: Fabric) -> None:
    """Write a network under its final name in one step, if it can be written at all."""
    arrays: dict[str, Any] = {one.name: getattr(fabric, one.name) for one in fields(fabric)}
    classes: dict[str, LinkClass] = arrays.pop("link_classes")
    arrays["colours"] = list(classes)
    for name in ("rate", "latency", "length"):
        arrays[f"class_{name}"] = [getattr(one, name) for one in classes.values()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written(path) as draft, draft.open("wb") as file:
            np.savez(file, **arrays)
        forget_old(path.parent)
    except OSError:
        return


def _fabric(arrays: dict[str, Any]) -> Fabric:
    """Return the network that some arrays describe."""
    columns = (arrays.pop(f"class_{name}").tolist() for name in ("rate", "latency", "length"))
    classes = zip(arrays.pop("colours").tolist(), *columns, strict=True)
    return Fabric(
        kind=str(arrays.pop("kind")),
        link_classes={colour: LinkClass(*values) for colour, *values in classes},
        axes=tuple(arrays.pop("axes").tolist()),
        router_names=tuple(arrays.pop("router_names").tolist()),
        routers_per_blade=int(arrays.pop("routers_per_blade")),
        **arrays,
    )
