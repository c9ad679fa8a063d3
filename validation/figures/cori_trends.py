"""The trends that were studied on Cori: bandwidth by nodes, by OSTs and by ranks a node.

What is drawn are the runs of the claims about them (rows H03 to H11), whatever their grid is: each
run has its place by its nodes, its ranks a node and its stripe count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from xc40io.config.scenario import Scenario
from xc40io.telling.sheet import WIDE, Heading, doublings, legend, name_axes, shades, sheet
from xc40io.validation.claim import load_claims
from xc40io.validation.figures.chart import Chart, Records, Runs, rates
from xc40io.validation.figures.lines import SIGNS, curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST = 3  # points of a curve that is worth drawing


class Place(NamedTuple):
    """Where a run belongs: its nodes, its ranks a node, the stripe count of its file."""

    nodes: int
    ppn: int
    osts: int


class Panel(NamedTuple):
    """One of the axes."""

    along: str  # What varies along it: a field of :class:`Place`.
    label: str  # What it is called.
    curve: str  # What the curves are called.


PANELS = (
    Panel("nodes", "nodes", "{osts} OSTs"),
    Panel("osts", "OSTs of the file", "{nodes} nodes"),
    Panel("ppn", "ranks a node", "{nodes} nodes, {osts} OSTs"),
)


def runs_of_claims(rows: tuple[str, ...]) -> Runs:
    """Return the runs of the claims about some rows, by their places; the first of each place."""
    runs: dict[Place, Scenario] = {}
    for claim in load_claims().values():
        if claim.target.id in rows and claim.seeds == 1:
            for scenario in claim.runs.values():
                place = Place(scenario.nodes, scenario.ppn, scenario.striping.count or 1)
                runs.setdefault(place, scenario)
    return runs


def draw_records(heading: Heading, records: Records) -> Figure:
    """Draw what is kept of the runs of :func:`runs_of_claims`."""
    rate = rates(records, "write")
    return draw_trends(heading, {place: rate[place] for place in records})


def draw_trends(heading: Heading, simulated: Mapping[Place, float]) -> Figure:
    """Draw GB/s by nodes, by OSTs and by ranks a node: a curve where there are three or more."""
    figure, panels = sheet(heading, width=WIDE, height=3.2, panels=len(PANELS))
    for axes, panel in zip(panels, PANELS, strict=True):
        curves = curves_of(simulated, panel)
        looks = zip(shades(len(curves)), SIGNS * len(curves), strict=False)
        for (name, points), (colour, sign) in zip(curves.items(), looks, strict=False):
            curve(axes, points, name, color=colour, marker=sign)
        doublings(axes, sorted({x for points in curves.values() for x in points}))
        axes.set_ylim(0, 1.08 * max(simulated.values()))
        name_axes(axes, panel.label, "bandwidth (GB/s)")
        axes.tick_params(axis="x", labelsize=8)
        if curves:
            legend(axes, inside="best")
    return figure


def curves_of(simulated: Mapping[Place, float], panel: Panel) -> dict[str, dict[int, float]]:
    """Return the curves of a panel by their names: GB/s by what varies along it.

    Nodes and OSTs vary with the ranks a node that most runs have.
    """
    usual, _ = Counter(place.ppn for place in simulated).most_common(1)[0]
    curves: dict[Place, dict[int, float]] = {}
    for place, rate in sorted(simulated.items()):
        if panel.along == "ppn" or place.ppn == usual:
            apart = place._replace(**{panel.along: 0})
            curves.setdefault(apart, {})[getattr(place, panel.along)] = rate
    return {
        panel.curve.format(**apart._asdict()): points
        for apart, points in sorted(curves.items())
        if len(points) >= _FEWEST
    }


def _chart(name: str, rows: tuple[str, ...], heading: Heading) -> Chart:
    return Chart(
        name=name,
        heading=heading,
        runs=partial(runs_of_claims, rows),
        draw=draw_records,
        targets=rows,
    )


CHARTS = (
    _chart(
        "cori-independent",
        ("H03", "H04", "H05", "H06", "H07"),
        Heading(
            title="Cori, independent writes: by nodes, by OSTs, by ranks a node",
            setup="IOR on Xeon Phi nodes, 512 GiB in all, 64 ranks a node (left and middle), "
            "stripes of 1 MiB",
            caption="Published: “If the number of available OSTs is fixed, it is better to use as "
            "many compute nodes as possible”; “if there is enough number of compute nodes, it is "
            "better to use fewer cores per compute node”; more OSTs bring more “until certain "
            "point”, and the number that is best “gets larger as the number compute nodes "
            "increases” (Sung et al., SNTA 2019; curves without numbers). How its IOR was called "
            "is not said; here ranks write blocks of one stripe in turn, without fsync.",
        ),
    ),
    _chart(
        "cori-collective",
        ("H08", "H09", "H10", "H11"),
        Heading(
            title="Cori, collective writes: by nodes, by OSTs, by ranks a node",
            setup="IOR on Xeon Phi nodes, 512 GiB in all, 32 ranks a node (left and middle), "
            "stripes of 16 MiB, an aggregator for each OST",
            caption="Published: throughput rises with the nodes and saturates “from the a certain "
            "point”; with few aggregators a node the cores make no difference; many aggregators "
            "are better spread over more nodes; “when the number of aggregators in each compute "
            "nodes is small, it is better to use more OSTs” (Sung et al., SNTA 2019; curves "
            "without numbers). How its IOR was called is not said; here ranks write blocks of one "
            "stripe in turn, and an fsync at the end.",
        ),
    ),
)
"""Cori's trends."""
