"""Kinds of runs that a model's error is told for: how the ranks share their files, and where."""

from __future__ import annotations

from xc40io.workloads.traits import METADATA, Traits

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
