"""Faults and maintenance as a scenario lists them: which part, what happens to it, when.

Each is a sentence, in a scenario file under ``faults`` and on the command line with ``--fault``::

    OST 3 slow 5 from 0.2 s to 1 s       every service takes 5 times as long
    OST 3 rebuilding 0.3 from 1 s to 9 s its array gives 0.3 of its time to a rebuild
    OST 3 gone from 0.2 s to 1 s         no service; Lustre's recovery follows
    OST 3 gone from 0.2 s to 1 s, recovery 2 s
    OSS 3 down from 0.2 s to 9 min, taken over after 20 s    its partner serves its OSTs
    LNET router 5 down from 0.2 s to 1 s, noticed after 0.1 s
    link green g0c0s0->g0c0s1 down from 0.2 s to 9 min, rerouted after 20 s
    MDS 0 paused from 0.2 s to 1 s       requests wait
    SSD 3 lost at 12 s                   of node 3 of the job, counted from 0
    node 3 hung from 0.2 s to 9 min, evicted after 20 s
    node 3 evicted by OST 2 at 0.2 s     or by all OSTs

Without ``from`` a fault begins with the simulation, without ``to`` it lasts.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer

from sim.config.errors import InputError, naming, shown
from sim.config.kept import kept
from sim.config.model import Model
from sim.config.units import Seconds, format_seconds, parse_seconds

Kind = Literal["slow", "rebuilding", "gone", "down", "paused", "lost", "hung", "evicted"]


class Form(NamedTuple):
    """What can be said of one kind of part.

    Attributes
    ----------
    part
        Pattern of its name; None where any part may be meant that the machine has.
    example
        A sentence.
    end
        Whether it has an end: it ``must``, it ``may``, or it is over at once (``none``).
    own
        The words before the time that is its own; empty if it has none.
    """

    part: re.Pattern[str] | None
    example: str
    end: Literal["must", "may", "none"]
    own: str = ""


_OST, _NODE = re.compile(r"OST [0-9]{1,9}"), re.compile(r"node [0-9]{1,9}(?: of job \S+)?")

FORMS: dict[str, tuple[Form, ...]] = {
    "slow": (Form(None, "OST 3 slow 5 from 0.2 s to 1 s", "may"),),
    "rebuilding": (Form(_OST, "OST 3 rebuilding from 0.2 s to 1 s", "may"),),
    "gone": (Form(_OST, "OST 3 gone from 0.2 s to 1 s", "must", "recovery"),),
    "down": (
        Form(
            re.compile(r"LNET router [0-9]{1,9}"),
            "LNET router 5 down from 0.2 s to 1 s",
            "must",
            "noticed after",
        ),
        Form(
            re.compile(r"OSS [0-9]{1,9}"),
            "OSS 3 down from 0.2 s to 9 min",
            "may",
            "taken over after",
        ),
        Form(
            re.compile(r"link \S+ \S+->\S+"),
            "link green g0c0s0->g0c0s1 down from 0.2 s to 9 min",
            "may",
            "rerouted after",
        ),
    ),
    "paused": (Form(re.compile(r"MDS [0-9]{1,9}"), "MDS 0 paused from 0.2 s to 1 s", "must"),),
    "lost": (Form(re.compile(r"SSD [0-9]{1,9}"), "SSD 3 lost at 12 s", "none"),),
    "hung": (Form(_NODE, "node 3 hung from 0.2 s to 9 min", "must", "evicted after"),),
    "evicted": (Form(_NODE, "node 3 evicted at 0.2 s", "none"),),
}
"""What can be said of which parts, by the kind of fault."""

KINDS: dict[str, str] = {kind: forms[0].example for kind, forms in FORMS.items()}
"""An example of each kind of fault that there is."""

_COUNTED = {"slow": "must", "rebuilding": "may"}  # kinds of which a number is said

_TIME = r"\S+?(?: (?:s|ms|us|ns|min|h))?"
_OWN = "|".join(sorted({form.own for forms in FORMS.values() for form in forms} - {""}))
_SENTENCE = re.compile(
    rf"(?P<part>\S.*?) (?P<kind>{'|'.join(KINDS)})(?: (?P<factor>[0-9]\S*))?"
    r"(?: by (?P<by>OST [0-9]{1,9}))?"
    rf"(?: (?:from|at) (?P<begin>{_TIME}))?(?: to (?P<end>{_TIME}))?"
    rf"(?:, (?P<word>{_OWN}) (?P<own>{_TIME}))?"
)


@kept
class Fault(Model):
    """One fault of a part of the machine.

    Attributes
    ----------
    part
        As reports call it: ``OST 3``, ``LNET router 5``; SSDs and nodes are counted in the job.
    kind
        What happens to it.
    factor
        Of a slow part: how many times as long a service takes. Of one that rebuilds: the share of
        its time that the rebuild takes; 0: that of :class:`~sim.config.recovery.Recovery`.
    begin, end
        In simulated seconds; None: to the end of the run.
    own
        Seconds, in place of those of :class:`~sim.config.recovery.Recovery`: of an OST that is
        gone the recovery window, of a router that is down the time until its senders notice, of an
        OSS until its partner has its OSTs, of a link until there are other routes, of a node that
        hangs how long an OST waits for a lock.
    by
        Of a node that is evicted: the OST that does it; None: all of them.
    """

    part: str
    kind: Kind
    factor: Annotated[float, Field(ge=0)] = 1.0
    begin: Seconds = 0.0
    end: Seconds | None = None
    own: Seconds | None = None
    by: str | None = None

    @property
    def noun(self) -> str:
        """What kind of part it is: ``OST``, ``LNET router``, ``link``."""
        return "link" if self.part.startswith("link ") else re.split(r" \d", self.part)[0]

    @property
    def number(self) -> int:
        """The number of the part; of a node that in its job."""
        return int(self.part.removeprefix(f"{self.noun} ").split()[0])

    @property
    def job(self) -> str:
        """The job that has the part, where that is said."""
        return self.part.partition(" of job ")[2]

    @property
    def form(self) -> Form | None:
        """What can be said of the part; None if it is none that this can happen to."""
        for form in FORMS[self.kind]:
            if form.part is None or form.part.fullmatch(self.part):
                return form
        return None

    def __str__(self) -> str:
        """Return the sentence that :func:`parse_fault` reads."""
        words, form = [self.part, self.kind], self.form
        if self.kind == "slow" or (self.kind == "rebuilding" and self.factor):
            words.append(repr(self.factor).removesuffix(".0"))
        if self.by is not None:
            words.append(f"by {self.by}")
        if form is not None and form.end == "none":
            words.append(f"at {format_seconds(self.begin)}")
        elif self.begin > 0.0 or self.kind != "slow":
            words.append(f"from {format_seconds(self.begin)}")
        if self.end is not None:
            words.append(f"to {format_seconds(self.end)}")
        if self.own is not None and form is not None:
            words[-1] += f", {form.own} {format_seconds(self.own)}"
        return " ".join(words)


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
            f"{shown(value)} is no fault; right would be one of {'; '.join(_examples(*FORMS))}"
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
        factor=_factor(found["factor"], found["kind"]),
        begin=time("begin") or 0.0,
        end=time("end"),
        own=time("own"),
        by=found["by"],
    )


def _factor(text: str | None, kind: str) -> float:
    """Return the number of a sentence."""
    if text is None:
        return 0.0 if kind == "rebuilding" else 1.0
    try:
        factor = float(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a number; right would be slow 5") from error
    if kind == "rebuilding" and not 0.0 < factor < 1.0:
        raise InputError(
            f"a rebuild takes {text} of the array's time; right would be a share, as in "
            "rebuilding 0.3"
        )
    if not 0.0 < factor < float("inf"):
        raise InputError(f"{text} times as long; right would be a number greater than 0")
    return factor


def _examples(*kinds: str) -> list[str]:
    """Return an example of each form of some kinds of fault."""
    return [form.example for kind in kinds for form in FORMS[kind]]


def _check(fault: Fault, found: re.Match[str]) -> None:
    """Raise InputError if a sentence says of a fault what cannot be said of it."""
    kind, form = fault.kind, fault.form
    right = f"right would be {' or '.join(_examples(kind))}"
    counted = _COUNTED.get(kind, "none")
    if (found["factor"] is None and counted == "must") or (found["factor"] and counted == "none"):
        raise InputError(f"a number belongs to slow, and to slow and rebuilding alone; {right}")
    if form is None:
        raise InputError(f"{fault.part!r} cannot be {kind}; {right}")
    if found["by"] is not None and kind != "evicted":
        raise InputError(f"an OST does that to no part; right would be {KINDS['evicted']}")
    _check_times(fault, form, found)
    if found["word"] is not None and found["word"] != form.own:
        said = f"{kind} of {fault.part}" if len(FORMS[kind]) > 1 else kind
        raise InputError(f"{found['word']!r} cannot be said of {said}; {right}")


def _check_times(fault: Fault, form: Form, found: re.Match[str]) -> None:
    """Raise InputError if a fault does not begin, or end, as one of its kind does."""
    if form.end == "none" and (found["begin"] is None or fault.end is not None):
        what = "an SSD is lost for good, at a time" if fault.kind == "lost" else "it has one time"
        raise InputError(f"{what}; right would be {form.example}")
    if form.end == "must" and fault.end is None:
        raise InputError(f"it has no end; right would be {form.example}")
    if fault.end is not None and fault.end <= fault.begin:
        raise InputError(
            f"it ends at {format_seconds(fault.end)}, and begins at {format_seconds(fault.begin)}; "
            "right would be an end behind the begin"
        )


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
