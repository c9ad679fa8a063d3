"""Links between the network's routers that go down, and the routes that lead around them.

The network of a Cray has no way around a link of its own accord. When one fails, what stands
before it waits; the machine waits a little for further failures, *quiesces* the whole network,
computes and installs new routes, and lets it go on. The same happens when the link is there again
(a warm swap).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence

import numpy as np
import simpy

from sim.config.errors import InputError
from sim.config.faults import Fault
from sim.config.recovery import load_recovery
from sim.machine.plane import Plane
from sim.network.rerouting import Rerouting
from sim.run.course import Course
from sim.run.holding import Holding
from topology import Fabric, cut_off
from topology.text import format_count

Process = Generator[simpy.Event, object, None]


class Links:
    """Lets links be down, both ways, and come back.

    Parameters
    ----------
    plane
        The data plane.
    holding
        Of its stations.
    fabric
        The network.
    seed
        Of the scenario.
    """

    def __init__(self, plane: Plane, holding: Holding, fabric: Fabric, seed: int) -> None:
        self._plane = plane
        self._holding = holding
        self._fabric = fabric
        self._first = plane.tables.aries.first_link
        self._rerouting = Rerouting(plane.tables.network, self._first, fabric, seed)
        self._down: Counter[int] = Counter()

    def check(self, fault: Fault, others: Sequence[Fault]) -> None:
        """Raise InputError if there is no such link, or parts could not be reached without it."""
        down = set(self._cable(fault))
        for other in others:
            here = other.begin <= fault.begin and (other.end is None or fault.begin < other.end)
            if other.kind == "down" and other.noun == "link" and here:
                down |= set(self._cable(other))
        if lonely := cut_off(self._fabric, down):
            names = ", ".join(self._fabric.router_name(router) for router in lonely[:4])
            raise InputError(
                f"faults: {fault.part}: while it is down there is no way to "
                f"{format_count(len(lonely), 'router')} of the network ({names}); right would be "
                "fewer links down at a time"
            )

    def down(self, course: Course) -> Process:
        """Let a link be down, find ways around it, and take it into use when it is back."""
        fault, times = course.fault, load_recovery()
        cable = self._cable(fault)
        total = times.link_wait + times.quiesce if fault.own is None else fault.own
        goes_on = fault.begin + total
        stations = [self._first + link for link in cable]
        # Not even what it had promised to serve comes over it: that waits before it, too.
        self._rerouting.take_back(cable, self._plane.tables.network.path, course.now)
        self._holding.hold(stations, goes_on)
        course.tell(f"{fault.part} went down, both ways.")
        yield course.until(goes_on - min(times.quiesce, total))
        self._down.update(cable)
        course.resent = self._quiesce(goes_on)
        self._holding.release(stations, course.now)  # nothing stands before it any more
        turned = format_count(course.resent, "message")
        course.tell(f"the network stood still for new routes; {turned} turned before {fault.part}.")
        yield course.until(goes_on)
        course.recovered()
        course.tell(f"the network went on, around {fault.part}.")
        if fault.end is not None:
            yield course.until(fault.end)
            yield from self._swap(course, cable)

    def _swap(self, course: Course, cable: Sequence[int]) -> Process:
        """Take a link into use again."""
        goes_on = course.now + load_recovery().quiesce
        self._down.subtract(cable)
        self._quiesce(goes_on)
        course.tell(f"{course.fault.part} was there again; the network stood still for new routes.")
        yield course.until(goes_on)
        course.tell(f"the network went on, with {course.fault.part}.")

    def _quiesce(self, until: float) -> int:
        """Hold the whole network, and compute its routes anew; return how many messages turn."""
        self._rerouting.set_down([link for link, count in self._down.items() if count > 0])
        turned = self._plane.reroute(self._rerouting, until)
        self._holding.hold(self._stations(), until)
        return turned

    def _stations(self) -> list[int]:
        """Return all stations of the network between nodes that any message may meet."""
        tables = self._plane.tables
        aries, lnet, nodes = tables.aries, tables.lnet, tables.nodes.count
        routers = lnet.queued.shape[1]
        rows = [
            (aries.nic_out, nodes),
            (aries.nic_in, nodes),
            (lnet.lnet_in, routers),
            (lnet.lnet_out, routers),
        ]
        ends = [first + i for first, count in rows for i in range(count)]
        ends += np.unique(tables.network.path).tolist()
        return ends

    def _cable(self, fault: Fault) -> list[int]:
        """Return the two directed links of a cable.

        Raises
        ------
        InputError
            If the network has no such link.
        """
        fabric, name = self._fabric, fault.part.removeprefix("link ")
        ends = name.split(" ")[-1].split("->")
        # Those of its two routers: there are too many links to name all.
        routers = [i for i in range(fabric.routers) if fabric.router_place(i) in ends]
        near = np.isin(fabric.link_source, routers) & np.isin(fabric.link_target, routers)
        for link in np.flatnonzero(near).tolist():
            if fabric.link_name(link) == name:
                return [link, int(fabric.link_reverse[link])]
        raise InputError(
            f"faults: {fault.part}: the machine has no such link; right would be, for instance, "
            f"link {self._fabric.link_name(0)}"
        )
