"""In what two runs differ, in words: nodes, stripes, hints, one file or many.

How far a simulated ratio of two runs is off, is known by what they differ in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.trust.run_kind import layout_of
from xc40io.workloads.catalogue import traits_if_known, traits_of, workload_of

LAYOUT = "one file or many"
"""The thing that brings others with it: who writes a file for each rank stripes it otherwise."""

_WITH_LAYOUT = ("stripes", "size", "interface")
_NOTHING = {"title", "description", "seed", "workload"}  # no difference, or told apart below
ALIKE = 1.1  # factor between the data of two ranks that count as equally much


def differences(one: Scenario, other: Scenario) -> list[str]:
    """Return in what two runs differ, in words; what belongs to another layout is part of it."""
    first, second = _things(one), _things(other)
    found = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    if LAYOUT in found and _alike(one, other):
        found = [name for name in found if name not in _WITH_LAYOUT]
    return sorted(found)


def _things(scenario: Scenario) -> Mapping[str, Any]:
    """Return what a run is made of, each by a word."""
    document = scenario.model_dump(mode="json", exclude=_NOTHING)
    workload = workload_of(scenario.workload)
    things = {
        "machine": document.pop("machine"),
        "nodes": document.pop("nodes"),
        "processes a node": document.pop("ppn"),
        "stripes": document.pop("striping"),
        "hints": document.pop("environment"),
        "settings of the machine": document.pop("changes"),
        LAYOUT: layout_of(traits_if_known(scenario)),
        **workload.described(),
    }
    document["workload"] = things.pop("workload")
    things["something else"] = json.dumps(document, sort_keys=True, default=str)
    return things


def _alike(one: Scenario, other: Scenario) -> bool:
    """Tell whether the ranks of two runs move about as much data each."""
    data = [traits_of(each).bytes / (each.nodes * each.ppn) for each in (one, other)]
    return max(data) <= ALIKE * min(data)
