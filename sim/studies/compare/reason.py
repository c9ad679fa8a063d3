"""Why a change brings as much, or as little, as it does: told by what the ranks waited for.

A change can bring no more than the time that ranks lose at the part it changes (Amdahl's law), and
it brings less where they then wait longer elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.config.units import format_seconds
from sim.findings.waits import Wait
from sim.studies.compare.side_by_side import PhaseOfSide
from sim.studies.compare.touched import Touched
from sim.studies.explain.explanation import WORTH_SAYING
from sim.studies.ratio import Ratio
from topology.text import format_count

_WORTH_A_WORD = 0.02  # share of the first run's time that a wait must change by
_NOTHING = 0.01  # times as fast more or less: a change that is not worth a word
_SMALL = 0.2  # share of the time: a part that has less cannot bring much


def reason(base: PhaseOfSide, other: PhaseOfSide, part: Touched | None) -> str:
    """Say why a kind of phase is as much faster, or slower, than that of the first side.

    Parameters
    ----------
    base, other
        The phase of the first side, and of the other.
    part
        What was changed; None where that is not one part of the path.

    Returns
    -------
    str
        Sentences; nothing where it is not known what ranks waited for.
    """
    if other.ratio is None or not base.waits or not other.waits:
        return ""
    said = [_verdict(other.ratio)]
    if base.bytes != other.bytes:
        return f"{said[0]} It moves other bytes, so seconds do not compare. {_next(other)}"
    if part is not None:
        said.append(_of_part(base, other, part))
    said += [_moved(base, other, part), _next(other)]
    return " ".join(sentence for sentence in said if sentence)


def _verdict(ratio: Ratio) -> str:
    if ratio.low is not None and not ratio.clear:
        return "It changes no more than chance may."
    if ratio.value >= WORTH_SAYING:
        return "It helps."
    if ratio.value <= 1.0 / WORTH_SAYING:
        return "It is slower."
    if abs(ratio.value - 1.0) < _NOTHING:
        return "It brings nothing."
    return "It brings little." if ratio.value > 1.0 else "It is a little slower."


def _of_part(base: PhaseOfSide, other: PhaseOfSide, part: Touched) -> str:
    """Say what the part that was changed had of the time, and what it has now."""
    before, after = (_seconds(side.waits, part.causes) for side in (base, other))
    share = before / base.mean
    said = f"At {part.words} ranks lost {_percent(share)} of the time"
    if share < _WORTH_A_WORD and after < _WORTH_A_WORD * base.mean:
        return f"{said}, so nothing can be won there."
    said = f"{said} ({_time(before)} of {_time(base.mean)}), now {_time(after)}"
    if part.osts and 0 < other.osts <= base.osts:
        return f"{said}: its files lie on {_of(other.osts, base.osts)}."
    if after <= before and share < _SMALL:
        return f"{said}: without all of that it would be {1.0 / (1.0 - share):.2f} times as fast."
    return f"{said}."


def _moved(base: PhaseOfSide, other: PhaseOfSide, part: Touched | None) -> str:
    """Say which waits else became shorter or longer most."""
    own = frozenset() if part is None else part.causes
    before, after = ({wait.cause: wait for wait in side.waits} for side in (base, other))
    changes = {
        cause: (after[cause].seconds if cause in after else 0.0)
        - (before[cause].seconds if cause in before else 0.0)
        for cause in dict.fromkeys((*before, *after))
        if cause not in own
    }
    least = _WORTH_A_WORD * base.mean
    words = {cause: wait.words for cause, wait in (before | after).items()}
    said = []
    for word, sign in (("less", -1.0), ("more", 1.0)):
        cause = max(changes, key=lambda name: sign * changes[name], default=None)
        if cause is not None and sign * changes[cause] >= least:
            said.append(f"{_time(abs(changes[cause]))} {word} for {words[cause]}")
    return f"They wait {' and '.join(said)}." if said else ""


def _next(other: PhaseOfSide) -> str:
    """Say where most of the time goes now."""
    top = other.waits[0]
    return f"Most of its time now goes to {top.words} ({_percent(top.share)})."


def _seconds(waits: Sequence[Wait], causes: frozenset[str]) -> float:
    return sum(wait.seconds for wait in waits if wait.cause in causes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _time(seconds: float) -> str:
    return format_seconds(seconds, 3)


def _of(osts: int, before: int) -> str:
    """Say on how many OSTs files lie, beside how many they lay on."""
    return format_count(osts, "OST") + (
        ", as before" if osts == before else f" in place of {before}"
    )
