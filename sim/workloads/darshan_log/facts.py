"""What the user knows of the recorded run and its log does not say: ``--recorded KEY=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sim.config.errors import InputError, naming
from sim.config.striping import StripeRequest
from sim.config.units import format_rate, parse_bytes, parse_rate
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.osts import ost_uses

FITTED = "fitted"
"""The rate of an OST that follows from the log."""

KEYS = (
    *("machine", "nodes", "ppn"),
    *("striping.count", "striping.size", "striping.offset"),
    *("hints", "ost.N.rate"),
)
"""What can be told."""

_RATE_OF = re.compile(r"ost\.(\d{1,6})\.rate", re.ASCII)


@dataclass(frozen=True)
class Facts:
    """What is known of the recorded run; it goes before what the log says or shows.

    Attributes
    ----------
    machine, nodes, ppn
        Where it ran; None as far as that is not told.
    striping
        Of all files.
    hints
        Of MPI-IO, as ``MPICH_MPIIO_HINTS`` has them.
    rates
        At how many bytes/s the disks of slow OSTs wrote, by index; None: as the log shows.
    told
        All of it, as typed.
    """

    machine: str | None = None
    nodes: int | None = None
    ppn: int | None = None
    striping: StripeRequest = field(default_factory=StripeRequest)
    hints: str | None = None
    rates: Mapping[int, float | None] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    def as_typed(self) -> str:
        """Return it as it was typed."""
        return " ".join(f"--recorded {text}" for text in self.told)


def facts_of(texts: Iterable[str]) -> Facts:
    """Read what was typed: ``KEY=VALUE`` each; of a key that is typed twice the last one holds.

    Raises
    ------
    InputError
        If a text is no such thing, or a value cannot be.
    """
    facts = Facts()
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not value:
            raise InputError(
                f"--recorded {text}: right would be KEY=VALUE with one of {', '.join(KEYS)}"
            )
        with naming(f"--recorded {text}"):
            facts = replace(_with(facts, key.strip(), value.strip()), told=(*facts.told, text))
    return facts


def _with(facts: Facts, key: str, value: str) -> Facts:
    """Return facts with another one."""
    found = _RATE_OF.fullmatch(key)
    if found:
        return replace(facts, rates={**facts.rates, int(found[1]): _rate(value)})
    fact: dict[str, Any]
    match key:
        case "machine" | "hints":
            fact = {key: value}
        case "nodes" | "ppn":
            fact = {key: _whole(value, 1)}
        case "striping.count":
            fact = {"striping": replace(facts.striping, count=_whole(value, -1))}
        case "striping.size":
            fact = {"striping": replace(facts.striping, size=parse_bytes(value))}
        case "striping.offset":
            fact = {"striping": replace(facts.striping, offset=_whole(value, -1))}
        case _:
            raise InputError(f"there is no {key!r}; right would be one of {', '.join(KEYS)}")
    return replace(facts, **fact)


def _rate(value: str) -> float | None:
    """Read the rate of an OST; None if it is to be fitted."""
    if value == FITTED:
        return None
    rate = parse_rate(value)
    if rate <= 0.0:
        raise InputError(f"a rate of {value}; right would be more than 0, as 200 MB/s")
    return rate


def _whole(value: str, least: int) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"-?[0-9]{1,9}", value) or int(value) < least:
        raise InputError(f"{value!r}; right would be a whole number from {least} on")
    return int(value)


def slowed_osts(facts: Facts, log: DarshanLog, usual: float, osts: int) -> dict[str, float]:
    """Return how many times as long as usual the OSTs take whose rates are told.

    Parameters
    ----------
    facts, log
        What was told, and the log from which rates follow that are to be fitted.
    usual
        Bytes/s at which the disks of an OST of the machine write.
    osts
        How many it has.

    Returns
    -------
    dict
        As :class:`~sim.config.scenario.Scenario` has what is slow: by name.

    Raises
    ------
    InputError
        If there is no such OST, or the log does not tell how fast it was.
    """
    known = {use.ost: use for use in ost_uses(log)} if None in facts.rates.values() else {}
    slow: dict[str, float] = {}
    for ost, rate in facts.rates.items():
        place = f"--recorded ost.{ost}.rate"
        if ost >= osts:
            raise InputError(
                f"{place}: the machine has {osts} OSTs; right would be one of 0 to {osts - 1}"
            )
        if rate is None:
            if ost not in known:
                raise InputError(
                    f"{place}={FITTED}: no file of the log was on this OST alone or with others as "
                    "far as it tells; right would be a rate, as 200 MB/s"
                )
            rate = known[ost].rate
        slow[f"OST {ost}"] = usual / rate
    return slow


def fitted_rates(facts: Facts, log: DarshanLog) -> list[str]:
    """Return what was fitted to the log, in words."""
    wanted = [ost for ost, rate in facts.rates.items() if rate is None]
    return [
        f"OST {use.ost} at {format_rate(use.rate, 3)}: {use.bytes / 1e9:,.4g} GB in "
        f"{use.seconds:,.4g} s by the log"
        for use in (ost_uses(log) if wanted else [])
        if use.ost in wanted
    ]
