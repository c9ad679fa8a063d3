"""Habits: what jobs do where no record tells it, drawn for each job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from xc40io.config.machine import Machine
from xc40io.config.model import Model, as_tuple
from xc40io.config.parts.provenance import Provenance
from xc40io.engine.randomness import stream
from xc40io.workloads.job_records.drawn import DrawnValue, load_drawn
from xc40io.workloads.job_records.job_record import JobRecord, Layout
from xc40io.workloads.job_records.least_time import least_seconds


class LayoutClass(Model):
    """How many jobs of some size have a file for each rank; the others share files."""

    most_ranks: float | None = None  # of jobs up to so many ranks; None: of all larger ones
    rank: Annotated[float, Field(ge=0, le=1)]  # their share, from 0 to 1


class LayoutHabit(Provenance):
    """Who shares files, by the size of the job."""

    classes: Annotated[tuple[LayoutClass, ...], BeforeValidator(as_tuple), Field(min_length=1)]

    def layout(self, ranks: int, share: float) -> Layout:
        """Return who shares the files of a job, from a number between 0 and 1 that was drawn."""
        for one in self.classes:
            if one.most_ranks is None or ranks <= one.most_ranks:
                return "rank" if share < one.rank else "job"
        return "job"


class Habits(Model):
    """What is taken to be so of a job, with its sources."""

    title: str  # in a few words
    ranks_per_node: DrawnValue  # ranks of a node
    io_ranks_per_node: DrawnValue  # of these, ranks that read and write; no more than there are
    read_call: DrawnValue  # bytes of a call
    write_call: DrawnValue
    layout: LayoutHabit  # who shares files
    shared_stripes: DrawnValue  # OSTs of a file that ranks share
    files: DrawnValue  # of a rank
    opens: DrawnValue  # opens of a file by a rank, in all steps together
    stats: DrawnValue  # stats of a rank
    steps: DrawnValue  # in which a job writes

    def on(self, machine: Machine, *, stripes: bool = True) -> Habits:
        """Return the habits on a machine: nobody asks for more ranks than it has room for.

        Nor for more OSTs than it has, with ``stripes``.
        """
        fewer = {}
        for name, most in _room(machine).items():
            if name == "shared_stripes" and not stripes:
                continue
            habit: DrawnValue = getattr(self, name)
            own = most if habit.most is None else min(habit.most, most)
            fewer[name] = habit.model_copy(update={"most": float(own)})
        return self.model_copy(update=fewer)


def _room(machine: Machine) -> dict[str, int]:
    """Return the most that some habits may be on a machine."""
    ranks = machine.nodes.cores * machine.nodes.threads_per_core
    return {
        "shared_stripes": machine.lustre.osts,
        "ranks_per_node": ranks,
        "io_ranks_per_node": ranks,
    }


def load_habits(name_or_path: str) -> Habits:
    """Read habits, from ``configs/habits`` by name or from a file.

    Raises
    ------
    InputError
        If there are none of this name, or a field is wrong.
    """
    return load_drawn("habits", name_or_path, Habits)


def fewer_notes(records: Sequence[JobRecord], habits: Habits, machine: Machine) -> Sequence[str]:
    """Say what of habits becomes fewer on a machine for some records, in a sentence each."""
    notes = []
    sentences = {
        "stripe_count": (
            "shared_stripes",
            "{name} has {most:,} OSTs, so a shared file of which the table does not tell its "
            "stripes gets {most:,} where habits say {more}.",
        ),
        "ranks": (
            "ranks_per_node",
            "A node of {name} has room for {most:,} ranks, so a job of which the table does not "
            "tell its ranks has {most:,} a node where habits say {more}.",
        ),
    }
    for field, (habit, sentence) in sentences.items():
        drawn, most = getattr(habits, habit).values, _room(machine)[habit]
        more = [f"{value:g}" for value in dict.fromkeys(drawn) if value > most]
        if more and any(getattr(record, field) is None for record in records):
            notes.append(sentence.format(name=machine.name, most=most, more=" or ".join(more)))
    return notes


_TRIES = 50
"""Draws for one job, of which the first that can be is taken."""


def completed(
    record: JobRecord, habits: Habits, seed: int, draw: int, machine: Machine | None = None
) -> JobRecord:
    """Return a record in which nothing is missing.

    What is drawn does not contradict what is known: a job that ran for a minute has not spent an
    hour in its calls. Such a draw is drawn again, all values of it; if none is possible, the one
    that takes least is taken.

    Parameters
    ----------
    record
        What is known: it stays.
    habits
        From what the rest is drawn.
    seed
        Of the scenario; each value of each job has a stream of its own, so that what is known of
        one job does not change what is drawn of another.
    draw
        Which draw: 1, 2, ...
    machine
        On which its time is known to be long enough; None: that is not looked at.
    """

    def drawn(attempt: int) -> JobRecord:
        again = (attempt,) if attempt else ()

        def share(what: str) -> float:
            return float(stream(seed, "habit", what, draw, record.name, *again).random())

        return _filled(record, habits, share)

    first = drawn(0)
    if machine is None or not record.runtime:
        return first
    tried = [(least_seconds(first, machine), 0, first)]
    for attempt in range(1, _TRIES):
        if tried[-1][0] <= record.runtime:
            return tried[-1][2]
        again = drawn(attempt)
        tried.append((least_seconds(again, machine), attempt, again))
    return min(tried)[2]


def typical(record: JobRecord, habits: Habits) -> JobRecord:
    """Return a record in which what is missing is the median of the habits; nothing is drawn."""
    return _filled(record, habits, lambda _: 0.5)


def _filled(record: JobRecord, habits: Habits, share: Callable[[str], float]) -> JobRecord:
    """Return a record with what is missing; ``share``: below it are so many of all values."""

    def count(what: str) -> int:
        habit: DrawnValue = getattr(habits, what)
        return max(round(habit.value(share(what))), 0)

    per_node = max(count("ranks_per_node"), 1)
    nodes = record.nodes or -(-(record.ranks or 1) // per_node)
    ranks = record.ranks or nodes * per_node
    io_ranks = min(nodes * max(count("io_ranks_per_node"), 1), ranks)
    drawn: dict[str, object] = {
        "nodes": nodes,
        "ranks": ranks,
        "io_ranks": io_ranks,
        "read_call": max(count("read_call"), 1),
        "write_call": max(count("write_call"), 1),
        "read_layout": habits.layout.layout(ranks, share("read_layout")),
        "write_layout": habits.layout.layout(ranks, share("write_layout")),
        "files": max(count("files"), 1),
        "opens": max(count("opens"), 1),
        "stats": count("stats"),
        "steps": max(count("steps"), 1),
        "runtime": 0.0,
    }
    missing = {name: value for name, value in drawn.items() if getattr(record, name) is None}
    full = record.model_copy(update=missing)
    layouts = (full.read and full.read_layout, full.written and full.write_layout)
    if full.stripe_count is None and "job" in layouts:
        full = full.model_copy(update={"stripe_count": max(count("shared_stripes"), 1)})
    return full
