"""Links between the network's routers that go down, and the routes that lead around them.

The network of a Cray has no way around a link of its own accord. When one fails, what stands
before it waits; the machine waits a little for further failures, *quiesces* the whole network,
computes and installs new routes, and lets it go on. The same happens when the link is there again
(a warm swap).
"""

from __future__ import annotations

import numpy as np

from xc40io.config.errors import InputError
from xc40io.network.aries import Aries
from xc40io.network.peers import PeerRoutes
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.topology import cut_off
from xc40io.topology.text import format_count


@fault("link", "down")
def go_down(aries: Aries, routes: PeerRoutes, course: Course) -> Process:
    """Let a link be down both ways, find ways around it, and take it into use when it is back."""
    times, part, rerouting = course.recovery_times, course.fault.part, routes.rerouting
    cable = _cable(course, part)
    _check_all_are_reached(course, cable)
    yield course.begins()
    total = times.link_wait + times.quiesce if course.fault.own is None else course.fault.own
    goes_on = course.fault.begin + total
    stations = [aries.first_link + link for link in cable]
    # Not even what it had promised to serve comes over it: that waits before it, too.
    rerouting.take_back(cable, course.now)
    course.holding.hold(stations, goes_on)
    course.tell(f"{part} went down, both ways.")
    yield course.until(goes_on - min(times.quiesce, total))
    rerouting.take_down(cable)
    course.resent = _quiesce(routes, course, goes_on)
    course.holding.release(stations, course.now)  # nothing stands before it any more
    turned = format_count(course.resent, "message")
    course.tell(f"the network stood still for new routes; {turned} turned before {part}.")
    yield course.until(goes_on)
    course.recovered()
    course.tell(f"the network went on, around {part}.")
    if course.fault.end is None:
        return
    yield course.until(course.end)
    goes_on = course.now + times.quiesce
    rerouting.bring_up(cable)
    _quiesce(routes, course, goes_on)
    course.tell(f"{part} was there again; the network stood still for new routes.")
    yield course.until(goes_on)
    course.tell(f"the network went on, with {part}.")


def _quiesce(routes: PeerRoutes, course: Course, until: float) -> int:
    """Hold the whole network, and compute its routes anew; return how many messages turn."""
    turned = routes.reroute(until)
    course.holding.hold(routes.stations(), until)
    return turned


def _check_all_are_reached(course: Course, cable: list[int]) -> None:
    """Raise InputError if parts of the network could not be reached while the link is down."""
    down, begin, fabric = set(cable), course.fault.begin, course.scene.fabric
    for other in course.others:
        here = other.begin <= begin and (other.end is None or begin < other.end)
        if other.kind == "down" and other.noun == "link" and here:
            down |= set(_cable(course, other.part))
    if lonely := cut_off(fabric, down):
        names = ", ".join(fabric.router_name(router) for router in lonely[:4])
        raise course.refusal(
            f"while it is down there is no way to {format_count(len(lonely), 'router')} of the "
            f"network ({names}); right would be fewer links down at a time"
        )


def _cable(course: Course, part: str) -> list[int]:
    """Return the two directed links of a cable; InputError if the network has no such link."""
    fabric, name = course.scene.fabric, part.removeprefix("link ")
    ends = name.split(" ")[-1].split("->")
    # Those of its two routers: there are too many links to name all.
    routers = [i for i in range(fabric.routers) if fabric.router_place(i) in ends]
    near = np.isin(fabric.link_source, routers) & np.isin(fabric.link_target, routers)
    for link in np.flatnonzero(near).tolist():
        if fabric.link_name(link) == name:
            return [link, int(fabric.link_reverse[link])]
    raise InputError(
        f"{course.said.place}: {part}: the machine has no such link; right would be, for instance, "
        f"link {fabric.link_name(0)}"
    )
