"""The faults of a run: what the rooms of the parts have registered, put to work on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_type_hints

import numpy as np

from xc40io.config.fault_forms import OF_ROUTERS
from xc40io.config.faults import FieldFault
from xc40io.config.machine import Machine
from xc40io.config.units import format_seconds
from xc40io.engine.environment import Environment
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.faults import evicted, failover, routers
from xc40io.lustre.faults.slow import Conditions, Slowness
from xc40io.machine.assembly import Assembly
from xc40io.network import link_faults
from xc40io.plane.fault_course import (
    PROCESSES,
    Course,
    FaultRecord,
    Holding,
    PlacedPrograms,
    Process,
    Scene,
)
from xc40io.storage.ssd import contents
from xc40io.topology import Fabric

ROOMS = (contents, evicted, failover, link_faults, routers)
"""Modules with faults that nothing else here needs; importing registers them."""


class Faults:
    """All faults of a run.

    Parameters
    ----------
    assembly
        The data plane, at rest.
    machine, fabric
        The machine and its network.
    environment
        The clock.
    """

    def __init__(
        self, assembly: Assembly, machine: Machine, fabric: Fabric, environment: Environment
    ) -> None:
        self._plane = plane = assembly.plane
        tables = plane.tables
        self._slowness = Slowness(tables.disks, assembly.book)
        self._journals = tables.journals
        self._parts: dict[type, Any] = {type(part): part for part in tables.uses().values()}
        for part in (plane.routes, plane.pace, self._slowness):
            self._parts[type(part)] = part
        lost_dirty: Integers = np.zeros(tables.nodes.count, np.int64)
        holding = Holding(tables.network)
        self._scene = Scene(machine, fabric, environment, holding, plane.make_room, lost_dirty)
        self._courses: list[Course] = []

    @property
    def lost_dirty(self) -> Integers:
        """Bytes of dirty data that nodes have lost because they were evicted: int64 (nodes,)."""
        return self._scene.lost_dirty

    def lost_files(self, nodes: Indices) -> dict[int, int]:
        """Return the bytes of files that were on the SSDs of nodes when these failed, by node."""
        return contents.lost_bytes(self._plane.tables.ssds, nodes, self._plane.now)

    def add(self, said: Iterable[FieldFault], jobs: Sequence[PlacedPrograms] = ()) -> None:
        """Let faults happen at their times; ``jobs`` are those whose nodes they may name.

        Raises
        ------
        InputError
            If the machine has no such part, or the job no such node.
        """
        known = list(said)
        told = [one.fault for one in known if one.told]
        for one in known:
            others = [fault for fault in told if fault is not one.fault]
            course = Course(one, self._scene, jobs, others)
            process = self._process(course)
            begins = next(process)  # it has looked, and made ready
            if one.told:
                self._courses.append(course)
                self._scene.environment.process(course.follow(begins, process))
            elif one.fault.begin == 0.0:  # the state to begin with; else the part knows its time
                next(process, None)

    def _process(self, course: Course) -> Process:
        """Return the process that carries out a fault."""
        fault, machine = course.fault, self._scene.machine
        if machine.lnet is None and fault.noun in OF_ROUTERS:
            raise course.refusal(
                f"{machine.name} has no LNET routers; right would be a part that it has, as OSS 0"
            )
        known = PROCESSES.get((fault.noun, fault.kind)) or PROCESSES["", fault.kind]
        return known(*(self._parts[kind] for kind in _touched(known)), course)

    def conditions(self, seed: int) -> Conditions:
        """Return the state in which repetitions find the OSTs; that of the first is set."""
        lustre = self._scene.machine.lustre
        return Conditions(lustre, seed, self._journals, self._slowness)

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each event, in order of time, and each fault that came too late."""
        told = [one for course in self._courses for one in course.story]
        notes = [text for _, text in sorted(told, key=lambda one: one[0])]
        notes += [
            f"The fault {str(course.fault)!r} did not happen: all jobs had ended at "
            f"{format_seconds(float(self._scene.environment.now), 4)}."
            for course in self._courses
            if course.begun is None
        ]
        return tuple(notes)

    def records(self) -> tuple[FaultRecord, ...]:
        """Return the record of each fault, in the order in which they are listed."""
        return tuple(course.record() for course in self._courses)

    def settle(self) -> None:
        """Forget, at the end of a run, how long parts would not have served yet."""
        self._scene.holding.settle()


def _touched(process: Callable[..., Process]) -> list[type]:
    """Return the types of what a process touches: its parameters before the course."""
    hints = get_type_hints(process)
    return [kind for name, kind in hints.items() if kind is not Course and name != "return"]
