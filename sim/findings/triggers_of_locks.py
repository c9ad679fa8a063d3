"""Findings in the extent locks of a run: those that change hands, those that are held long."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xc40io.findings.bottlenecks import loads, phase_name
from xc40io.findings.held_locks import WHY, held
from xc40io.findings.servers import named
from xc40io.findings.trigger import ROWS, Remedy, RunFacts, Trigger, evidence, percent, seconds
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.run.recording import Recording
from xc40io.telling.units import AMOUNT, NUMBER, PART, SPAN, TIME, WORDS
from xc40io.topology.text import format_count

LOCK_SHARE = 0.03
"""Share of a job's time that ranks may wait for locks: what ``xc40io explain`` looks into."""


_HANDS = "locks that change hands"
_AGAINST_HANDS = (
    *(Remedy.STRIPE_SIZE, Remedy.COLLECTIVE),
    *(Remedy.OWN_FILES, Remedy.AGGREGATION),
)


def changing_hands(look: RunFacts) -> Trigger | None:
    """Look for extent locks that nodes take from each other."""
    recording, waited = look.result.recording, float(look.doing(Cause.LOCK).mean())
    if waited <= LOCK_SHARE * look.seconds:
        return None
    if recording is None:
        return _counted_hands(look, waited)
    locks = recording.locks[recording.locks["object"] >= 0]
    back = np.isfinite(locks["blocked"])
    if not back.any():
        return None
    file = recording.objects[locks["object"], 0]
    count = np.bincount(file[back], minlength=len(recording.file_names))
    rows = []
    for number in np.argsort(-count, kind="stable")[:ROWS].tolist():
        mine = (file == number) & back
        if mine.any():
            taken = locks[mine]
            rows.append(
                (
                    named(recording, number),
                    int(count[number]),
                    int((file == number).sum()),
                    len(np.unique(taken["node"])),
                    (float(taken["blocked"].min()), float(taken["blocked"].max())),
                )
            )
    return Trigger(
        _HANDS,
        f"Of {format_count(len(locks), 'extent lock')} {int(back.sum()):,} had to be given back to "
        f"another node; a rank waited {seconds(waited)} for locks, "
        f"{percent(waited / look.seconds)} of the time.",
        evidence(
            file=WORDS,
            asked_back=NUMBER,
            locks=NUMBER,
            nodes=("from nodes", NUMBER),
            span=("period", SPAN),
        ),
        tuple(rows),
        _AGAINST_HANDS,
    )


def _counted_hands(look: RunFacts, waited: float) -> Trigger | None:
    """Tell the same from what the locks of all nodes count, where nothing was recorded."""
    stats = look.result.stats
    back = stats.get(Stat.BLOCKING_ASTS, 0)
    if not back or look.result.at_work:  # they count all jobs together
        return None
    asked, flushed = stats.get(Stat.ENQUEUES, 0), stats.get(Stat.FLUSHED_BYTES, 0)
    return Trigger(
        _HANDS,
        f"{format_count(back, 'extent lock')} had to be given back to another node, for "
        f"{format_count(asked, 'request')}; a rank waited {seconds(waited)} for locks, "
        f"{percent(waited / look.seconds)} of the time.",
        evidence(
            asked_back=NUMBER, locks=("requests", NUMBER), flushed=("written back for it", AMOUNT)
        ),
        ((back, asked, flushed),),
        _AGAINST_HANDS,
    )


def held_long(look: RunFacts) -> Trigger | None:
    """Look for phases in which ranks wait for whoever came to an object first: short bursts."""
    found = loads(look.result)
    waits = [(phase_name(load, found), held(load.waits)) for load in found]
    struck = [(phase, wait) for phase, wait in waits if wait is not None]
    if not struck:
        return None
    struck.sort(key=lambda of: -of[1].share)
    phase, worst = struck[0]
    sentence = (
        f"In {phase} a rank waited {seconds(worst.seconds)}, {percent(worst.share)} of the time, "
        f"for extent locks that their holders still used: {WHY}."
    )
    columns = evidence(phase=WORDS, seconds=("a rank waited", TIME), share=("of the time", PART))
    rows: list[tuple[Any, ...]] = [(name, wait.seconds, wait.share) for name, wait in struck[:ROWS]]
    recording = look.result.recording
    holders = [] if recording is None else _first_holders(recording)
    if holders:
        objects = sum(holder.locks for holder in holders)
        sentence += (
            f" Of {format_count(objects, 'such first lock')} node {holders[0].node:,} had "
            f"{holders[0].locks:,}, and {format_count(len(holders), 'node')} had all."
        )
        columns = evidence(
            node=NUMBER,
            locks=("first locks", NUMBER),
            asked_back=("called back from", TIME),
            returned=("given back until", TIME),
        )
        rows = list(holders[:ROWS])
    remedies = (Remedy.STRIPE_SIZE, Remedy.OWN_FILES, Remedy.COLLECTIVE)
    return Trigger("locks held by who came first", sentence, columns, tuple(rows), remedies)


class _Holder(NamedTuple):
    """A node that was the first to come to objects that others wanted, too."""

    node: int  # by the machine's number
    locks: int  # one an object
    asked_back: float  # when the first of them was (s)
    returned: float  # when the last of them was (s)


def _first_holders(recording: Recording) -> list[_Holder]:
    """Return who had the first of the locks of each object that were called back; most first."""
    locks = recording.locks[np.isfinite(recording.locks["blocked"])]
    locks = locks[np.argsort(locks["granted"], kind="stable")]
    locks = locks[np.unique(locks["object"], return_index=True)[1]]
    count = np.bincount(locks["node"], minlength=len(recording.nodes))
    found = []
    for node in np.argsort(-count, kind="stable")[: np.count_nonzero(count)].tolist():
        times = locks[locks["node"] == node]
        asked, returned = float(times["blocked"].min()), float(times["returned"].max())
        found.append(_Holder(int(recording.nodes[node]), int(count[node]), asked, returned))
    return found
