"""A picture of how busy the links of the network were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sim.engine.types import Floats, Indices
from sim.plane.stations import StationKind
from sim.results.pictures.scene import Scene
from sim.run.fabric import fabric_of
from topology import Fabric

if TYPE_CHECKING:
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


def draw_links(scene: Scene, nodes: Indices) -> Figure | None:
    """Draw the dragonfly with its links coloured; None if it is none, or nothing passed over it.

    ``nodes``: the nodes of the jobs.
    """
    from topology.drawing import load_figure

    fabric = fabric_of(scene.result.machine)
    if fabric.kind != "dragonfly":
        return None
    busy = link_loads(scene, fabric)
    if busy is None:
        return None
    return load_figure(fabric, busy, nodes, "How busy the links of the network were", scene.setup)
