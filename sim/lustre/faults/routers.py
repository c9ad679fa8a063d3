"""LNET routers that are down for a while, one or all of a group, and what senders know of it.

Bulk that is on its way to the router, or in it, is lost. What goes there until its senders notice
is lost too; then the LND fails all messages that they have for it, they send these again by other
routers, and choose it no more. A ping finds it alive some time after it is back.

Bulk that the router has begun to send on arrives. Small messages, such as requests for locks, are
not followed on their way: they find another router.

Where all routers of a fine-grained routing group are dead its senders have no route: LNET fails
what they send (lib-move.c, lnet_send: "No route ... (all routers down)", EHOSTUNREACH), and their
clients seek the OSTs behind it at regular intervals, until a ping has found a router alive. The
OSTs were there all the time, so no recovery follows, and clients send again what had not been
answered. But an OST that has not heard of a client for too long evicts it.
"""

from __future__ import annotations

import numpy as np

from xc40io.config.units import format_bytes, format_seconds
from xc40io.engine.network import Network, take_back
from xc40io.engine.pool import live_rows
from xc40io.engine.types import Integers
from xc40io.lustre.brw import READ_AT_ROUTER, READ_CUT, WRITE_AT_ROUTER, WRITE_FETCHED, Brw
from xc40io.lustre.faults.evicted import Client, clients_of
from xc40io.lustre.ldlm import Ldlm
from xc40io.lustre.resend import lose
from xc40io.lustre.server.oss import OssThreads
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.topology.text import format_count

_SHUNNED = 2.0**50
"""Bytes that senders think to have queued at a router that they know as dead: more than any other
has. A power of two: what is really queued there is still known to the byte."""


@fault("LNET router", "down")
def go_down(brw: Brw, course: Course) -> Process:
    """Let an LNET router be down, lose what it has, and be shunned when that is noticed."""
    times, part = course.recovery_times, course.fault.part
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


@fault("FGR group", "down")
def cut_off(brw: Brw, osses: OssThreads, ldlm: Ldlm, course: Course) -> Process:
    """Let all LNET routers of a group be down, and nobody reach the OSTs behind them."""
    times, lnet = course.recovery_times, brw.lnet
    group = course.number(len(lnet.gateways))
    routers = lnet.gateways[group].tolist()
    osts = np.flatnonzero(lnet.group_of_oss[lnet.server_of] == group).tolist()
    stations = [station for router in routers for station in lnet.stations_of(router)]
    yield course.begins()
    begin, end = course.fault.begin, course.end
    notice = times.router_timeout if course.fault.own is None else course.fault.own
    reached = end
    if end > begin + notice:  # what is known as dead is used again when a ping has found it
        reached = times.reconnected(begin, end + times.router_check)
    course.holding.hold(stations, reached)
    osses.held[osts] = np.maximum(osses.held[osts], reached)
    course.resent = sum(_lose_messages(brw, course, router, reached) for router in routers)
    course.tell(
        f"{course.fault.part} went down, {format_count(len(routers), 'LNET router')} with no other "
        f"way to {len(osts)} OSTs; lost: {format_count(course.resent, 'message')} of bulk data."
    )
    evicted: list[Client] = []
    silent = begin + times.ping_timeout
    if silent < reached:
        yield course.until(silent)
        evicted = clients_of(ldlm, osts)
        locks = sum(one.revoke(ost, course.now, reached) for one in evicted for ost in osts)
        course.evictions += len(evicted) * len(osts)
        course.tell(
            f"the OSTs behind it had not heard of any client for "
            f"{format_seconds(times.ping_timeout)}, and evicted {len(evicted)}: "
            f"{format_count(locks, 'lock')} revoked."
        )
    yield course.until(end)
    course.tell(f"{course.fault.part} was back.")
    yield course.until(reached)
    lost = sum(one.invalidate(ost, course) for one in evicted for ost in osts)
    again = sum(_return_messages(brw, router, travelling=False) for router in routers)
    course.resent += again
    course.holding.release(stations, reached)
    course.recovered()
    said = f", and had lost {format_bytes(lost)} of dirty data" if evicted else ""
    course.tell(
        f"clients reached its OSTs again{said}; {format_count(again, 'message')} more of bulk data "
        "were sent again."
    )


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
