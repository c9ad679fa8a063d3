"""An LNET router that is down for a while, and what its senders know of it.

Bulk that is on its way to the router, or in it, is lost. What goes there until its senders notice
is lost too; then the LND fails all messages that they have for it, they send these again by other
routers, and choose it no more. A ping finds it alive some time after it is back.

Bulk that the router has begun to send on arrives. Small messages, such as requests for locks, are
not followed on their way: they find another router.
"""

from __future__ import annotations

import numpy as np

from xc40io.config.parts.recovery import load_recovery
from xc40io.engine.network import Network, take_back
from xc40io.engine.pool import live_rows
from xc40io.engine.types import Integers
from xc40io.lustre.brw import READ_AT_ROUTER, READ_CUT, WRITE_AT_ROUTER, WRITE_FETCHED, Brw
from xc40io.lustre.resend import lose
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.topology.text import format_count

_SHUNNED = 2.0**50
"""Bytes that senders think to have queued at a router that they know as dead: more than any other
has. A power of two: what is really queued there is still known to the byte."""


@fault("LNET router", "down")
def go_down(brw: Brw, course: Course) -> Process:
    """Let an LNET router be down, lose what it has, and be shunned when that is noticed."""
    times, part = load_recovery(), course.fault.part
    router = course.number(brw.lnet.routers)
    stations, holding = brw.lnet.stations_of(router), course.holding
    yield course.begins()
    notice = times.router_timeout if course.fault.own is None else course.fault.own
    noticed = course.fault.begin + notice
    holding.hold(stations, noticed)
    course.resent = _lose_messages(brw, course, router, noticed)
    lost = format_count(course.resent, "message")
    course.tell(f"{part} went down; lost with it: {lost} of bulk data.")
    if course.end <= noticed:
        yield course.until(course.end)
        again = _return_messages(brw, router, travelling=False)
        course.resent += again
        holding.release(stations, course.end)
        more = format_count(again, "message")
        course.tell(f"{part} was back, unnoticed; lost meanwhile: {more} more.")
        return
    yield course.until(noticed)
    again = _return_messages(brw, router, travelling=True)
    course.resent += again
    course.recovered()
    holding.release(stations, noticed)
    holding.hold(stations, course.end)
    brw.lnet.queued[:, router] += _SHUNNED
    more = format_count(again, "message")
    course.tell(
        f"senders knew that {part} was dead; lost meanwhile: {more} more; they sent all of it "
        "again."
    )
    yield course.until(course.end)
    course.tell(f"{part} was back.")
    yield course.until(course.end + times.router_check)
    brw.lnet.queued[:, router] -= _SHUNNED
    course.tell(f"a ping reached {part}: it was used again.")


def _lose_messages(brw: Brw, course: Course, router: int, again: float) -> int:
    """Lose the bulk on its way to a router at its begin; return how many messages that are.

    They are sent again, by whatever router is chosen then, at the time ``again`` in seconds.
    """
    now, table = course.fault.begin, brw.network.messages
    lost = _coming(brw.network, router)
    before = (table.position[lost] > table.final[lost]) & (table.tail[lost] > now)
    _take_back(brw.network, lost[before])
    course.scene.make_room([(brw.network.spare_messages, len(lost))])
    lose(brw, lost, now, again)
    return len(lost)


def _return_messages(brw: Brw, router: int, *, travelling: bool) -> int:
    """Let bulk before a router go back to its senders; return how many messages.

    They choose a router anew at their next event: that with which they would have been in the
    router. ``travelling``: those that have not reached it, too.
    """
    lnet, table = brw.lnet, brw.network.messages
    back = _coming(brw.network, router)
    passed = back[table.position[back] > table.final[back]]
    _take_back(brw.network, passed)
    if not travelling:
        back = passed
    write = table.stage[back] == WRITE_AT_ROUTER
    sender = np.where(write, table.node[back], lnet.first_oss + table.server[back])
    np.subtract.at(lnet.queued, (sender, router), table.bytes[back])
    table.stage[back] = np.where(write, WRITE_FETCHED, READ_CUT)
    table.position[back], table.final[back] = 1, 0
    return len(back)


def _take_back(network: Network, messages: Integers) -> None:
    """Undo the services of messages at the station where each is last: it has failed.

    They stand before it, one right after the other.
    """
    for station in np.unique(network.messages.last[messages]).tolist():
        here = messages[network.messages.last[messages] == station]
        sizes = network.messages.bytes[here]
        held = sizes * network.stations.inverse_rate[station]
        begun = network.stations.free[station] - held.sum() + np.cumsum(held) - held
        for service in zip(begun.tolist(), held.tolist(), sizes.tolist(), strict=True):
            take_back(network, station, *service)


def _coming(network: Network, router: int) -> Integers:
    """Return the messages of bulk that are on their way to a router: int64 (n,)."""
    table = network.messages
    live = live_rows(network.spare_messages)
    coming = np.isin(table.stage[live], (WRITE_AT_ROUTER, READ_AT_ROUTER))
    found: Integers = live[coming & (table.gateway[live] == router)]
    return found
