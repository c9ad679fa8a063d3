"""A picture of a machine: its network, and the storage behind the LNET routers."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from xc40io.config.machine import Machine
from xc40io.config.parts.lustre import Lnet
from xc40io.config.units import format_rate
from xc40io.topology import Fabric
from xc40io.topology.drawing import draw_network
from xc40io.topology.inks import EDGE_INK, LNET_INK, TEXT_INK
from xc40io.topology.text import format_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

_NETWORK, _STORAGE = 10.0, 3.6  # inches of height
_WIDTH = 16.0  # inches
_GROUPS = (0.02, 0.04, 0.595, 0.70)  # where the groups are drawn: left, bottom, width, height
_LEGEND = 0.635  # where the words begin, as a part of the width

_OSS_INK, _OST_INK, _MDS_INK = "#33658a", "#a9c9e2", "#2f4858"

_SERVER_ROW, _TARGET_ROW = 1.9, 2.95  # below the routers, in squares
_TARGET_STEP, _GAP = 0.55, 1.3  # from target to target; between two groups


class _Group(NamedTuple):
    """LNET routers with the servers behind them, and how many targets each server has."""

    routers: int
    servers: int
    targets: int
    server_ink: str = _OSS_INK

    @property
    def width(self) -> int:
        """Squares side by side."""
        return max(self.routers, self.servers)


def draw_machine(machine: Machine, fabric: Fabric, path: str | Path) -> None:
    """Draw a machine into a file, whose suffix (.png, .svg or .pdf) chooses the format.

    Raises
    ------
    ValueError
        If the network is of a kind that cannot be drawn.
    """
    machine_figure(machine, fabric).savefig(path)


def machine_figure(machine: Machine, fabric: Fabric) -> Figure:
    """Draw a machine: its network, and below it LNET routers, servers and targets.

    ``machine``: the machine. ``fabric``: its network.

    Raises
    ------
    ValueError
        If the network is of a kind that cannot be drawn.
    """
    figure = Figure(figsize=(_WIDTH, _NETWORK + _STORAGE), dpi=100, facecolor="white")
    halves = figure.add_gridspec(2, 1, height_ratios=(_NETWORK, _STORAGE))
    draw_network(figure.add_subfigure(halves[0]), fabric, machine.title)
    _draw_storage(figure.add_subfigure(halves[1]), machine)
    return figure


def _draw_storage(figure: SubFigure, machine: Machine) -> None:
    title, words, groups = _storage(machine)
    figure.text(
        0.02,
        0.90,
        title,
        fontsize=16,
        weight="bold",
        color=TEXT_INK,
        gid="storage",
    )
    figure.text(0.02, 0.81, words, fontsize=12, color=TEXT_INK)
    _draw_groups(figure.add_axes(_GROUPS), groups)
    for row, line in enumerate(_legend(machine)):
        _legend_line(figure, 0.83 - 0.105 * row, *line)


def _storage(machine: Machine) -> tuple[str, str, list[_Group]]:
    """Return the title and the line below it, and what is drawn of the storage."""
    lnet, lustre = machine.lnet, machine.lustre
    metadata, darkest = lustre.mds.mdts, "the darkest squares are metadata servers"
    if lnet is None:
        groups = [_Group(0, 1, lustre.osts_per_oss)] * lustre.oss_count
        groups.append(_Group(0, metadata, 1, _MDS_INK))
        return "Servers on the network", f"{darkest[0].upper()}{darkest[1:]}", groups
    groups = [_Group(lnet.routers_per_group, lnet.oss_per_group, lustre.osts_per_oss)] * lnet.groups
    groups.append(_Group(lnet.metadata_routers, metadata, 1, _MDS_INK))
    shared = (
        f"{format_count(lnet.groups, 'group')} of {format_count(lnet.routers_per_group, 'router')}"
    )
    words = f"{shared} and {lnet.oss_per_group} OSSs each; {darkest}"
    return "Behind the LNET routers", words, groups


def _draw_groups(axes: Axes, groups: list[_Group]) -> None:
    """Draw the groups one beside the other, in as many rows as make them largest."""
    cell = groups[0].width + _GAP
    last = max(0, groups[-1].width - groups[0].width)  # the routers for metadata may be more
    high = _TARGET_ROW + _TARGET_STEP * max(group.targets for group in groups) + _GAP
    across, down = _GROUPS[2] * _WIDTH, _GROUPS[3] * _STORAGE

    def square(rows: int) -> float:
        return min(across / (ceil(len(groups) / rows) * cell + last), down / (rows * high))

    rows = max(range(1, len(groups) + 1), key=square)
    columns = ceil(len(groups) / rows)
    for place, group in enumerate(groups):
        row, column = divmod(place, columns)
        _draw_one(axes, group, column * cell, -row * high)
    size = square(rows)
    axes.set(xlim=(0, across / size), ylim=(-down / size, 0))
    axes.axis("off")


def _draw_one(axes: Axes, group: _Group, left: float, top: float) -> None:
    """Draw a group: routers above, lines to all servers, and the targets below each server."""
    routers = _row(group.routers, group.width, left)
    servers = _row(group.servers, group.width, left)
    wires = [((r, top - 0.9), (s, top - _SERVER_ROW)) for r in routers for s in servers]
    axes.add_collection(LineCollection(wires, colors=EDGE_INK, linewidths=0.6, alpha=0.7))
    _squares(axes, [(x, top) for x in routers], 0.9, LNET_INK)
    _squares(axes, [(x, top - _SERVER_ROW) for x in servers], 0.9, group.server_ink)
    targets = [
        (x, top - _TARGET_ROW - _TARGET_STEP * target)
        for x in servers
        for target in range(group.targets)
    ]
    _squares(axes, targets, 0.45, _OST_INK)


def _row(count: int, width: int, left: float) -> list[float]:
    """Return the middles of so many squares, in the middle of a group."""
    return [left + 0.5 * (width - count + 1) + place - 0.05 for place in range(count)]


def _squares(axes: Axes, tops: list[tuple[float, float]], side: float, ink: str) -> None:
    """Draw squares by the middles of their upper edges."""
    corners = [
        [(x - side / 2, y), (x + side / 2, y), (x + side / 2, y - side), (x - side / 2, y - side)]
        for x, y in tops
    ]
    axes.add_collection(
        PolyCollection(corners, facecolors=ink, edgecolors=EDGE_INK, linewidths=0.4)
    )


def _legend(machine: Machine) -> list[tuple[str, str]]:
    """Return a colour and a sentence for each kind of part that there is."""
    lnet, lustre, mds = machine.lnet, machine.lustre, machine.lustre.mds
    own = f" behind {lnet.metadata_routers} routers" if lnet and lnet.metadata_routers else ""
    lines = [
        *_router_legend(lnet),
        (
            _OSS_INK,
            f"{format_count(lustre.oss_count, 'OSS')}, {format_rate(lustre.oss_rate, 3)} each way "
            "each",
        ),
        (
            _OST_INK,
            f"{format_count(lustre.osts, 'OST')}, {format_rate(lustre.ost_write_rate, 3)} written, "
            f"{format_rate(lustre.ost_read_rate, 3)} read each",
        ),
        (_MDS_INK, format_count(mds.mdts, "metadata server") + own),
    ]
    beside = {"burst buffer": machine.burst_buffer, "home directories": machine.home}
    lines += [
        ("", f"{format_count(part.nodes, 'service node')} for the {name}, not drawn")
        for name, part in beside.items()
        if part is not None
    ]
    if machine.ssd is not None:
        lines.append(
            ("", f"an SSD in each compute node, {format_rate(machine.ssd.write_rate, 3)} written")
        )
    return lines


def _router_legend(lnet: Lnet | None) -> list[tuple[str, str]]:
    if lnet is None:
        return []
    links = format_count(lnet.ib_links_per_router, "InfiniBand link")
    rate = format_rate(lnet.ib_link_rate, 3)
    words = f"{format_count(lnet.routers, 'LNET router')}, {links} of {rate} each way on each"
    return [(LNET_INK, words)]


def _legend_line(figure: SubFigure, height: float, ink: str, words: str) -> None:

    if ink:
        box = Rectangle((_LEGEND - 0.022, height), 0.010, 0.045, transform=figure.transSubfigure)
        box.set(facecolor=ink, edgecolor=EDGE_INK, linewidth=0.5)
        figure.add_artist(box)
    figure.text(_LEGEND, height, words, fontsize=12.5, color=TEXT_INK)
