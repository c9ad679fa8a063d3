"""What the user knows of the recorded run and its log does not say: ``--recorded KEY=VALUE``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from xc40io.config.errors import InputError, cut, naming
from xc40io.config.parts.lustre import Lustre
from xc40io.config.striping import StripeRequest
from xc40io.config.units import format_rate, parse_bytes, parse_rate
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.log import DarshanLog
from xc40io.workloads.darshan.slow_parts import Part, Use, oss_uses, ost_uses

FITTED = "fitted"
"""The rate of an OST or OSS that follows from the log."""

STRIPING = ("striping.count", "striping.size", "striping.offset")
"""What can be told of how the files were striped."""

OF_CALLS = ("machine", "nodes", "ppn", *STRIPING)
"""What can be told besides where only the calls of a log are asked for, and who made them."""

KEYS = (*OF_CALLS, "hints", "ost.N.rate", "oss.N.rate")
"""What can be told."""

_RATE_OF = re.compile(r"(ost|oss)\.(\d{1,6})\.rate", re.ASCII)


@dataclass(frozen=True)
class Facts:
    """What is known of the recorded run; it goes before what the log says or shows."""

    machine: str | None = None  # where it ran; None as far as that is not told
    nodes: int | None = None
    ppn: int | None = None
    striping: StripeRequest = field(default_factory=StripeRequest)  # of all files
    hints: str | None = None  # of MPI-IO, as `MPICH_MPIIO_HINTS` has them
    # Bytes/s at which the disks of slow OSTs wrote, slow OSSs moved data; None: as the log shows.
    rates: Mapping[Part, float | None] = field(default_factory=dict)
    told: tuple[str, ...] = ()  # all of it, as typed

    def as_typed(self) -> str:
        """Return it as it was typed."""
        return " ".join(f"--recorded {text}" for text in self.told)

    def of_striping(self) -> tuple[str, ...]:
        """Return what was typed of the striping: by it the calls of the log are put together."""
        return tuple(text for text in self.told if _is_of(text, STRIPING))

    def check_of_calls(self) -> None:
        """Raise InputError if something is told that changes nothing of the calls of a log."""
        for text in self.told:
            if not _is_of(text, OF_CALLS):
                raise InputError(
                    f"--recorded {text}: it does not change the calls of a log; right would be "
                    f"one of {', '.join(OF_CALLS)}, or --recorded where the log is replayed"
                )


def facts_of(texts: Iterable[str]) -> Facts:
    """Read what was typed: ``KEY=VALUE`` each; the last value of a key counts.

    Raises InputError if a text is no such thing, or a value cannot be.
    """
    facts = Facts()
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not value:
            raise InputError(
                f"--recorded {cut(text)}: right would be KEY=VALUE with one of {', '.join(KEYS)}"
            )
        with naming(f"--recorded {cut(text)}"):
            facts = replace(_with(facts, key.strip(), value.strip()), told=(*facts.told, text))
    return facts


def check_no_facts(told: Iterable[str], subject: str) -> None:
    """Raise InputError if something is told of a recorded run beside what is no Darshan log."""
    for text in told:
        raise InputError(
            f"--recorded {text}: {subject} is not a Darshan log; right would be --recorded beside "
            "a log, whose name ends in .darshan"
        )


def _is_of(text: str, keys: Iterable[str]) -> bool:
    """Tell whether what was typed is about one of some keys."""
    return text.partition("=")[0].strip() in keys


def _with(facts: Facts, key: str, value: str) -> Facts:
    """Return facts with another one."""
    found = _RATE_OF.fullmatch(key)
    if found:
        part = Part("OST" if found[1] == "ost" else "OSS", int(found[2]))
        return replace(facts, rates={**facts.rates, part: _rate(value)})
    fact: dict[str, Any]
    match key:
        case "machine" | "hints":
            fact = {key: value}
        case "nodes" | "ppn":
            fact = {key: _whole(value, 1)}
        case "striping.size":
            fact = {"striping": replace(facts.striping, size=parse_bytes(value))}
        case "striping.count" | "striping.offset":
            own: dict[str, Any] = {key.removeprefix("striping."): _whole(value, -1)}
            fact = {"striping": replace(facts.striping, **own)}
        case _:
            raise InputError(f"there is no {key!r}; right would be one of {', '.join(KEYS)}")
    return replace(facts, **fact)


def _rate(value: str) -> float | None:
    """Read the rate of an OST or OSS; None if it is to be fitted."""
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


def slowed_parts(facts: Facts, log: DarshanLog, lustre: Lustre) -> dict[str, float]:
    """Return how many times as long as usual the OSTs and OSSs take whose rates are told.

    As :class:`~xc40io.config.scenario.Scenario` has what is slow: by name. Usual is how fast on
    ``lustre`` the disks of an OST write, and an OSS moves data. Raises InputError if there is no
    such part, or the log does not tell how fast it was.
    """
    usual = {"OST": lustre.ost_write_rate, "OSS": lustre.oss_rate}
    counts = {"OST": lustre.osts, "OSS": lustre.oss_count}
    known = {use.part: use for use in _fitted(facts, log, lustre)}
    slow: dict[str, float] = {}
    for part, rate in facts.rates.items():
        place, count = f"--recorded {part.key}", counts[part.kind]
        if part.number >= count:
            raise InputError(
                f"{place}: the machine has {format_count(count, part.kind)}; right would be one of "
                f"0 to {count - 1}"
            )
        if rate is None and part not in known:
            raise InputError(
                f"{place}={FITTED}: the log tells of no file that lay on {part} and moved bytes; "
                "right would be a rate, as 200 MB/s"
            )
        slow[str(part)] = usual[part.kind] / (known[part].rate if rate is None else rate)
    return slow


def fitted_rates(facts: Facts, log: DarshanLog, lustre: Lustre) -> list[str]:
    """Return what was fitted to the log, in words."""
    return [
        f"{use.part} at {format_rate(use.rate, 3)}: {use.bytes / 1e9:,.4g} GB in "
        f"{use.seconds:,.4g} s by the log"
        for use in _fitted(facts, log, lustre)
    ]


def _fitted(facts: Facts, log: DarshanLog, lustre: Lustre) -> list[Use]:
    """Return what the log tells of the parts whose rates are to be fitted."""
    wanted = {part for part, rate in facts.rates.items() if rate is None}
    kinds = {part.kind for part in wanted}
    uses = ost_uses(log) if "OST" in kinds else []
    uses += oss_uses(log, lustre.osts_per_oss) if "OSS" in kinds else []
    return [use for use in uses if use.part in wanted]
