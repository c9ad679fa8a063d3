"""In what two runs differ, in words: nodes, stripes, hints, one file or many.

How far a simulated ratio of two runs is off, is known by what they differ in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.trust.run_kind import layout_of
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.ior.command import Ior

LAYOUT = "one file or many"
"""The thing that brings others with it: who writes a file for each rank stripes it otherwise."""

_WITH_LAYOUT = ("stripes", "size", "interface")
_NOTHING = {"title", "description", "seed", "workload"}  # no difference, or told apart below
_ALIKE = 1.1  # factor between the data of two ranks that count as equally much


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
    things = {
        "machine": document.pop("machine"),
        "nodes": document.pop("nodes"),
        "processes a node": document.pop("ppn"),
        "stripes": document.pop("striping"),
        "hints": document.pop("environment"),
        "settings of the machine": document.pop("changes"),
        LAYOUT: layout_of(scenario),
    }
    workload = workload_of(scenario.workload)
    if isinstance(workload, Ior):
        tests = [vars(test).copy() for test in workload.command.tests]
        things["size"] = [
            [test.pop(name) for name in ("block_size", "transfer_size", "segments")]
            for test in tests
        ]
        # Which of the two API rules hold follows from the interface, as the claims are put.
        things["interface"] = [
            [test.pop(name) for name in ("api", "api_as_typed", "version")] for test in tests
        ]
        things["direct I/O"] = [test.pop("direct_io") for test in tests]
        things["syncs"] = [
            [test.pop(name) for name in ("fsync", "fsync_per_write")] for test in tests
        ]
        for test in tests:
            del test["file_per_process"], test["collective"]
        document["workload"] = repr(tests)
    else:
        document["workload"] = repr(scenario.workload)
    things["something else"] = json.dumps(document, sort_keys=True, default=str)
    return things


def _alike(one: Scenario, other: Scenario) -> bool:
    """Tell whether the ranks of two runs move about as much data each."""
    data = [
        workload_of(scenario.workload).bytes_to_move(scenario.nodes * scenario.ppn)
        / (scenario.nodes * scenario.ppn)
        for scenario in (one, other)
    ]
    return max(data) <= _ALIKE * min(data)
