"""Four times as many calls, nodes, stripes or files: no loop of the data plane gets longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from steps import steps_of

MOST, SPARE = 2.0, 12.0
"""Times as many lines a call of a function, and lines besides: what a logarithm grows by."""

SEEN = 4
"""Calls of a function in the smaller run, below which its mean says nothing."""


def job(
    ior: str, *, nodes: int = 2, ppn: int = 2, stripes: int = 1, **other: Any
) -> dict[str, Any]:
    of_ior = {"striping": {"count": stripes, "size": "1m"}, "workload": {"ior": ior}}
    return {"machine": "theta", "nodes": nodes, "ppn": ppn} | of_ior | other


def bb(ior: str) -> dict[str, Any]:
    target = {"kind": "bb", "capacity": "1 TB"}
    return job(ior) | {"machine": "cori-haswell", "target": target}


CASES: dict[str, Callable[[int], dict[str, Any]]] = {
    "pieces of several nodes": lambda k: job(
        f"-w -r -C -g -e -t 47008 -b 47008 -s {4 * k}", nodes=3
    ),
    "calls on own files": lambda k: job(f"-F -w -r -e -t 64k -b {256 * k}k"),
    "pieces in random order": lambda k: job(f"-w -r -z -t 20k -b {160 * k}k", nodes=4),
    "collective calls": lambda k: job(f"-a MPIIO -c -w -r -t 64k -b 64k -s {4 * k}", stripes=2),
    "calls of HDF5": lambda k: job(f"-a HDF5 -w -r -t 64k -b 64k -s {4 * k}", stripes=2),
    "calls of PnetCDF": lambda k: job(f"-a NCMPI -c -w -r -t 64k -b 64k -s {4 * k}", stripes=2),
    "locks on many objects": lambda k: job(
        f"-w -r -t 64k -b {512 * k}k", nodes=4, ppn=1, stripes=8
    ),
    "stripes of own files": lambda k: job("-F -w -r -t 1m -b 4m", stripes=2 * k),
    "ranks with own files": lambda k: job("-F -w -r -e -t 64k -b 256k", nodes=1, ppn=4 * k),
    "nodes with own files": lambda k: job("-F -w -r -t 256k -b 1m", nodes=2 * k),
    "blocks of an array": lambda k: {
        **job(""),
        "workload": {
            "kernel": {
                **{"name": "exerciser", "numdims": 2},
                **{"minels": [64 * k, 64], "dimranks": [2, 2]},
            }
        },
    },
    "calls on an SSD": lambda k: job(f"-F -w -r -z -t 16k -b {128 * k}k", target="ssd"),
    "calls on a burst buffer": lambda k: bb(f"-w -r -t 64k -b {256 * k}k"),
    "nodes": lambda k: job("-w -r -C -t 64k -b 64k -s 2", nodes=2 * k, ppn=1),
    "stripes": lambda k: job("-w -r -t 1m -b 8m", ppn=1, stripes=2 * k),
    "small files on one OST": lambda k: {
        "machine": "theta",
        "nodes": 1,
        "ppn": 2,
        "striping": {"count": 1, "offset": 3},
        "workload": {"mdtest": f"-F -C -n {16 * k} -w 3901"},
    },
    "trees of directories": lambda k: {
        **{"machine": "theta", "nodes": 2, "ppn": 2},
        "workload": {"mdtest": f"-b {2 * k} -z 1 -I 4 -u -w 100"},
    },
    "files and directories": lambda k: {
        "machine": "theta",
        "nodes": 2,
        "ppn": 2,
        "workload": {"mdtest": f"-n {8 * k} -w 3901 -e 3901"},
    },
}
"""Scenarios by size."""

AT_ONCE = ("pieces in random order", "nodes", "small files on one OST")
"""What every run of the tests looks at."""


@pytest.mark.parametrize(
    "name",
    [name if name in AT_ONCE else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_no_function_has_longer_loops_in_a_run_four_times_as_large(name: str) -> None:
    small, large = steps_of(*(CASES[name](size) for size in (1, 4)))
    longer = {}
    for function, (calls, lines) in small.items():
        if calls >= SEEN and function in large:
            before, after = lines / calls, large[function][1] / large[function][0]
            if after > MOST * before + SPARE:
                longer[function] = f"{before:.1f} -> {after:.1f}"
    assert longer == {}


def test_readers_of_a_node_cost_what_they_read() -> None:
    cases = (job("-r -t 64k -b 64k -s 2", nodes=1, ppn=ppn) for ppn in (8, 32))
    small, large = (sum(lines for _, lines in steps.values()) for steps in steps_of(*cases))
    assert large < 4.5 * small
