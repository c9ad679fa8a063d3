"""OSTs that are gone for a while, alone or with their OSS, and how their clients get over it.

An OST that is not there serves nothing. Its clients find out by a timeout, connect anew when it is
there again, and after the recovery window they send again what had not been answered. Where an OSS
dies, its partner in the storage unit mounts its OSTs and serves them beside its own, until they go
back.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import simpy

from sim.config.errors import InputError
from sim.config.faults import Fault
from sim.config.lustre import Lustre
from sim.config.recovery import Recovery, load_recovery
from sim.machine.plane import Plane
from sim.run.course import Course
from sim.run.holding import Holding
from topology.text import format_count

Process = Generator[simpy.Event, object, None]


class Failover:
    """Lets OSTs and OSSs be gone, and come back.

    Parameters
    ----------
    plane
        The data plane.
    holding
        Of its stations.
    lustre
        The file system: which OSS is whose partner.
    """

    def __init__(self, plane: Plane, holding: Holding, lustre: Lustre) -> None:
        self._plane = plane
        self._holding = holding
        self._lustre = lustre

    def check(self, fault: Fault, others: Sequence[Fault]) -> None:
        """Raise InputError if an OSS that is to be down has no partner that could take over."""
        partner = self._lustre.partner(fault.number)
        if partner is None:
            raise InputError(
                f"faults: {fault.part}: it has no partner, as lustre.oss_per_unit is 1; right "
                f"would be, for each OST of it, OST {self._osts(fault.number)[0]} gone from 0.2 s "
                "to 1 s"
            )
        for other in others:
            if (other.part, other.kind) == (f"OSS {partner}", "down") and _overlap(fault, other):
                raise InputError(
                    f"faults: {fault.part}: its partner OSS {partner} is down at the same time; "
                    "right would be one of the two, or one after the other"
                )

    def gone(self, course: Course) -> Process:
        """Let an OST be gone, come back, recover, and get again what was lost."""
        fault, times = course.fault, load_recovery()
        assert fault.end is not None  # parse_fault has looked
        connected = times.reconnected(fault.begin, fault.end)
        window = times.recovery_window if fault.own is None else fault.own
        self._hold([fault.number], connected + window)
        course.tell(f"{fault.part} was gone.")
        yield course.until(fault.end)
        course.tell(f"{fault.part} was back.")
        yield from self._recover(course, [fault.number], connected, window)

    def down(self, course: Course) -> Process:
        """Let an OSS be dead, and its partner serve its OSTs until they go back."""
        fault, times = course.fault, load_recovery()
        partner = self._lustre.partner(fault.number)
        assert partner is not None  # checked
        osts = self._osts(fault.number)
        mounted = fault.begin + (times.takeover if fault.own is None else fault.own)
        # Clients seek the OST at its own server first, then at the partner.
        connected = times.reconnected(fault.begin, mounted, turn=1, servers=2)
        self._hold(osts, connected + times.recovery_window)
        course.tell(f"{fault.part} died, and {_names(osts)} with it.")
        yield course.until(mounted)
        self._plane.tables.lnet.server_of[osts] = partner
        course.tell(f"its partner OSS {partner} had mounted {_names(osts)}.")
        yield from self._recover(course, osts, connected, times.recovery_window)
        if fault.end is not None:
            yield course.until(fault.end)
            yield from self._fail_back(course, osts, times)

    def _fail_back(self, course: Course, osts: Sequence[int], times: Recovery) -> Process:
        """Let OSTs go back from the partner to their own OSS."""
        unmounted = course.now
        mounted = unmounted + times.failback
        # The partner tells that it has them no more: clients seek them elsewhere at once.
        told = unmounted - times.request_timeout
        connected = times.reconnected(told, mounted, servers=2)
        self._hold(osts, connected + times.recovery_window)
        course.tell(f"{course.fault.part} was there again; {_names(osts)} went back to it.")
        yield course.until(mounted)
        self._plane.tables.lnet.server_of[osts] = course.fault.number
        recovery = course.recovery
        yield from self._recover(course, osts, connected, times.recovery_window)
        course.recovery = recovery  # of what nobody had planned

    def _recover(
        self, course: Course, osts: Sequence[int], connected: float, window: float
    ) -> Process:
        """Let clients connect to OSTs that are there again, recover, and send again."""
        yield course.until(connected)
        course.tell(f"the first client connected to {_names(osts)} again: recovery.")
        served = connected + window
        yield course.until(served)
        disks = self._plane.tables.disks
        # What other jobs would have moved meanwhile has not piled up: they waited, too.
        self._holding.release([disks.ost + ost for ost in osts], served)
        again = sum(self._plane.resend(ost, served) for ost in osts)
        course.resent += again
        course.recovered()
        course.tell(
            f"the recovery of {_names(osts)} was over; clients sent {format_count(again, 'RPC')} "
            "again."
        )

    def _hold(self, osts: Sequence[int], until: float) -> None:
        """Let OSTs serve nothing before a time in seconds."""
        tables = self._plane.tables
        self._holding.hold([tables.disks.ost + ost for ost in osts], until)
        for ost in osts:
            tables.osses.held[ost] = max(tables.osses.held[ost], until)

    def _osts(self, oss: int) -> list[int]:
        """Return the OSTs whose own server an OSS is."""
        each = self._lustre.osts_per_oss
        return list(range(oss * each, (oss + 1) * each))


def _overlap(one: Fault, other: Fault) -> bool:
    """Tell whether two faults are there at the same time."""
    ends = [fault.end if fault.end is not None else float("inf") for fault in (one, other)]
    return one.begin < ends[1] and other.begin < ends[0]


def _names(osts: Sequence[int]) -> str:
    """Return what OSTs that follow each other are called."""
    return f"OST {osts[0]}" if len(osts) == 1 else f"OST {osts[0]} to {osts[-1]}"
