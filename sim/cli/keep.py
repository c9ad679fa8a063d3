"""Where a result goes beside being printed."""

from __future__ import annotations

from typing import NamedTuple


class Keep(NamedTuple):
    """Where a result goes: the options that choose it.

    Attributes
    ----------
    save
        The file to keep it in.
    plots
        The folder that its pictures go to.
    """

    save: str | None = None
    plots: str | None = None
