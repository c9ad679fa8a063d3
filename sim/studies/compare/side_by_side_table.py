"""Runs side by side as a table of pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from sim.studies.case import Phase
from sim.studies.compare.side import Side

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("seconds", "bandwidth", "times_as_fast", "low", "high", "busy")
_COLUMNS = (
    *("job", "part", "phase", "side", "seeds", "seconds", "bytes", "bandwidth"),
    *("times_as_fast", "low", "high", "station", "busy", "binds", "wait"),
)


class Compared(Protocol):
    """What the table is made of; :class:`SideBySide` describes it all."""

    @property
    def sides(self) -> tuple[Side, ...]: ...  # noqa: D102
    @property
    def phases(self) -> Mapping[Phase, tuple[Any, ...]]: ...  # noqa: D102


def to_pandas(compared: Compared) -> pd.DataFrame:
    """Return a table with a row for each phase of each run.

    ``job``, ``part`` and ``phase`` say which phase, ``side`` which run; ``seeds`` with how many it
    was run; ``seconds`` (s) on average over them, ``bytes``, ``bandwidth`` (bytes/s);
    ``times_as_fast`` as the first run, with the bounds ``low`` and ``high`` of its 95 % interval;
    the ``station`` that was busiest, how ``busy`` (0 to 1) and whether it ``binds`` the phase;
    ``wait``, what ranks waited for longest. What there is not is NaN, or empty.
    """
    import pandas as pd

    rows = [
        _row(compared.sides[one.side].name, phase, one)
        for phase, sides in compared.phases.items()
        for one in sides
    ]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.astype(dict.fromkeys(_NUMBERS, "float64"))


def _row(side: str, phase: Phase, one: Any) -> dict[str, Any]:
    place = {"job": phase.job, "part": phase.part, "phase": phase.name, "side": side}
    moved = {"seeds": len(one.seconds), "seconds": one.mean, "bytes": one.bytes}
    ratio = (None, None, None) if one.ratio is None else one.ratio
    compared = dict(zip(("times_as_fast", "low", "high"), ratio, strict=True))
    load = one.load
    bound = {
        "station": "" if load is None else load.name,
        "busy": None if load is None else load.busy,
        "binds": load is not None and load.binds,
        "wait": one.waits[0].words if one.waits else "",
    }
    return place | moved | {"bandwidth": one.rate} | compared | bound
