"""Findings in a run: patterns of I/O that are known to be slow, each with its evidence.

A trigger is no verdict: it says what was seen, in which files, on which ranks and when, and what
usually helps. Whether it helps here, only a run with it can tell
(``xc40io explain``). Thresholds have their sources beside them; those of Drishti are the defaults
of its ``config.py`` (Bez, Ather and Byna, "Drishti: Guiding End-Users in the I/O Optimization
Journey", PDSW 2022; https://github.com/hpc-io/drishti-io).
"""

from __future__ import annotations

from collections.abc import Callable

from xc40io.findings import triggers_of_accesses as accesses
from xc40io.findings import triggers_of_files as files
from xc40io.findings import triggers_of_locks as locks
from xc40io.findings import triggers_of_ranks as ranks
from xc40io.findings.looked_at import once
from xc40io.findings.trigger import RunFacts, Trigger
from xc40io.run.result import Result

_FINDERS: tuple[Callable[[RunFacts], Trigger | None], ...] = (
    ranks.nothing_to_gain,
    ranks.slowest,
    ranks.one_rank,
    ranks.aggregators,
    ranks.idle_aggregators,
    files.small_calls,
    files.unaligned,
    accesses.random_calls,
    accesses.read_again,
    accesses.by_themselves,
    files.rewrites,
    ranks.metadata,
    files.many_files,
    locks.changing_hands,
    locks.held_long,
    files.few_osts,
)


@once
def triggers(result: Result) -> list[Trigger]:
    """Return the patterns that strike in a run, ranks' first; fewer without a recording."""
    look = RunFacts(result)
    found = (find(look) for find in _FINDERS)
    return [trigger for trigger in found if trigger is not None]
