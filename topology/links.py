"""The kinds of cable a network is wired with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LENGTHS = ("backplane", "electrical", "optical")
"""Length classes, short to long: within a chassis, between chassis, between groups."""


@dataclass(frozen=True)
class LinkClass:
    """What every single link of one colour has in common.

    Parameters
    ----------
    rate : float
        Payload bytes per second of one link in one direction. Both directions run at this rate
        at the same time. On Aries the payload is about 64 % of the raw rate, because a 64-byte
        put takes 14 request flits and 1 response flit, and the link layer adds a tenth
        (Cray WP-Aries01-1112 p. 21); on Gemini MPI sees 62 to 74 %.
    latency : float
        Seconds from entering the link to leaving the router behind it, on a quiet network.
    length : str
        One of :data:`LENGTHS`.

    Raises
    ------
    ValueError
        If a value is out of its range.
    """

    rate: float
    latency: float
    length: str

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise ValueError(f"link rate is {self.rate} bytes/s: it must be above zero")
        if not (math.isfinite(self.latency) and self.latency >= 0):
            raise ValueError(f"link latency is {self.latency} s: it must be zero or more")
        if self.length not in LENGTHS:
            raise ValueError(f"link length is {self.length!r}: choose one of {', '.join(LENGTHS)}")


def one_class_each(
    network: str, noun: str, kinds: Sequence[str], links: Mapping[str, LinkClass]
) -> dict[str, LinkClass]:
    """Return the classes in the order of the ``kinds`` of links of a network.

    Raises
    ------
    ValueError
        If ``links`` has other keys; ``noun`` is what one of them is called.
    """
    if set(links) != set(kinds):
        raise ValueError(
            f"{network} links are given for {', '.join(links) or f'no {noun}'}: "
            f"give one class each for {', '.join(kinds)}"
        )
    return {kind: links[kind] for kind in kinds}
