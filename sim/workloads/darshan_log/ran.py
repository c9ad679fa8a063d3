"""Where the job of a log ran: by its log, and by what is known besides."""

from __future__ import annotations

from typing import NamedTuple

from sim.config.machine import load_machine
from sim.workloads.darshan_log.facts import Facts
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.nodes import Shape, dealt_to, shape_of
from sim.workloads.darshan_log.place import Place, guess_machine


class Ran(NamedTuple):
    """Where a job ran: on which machine, and on which of its nodes."""

    place: Place
    shape: Shape


def where_it_ran(log: DarshanLog, facts: Facts, typed: str | None = None) -> Ran:
    """Return where a job ran; what is told goes before what the log shows.

    Parameters
    ----------
    log, facts
        As read, and what is known besides.
    typed
        The machine that the user wants to run it on: the stand-in for a machine that is unknown.

    Raises
    ------
    InputError
        If there is no such machine, or it has no such nodes or OSTs.
    """
    place = guess_machine(log, typed, facts.machine)
    machine = load_machine(place.machine)
    facts.striping.check(machine.lustre.osts)
    return Ran(place, _shape(log, facts, machine.nodes.cores))


def _shape(log: DarshanLog, facts: Facts, cores: int) -> Shape:
    """Return on which nodes the job ran: as told, else as the log shows."""
    if facts.nodes is None and facts.ppn is None:
        return shape_of(log, cores)
    nodes, ppn = dealt_to(log.ranks, cores, facts.nodes, facts.ppn, option="--recorded ")
    words = " ".join(text for text in facts.told if text.startswith(("nodes=", "ppn=")))
    return Shape(nodes, ppn, f"--recorded {words}")
