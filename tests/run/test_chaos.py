"""Invariants under chaos: whatever is composed of machines, jobs, hints, targets and faults.

make soak        # 1,000 examples in place of 30, drawn anew
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from chaos import Document, documents
from digests import digest
from hypothesis import HealthCheck, Phase, assume, given, settings
from invariants import (
    arrays_keep_their_rates,
    bytes_are_conserved,
    clocks_go_on,
    granted_locks_are_compatible,
    locks_are_compatible,
    stations_keep_their_rates,
    waits_are_accounted_for,
)

from xc40io.compiler.processor import processor
from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario, parse_jobs
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

EXAMPLES = int(os.environ.get("XC40IO_SOAK", "30"))

HELD = {
    "a truncation of a file over all of many OSTs": {
        "machine": "titan",
        "nodes": 3,
        "ppn": 2,
        "placement": "random",
        "striping": {"count": -1, "size": "64k"},
        "changes": {"lustre.oss_rate": "300 MB/s"},
        "background": {"write": "5 GB/s", "read": "9 GB/s"},
        "faults": [],
        "workload": {"ior": "-a MPIIO -t 256k -b 1280k -s 5 -w -Z -i 2 -F"},
        "seed": 0,
    },
    "a router that loses what it was to serve later": {
        "machine": "theta",
        "nodes": 2,
        "ppn": 2,
        "cores": {"system": 2, "bind": "none"},
        "striping": {"count": -1, "size": "1m"},
        "changes": {
            "network.message_latency": "1 us",
            "lnet.ib_link_rate": "400 MB/s",
            "nodes.tree_page_time": "0 s",
        },
        "faults": ["LNET router 1 down from 8 ms to 80 ms, noticed after 3 ms"],
        "workload": {"kernel": {"name": "adios"}},
        "seed": 2627,
    },
    "what others want of an OST that is gone": {
        "machine": "cori-knl",
        "nodes": 1,
        "ppn": 4,
        "striping": {"count": -1, "size": "1m"},
        "background": {"write": "5 GB/s", "read": "9 GB/s"},
        "faults": ["OST 4 gone from 13 ms to 30 ms, recovery 10 ms"],
        "workload": {"ior": "-a POSIX -t 1536k -b 1536k -s 1 -w -r -Z -Y -m"},
        "rpcs_as_one": 2,
        "seed": 780,
    },
}
"""What did not hold once."""

FEW: list[Document] = [
    {
        "machine": "theta",
        "nodes": 2,
        "ppn": 2,
        "striping": {"count": 3, "size": "64k"},
        "environment": {"MPICH_MPIIO_HINTS": "*:cb_nodes=3"},
        "workload": {"ior": "-a MPIIO -c -w -r -b 128k -t 64k -s 2"},
    },
    {
        "machine": "cori-knl",
        "nodes": 2,
        "ppn": 2,
        "striping": {"count": 2, "size": "64k"},
        "background": {"write": "5 GB/s"},
        "faults": ["OST 2 slow 5 from 1 ms to 1 s"],
        "workload": {"ior": "-w -r -e -C -b 141k -t 47k"},
    },
    {
        "machine": "theta",
        "nodes": 1,
        "ppn": 2,
        "target": "ssd",
        "faults": ["SSD 0 lost at 2 ms"],
        "workload": {"ior": "-F -w -r -b 128k -t 64k"},
    },
]
"""Documents that are run in every way there is to run one."""


def results_of(document: Document, *, record: bool = False) -> list[Result]:
    """Simulate what a document describes; return the results of its jobs."""
    scenario = parse_jobs(document, "chaos")
    if isinstance(scenario, JobsScenario):
        outcomes = simulate_jobs(scenario, alone=False, record=record).jobs
        return [outcome.result for outcome in outcomes]
    return [simulate(scenario, record=record)]


def check(document: Document, results: list[Result]) -> None:
    """Assert all laws that hold of what was run."""
    undisturbed = not document["faults"] and not document.get("background")
    for result in results:
        stations_keep_their_rates(result)
        arrays_keep_their_rates(result, document["seed"], repetitions=3)
        clocks_go_on(result)
        locks_are_compatible(result)
        granted_locks_are_compatible(result)
        waits_are_accounted_for(result)
        if undisturbed and document.get("target", "lustre") == "lustre" and len(results) == 1:
            bytes_are_conserved(result)


@settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes as long again
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(documents())
def test_what_always_holds_holds(document: Document) -> None:
    """No run ends otherwise than well, or in a sentence; a deadlock is neither."""
    results, refusal = [], ""
    try:
        results = results_of(document, record=True)
    except InputError as error:
        refusal = str(error)
    assert "for ever" not in refusal
    assume(not refusal)
    check(document, results)


@settings(
    max_examples=max(EXAMPLES // 3, 1),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(documents(), documents())
def test_what_ran_before_moves_no_bit(document: Document, other: Document) -> None:
    """From the third run on, the tables of a machine are copies: of none that a run has touched."""
    told = []
    for each in (document, other, document, document):
        try:
            told.append(digests_of([each]))
        except InputError as error:
            assume(each is not document)
            told.append([str(error)])
    assert told[2:] == [told[0], told[0]]


@pytest.mark.parametrize("name", HELD)
def test_what_did_not_hold_once_holds(name: str) -> None:
    check(HELD[name], results_of(HELD[name], record=True))


def digests_of(documents_: list[Document]) -> list[str]:
    """Return the digests of runs: to the last bit of what every station and rank did."""
    return [digest(result) for document in documents_ for result in results_of(document)]


def _elsewhere(**environment: str) -> list[str]:
    """Return the digests of :data:`FEW` as another process finds them."""
    words = [sys.executable, "-c", f"import {__name__} as m; m.tell()"]
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent / "support"), *sys.path])
    changed = {**os.environ, **environment, "PYTHONPATH": path}
    done = subprocess.run(words, env=changed, capture_output=True, text=True, check=True)
    told: list[str] = json.loads(done.stdout)
    return told


def tell() -> None:
    """Print the digests of :data:`FEW`."""
    print(json.dumps(digests_of(FEW)))


@pytest.fixture(scope="module")
def here() -> list[str]:
    return digests_of(FEW)


def test_bits_do_not_depend_on_the_process(here: list[str]) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        halves = list(pool.map(digests_of, [FEW[:1], FEW[1:]]))
    assert halves[0] + halves[1] == here


def test_bits_do_not_depend_on_the_compiler(here: list[str]) -> None:
    assert _elsewhere(NUMBA_DISABLE_JIT="1") == here


@pytest.mark.skipif("XC40IO_SOAK" not in os.environ, reason="compiles all twice: make soak")
@pytest.mark.parametrize("kind", ["x86-64", "x86-64-v3"])
def test_bits_do_not_depend_on_the_processor(here: list[str], kind: str) -> None:
    """The most generic kind, and the native one of whatever was made since 2015."""
    if "x86-64" not in processor():
        pytest.skip("another architecture has kinds of its own")
    assert _elsewhere(XC40IO_PROCESSOR=kind) == here


def test_a_seed_makes_a_difference(here: list[str]) -> None:
    other: list[dict[str, Any]] = [document | {"seed": 2} for document in FEW]
    assert not set(digests_of(other)) & set(here)
