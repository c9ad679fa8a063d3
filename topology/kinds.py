"""Kinds of network: what each of them says of itself.

A kind is a module of this package that is called as the kind is and has a :class:`Kind` of the name
``KIND``: ``dragonfly``, ``torus``, ``fat_tree``. Whoever has a network asks for its kind by that
name, so a new one needs no line anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.arrays import FloatArray, Int32Array, Int64Array
from xc40io.topology.links import LinkClass

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure, FigureBase

    from xc40io.topology.fabric import Fabric


class Fact(NamedTuple):
    """One line of a description: what, how much, and in which unit ("" for plain counts)."""

    label: str
    value: int | float
    unit: str


class Candidates(NamedTuple):
    """Candidate routes for P pairs of routers."""

    columns: list[Int32Array]
    """int32[P, most links] each: the links in the order of travel, ``NO_LINK`` where none is
    needed."""
    which: Sequence[int]
    """For each candidate that was asked for its column: some may be one and the same."""


class Kind(NamedTuple):
    """What is particular to a kind of network."""

    shape: type[Any]  # a dataclass: the numbers that fix one; ValueError if they make none
    lengths: Mapping[str, str]  # the classes of its links, and how long these are
    graph: Callable[[Any, Mapping[str, LinkClass]], nx.Graph[int]]  # of a shape and its links
    # fabric, sources, targets, seed, minimal, valiant: the minimal candidates come first
    candidates: Callable[[Fabric, Int64Array, Int64Array, int, int, int], Candidates]
    hop_limits: Callable[[Fabric], tuple[int, int]]  # most links of a minimal and another route
    facts: Callable[[Fabric], tuple[list[Fact], list[Fact]]]  # before and behind those of all kinds
    subtitle: Callable[[Fabric], str]  # what it consists of, in a line
    draw: Callable[[FigureBase, Fabric], None]
    group: str  # what a group of routers is called
    # fabric, links, start, stop: turns routes round that do not lead back over the same cables
    ways_back: (
        Callable[
            [Fabric, Int32Array, Int64Array, Int64Array], tuple[Int32Array, Int64Array, Int64Array]
        ]
        | None
    ) = None
    # how busy the links were (float64[links]), with the nodes of the job; None: not drawn
    draw_load: Callable[[Figure, Fabric, FloatArray, NDArray[np.integer[Any]]], None] | None = None
    groups: str = ""  # of whose traffic a picture is worth it: "the groups of the dragonfly"


def check_shape(network: str, shape: Any) -> None:
    """Raise ValueError if one of the numbers that fix a network is below one."""
    for field in fields(shape):
        number = getattr(shape, field.name)
        if number < 1:
            raise ValueError(f"{network} {field.name} is {number}: it must be 1 or more")


def kind_of(name: str) -> Kind:
    """Return a kind of network by its name.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    path = f"xc40io.topology.{name}"
    try:
        module = import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:  # of a library that the module needs
            raise
        module = None
    kind = getattr(module, "KIND", None)
    if isinstance(kind, Kind):
        return kind
    raise ValueError(f"there is no kind of network that is called {name}")


def shape_of(name: str, numbers: Mapping[str, Any]) -> Any:
    """Return the shape of a network from numbers by name, which may have more than it needs.

    Raises
    ------
    ValueError
        If the numbers make none.
    """
    shape = kind_of(name).shape
    return shape(**{one.name: numbers[one.name] for one in fields(shape) if one.name in numbers})


def graph_of(name: str, numbers: Mapping[str, Any]) -> nx.Graph[int]:
    """Build a network from numbers by name.

    Parameters
    ----------
    name
        Of the kind.
    numbers
        Those of the shape; of each class of links the raw rate in bytes/s, as ``cable_rate``;
        ``payload_fraction`` of it; ``hop_latency`` in seconds.
    """
    kind = kind_of(name)
    links = {
        link: LinkClass(
            numbers[f"{link}_rate"] * numbers["payload_fraction"], numbers["hop_latency"], length
        )
        for link, length in kind.lengths.items()
    }
    return kind.graph(shape_of(name, numbers), links)
