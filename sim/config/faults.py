"""Faults and maintenance as a scenario lists them: which part, what happens to it, when.

Each is a sentence, in a scenario file under ``faults`` and on the command line with ``--fault``::

    OST 3 slow 5 from 0.2 s to 1 s       every service takes 5 times as long
    OST 3 gone from 0.2 s to 1 s         no service; Lustre's recovery follows
    OST 3 gone from 0.2 s to 1 s, recovery 2 s
    LNET router 5 down from 0.2 s to 1 s, noticed after 0.1 s
    MDS 0 paused from 0.2 s to 1 s       requests wait
    SSD 3 lost at 12 s                   of node 3 of the job, counted from 0

Without ``from`` a fault begins with the simulation, without ``to`` it lasts.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from sim.config.errors import InputError, naming
from sim.config.model import Model
from sim.config.units import Seconds, format_seconds, parse_seconds

Kind = Literal["slow", "gone", "down", "paused", "lost"]

KINDS: dict[str, str] = {
    "slow": "OST 3 slow 5 from 0.2 s to 1 s",
    "gone": "OST 3 gone from 0.2 s to 1 s",
    "down": "LNET router 5 down from 0.2 s to 1 s",
    "paused": "MDS 0 paused from 0.2 s to 1 s",
    "lost": "SSD 3 lost at 12 s",
}
"""An example of each kind of fault that there is."""

_OWN_TIME = {"gone": "recovery", "down": "noticed after"}
"""The words before the time that a kind of fault may have besides."""

_PARTS = {
    "gone": re.compile(r"OST \d+"),
    "down": re.compile(r"LNET router \d+"),
    "paused": re.compile(r"MDS \d+"),
    "lost": re.compile(r"SSD \d+"),
}

_TIME = r"\S+?(?: (?:s|ms|us|ns|min|h))?"
_SENTENCE = re.compile(
    rf"(?P<part>\S.*?) (?P<kind>{'|'.join(KINDS)})(?: (?P<factor>\d\S*))?"
    rf"(?: (?:from|at) (?P<begin>{_TIME}))?(?: to (?P<end>{_TIME}))?"
    rf"(?:, (?P<word>recovery|noticed after) (?P<own>{_TIME}))?"
)


class Fault(Model):
    """One fault of a part of the machine.

    Attributes
    ----------
    part
        As reports call it: ``OST 3``, ``LNET router 5``; of an SSD the node of the job.
    kind
        What happens to it.
    factor
        Of a slow part: how many times as long a service takes.
    begin, end
        In simulated seconds; None: to the end of the run.
    own
        Seconds, in place of those of :class:`~sim.config.recovery.Recovery`: of an OST that is
        gone the recovery window, of a router that is down the time until its senders notice.
    """

    part: str
    kind: Kind
    factor: Annotated[float, Field(gt=0)] = 1.0
    begin: Seconds = 0.0
    end: Seconds | None = None
    own: Seconds | None = None

    @property
    def number(self) -> int:
        """The number of the part."""
        return int(self.part.split()[-1])

    def __str__(self) -> str:
        """Return the sentence that :func:`parse_fault` reads."""
        words = [self.part, self.kind]
        if self.kind == "slow":
            words.append(repr(self.factor).removesuffix(".0"))
        if self.kind == "lost":
            words.append(f"at {format_seconds(self.begin)}")
        elif self.begin > 0.0 or self.kind != "slow":
            words.append(f"from {format_seconds(self.begin)}")
        if self.end is not None:
            words.append(f"to {format_seconds(self.end)}")
        own = "" if self.own is None else f", {_OWN_TIME[self.kind]} {format_seconds(self.own)}"
        return " ".join(words) + own


def parse_fault(value: object) -> Any:
    """Read a fault as a person writes it: see the top of this module.

    Raises
    ------
    InputError
        If the sentence has no such form, or the times do not fit the fault.
    """
    if isinstance(value, Fault):
        return value
    text = " ".join(value.split()) if isinstance(value, str) else value
    found = _SENTENCE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InputError(
            f"{value!r} is no fault; right would be one of {'; '.join(KINDS.values())}"
        )
    with naming(f"{text!r}"):
        fault = _fault(found)
        _check(fault, found)
    return fault


def _fault(found: re.Match[str]) -> Fault:
    """Return the fault of a sentence."""

    def time(name: str) -> float | None:
        return None if found[name] is None else parse_seconds(found[name])

    return Fault.model_construct(
        part=found["part"],
        kind=found["kind"],
        factor=_factor(found["factor"]),
        begin=time("begin") or 0.0,
        end=time("end"),
        own=time("own"),
    )


def _factor(text: str | None) -> float:
    """Return the number of a sentence."""
    try:
        factor = 1.0 if text is None else float(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a number; right would be slow 5") from error
    if not 0.0 < factor < float("inf"):
        raise InputError(f"{text} times as long; right would be a number greater than 0")
    return factor


def _check(fault: Fault, found: re.Match[str]) -> None:
    """Raise InputError if a sentence says of a fault what cannot be said of it."""
    kind, example = fault.kind, KINDS[fault.kind]
    if (found["factor"] is None) == (kind == "slow"):
        raise InputError(f"a number belongs to slow, and to slow alone; right would be {example}")
    if kind in _PARTS and not _PARTS[kind].fullmatch(fault.part):
        raise InputError(f"{fault.part!r} cannot be {kind}; right would be {example}")
    if kind == "lost" and (found["begin"] is None or fault.end is not None):
        raise InputError(f"an SSD is lost for good, at a time; right would be {example}")
    if kind in ("gone", "down", "paused") and fault.end is None:
        raise InputError(f"it has no end; right would be {example}")
    if fault.end is not None and fault.end <= fault.begin:
        raise InputError(
            f"it ends at {format_seconds(fault.end)}, and begins at {format_seconds(fault.begin)}; "
            "right would be an end behind the begin"
        )
    if found["word"] is not None and found["word"] != _OWN_TIME.get(kind):
        raise InputError(f"{found['word']!r} cannot be said of {kind}; right would be {example}")


def _faults(value: object) -> object:
    """Turn a list of YAML into a tuple."""
    if isinstance(value, list | tuple):
        return tuple(value)
    raise ValueError(f"{value!r} is no list; right would be a line with - for each fault")


def _written(fault: Fault) -> str:
    return str(fault)


Faults = Annotated[
    tuple[
        Annotated[
            Fault,
            BeforeValidator(parse_fault),
            PlainSerializer(_written, return_type=str, when_used="json"),
        ],
        ...,
    ],
    BeforeValidator(_faults),
]
"""The faults of a scenario, in any order."""
