"""What a cross-validation needs besides the kept results: elasticities, and runs with other values.

``kept_cross.json`` has two parts. ``elasticities`` say what each number of the claim
does when a parameter that was fitted moves; ``simulated`` what came out when the claim was run with
the values that were fitted without its fold. Each says with which sources of the simulator and how
the claim was put. ``python -m xc40io.validation.cross`` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.archive.whole_files import write_whole
from xc40io.validation.claim import Claim
from xc40io.validation.fold import By
from xc40io.validation.free_parameter import Changes
from xc40io.validation.frozen import digest_of
from xc40io.validation.target import FOLDER

FILE = FOLDER / "kept_cross.json"
"""Where they are."""


class TriedChange(NamedTuple):
    """What moving parameters does to a claim."""

    digest: str  # Of how the claim was put, :func:`set_up`.
    code: str  # The hash of the simulator's sources that it was tried with.
    # The elasticities of the claim's numbers, in their order, by the name of the parameter.
    by: Mapping[str, tuple[float, ...]]


class SimulatedChange(NamedTuple):
    """What other values do to a claim."""

    # As of :class:`TriedChange`.
    digest: str
    code: str
    changes: Changes  # The other values.
    # The claim's numbers with these values over those without, in their order.
    times: tuple[float, ...]


class KeptCross(NamedTuple):
    """What the file holds."""

    tried: dict[str, TriedChange]  # By claim.
    simulated: dict[str, SimulatedChange]  # By :func:`run_key`.


def set_up(claim: Claim) -> str:
    """Return a digest of how a claim is put, whatever its role: that changes no number."""
    return digest_of(claim.model_copy(update={"role": "check"}))


def run_key(claim: Claim, by: By) -> str:
    """Return under which name a run of a claim without its fold is kept."""
    return f"{claim.id} without its {by}"


def load_cross(file: Path = FILE) -> KeptCross:
    """Read what is kept; nothing if there is no such file."""
    if not file.exists():
        return KeptCross({}, {})
    document = json.loads(file.read_text(encoding="utf-8"))
    tried = {
        claim: TriedChange(digest, code, {name: tuple(numbers) for name, numbers in by.items()})
        for claim, (digest, code, by) in document["elasticities"].items()
    }
    simulated = {
        claim: SimulatedChange(digest, code, changes, tuple(times))
        for claim, (digest, code, changes, times) in document["simulated"].items()
    }
    return KeptCross(tried, simulated)


def keep_cross(kept: KeptCross, file: Path = FILE) -> None:
    """Write what is kept, a line for each claim."""
    tried, simulated = _lines(kept.tried), _lines(kept.simulated)
    text = f'{{"elasticities": {{{tried}}},\n"simulated": {{{simulated}}}}}\n'
    write_whole(file, text, "kept cross-validation")


def _lines(part: Mapping[str, Any]) -> str:
    lines = (f"\n {json.dumps(claim)}: {json.dumps(part[claim])}" for claim in sorted(part))
    return ",".join(lines)
