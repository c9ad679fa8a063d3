"""Rules of users' guides, and whether the simulator agrees, in a form that studies can read.

::

    python -m xc40io.validation.directions    # runs them, and writes configs/directions.yaml

Each claim of the group says that a run with one setting is faster than a run with another, on
several numbers of nodes. What is changed is read off its scenarios, and called as ``tune`` calls
its knobs; what is no knob has a name of its own: ``fsync``, ``alignment``, ``directories``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from xc40io.archive.whole_files import write_whole
from xc40io.config.errors import InputError
from xc40io.config.files import read_mapping, shipped_file
from xc40io.config.job_form import HINTS
from xc40io.config.scenario import Scenario, machine_of
from xc40io.mpi.hint_text import read_patterns
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.trust.run_kind import layout_of
from xc40io.validation.claim import DIRECTIONS, Claim, load_claims
from xc40io.validation.report import select, validate
from xc40io.validation.target import load_targets
from xc40io.validation.verdict import Outcome, Verdict
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import COLLECTIVE, METADATA, OWN, SHARED

FILE = "directions.yaml"

_SOURCE = (
    "written by python -m xc40io.validation.directions from the claims that rules of users' guides "
    "are: with which value of a setting a run is faster, in which runs, whether the simulator says "
    "so on all numbers of nodes, and how many times as fast, as measured and as simulated on each"
)
_DIGITS = 3
_TIMES = "x"
"""The unit of published ratios."""


def direction_of(outcome: Outcome) -> dict[str, Any]:
    """Return the entry of a claim.

    Returns
    -------
    dict
        ``claim`` and ``machine``; ``change``, the name of what is changed, ``from`` and ``to``;
        ``when``, how the ranks share files (``sharing``) and what is done (``op``); whether it
        ``holds``; the ``published`` ratio, None where there is a direction alone; and the
        ``simulated`` ones on so many ``nodes``.

    Raises
    ------
    InputError
        If the two settings of the claim do not differ in anything that is known here, or a run did
        not end.
    """
    claim = outcome.claim
    pairs = [(runs[0], runs[-1]) for runs in claim.curves.values()]
    if not outcome.numbers:
        raise InputError(f"claim {claim.id}: {'; '.join(outcome.complaints)}")
    before, after = (claim.runs[run] for run in pairs[0])
    name, first, last = _changed(before, after, claim.id)
    target = load_targets()[claim.row]
    return {
        "claim": claim.id,
        "machine": machine_of(after).name,
        "change": name,
        "from": first,
        "to": last,
        "when": {"sharing": _sharing(after), "op": _operation(claim, after)},
        "holds": outcome.verdict is Verdict.PASS,
        "published": float(target.value) if target.unit == _TIMES else None,
        "nodes": [claim.runs[run].nodes for run, _ in pairs],
        "simulated": [
            round(outcome.numbers[faster] / outcome.numbers[slower], _DIGITS)
            for slower, faster in pairs
        ],
    }


def _changed(before: Scenario, after: Scenario, claim: str) -> tuple[str, Any, Any]:
    """Return what differs between two runs: what a knob is called, and its two values.

    Where several differ, the first says it: own files have other stripes because they are own.
    """
    then, now = _settings(before), _settings(after)
    for name, value in now.items():
        if name in then and then[name] != value:
            return name, then[name], value
    raise InputError(
        f"claim {claim}: its two settings differ in nothing that has a name here; right would be "
        f"one of {', '.join(now)}"
    )


def _settings(scenario: Scenario) -> dict[str, Any]:
    """Return what can be changed in a run, with the values that it has."""
    traits = traits_of(scenario)
    layout, (first, *_) = layout_of(traits), traits.phases
    if first.access == METADATA:
        return {"directories": "own" if first.own_directory else "one for all"}
    if first.call is None:
        return {}
    size = scenario.striping.size or machine_of(scenario).lustre.default_stripe_size
    hints = read_patterns(scenario.environment.get(HINTS, ""), HINTS, "").layer.values
    call = first.call
    return {
        "layout": OWN if layout == OWN else SHARED,
        "collective": "collective" if layout == COLLECTIVE else "independent",
        "direct": "direct" if first.direct else "buffered",
        "fsync": "each call" if first.synced else "at the end",
        "alignment": "aligned" if call % size == 0 or size % call == 0 else "astride",
        "aggregators": int(hints.get("cray_cb_nodes_multiplier", "1")),
        "ranks-per-node": scenario.ppn,
        "stripe-count": scenario.striping.count,
        "stripe-size": size,
        "call-size": call,
    }


def _sharing(scenario: Scenario) -> str:
    """Return how ranks share files; each rank of mdtest has its own."""
    traits = traits_of(scenario)
    own = layout_of(traits) == OWN or traits.phases[0].access == METADATA
    return "own" if own else "shared"


def _operation(claim: Claim, scenario: Scenario) -> str:
    assert claim.metric is not None
    return str(traits_of(scenario).of(claim.metric.text).access)


def rows(directions: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the head of a table, and a line for each published row with its machines."""
    yield "rows", "rule", "measured", "simulated, on 4, 16 and 64 nodes", "hold"
    rules: dict[str, list[Mapping[str, Any]]] = {}
    for one in directions:
        rules.setdefault(one["claim"].partition(".")[0], []).append(one)
    for row, some in rules.items():
        target = load_targets()[row]
        held = sum(one["holds"] for one in some)
        yield (
            f"`{row}`",
            target.claim,
            target.value if target.unit == _TIMES else "",
            "; ".join(_simulated(one) for one in some),
            f"{held} of {len(some)}",
        )


def _simulated(direction: Mapping[str, Any]) -> str:
    ratios = ", ".join(f"{ratio:.2f}" for ratio in direction["simulated"])
    return f"{direction['machine']} {ratios}"


def kept_directions(path: Path | None = None) -> list[Mapping[str, Any]]:
    """Return the entries of the file."""
    entries: list[Mapping[str, Any]] = read_mapping(path or shipped_file(FILE))["directions"]
    return entries


def main(path: Path) -> None:
    """Run the claims, those that are not known yet, and write the file."""
    claims = load_claims()
    report = validate(select(claims, groups=[DIRECTIONS]), Simulations(1, Store()), known=claims)
    document = {
        "source": _SOURCE,
        "directions": [direction_of(outcome) for outcome in report.outcomes],
    }
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
    write_whole(path, text, "directions")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else shipped_file(FILE))
    except InputError as error:
        sys.exit(f"directions: {error}")
