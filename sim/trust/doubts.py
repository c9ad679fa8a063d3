"""What the simulator is known to get wrong, and so does not advise.

It was held against measured ratios of runs, and against what users' guides teach. Where it made
more of a kind of change than was measured, a gain no larger than that is none; where guides say the
opposite of it, it is not followed. Studies and comparisons alike ask here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.trust.directions import Direction, contradicted, directions
from xc40io.trust.extent import machine_name
from xc40io.trust.model_error import ChangeError, MeasuredGain, ModelErrors, model_errors
from xc40io.trust.turns import Turn, Value, turns_of

_NAMED = 3  # claims that are named; others are counted
_NOTHING = 1.1  # times as fast: a measured change that brought less brought nothing
_NEAR = 2  # times: values of a knob that are no further apart count as the same change


class Doubt(NamedTuple):
    """Why a change that was simulated faster is not advised.

    Attributes
    ----------
    off
        How many times too fast changes of its kind were simulated; 1 where that is not the reason.
    claims
        Those that say so, the furthest off first.
    rule
        What guides say, where that is the opposite.
    """

    off: float = 1.0
    claims: tuple[str, ...] = ()
    rule: str = ""

    @property
    def words(self) -> str:
        """The reason, behind what was simulated: a clause that ends in the verdict."""
        if self.rule:
            told = f" ({_listed(self.claims)})" if any(self.claims) else ""
            return f"guides say the opposite: {self.rule}{told}: not advised"
        return (
            f"for changes of this kind the simulator was off by {self.off:.2g} "
            f"({_listed(self.claims)}): not advised"
        )


def doubt_of(
    gain: float,
    before: object,
    after: object,
    phase: str,
    errors: ModelErrors | None = None,
    rules: Sequence[Direction] | None = None,
) -> Doubt | None:
    """Return why a change is not advised that was simulated ``gain`` times as fast, if it is not.

    Parameters
    ----------
    gain
        Times as fast.
    before, after
        The scenarios; nothing is known of runs of several jobs, nor where a kernel's file has gone.
    phase
        What was looked at, as of :func:`~xc40io.trust.run_kind.run_kind`.
    errors, rules
        Others than those that ship.
    """
    if gain <= 1.0 or not (isinstance(before, Scenario) and isinstance(after, Scenario)):
        return None
    turns = _turns(before, after, phase)
    taught = directions() if rules is None else rules
    rule = contradicted(turns, machine_name(before.machine), taught) if turns else None
    if rule is not None:
        return Doubt(claims=(rule.claim,), rule=rule.words)
    known = (errors or model_errors()).changes
    found = [(known[turn.kind], turn) for turn in turns if turn.kind in known]
    over = [(error, much) for error, turn in found if (much := _overstated(error, turn)) > 0.0]
    off = sum(much for _, much in over)
    if math.log(gain) > off:
        return None
    return Doubt(math.exp(off), tuple(claim for error, _ in over for claim in error.claims))


def measured_words(
    gain: float, before: object, after: object, phase: str, errors: ModelErrors | None = None
) -> str:
    """Return a sentence on measured runs where they show no such gain of a change; else nothing.

    Its parameters are those of :func:`doubt_of`. Runs count in which the same knob was turned from
    about the same value to about the same one, whatever else they are. Of a knob that is turned
    with others the share in the gain is not known: it is told if it brought nothing.
    """
    if not (isinstance(before, Scenario) and isinstance(after, Scenario)):
        return ""
    known, turns = (errors or model_errors()).changes, _turns(before, after, phase)
    bound = gain if len(turns) == 1 else min(gain, _NOTHING)
    told = [
        f"{one.at_most:.3g} times with {turn._replace(before=one.before, after=one.after).words} "
        f"({_listed(one.claims)})"
        for turn in turns
        if turn.kind in known
        for one in _nearest(known[turn.kind].measured, turn)
        if one.at_most < bound
    ]
    return f"Measured runs show no such gain: at most {', '.join(told)}." if told else ""


def _nearest(measured: Sequence[MeasuredGain], turn: Turn) -> Iterator[MeasuredGain]:
    """Yield the measured change that is most like another, if one is."""
    alike = [
        one for one in measured if _alike(one.before, turn.before) and _alike(one.after, turn.after)
    ]
    same = [one for one in alike if (one.before, one.after) == (turn.before, turn.after)]
    yield from (same or alike)[-1:]


def _alike(one: Value, other: Value) -> bool:
    """Tell whether two values are the same word, or numbers of about the same size."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return max(one, other) <= _NEAR * min(one, other)


def _turns(before: Scenario, after: Scenario, phase: str) -> tuple[Turn, ...]:
    """Return the knobs that two runs are apart by; none where a machine is none."""
    with suppress(InputError):
        return turns_of(before, after, phase)
    return ()


def _overstated(error: ChangeError, turn: Turn) -> float:
    """Return the logarithm of how many times too fast such a change is simulated."""
    return error.upward if turn.upward else -error.upward


def _listed(claims: Sequence[str]) -> str:
    more = len(claims) - _NAMED
    named = ", ".join(claims[:_NAMED])
    return f"{named} and {more} more" if more > 0 else named
