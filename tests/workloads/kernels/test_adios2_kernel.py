"""The ADIOS 2 kernel: what its engines take, what is refused, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xc40io
from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.studies.tune.lines_to_paste import proposal_of
from xc40io.workloads.kernels.adios2 import Adios2Kernel

JOB: dict[str, Any] = {"machine": "theta", "nodes": 2, "ppn": 4}
STRIPES = {"count": 1, "size": "1 MiB"}


def scenario(**options: Any) -> xc40io.Scenario:
    workload = {"kernel": {"name": "adios2", "size": "16 MiB", "variables": 2, **options}}
    return xc40io.Scenario(**JOB, striping=STRIPES, workload=workload)


def seconds(phase: str = "end step", **options: Any) -> float:
    """Return how long the slowest rank is in a phase of all steps."""
    result = xc40io.simulate(scenario(**options))
    return sum(row.longest for row in result.rows if row.phase == phase)


def test_one_after_the_other_is_slower_than_at_once() -> None:
    chain = {"num_aggregators": 1}
    together = seconds(aggregation_type="EveryoneWrites", **chain)
    assert seconds(aggregation_type="EveryoneWritesSerial", **chain) > together


def test_the_copy_into_shared_memory_goes_on_while_the_aggregator_writes() -> None:
    # Four ranks of a node: three copies, each beside the write of the block before. By hand the
    # copies of one after the other would come on top.
    mpi = load_machine("theta").mpi
    copies = 3 * 16 * 2**20 / mpi.copy_rate
    alone = seconds(aggregation_type="EveryoneWritesSerial")
    assert seconds() < alone + copies


@pytest.mark.parametrize("kind", ["TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial"])
def test_a_thread_writes_while_the_ranks_compute(kind: str) -> None:
    told = {"aggregation_type": kind, "steps": 2, "compute": 5.0}
    there = seconds(**told)
    waited = seconds("wait", async_write=True, **told)
    assert seconds(async_write=True, **told) < there / 2
    assert waited < there / 4


def test_without_computing_a_thread_gains_nothing() -> None:
    told = {"steps": 2}
    whole = seconds("all", **told)
    assert seconds("all", async_write=True, **told) == pytest.approx(whole, rel=0.25)


@pytest.mark.parametrize("engine", ["BP5", "BP4"])
def test_all_that_is_put_is_written(engine: str) -> None:
    told = {"engine": engine, "steps": 3, "spread": 0.5, "num_aggregators": 3}
    result = xc40io.simulate(scenario(**told))
    put = sum(row.bytes for row in result.rows if row.phase == "all")
    assert result.bulk_bytes == pytest.approx(put, rel=0.01)
    assert put == pytest.approx(3 * 8 * 16 * 2**20, rel=0.2)


def test_rows_tell_of_memory_and_of_subfiles() -> None:
    (row,) = (row for row in xc40io.simulate(scenario(num_sub_files=1)).rows if row.phase == "all")
    assert row.figures["subfiles"].value == 1
    assert row.figures["memory"].value == 2 * 16 * 2**20


def test_what_an_engine_does_not_have_is_ignored_as_adios_does() -> None:
    five = xc40io.simulate(scenario(sub_streams=1))
    assert "BP5 has no parameter SubStreams: ADIOS 2 ignores it." in five.notes
    (row,) = (row for row in five.rows if row.phase == "all")
    assert row.figures["subfiles"].value == 2
    four = xc40io.simulate(scenario(engine="BP4", num_sub_files=1, async_write=True))
    assert "BP4 has no parameter NumSubFiles, AsyncWrite: ADIOS 2 ignores it." in four.notes
    (row,) = (row for row in four.rows if row.phase == "all")
    assert row.figures["subfiles"].value == 2


def test_parameters_are_said_in_xml() -> None:
    assert Adios2Kernel(num_sub_files=4, async_write=True, sub_streams=3).pasted == (
        '<engine type="BP5">',
        '  <parameter key="NumSubFiles" value="4"/>',
        '  <parameter key="AsyncWrite" value="true"/>',
        "</engine>",
    )
    four = Adios2Kernel(engine="BP4", sub_streams=3, async_write=True)
    assert four.pasted[1:-1] == ('  <parameter key="SubStreams" value="3"/>',)


def test_tune_says_what_to_paste() -> None:
    told = scenario(aggregation_type="EveryoneWritesSerial", num_aggregators=1)
    found = xc40io.tune(told, allow="options", budget=6, repeat=2, jobs=1)
    remarks = proposal_of(found.space, found.best).remarks
    kind = found.best.setting["aggregation_type"]
    assert kind != "EveryoneWritesSerial"
    assert f"By hand: aggregation type: {kind}." in remarks
    assert '  <parameter key="NumAggregators" value="1"/>' in remarks
    assert remarks[-1] == "</engine>"


def test_sizes_differ_by_the_spread() -> None:
    sizes = Adios2Kernel(size=10**6, spread=0.5, variables=3).block_sizes(5000, 0, seed=1)
    assert sizes.min() == pytest.approx(5 * 10**5, rel=0.01)
    assert sizes.max() == pytest.approx(15 * 10**5, rel=0.01)
    assert (sizes % 24 == 0).all()
    assert np.unique(Adios2Kernel(size=1000).block_sizes(9, 0, seed=1)).tolist() == [960]


REFUSED: dict[str, dict[str, Any]] = {
    "size = 8 with variables = 2: right would be 8 bytes of each": {"size": 8},
    "aggregator_ratio = 3 with engine = BP4: right would be a divisor of the 8 ranks": {
        "engine": "BP4",
        "aggregator_ratio": 3,
    },
    "size = 2 GiB with engine = BP4: right would be 2,147,381,248 bytes": {
        "engine": "BP4",
        "size": "2 GiB",
    },
    "the data of a step and the buffers of a node take": {"size": "60 GiB"},
    "the steps make 17.2 PB": {"size": "1 GiB", "steps": 2_000_000},
    "go to the aggregators in 8,521,768 pieces": {"size": "4 GiB", "max_shm_size": 8192},
    "max_shm_size = 10: should be": {"max_shm_size": 10},
    "engine = 'BP3'": {"engine": "BP3"},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused(sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        xc40io.simulate(scenario(**REFUSED[sentence]))
    assert str(refusal.value).startswith("kernel adios2: ")
    assert sentence in str(refusal.value)


def test_a_brigade_of_too_many_ranks_is_refused() -> None:
    told = {"name": "adios2", "engine": "BP4", "num_aggregators": 1}
    many = xc40io.Scenario(machine="theta", nodes=128, ppn=32, workload={"kernel": told})
    with pytest.raises(InputError, match="8,386,560 pieces, too many"):
        xc40io.simulate(many)
