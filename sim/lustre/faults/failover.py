"""Servers that fail: OSTs that are gone, alone or with their OSS, and an MDS that pauses.

An OST that is not there serves nothing. Its clients find out by a timeout, connect anew when it is
there again, and after the recovery window they send again what had not been answered. Where an OSS
dies, its partner in the storage unit mounts its OSTs and serves them beside its own, until they go
back.
"""

from __future__ import annotations

from collections.abc import Sequence

from xc40io.config.faults import Fault
from xc40io.config.parts.lustre import Lustre
from xc40io.lustre.brw import Brw
from xc40io.lustre.mds import Mds
from xc40io.lustre.resend import resend
from xc40io.lustre.server.disks import Disks
from xc40io.lustre.server.oss import OssThreads
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.topology.text import format_count


@fault("MDS", "paused")
def pause(mds: Mds, course: Course) -> Process:
    """Let an MDS turn to no request for a while."""
    number = course.number(mds.directory - mds.station)
    yield course.begins()
    course.holding.hold([mds.station + number, mds.directory + number], course.end)
    course.tell(f"{course.fault.part} paused.")
    yield course.until(course.end)
    course.tell(f"{course.fault.part} went on.")


@fault("OST", "gone")
def be_gone(brw: Brw, osses: OssThreads, course: Course) -> Process:
    """Let an OST be gone, come back, recover, and get again what was lost."""
    times, part = course.recovery_times, course.fault.part
    osts = [course.number(brw.disks.first_mdt)]
    brw.disks.serve_in_turn()
    yield course.begins()
    connected = times.reconnected(course.fault.begin, course.end)
    window = times.recovery_window if course.fault.own is None else course.fault.own
    _hold(brw.disks, osses, course, osts, connected + window)
    course.tell(f"{part} was gone.")
    yield course.until(course.end)
    course.tell(f"{part} was back.")
    yield from _recover(brw, course, osts, connected, window)


@fault("OSS", "down")
def die(brw: Brw, osses: OssThreads, course: Course) -> Process:
    """Let an OSS be dead, and its partner serve its OSTs until they go back."""
    times, part, lustre = course.recovery_times, course.fault.part, course.scene.machine.lustre
    number = course.number(lustre.oss_count)
    osts = list(range(number * lustre.osts_per_oss, (number + 1) * lustre.osts_per_oss))
    partner = _partner(course, lustre, osts)
    brw.disks.serve_in_turn()
    yield course.begins()
    window = times.recovery_window
    mounted = course.fault.begin + (
        times.takeover if course.fault.own is None else course.fault.own
    )
    # Clients seek the OST at its own server first, then at the partner.
    connected = times.reconnected(course.fault.begin, mounted, turn=1, servers=2)
    _hold(brw.disks, osses, course, osts, connected + window)
    course.tell(f"{part} died, and {_names(osts)} with it.")
    yield course.until(mounted)
    brw.lnet.server_of[osts] = partner
    course.tell(f"its partner OSS {partner} had mounted {_names(osts)}.")
    yield from _recover(brw, course, osts, connected, window)
    if course.fault.end is None:
        return
    yield course.until(course.end)
    unmounted = course.now
    mounted = unmounted + times.failback
    # The partner tells that it has them no more: clients seek them elsewhere at once.
    connected = times.reconnected(unmounted - times.request_timeout, mounted, servers=2)
    _hold(brw.disks, osses, course, osts, connected + window)
    course.tell(f"{part} was back; {_names(osts)} returned to it.")
    yield course.until(mounted)
    brw.lnet.server_of[osts] = number
    recovery = course.recovery
    yield from _recover(brw, course, osts, connected, window)
    course.recovery = recovery  # of what nobody had planned


def _partner(course: Course, lustre: Lustre, osts: Sequence[int]) -> int:
    """Return the partner of an OSS that is to be down; InputError if none could take over."""
    partner = lustre.partner(course.fault.number)
    if partner is None:
        raise course.refusal(
            "it has no partner, since lustre.oss_per_unit is 1; right would be, for each of its "
            f"OSTs, OST {osts[0]} gone from 0.2 s to 1 s"
        )
    for other in course.others:
        same_part = (other.part, other.kind) == (f"OSS {partner}", "down")
        if same_part and _overlap(course.fault, other):
            raise course.refusal(
                f"its partner OSS {partner} is down at the same time; right would be one of the "
                "two, or one after the other"
            )
    return partner


def _recover(
    brw: Brw, course: Course, osts: Sequence[int], connected: float, window: float
) -> Process:
    """Let clients connect to OSTs that are there again, recover, and send again."""
    yield course.until(connected)
    course.tell(f"the first client connected to {_names(osts)} again: recovery.")
    served = connected + window
    yield course.until(served)
    # What other jobs would have moved meanwhile has not piled up: they waited, too.
    course.holding.release([brw.disks.ost + ost for ost in osts], served)
    again = 0
    for ost in osts:
        rpcs = brw.disks.waiting(ost)
        course.scene.make_room([(brw.network.spare_messages, rpcs * brw.bulk.parts)])
        resend(brw, ost, served)
        again += rpcs
    course.resent += again
    course.recovered()
    course.tell(
        f"the recovery of {_names(osts)} was over; clients sent {format_count(again, 'RPC')} again."
    )


def _hold(
    disks: Disks, osses: OssThreads, course: Course, osts: Sequence[int], until: float
) -> None:
    """Let OSTs serve nothing before a time in seconds."""
    course.holding.hold([disks.ost + ost for ost in osts], until)
    for ost in osts:
        osses.held[ost] = max(osses.held[ost], until)


def _overlap(one: Fault, other: Fault) -> bool:
    """Tell whether two faults are there at the same time."""
    ends = [fault.end if fault.end is not None else float("inf") for fault in (one, other)]
    return one.begin < ends[1] and other.begin < ends[0]


def _names(osts: Sequence[int]) -> str:
    """Return the name of OSTs that follow each other."""
    return f"OST {osts[0]}" if len(osts) == 1 else f"OST {osts[0]} to {osts[-1]}"
