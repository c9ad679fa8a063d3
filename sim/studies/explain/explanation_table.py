"""An explanation as a table of pandas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("job", "part", "phase", "tried", "words", "typed", "who", "seconds", "gain", "helps")


class Explained(Protocol):
    """What the table is made of; :class:`Explanation` describes it all."""

    @property
    def phases(self) -> tuple[Any, ...]: ...  # noqa: D102


def to_pandas(explained: Explained) -> pd.DataFrame:
    """Return a table with a row for each phase of the run as it is, and of each that was tried.

    ``job``, ``part`` and ``phase`` say which phase; ``tried`` is ``as it is``, ``without`` (a part
    that may be to blame) or ``with`` (a change that may help); ``words`` what, ``typed`` how that
    is asked for on the command line, ``who`` can change it; ``seconds`` that the phase took (s),
    ``gain`` how many times as fast it is, ``helps`` whether that is worth saying.
    """
    import pandas as pd

    rows = [row for phase in explained.phases for row in _rows(phase)]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _rows(phase: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a phase: the run as it is, then the others, the largest gain first."""
    place = phase.phase._asdict()
    place["phase"] = place.pop("name")
    as_it_is = {"tried": "as it is", "words": "", "typed": "", "who": ""}
    yield place | as_it_is | {"seconds": phase.seconds, "gain": 1.0, "helps": False}
    for tried, runs in (("without", phase.without), ("with", phase.changed)):
        yield from (place | {"tried": tried} | _row(one) for one in runs)


def _row(one: Any) -> dict[str, Any]:
    who = "" if one.kind is None else one.kind.value
    told = {"words": one.words, "typed": one.typed, "who": who}
    return told | {"seconds": one.seconds, "gain": one.gain, "helps": one.helps}
