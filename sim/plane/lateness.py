"""Meetings: what kept the last program to come, for which the others waited.

A program that waits for another waits for whatever held that one up. So its wait is charged to what
the last to come has waited longer, by each cause, since both came out of the meeting before. A
meeting of some within a meeting of more (aggregators in a round of a collective read) is none
before: the others were not there.
"""

from __future__ import annotations

from xc40io.engine.compiled import inlined, njit, outlined
from xc40io.engine.randomness import uniform
from xc40io.engine.types import Floats
from xc40io.plane.causes import COARSE, Cause
from xc40io.plane.programs import CAUSES, Programs, wake

_START, _TRANSFER = int(Cause.START), int(Cause.TRANSFER)
_COLLECTIVE = int(Cause.COLLECTIVE)
_LAST, _OWN = 0, 1


@outlined
def end_meeting(programs: Programs, head: int, last_id: int, seconds: float, now: float) -> float:
    """End a meeting to which the last program has come: charge and wake all; return when it leaves.

    Parameters
    ----------
    programs, head
        All programs, and the first of those that have waited there, each of which knows the next.
    last_id
        The last to come.
    seconds
        That the collective itself takes, from now on, until the slowest leaves it.
    now
        The time.
    """
    _since_met(programs, last_id, _LAST)
    program_id = head
    while program_id >= 0:
        _since_met(programs, program_id, _OWN)
        _charge_lateness(programs, program_id, now)
        after = _leaves_after(programs, program_id, seconds)
        following = programs.rows[program_id].next
        wake(programs, program_id, now + after)
        program_id = following
    return now + _leaves_after(programs, last_id, seconds)


@outlined
def _leaves_after(programs: Programs, program_id: int, seconds: float) -> float:
    """Return when a program leaves a collective that takes so long; charge it for that.

    Programs leave one a little before the other, in an order that is chance: who then is first to
    lock an object of a file decides what all others wait for.
    """
    program = programs.rows[program_id]
    draw = uniform(programs.seed, programs.first_draw + program_id, program.barriers)
    program.barriers += 1
    after = seconds - min(programs.barrier_skew, seconds) * draw
    programs.behind[_COLLECTIVE, program_id] += after
    return after


@outlined
def leave_meeting(programs: Programs, program_id: int) -> None:
    """Note what a program has waited when it comes out of a meeting."""
    _waited(programs, program_id, programs.met, program_id)


@njit
def _waited(programs: Programs, program_id: int, causes: Floats, place: int) -> None:
    """Write down what a program has waited so far, by causes that are not taken apart.

    What no part of the path takes is the latency of messages (:mod:`xc40io.plane.causes`).
    """
    waits, behind, whole = programs.waits, programs.behind, programs.whole
    rest = 0.0
    for cause in range(COARSE):
        own = whole[cause] * waits[cause, program_id]
        rest += waits[cause, program_id] - own - behind[cause, program_id]
        _note(causes, cause, place, own + behind[cause, program_id])
    for cause in range(COARSE, CAUSES):
        rest -= behind[cause, program_id]
        _note(causes, cause, place, behind[cause, program_id])
    causes[_TRANSFER, place] = rest


@inlined
def _note(causes: Floats, cause: int, place: int, seconds: float) -> None:
    """Write down seconds, unless they stand there: a cause that nobody meets takes no memory."""
    if causes[cause, place] != seconds:
        causes[cause, place] = seconds


@outlined
def _since_met(programs: Programs, program_id: int, place: int) -> None:
    """Write down what a program has waited since its latest meeting."""
    causes, met = programs.since_met, programs.met
    _waited(programs, program_id, causes, place)
    for cause in range(CAUSES):
        causes[cause, place] -= met[cause, program_id]


@outlined
def _charge_lateness(programs: Programs, program_id: int, now: float) -> None:
    """Charge waiting at a meeting to the causes that delayed the last program to come.

    What this does not explain comes from before: they came out of a barrier one after the other.
    """
    since_met, behind = programs.since_met, programs.behind
    longer = 0.0
    for cause in range(CAUSES):
        longer += max(since_met[cause, _LAST] - since_met[cause, _OWN], 0.0)
    waited = now - programs.rows[program_id].since
    share = min(waited / longer, 1.0) if longer > 0.0 else 0.0
    for cause in range(CAUSES):
        later = max(since_met[cause, _LAST] - since_met[cause, _OWN], 0.0)
        if later > 0.0 and cause != _TRANSFER:  # the rest, which remains
            behind[cause, program_id] += share * later
    behind[_START, program_id] += waited - share * longer
