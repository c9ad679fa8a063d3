"""Numbers as they are printed; :mod:`xc40io` prints its counts by this too."""

from __future__ import annotations


def format_count(count: int, noun: str) -> str:
    """Write how many there are of what `noun` means: ``'1 rank'``, ``'4,096 ranks'``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
