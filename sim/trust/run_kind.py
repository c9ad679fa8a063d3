"""Kinds of runs that a model's error is told for: how the ranks share their files, and where."""

from __future__ import annotations

from xc40io.config.scenario import Scenario
from xc40io.workloads.traits import (
    APPLICATION,
    COLLECTIVE,
    METADATA,
    MIXED,
    OWN,
    SHARED,
    Traits,
)

_ELSEWHERE = {"ssd": "local SSDs", "bb": "burst buffer", "home": "home directories"}


def layout_of(traits: Traits) -> str:
    """Return how the ranks of a job share their files on Lustre, or where else these are."""
    return _ELSEWHERE.get(traits.where, traits.sharing)


def run_kind(traits: Traits, phase: str) -> str:
    """Return the kind of one phase of a run, as ``shared file, write``, or ``metadata``.

    Parameters
    ----------
    traits
        Of the run.
    phase
        Its name.
    """
    of = traits.of(phase)
    if of.access == METADATA:
        return METADATA
    return f"{_ELSEWHERE.get(traits.where, of.sharing)}, {of.access}"


def narrow_kind(scenario: Scenario, traits: Traits, phase: str) -> str:
    """Return the kind of one phase of a run, as ``own files, write, direct, one node``.

    Parameters
    ----------
    scenario
        Of the run.
    traits, phase
        As of :func:`run_kind`, of which it says whether all calls are direct, and whether one core,
        one node or several move the data: what binds one core is not what binds a thousand.
    """
    words = [run_kind(traits, phase)]
    if traits.direct:
        words.append("direct")
    alone = "one core" if scenario.ppn == 1 else "one node"
    words.append(alone if scenario.nodes == 1 else "several nodes")
    return ", ".join(words)


KINDS = (
    *(
        f"{layout}, {access}"
        for layout in (OWN, SHARED, COLLECTIVE, *_ELSEWHERE.values(), APPLICATION, MIXED)
        for access in ("write", "read")
    ),
    METADATA,
)
"""All kinds that :func:`run_kind` knows."""
