from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import simpy

from xc40io.engine.environment import EmptySchedule, Environment

INFINITY = float("inf")
Steps = Generator[simpy.Event, Any, None]


class FakePlane:
    """A data plane whose batches end when it is told; it notes when its events happen."""

    def __init__(self, log: list[str] | None = None, slice_: int = 1000) -> None:
        self.due: list[tuple[float, int | None]] = []  # an event's time, and the batch it ends
        self.log = [] if log is None else log
        self.slice = slice_
        self.now = 0.0

    def add(self, time: float, ends: int | None = None) -> None:
        self.due.append((time, ends))
        self.due.sort(key=lambda event: event[0])

    def next_time(self) -> float:
        return self.due[0][0] if self.due else INFINITY

    def advance(self, until: float) -> tuple[float, list[int]]:
        for _ in range(self.slice):
            if self.next_time() >= until:
                break
            self.now, ended = self.due.pop(0)
            self.log.append(f"bytes {self.now:g}")
            if ended is not None:
                return self.now, [ended]
        return self.now, []


def note(env: simpy.Environment, log: list[str], name: str, *delays: float) -> Steps:
    for delay in delays:
        yield env.timeout(delay)
        log.append(f"{name} {env.now:g}")


def test_any_simpy_program_runs_unchanged() -> None:
    """A bank with two counters and impatient customers: SimPy's own kind of example."""

    def bank(env: simpy.Environment) -> list[str]:
        log: list[str] = []
        counters = simpy.PriorityResource(env, capacity=2)
        tray = simpy.Store(env, capacity=3)

        def customer(number: int) -> Steps:
            yield env.timeout(number % 3)
            with counters.request(priority=-number) as turn:
                came = yield turn | env.timeout(4)
                if turn not in came:
                    log.append(f"{env.now} {number} leaves")
                    return
                try:
                    yield env.timeout(2 + number % 2)
                except simpy.Interrupt as interrupt:
                    log.append(f"{env.now} {number} {interrupt.cause}")
                yield tray.put(number)
                log.append(f"{env.now} {number} is done")

        def postman() -> Steps:
            while True:
                number = yield tray.get()
                log.append(f"{env.now} takes the letter of {number}")
                yield env.timeout(3)

        def bell(listener: simpy.Process) -> Steps:
            yield env.timeout(1)
            listener.interrupt("hears the bell")

        customers = [env.process(customer(number)) for number in range(8)]
        env.process(postman())
        env.process(bell(customers[0]))
        env.run(until=env.all_of(customers))
        log.append(f"the end at {env.now}")
        return log

    log = bank(Environment(FakePlane()))
    assert log == bank(simpy.Environment())
    assert any("bell" in line for line in log)
    assert any("leaves" in line for line in log)


def test_the_planes_take_turns_and_decisions_come_first() -> None:
    log: list[str] = []
    plane = FakePlane(log)
    env = Environment(plane)
    for time in (0.5, 1.0, 2.5, 3.0):
        plane.add(time)
    env.process(note(env, log, "first", 1.0, 1.0))
    env.process(note(env, log, "second", 1.0))
    env.run()
    assert log == [
        *("bytes 0.5", "first 1", "second 1", "bytes 1"),
        *("first 2", "bytes 2.5", "bytes 3"),
    ]
    assert env.now == 3.0


def test_peek_is_the_earlier_of_the_two_calendars() -> None:
    plane = FakePlane()
    env = Environment(plane)
    assert env.peek() == INFINITY
    env.timeout(2.0)
    assert env.peek() == 2.0
    plane.add(1.0)
    assert env.peek() == 1.0
    env.step()
    assert (env.now, env.peek()) == (1.0, 2.0)
    env.step()
    assert (env.now, env.peek()) == (2.0, INFINITY)
    with pytest.raises(EmptySchedule):
        env.step()


def test_a_process_waits_for_its_batch() -> None:
    plane = FakePlane()
    env = Environment(plane)
    seen: list[tuple[float, int]] = []

    def job() -> Steps:
        for batch, duration in enumerate((2.0, 0.0, 3.0)):
            plane.add(env.now + duration, ends=batch)
            number = yield env.batch_event(batch)
            seen.append((env.now, number))

    env.run(until=env.process(job()))
    assert seen == [(2.0, 0), (2.0, 1), (5.0, 2)]


def test_batches_mix_with_timeouts_in_conditions() -> None:
    plane = FakePlane()
    env = Environment(plane)

    def job() -> Steps:
        plane.add(5.0, ends=7)
        batch = env.batch_event(7)
        yield batch | env.timeout(1.0)
        assert env.now == 1.0
        yield batch
        assert env.now == 5.0

    env.run(until=env.process(job()))


def test_run_until_stops_both_planes() -> None:
    log: list[str] = []
    plane = FakePlane(log)
    env = Environment(plane)
    for time in (1.0, 2.0, 3.0):
        plane.add(time)
    env.run(until=2.0)
    assert env.now == 2.0
    assert log == ["bytes 1"]  # what is due at the very end of a run is left for the next one
    env.run()
    assert log == ["bytes 1", "bytes 2", "bytes 3"]


def test_the_watch_is_called_between_slices_and_may_stop_the_run() -> None:
    plane = FakePlane(slice_=10)
    for number in range(100):
        plane.add(float(number))
    looks: list[float] = []

    def watch() -> None:
        looks.append(env.now)
        if len(looks) == 3:
            raise KeyboardInterrupt

    env = Environment(plane, watch)
    with pytest.raises(KeyboardInterrupt):
        env.run()
    assert looks == [9.0, 19.0, 29.0]
