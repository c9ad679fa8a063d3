"""How jobs ended: the words of batch systems for it, and the statuses of exits."""

from __future__ import annotations

import re
from typing import Literal

Ended = Literal["completed", "failed", "timed out", "cancelled", "running"]
"""How a job ended, or that it had not when the table was written."""

_CALLED: dict[Ended, str] = {
    "completed": "completed complete success successful succeeded ok done",
    "failed": "failed failure error node_fail boot_fail out_of_memory launch_failed",
    "timed out": "timeout timed_out timedout deadline",
    "cancelled": "cancelled canceled preempted revoked",
    "running": "running suspended requeued completing resizing",
}
_WORDS: dict[str, Ended] = {
    word: ended for ended, words in _CALLED.items() for word in words.split()
}

_STATUS = re.compile(r"([+-]?\d{1,9})(?:\.0+)?(?::(\d{1,9}))?")
"""Of an exit: a number, or Slurm's two, of which the second is a signal."""

_ENDED_BY_OTHERS = frozenset(base + signal for base in (128, 256) for signal in (9, 15))
"""Statuses of what SIGKILL or SIGTERM ended: shells add 128 to the signal, others 256."""


def ended_by(state: object, exit_status: object, *, over_time: bool) -> Ended | None:
    """Return how a job ended; None if neither tells.

    Parameters
    ----------
    state
        A word of a batch system, as ``CANCELLED by 5``.
    exit_status
        Where the word tells nothing: 0 is success. A batch system ends jobs by a signal, or says so
        by a number below 0.
    over_time
        Whether the job ran as long as it had asked for: then that is why it was ended.
    """
    for told in (state, exit_status):
        plain = str(told or "").strip().lower().replace("timed out", "timeout")
        if ended := _WORDS.get(re.split(r"[ ,+]", plain)[0]):
            return ended
    found = _STATUS.fullmatch(str("" if exit_status is None else exit_status).strip())
    if found is None:
        return None
    status, signal = int(found[1]), int(found[2] or 0)
    if not status and not signal:
        return "completed"
    by_others = status in _ENDED_BY_OTHERS or signal in (9, 15)
    if over_time and (by_others or status < 0):
        return "timed out"
    return "cancelled" if by_others else "failed"
