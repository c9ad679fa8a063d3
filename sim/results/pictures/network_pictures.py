"""Pictures of the network: how busy its links were, and what the groups of a dragonfly moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xc40io.config.units import GB
from xc40io.engine.types import Floats, Indices
from xc40io.plane.stations import StationKind
from xc40io.results.pictures.clock import Clock, timed_sheet
from xc40io.results.pictures.heat import add_scale, hardly_busy, name_numbers, paint
from xc40io.results.pictures.scene import Scene
from xc40io.run.fabric import fabric_of
from xc40io.telling.sheet import Heading, name_panel, stacked
from xc40io.topology import Fabric, kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def link_loads(scene: Scene, fabric: Fabric) -> Floats | None:
    """Return the share of the run in which each link was busy: float64 (links,), 0 to 1.

    None if nothing passed over any.
    """
    seconds = {
        use.name: use.busy for use in scene.result.stations() if use.kind is StationKind.LINK
    }
    if not seconds or scene.end <= 0.0:
        return None
    busy = [seconds.get(f"link {fabric.link_name(link)}", 0.0) for link in range(fabric.links)]
    return np.array(busy) / scene.end


def links_of(scene: Scene, nodes: Indices) -> Floats | None:  # noqa: ARG001
    """Return how busy the links were; None if the network has no picture, or nothing passed."""
    fabric = fabric_of(scene.result.machine)
    return None if kind_of(fabric.kind).draw_load is None else link_loads(scene, fabric)


def silent_links(busy: Floats) -> str:
    """Say why a picture of them would say nothing: it has no colour for what is hardly used."""
    return hardly_busy(float(busy.max()))


def draw_links(scene: Scene, nodes: Indices, busy: Floats) -> Figure:
    """Draw the network with its links coloured; ``nodes``: those of the jobs."""
    from xc40io.topology.drawing import load_figure

    fabric = fabric_of(scene.result.machine)
    return load_figure(fabric, busy, nodes, "How busy the links of the network were", scene.setup)


_ROW = 0.16  # inches of a group
_LEAST = 0.5  # inches of a panel
_GAP = 0.4  # inches above a panel for its name
_EDGE = 0.1  # inches of these between the name and what is above it
_NODES, _ROUTERS = "compute nodes of the group", "LNET routers of the group"


class Traffic(NamedTuple):
    """What one kind of ends in each group moved."""

    name: str  # of the ends
    groups: Indices  # int32 (rows,): which groups, ascending: those that moved anything
    rates: Floats  # float64 (rows, columns): bytes/s, both ways together


@dataclass(frozen=True, eq=False)
class GroupTraffic:
    """What moved to and from the groups."""

    clock: Clock  # the columns
    panels: tuple[Traffic, ...]  # the compute nodes, if the run was recorded, then the LNET routers
    groups: str  # what they are


def traffic_of(scene: Scene) -> GroupTraffic | None:
    """Return the bytes/s between each group of the network and the file system, over time.

    None if its kind has none worth a picture, or nothing passed its LNET routers. The bytes of an
    LNET router are counted when its Aries interface begins with them; the bytes of compute nodes,
    which only a recording tells, are spread over the time in which an RPC's data is on its way.
    """
    fabric = fabric_of(scene.result.machine)
    if not kind_of(fabric.kind).groups:
        return None
    at_routers = _at_routers(scene, fabric)
    if at_routers is None:
        return None
    clock, rates = at_routers
    panels = [_traffic(_ROUTERS, rates)]
    if scene.result.recording is not None:
        panels.insert(0, _traffic(_NODES, _at_nodes(scene, fabric, clock)))
    told = tuple(panel for panel in panels if len(panel.groups))
    return GroupTraffic(clock, told, kind_of(fabric.kind).groups)


def _traffic(name: str, rates: Floats) -> Traffic:
    """Return the groups that moved anything."""
    groups = np.flatnonzero(rates.any(axis=1)).astype(np.int32)
    return Traffic(name, groups, rates[groups])


def _at_routers(scene: Scene, fabric: Fabric) -> tuple[Clock, Floats] | None:
    """Return bytes/s at the LNET routers of each group; None if none moved anything."""
    bins: dict[int, Floats] = {}
    width = 0.0
    for use in scene.result.stations():
        router = use.part if use.kind is StationKind.LNET else None
        if router is not None:
            line = use.timeline
            width = line.width
            group = int(fabric.router_group[fabric.lnet_router[router.number]])
            bins[group] = bins.get(group, 0.0) + line.bytes
    if not bins:
        return None
    clock = Clock.of(scene.end, width)
    rates = np.zeros((fabric.groups, clock.columns))
    for group, line_bytes in bins.items():
        rates[group] = clock.sums(line_bytes) / clock.width
    return clock, rates


def _at_nodes(scene: Scene, fabric: Fabric, clock: Clock) -> Floats:
    """Return bytes/s at the compute nodes of each group."""
    recording = scene.result.recording
    assert recording is not None
    rpcs = recording.rpcs
    since = np.where(rpcs["write"] == 1, rpcs["start"], rpcs["served"])
    until = np.where(rpcs["write"] == 1, rpcs["arrived"], rpcs["ended"])
    known = np.isfinite(until) & (until > since)
    groups = fabric.router_group[fabric.node_router[recording.nodes[rpcs["node"]]]][known]
    speed = rpcs["bytes"][known] / (until - since)[known]
    rates = np.zeros((fabric.groups, clock.columns))
    for group in np.unique(groups):
        own = groups == group
        moved = moved_by(clock, since[known][own], until[known][own], speed[own])
        rates[group] = moved / clock.width
    return rates


def moved_by(clock: Clock, since: Floats, until: Floats, speed: Floats) -> Floats:
    """Return the bytes in each column of transfers at constant speed: float64 (columns,).

    ``since`` and ``until``: float64 (transfers,): the periods, in simulated seconds.
    ``speed``: float64 (transfers,): bytes/s.
    """
    edges = np.arange(clock.columns + 1) * clock.width
    total = np.zeros(len(edges))  # that have moved until each edge
    for moment, sign in ((since, 1.0), (until, -1.0)):
        order = np.argsort(moment, kind="stable")
        before = np.searchsorted(moment[order], edges, side="right")
        speeds = np.concatenate(([0.0], np.cumsum(speed[order])))
        begun = np.concatenate(([0.0], np.cumsum(speed[order] * moment[order])))
        total += sign * (speeds[before] * edges - begun[before])
    moved = np.diff(total)
    return np.where(moved < 1.0, 0.0, moved)  # what is less than a byte is rounding


def silent_groups(traffic: GroupTraffic) -> str:
    """Say why a picture of it would say nothing: it shows how the groups of the jobs differ."""
    return "" if len(traffic.panels[0].groups) > 1 else "all passed one group"


def draw_groups(scene: Scene, traffic: GroupTraffic) -> Figure:
    """Draw a row for each group, a column for each span of time, the darker the more bytes/s."""
    clock, panels = traffic.clock, traffic.panels
    heading = Heading(
        f"What {traffic.groups} moved to and from the file system over time",
        scene.setup,
        f"Mean over each {clock.column_words}, both ways together; white is nothing. Each panel "
        "has a scale of its own. Groups that moved nothing have no row. "
        "GB\u00a0=\u00a010^9\u00a0bytes.",
    )
    high = max(_ROW * max(len(panel.groups) for panel in panels), _LEAST)
    tall = (high + _GAP) * len(panels) - _GAP
    figure, lowest = timed_sheet(scene, heading, legend_rows=1, height=tall)
    drawn = stacked(figure, lowest, len(panels), _GAP)
    for panel, axes in zip(panels, drawn, strict=True):
        _draw_panel(figure, axes, clock, panel)
    for axes in drawn[:-1]:
        axes.set_xlabel("")
    clock.draw_lanes(figure, drawn[0], scene.lanes, gap=_GAP - _EDGE)
    return figure


def _draw_panel(figure: Figure, axes: Axes, clock: Clock, panel: Traffic) -> None:
    """Draw the rows of one kind of ends, with a scale of their own."""
    rates = panel.rates / GB
    image = paint(axes, clock, rates, float(rates.max()))
    name_numbers(axes, "group", panel.groups.tolist(), len(panel.groups))
    name_panel(axes, panel.name)
    clock.name_axis(axes)
    add_scale(figure, axes, image, "GB/s")
