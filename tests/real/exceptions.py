"""The exceptions: what may differ between model and real programs, in how many calls, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from differences import Difference

FILE = Path(__file__).with_name("exceptions.yaml")

Found: TypeAlias = Mapping[str, list[Difference]]
"""What differs in a group, by the names of cases."""


@dataclass(frozen=True)
class Excepted:
    """A reason why an aspect differs, with how much it does.

    ``cases`` counts the calls that differ in each case, by group and name. Where it ``varies``, the
    real program does something else each time, and the numbers are only those of one recording.
    """

    reason: str
    aspect: str
    why: str
    cases: dict[str, dict[str, int]]
    varies: bool = False

    def covers(self, group: str, name: str) -> bool:
        """Return whether it names the case, and not just its group."""
        return name in self.cases.get(group, {})


def load(file: Path = FILE) -> list[Excepted]:
    """Return all exceptions of a file."""
    return [
        Excepted(
            entry["reason"],
            aspect,
            entry["why"],
            {group: dict(of) for group, of in counts.items()},
            entry.get("varies", False),
        )
        for entry in yaml.safe_load(file.read_text(encoding="utf-8")) or []
        for aspect, counts in entry["aspects"].items()
    ]


def keep(excepted: list[Excepted], file: Path = FILE) -> None:
    """Write all exceptions that still stand for something."""
    entries: dict[str, dict[str, Any]] = {}
    for one in excepted:
        named = {g: {n: c for n, c in of.items() if c or one.varies} for g, of in one.cases.items()}
        if counts := {group: of for group, of in named.items() if of}:
            varies = {"varies": True} if one.varies else {}
            new = {"reason": one.reason, "why": one.why, **varies, "aspects": {}}
            entries.setdefault(one.reason, new)["aspects"][one.aspect] = counts
    text = yaml.safe_dump(list(entries.values()), sort_keys=False, width=100, allow_unicode=True)
    file.write_text(text, encoding="utf-8")


def matched(
    excepted: list[Excepted], group: str, found: Found
) -> Iterator[tuple[str, Difference, Excepted | None]]:
    """Return each difference of a group with its case, and the exception that covers it."""
    for name, differing in found.items():
        for difference in differing:
            of_aspect = [one for one in excepted if one.aspect == difference.aspect]
            yield (
                name,
                difference,
                next((one for one in of_aspect if one.covers(group, name)), None),
            )


def lessened(excepted: list[Excepted], group: str, found: Found) -> list[Excepted]:
    """Return the exceptions with the counts of a group as they are, where these are smaller."""
    now = [
        replace(
            one,
            cases=one.cases
            | ({group: dict.fromkeys(one.cases[group], 0)} if group in one.cases else {}),
        )
        for one in excepted
    ]
    for name, difference, one in matched(now, group, found):
        if one is not None:
            one.cases[group][name] = difference.size
    return [_smaller(before, after, group) for before, after in zip(excepted, now, strict=True)]


def _smaller(before: Excepted, after: Excepted, group: str) -> Excepted:
    if before.varies:
        return before
    for name, count in before.cases.get(group, {}).items():
        after.cases[group][name] = min(count, after.cases[group][name])
    return after


def complaints(excepted: list[Excepted], group: str, found: Found) -> list[str]:
    """Return a sentence for each difference that is not excepted, or is larger."""
    said = []
    for name, (aspect, count, example), one in matched(excepted, group, found):
        if one is None:
            said.append(f"{group}: {name}: {aspect} differs, {count}: {example}")
        elif count > (allowed := one.cases[group][name]) and not one.varies:
            said.append(
                f"{group}: {name}: {aspect} differs more, {count}, not {allowed}: {example}"
            )
    return said


def stale(excepted: list[Excepted], group: str, found: Found) -> list[str]:
    """Return a sentence for each exception that has become too large."""
    said = []
    for before, after in zip(excepted, lessened(excepted, group, found), strict=True):
        said += [
            f"{group}: {name}: {before.aspect} ({before.reason}) differs less: {now}, not {was}"
            for name, was in before.cases.get(group, {}).items()
            if (now := after.cases[group][name]) != was
        ]
    return said
