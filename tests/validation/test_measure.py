"""The functions of metrics."""

from __future__ import annotations

import pytest
from run_records import phase, record

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.mpi.communicator import Collectives
from xc40io.validation.measure import FUNCTIONS, measure

RECORD = record(
    5e9,
    phase("write", 8e9, "1", open=0.25, io=1.5, close=0.5),
    phase("read", 4e9, open=0.125),
    phase("H5Dwrite", 1e9, "1 MiB", memory=3e6, comm=0.5),
    phase("H5Dwrite", 2e9, "2 MiB", memory=5e6, comm=0.75),
)

FOUND = {
    ("write",): 8e9,
    ("read",): 4e9,
    ("median", "H5Dwrite"): 1.5e9,
    ("raw_write",): 1e10,
    ("slowest_write",): 5e9,
    ("time",): 1.25,
    ("time", "read"): 2.5,
    ("open",): 0.25,
    ("open", "read"): 0.125,
    ("io",): 1.5,
    ("close",): 0.25,
    ("operations",): 8e3,
    ("phase", "H5Dwrite"): 2e9,
    ("phase", "H5Dwrite", "1 MiB"): 1e9,
    ("seconds", "H5Dwrite", "1 MiB"): 10.0,
    ("memory", "H5Dwrite"): 5e6,
    ("part", "H5Dwrite", "comm"): 0.5,
    ("part", "H5Dwrite", "comm", "2 MiB"): 0.75,
    ("timer", "exchange"): 0.5,
    ("timer", "sync"): 0.0,
    ("aggregators",): 8,
    ("stat", "enqueues"): 12,
    ("wait", "LOCK"): 0.125,
    ("simulated",): 20.0,
    ("moved",): 5 * 1e10,  # five phases of 10 GB
}


@pytest.mark.parametrize("asked", FOUND, ids=" ".join)
def test_finds(asked):
    function, *words = asked
    assert measure(RECORD, function, words) == pytest.approx(FOUND[asked])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("phase", "H5Dwrit"), "no phase 'H5Dwrit'; did you mean H5Dwrite"),
        (("phase", "H5Dwrite", "3 MiB"), "no step '3 MiB'"),
        (("raw_read",), "no aggregator of the run makes calls to read"),
        (("slowest_read",), "no rank of the run makes calls to read"),
        (("timer", "exchange", "read"), "no file was open to read"),
        (("stat", "locks"), "there are enqueues"),
        (("memory", "read"), "no part 'memory'"),
    ],
)
def test_says_what_a_run_does_not_have(asked, words):
    function, *rest = asked
    with pytest.raises(InputError, match=words):
        measure(RECORD, function, rest)


def collectives(nodes: int) -> Collectives:
    return Collectives(load_machine("theta").mpi, nodes, nodes)


def test_a_collective_costs_more_among_more_nodes():
    few, many = (measure(collectives(nodes), "mpi", ["bcast", "4 KiB"]) for nodes in (4, 1024))
    assert 0 < few < many


@pytest.mark.parametrize("words", [["shout", "4 KiB"], ["bcast", "four"]])
def test_refuses_collectives_that_there_are_not(words):
    with pytest.raises(InputError, match=r"'shout' is not a collective|'four' is not a size"):
        measure(collectives(4), "mpi", words)


def test_each_function_says_what_it_takes_and_is():
    assert FUNCTIONS["write"].usage == "(RUN), IOR: bytes/s, the best repetition"
    assert FUNCTIONS["part"].usage.startswith("(RUN, PHASE, PART[, STEP]), kernel: seconds of a")
    assert FUNCTIONS["mpi"].usage.startswith("(COLLECTIVE, SIZE), seconds of a collective")
    assert {asked[0] for asked in FOUND} | {"raw_read", "slowest_read", "mpi"} == set(FUNCTIONS)
