"""A lock manager of one object as plain SimPy, and clients that use it.

Slow and meant to be obviously right: the rules of the extent locks of Lustre 2.7 in the words of
ldlm_extent.c, over two Python lists. What the compiled locks have to agree with.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import simpy

PR, PW, GROUP = 0, 1, 2
EOF = 2**63 - 1
PAGE = 4096
MIB = 1 << 20

Event = simpy.Event
History = list[tuple[Any, ...]]  # ("blocking", lock) and ("granted", lock, start, end)
Steps = Generator[Event, Any, None]


@dataclass(frozen=True)
class Request:
    """What a client node asks for; a group lock is always for the whole object."""

    owner: int
    mode: int
    start: int
    end: int
    gid: int = 0
    no_expand: bool = False


@dataclass(eq=False)
class Lock:
    """A lock from its request on. ``granted`` and ``blocking`` happen when the ASTs are sent."""

    number: int
    request: Request
    granted: Event
    blocking: Event
    start: int = 0
    end: int = 0


class Manager(Protocol):
    """What clients need of a lock manager; ``history`` is what it decided, in order."""

    history: History
    granted: list[Lock]

    def enqueue(self, request: Request) -> Lock: ...

    def cancel(self, lock: Lock) -> None: ...


def overlap(a: Lock | Request, b: Lock | Request) -> bool:
    return a.start <= b.end and b.start <= a.end


def modes_fit(a: Request, b: Request) -> bool:
    return (a.mode, b.mode) in {(PR, PR), (GROUP, GROUP)}


def conflict(a: Request, b: Request) -> bool:
    return not modes_fit(a, b) or (a.mode == GROUP and a.gid != b.gid)


@dataclass
class PlainLocks:
    clock: simpy.Environment
    granted: list[Lock] = field(default_factory=list)
    waiting: list[Lock] = field(default_factory=list)
    history: History = field(default_factory=list)
    numbers: int = 0

    def enqueue(self, request: Request) -> Lock:
        lock = Lock(self.numbers, request, self.clock.event(), self.clock.event())
        self.numbers += 1
        if self.may_join_group(lock):
            self.grant(lock)
            return lock
        obstacles = self.obstacles(lock) + self.waiters_ahead(lock)
        asked = {
            other
            for other in obstacles
            if other.request.mode != GROUP and not other.blocking.triggered
        }
        for other in self.in_turn(asked):
            self.history.append(("blocking", other.number))
            other.blocking.succeed()
        if obstacles or (request.mode == GROUP and self.waiting):
            self.waiting.insert(self.place(lock), lock)
        else:
            self.grant(lock)
        return lock

    def cancel(self, lock: Lock) -> None:
        self.granted.remove(lock)
        while self.waiting and not self.obstacles(self.waiting[0]):
            self.grant(self.waiting.pop(0))

    def in_turn(self, asked: Iterable[Lock]) -> list[Lock]:
        """Return the locks asked back in the order of their blocking ASTs."""
        return sorted(asked, key=lambda other: other.number)

    def may_join_group(self, lock: Lock) -> bool:
        return lock.request.mode == GROUP and any(
            not conflict(lock.request, other.request) for other in self.granted
        )

    def obstacles(self, lock: Lock) -> list[Lock]:
        """Granted locks in the way: their granted extent counts, and what the request asks for."""
        return [
            other
            for other in self.granted
            if conflict(other.request, lock.request) and overlap(other, lock.request)
        ]

    def waiters_ahead(self, lock: Lock) -> list[Lock]:
        """Waiting requests in the way; a group request goes ahead of them."""
        if lock.request.mode == GROUP:
            return []
        return [
            other
            for other in self.waiting
            if conflict(other.request, lock.request) and overlap(other.request, lock.request)
        ]

    def place(self, lock: Lock) -> int:
        """Where in the queue: a group beside its own kind, else before the first other request."""
        if lock.request.mode == GROUP:
            for i, other in enumerate(self.waiting):
                if other.request.mode != GROUP:
                    return i
                if other.request.gid == lock.request.gid:
                    return i + 1
        return len(self.waiting)

    def grant(self, lock: Lock) -> None:
        lock.start, lock.end = self.policy(lock.request)
        self.granted.append(lock)
        self.history.append(("granted", lock.number, lock.start, lock.end))
        lock.granted.succeed()

    def policy(self, request: Request) -> tuple[int, int]:
        if (request.start, request.end) == (0, EOF):
            return 0, EOF
        if request.no_expand:
            return self.fixup(request, request.start, request.end, 0)
        start, end = self.policy_granted(request)
        return self.policy_waiting(request, start, end)

    def policy_granted(self, request: Request) -> tuple[int, int]:
        start, end, conflicting = 0, EOF, 0
        for mode in (PW, PR, GROUP):
            tree = [other for other in self.granted if other.request.mode == mode]
            if mode == request.mode == PR or mode == request.mode == GROUP:
                continue
            conflicting += len(tree)
            if conflicting > 4:
                start = request.start
            if tree:  # interval_expand_low: downwards only into an empty tree
                start = max(start, request.start)
            above = [other.start for other in tree if other.start > request.end]
            end = min([end, *(first - 1 for first in above)])
            if (start, end) == (request.start, request.end):
                break
        return self.fixup(request, start, end, conflicting)

    def policy_waiting(self, request: Request, start: int, end: int) -> tuple[int, int]:
        conflicting = 0
        for other in (waiter.request for waiter in self.waiting):
            if (start, end) == (request.start, request.end):
                return start, end
            if modes_fit(other, request) and other.owner != request.owner:
                continue
            conflicting += 1
            if conflicting > 4:
                start = request.start
            if other.end < start or other.start > end:
                continue
            if overlap(other, request):
                continue
            if other.start < request.start and start != request.start:
                start = request.start if other.end >= request.start else other.end + 1
            if other.end > request.end:
                end = max(other.start - 1, request.end)
        return self.fixup(request, start, end, conflicting)

    def fixup(self, request: Request, start: int, end: int, conflicting: int) -> tuple[int, int]:
        if conflicting > 32 and request.mode == PW and request.end < request.start + 32 * MIB - 1:
            end = min(request.start + 32 * MIB - 1, end)
        if (start, end) == (0, EOF):
            return start, end
        unit = PAGE
        # EOF + 1 is zero in Lustre's unsigned 64 bits: a multiple of everything.
        edges = [request.start] if request.end == EOF else [request.start, request.end + 1]
        if all(edge % unit == 0 for edge in edges):
            while unit < 1 << 62 and all(edge % (2 * unit) == 0 for edge in edges):
                unit *= 2
        start = -(-start // unit) * unit
        end = end if end == EOF else (end + 1) // unit * unit - 1
        return min(start, request.start), max(end, request.end)


@dataclass(frozen=True)
class Call:
    """What one client does: asks at ``time``, uses the lock for ``use``, and gives it back.

    It gives it back when it is asked to, ``flush`` later; or, if not ``keep``, when it has used it.
    """

    time: int
    request: Request
    use: int
    flush: int
    keep: bool = True


def client(clock: simpy.Environment, manager: Manager, call: Call) -> Steps:
    yield clock.timeout(call.time)
    lock = manager.enqueue(call.request)
    yield lock.granted
    yield clock.timeout(call.use)
    if call.keep and call.request.mode != GROUP:
        yield lock.blocking
        yield clock.timeout(call.flush)
    manager.cancel(lock)


def run_clients(clock: simpy.Environment, manager: Manager, calls: Iterable[Call]) -> None:
    """Let the calls happen, to the point where nobody asks for anything any more."""
    for call in calls:
        clock.process(client(clock, manager, call))
    clock.run()
