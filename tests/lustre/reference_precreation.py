"""The stock of objects that an OST has made ahead, as plain SimPy.

Slow and meant to be obviously right: the thread and the creates of Lustre 2.7's osp_precreate.c,
each a process, with the names that they have there. The compiled stock, which nobody looks at
between two creates, has to agree with it to the last bit.

Left out: objects that are reserved and not used, an OST without space or connection, and that who
has to wait sleeps on while a single object is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import simpy
from reference_client import Steps


class Osp:
    """The MDS's device for one OST; ``taken`` has when each create had its object."""

    def __init__(self, stock: int, most: int, round_trip: float, object_seconds: float) -> None:
        self.clock = simpy.Environment()
        self.precreated = self.create_count = stock
        self.max_create_count = 2 * most
        self.round_trip, self.object_seconds = round_trip, object_seconds
        self.create_slow = self.sending = False
        self.users: deque[int] = deque()
        self.taken: dict[int, float] = {}

    def run(self, times: Sequence[float]) -> list[float]:
        """Let creates come at some times, in order; return when each has its object."""

        def come() -> Steps:
            for number, time in enumerate(times):
                yield self.clock.timeout(time - self.clock.now)
                self.reserve(number)

        self.clock.process(come())
        self.clock.run()
        return [self.taken[number] for number in range(len(times))]

    def near_empty(self) -> bool:
        return self.precreated < self.create_count // 2

    def reserve(self, number: int) -> None:
        few = self.precreated <= self.create_count // 4 + 1
        if few and not self.create_slow and self.create_count < self.max_create_count:
            self.create_slow = True
            self.create_count *= 2
        if self.precreated > 0:
            self.precreated -= 1
            self.taken[number] = self.clock.now
        else:
            self.users.append(number)
        self.wake_thread()

    def wake_thread(self) -> None:
        if self.near_empty() and not self.sending:
            self.sending = True
            self.create_count = min(self.create_count, self.max_create_count // 2)
            self.clock.process(self.send(self.create_count))

    def send(self, grow: int) -> Steps:
        """Ask for more objects; those who wait go on with the reply, in the order they came."""
        yield self.clock.timeout(self.round_trip + grow * self.object_seconds)
        self.sending = self.create_slow = False
        self.precreated += grow
        self.wake_thread()
        for _ in range(min(grow, len(self.users))):
            self.reserve(self.users.popleft())
