"""What can be said of faults: for each kind, of which parts, with which numbers and times.

This is the grammar of the sentences that :mod:`xc40io.config.faults` reads. What happens then, each
room says for its own parts with the decorator :func:`xc40io.plane.fault_course.fault`. Nothing
heavy is imported here: the help of the command line lists the kinds.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["slow", "rebuilding", "gone", "down", "paused", "lost", "hung", "evicted"]


class Form(NamedTuple):
    """What can be said of one kind of part."""

    noun: str  # of the part, with a pattern in NOUNS; empty: any part that the machine has
    example: str
    end: Literal["must", "may", "none"]  # none: it is over at once
    own: str = ""  # the words before the time that is its own; empty if it has none
    by: bool = False  # whether one OST alone may do it
    once: str = "it happens at one time"  # what to say where one without an end has other times


class Number(NamedTuple):
    """The number behind a kind."""

    usual: float | None  # where none is said; None: one must be
    below: float  # it is greater than 0, and less than this
    example: str
    wrong: str  # what to say of another one


_NUMBER = "[0-9]{1,9}"
_OF_JOB = r"(?: of job \S+)?"

NOUNS: dict[str, str] = {
    **{noun: f"{noun} {_NUMBER}" for noun in ("OST", "OSS", "MDS", "LNET router", "FGR group")},
    **{noun: f"{noun} {_NUMBER}{_OF_JOB}" for noun in ("SSD", "node")},
    "link": r"link \S+ \S+->\S+",
    "": ".*",
}
"""The pattern of the names of parts, by their noun."""

OF_ROUTERS = ("LNET router", "FGR group")
"""The nouns of parts that only a machine with LNET routers has."""

FORMS: dict[Kind, tuple[Form, ...]] = {
    "slow": (Form("", "OST 3 slow 5 from 0.2 s to 1 s", "may"),),
    "rebuilding": (Form("OST", "OST 3 rebuilding from 0.2 s to 1 s", "may"),),
    "gone": (Form("OST", "OST 3 gone from 0.2 s to 1 s", "must", "recovery"),),
    "down": (
        Form("LNET router", "LNET router 5 down from 0.2 s to 1 s", "must", "noticed after"),
        Form("FGR group", "FGR group 2 down from 0.2 s to 1 min", "must", "noticed after"),
        Form("OSS", "OSS 3 down from 0.2 s to 9 min", "may", "taken over after"),
        Form("link", "link green g0c0s0->g0c0s1 down from 0.2 s to 9 min", "may", "rerouted after"),
    ),
    "paused": (Form("MDS", "MDS 0 paused from 0.2 s to 1 s", "must"),),
    "lost": (Form("SSD", "SSD 3 lost at 12 s", "none", once="an SSD is lost once, for good"),),
    "hung": (Form("node", "node 3 hung from 0.2 s to 9 min", "must", "evicted after"),),
    "evicted": (Form("node", "node 3 evicted at 0.2 s", "none", by=True),),
}
"""What can be said of which parts, by the kind of fault."""

KINDS: dict[Kind, str] = {kind: forms[0].example for kind, forms in FORMS.items()}
"""An example of each kind of fault that there is."""

NUMBERS: dict[Kind, Number] = {
    "slow": Number(
        None, float("inf"), "5", "{} times as long; right would be a number greater than 0"
    ),
    "rebuilding": Number(
        0.0,
        1.0,
        "0.3",
        "a rebuild takes {} of the array's time; right would be a share, as in rebuilding 0.3",
    ),
}
"""The kinds of which a number is said."""
