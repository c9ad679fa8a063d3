"""Faults and maintenance as a scenario lists them: which part, what happens to it, when.

Each is a sentence, in a scenario file under ``faults`` and on the command line with ``--fault``::

    OST 3 slow 5 from 0.2 s to 1 s       every service takes 5 times as long
    OST 3 rebuilding 0.3 from 1 s to 9 s its array gives 0.3 of its time to a rebuild
    OST 3 gone from 0.2 s to 1 s         no service; Lustre's recovery follows
    OST 3 gone from 0.2 s to 1 s, recovery 2 s
    OSS 3 down from 0.2 s to 9 min, taken over after 20 s    its partner serves its OSTs
    LNET router 5 down from 0.2 s to 1 s, noticed after 0.1 s
    FGR group 2 down from 0.2 s to 1 min  all LNET routers of a group; they know of no other way
    link green g0c0s0->g0c0s1 down from 0.2 s to 9 min, rerouted after 20 s
    MDS 0 paused from 0.2 s to 1 s       requests wait
    SSD 3 lost at 12 s                   of node 3 of the job, counted from 0
    node 3 hung from 0.2 s to 9 min, evicted after 20 s
    node 3 evicted by OST 2 at 0.2 s     or by all OSTs

Without ``from`` a fault begins with the simulation, without ``to`` it lasts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer

from xc40io.config.errors import InputError, naming, shown
from xc40io.config.fault_forms import FORMS, KINDS, NOUNS, NUMBERS, Form, Kind
from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.units import Seconds, format_seconds, parse_seconds

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
    """One fault of a part of the machine."""

    #: As reports call it: ``OST 3``, ``LNET router 5``; SSDs and nodes are counted in the job.
    part: str
    kind: Kind  #: What happens to it.
    #: Of a slow part: how many times as long a service takes. Of one that rebuilds: the share of
    #: its time that the rebuild takes; 0: that of :class:`~xc40io.config.parts.recovery.Recovery`.
    factor: Annotated[float, Field(ge=0)] = 1.0
    #: In simulated seconds; None: to the end of the run.
    begin: Seconds = 0.0
    end: Seconds | None = None
    #: Seconds, in place of those of :class:`~xc40io.config.parts.recovery.Recovery`: of an OST that
    #: is gone the recovery window, of a router that is down, or all of a group, the time until
    #: senders notice, of an OSS until its partner has its OSTs, of a link until there are other
    #: routes, of a node that hangs how long an OST waits for a lock.
    own: Seconds | None = None
    by: str | None = None  #: Of a node that is evicted: the OST that does it; None: all of them.

    @property
    def noun(self) -> str:
        """What kind of part it is: ``OST``, ``LNET router``, ``link``, ``computing``."""
        first = self.part.split(" ")[0]
        return first if first in ("link", "computing") else re.split(r" \d", self.part)[0]

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
            if re.fullmatch(NOUNS[form.noun], self.part):
                return form
        return None

    def __str__(self) -> str:
        """Return the sentence that :func:`parse_fault` reads."""
        words, form, number = [self.part, self.kind], self.form, NUMBERS.get(self.kind)
        if number is not None and self.factor != number.usual:
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
            f"{shown(value)} is not a fault; right would be one of {'; '.join(_examples(*FORMS))}"
        )
    with naming(f"{text!r}"):
        fault = _fault(found)
        _check(fault, found)
    return fault


def _fault(found: re.Match[str]) -> Fault:
    """Return the fault of a sentence."""

    def time(name: str) -> float | None:
        return None if found[name] is None else parse_seconds(found[name])

    kind: Any = found["kind"]
    return Fault.model_construct(
        part=found["part"],
        kind=kind,
        factor=_factor(found["factor"], kind),
        begin=time("begin") or 0.0,
        end=time("end"),
        own=time("own"),
        by=found["by"],
    )


def _factor(text: str | None, kind: Kind) -> float:
    """Return the number of a sentence; InputError if it is wrong, is missing, or has no place."""
    number = NUMBERS.get(kind)
    examples = " or ".join(_examples(kind))
    if text is None:
        if number is not None and number.usual is None:
            raise InputError(f"{kind} needs a number; right would be {examples}")
        return 1.0 if number is None or number.usual is None else number.usual
    if number is None:
        raise InputError(f"{kind} takes no number; right would be {examples}")
    try:
        factor = float(text)
    except ValueError as error:
        right = f"{kind} {number.example}"
        raise InputError(f"{text!r} is not a number; right would be {right}") from error
    if not 0.0 < factor < number.below:
        raise InputError(number.wrong.format(text))
    return factor


def _examples(*kinds: Kind) -> list[str]:
    """Return an example of each form of some kinds of fault."""
    return [form.example for kind in kinds for form in FORMS[kind]]


def _check(fault: Fault, found: re.Match[str]) -> None:
    """Raise InputError if a sentence says of a fault what cannot be said of it."""
    kind, form = fault.kind, fault.form
    right = f"right would be {' or '.join(_examples(kind))}"
    if form is None:
        raise InputError(f"{fault.part!r} cannot be {kind}; {right}")
    if found["by"] is not None and not form.by:
        able = next(one.example for forms in FORMS.values() for one in forms if one.by)
        raise InputError(f"'by' belongs to an eviction; right would be {able} by {found['by']}")
    _check_times(fault, form, found)
    if found["word"] is not None and found["word"] != form.own:
        said = f"{kind} of {fault.part}" if len(FORMS[kind]) > 1 else kind
        raise InputError(f"{found['word']!r} cannot be said of {said}; {right}")


def _check_times(fault: Fault, form: Form, found: re.Match[str]) -> None:
    """Raise InputError if a fault does not begin, or end, as one of its kind does."""
    if form.end == "none" and (found["begin"] is None or fault.end is not None):
        raise InputError(f"{form.once}; right would be {form.example}")
    if form.end == "must" and fault.end is None:
        raise InputError(f"it has no end; right would be {form.example}")
    if fault.end is not None and fault.end <= fault.begin:
        raise InputError(
            f"it ends at {format_seconds(fault.end)}, and begins at {format_seconds(fault.begin)}; "
            "right would be an end after the beginning"
        )


def _faults(value: object) -> object:
    """Turn a list of YAML into a tuple."""
    if isinstance(value, list | tuple):
        return tuple(value)
    raise ValueError(f"{value!r} is not a list; right would be a line with - for each fault")


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


class FieldFault(NamedTuple):
    """A fault, and the field of the scenario that says it.

    ``faults`` lists what happens: each is told, and recorded. Those of ``slow`` and ``target.lost``
    are the state of the machine: nothing is told of them.
    """

    fault: Fault
    place: str = "faults"

    @property
    def told(self) -> bool:
        """Whether the result says what it did."""
        return self.place == "faults"


def said_faults(faults: Iterable[Fault], slow: Mapping[str, float]) -> tuple[FieldFault, ...]:
    """Return the faults of a scenario: those of ``slow``, from begin to end, and those listed."""
    for_good = (
        Fault.model_construct(part=part, kind="slow", factor=factor)
        for part, factor in slow.items()
    )
    return (*(FieldFault(fault, "slow") for fault in for_good), *map(FieldFault, faults))


def lost_ssds(lost: Mapping[int, float], job: str) -> tuple[FieldFault, ...]:
    """Return the SSDs of a job's ``target.lost`` as faults: seconds by the node in the job."""
    of_job = f" of job {job}" if job else ""
    fail = (
        Fault.model_construct(part=f"SSD {node}{of_job}", kind="lost", begin=seconds)
        for node, seconds in lost.items()
    )
    return tuple(FieldFault(fault, "target.lost") for fault in fail)
