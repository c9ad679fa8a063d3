"""Client nodes that hang, or are evicted: what is lost, and who goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_jobs import run_faulty

import xc40io
from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.parts.recovery import default_recovery
from xc40io.engine.page import PAGE
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.results.run_values import simulator_document
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result

SHARED = "-w -e -b 1m -t 256k -s 16"
"""Two writers that take each other's locks all the time."""


def run(*faults: str, ior: str = SHARED, **more: Any) -> Result:
    """Write by one rank on each of two nodes to OST 1."""
    return run_faulty(faults, ior, **({"nodes": 2, "ppn": 1} | more))


def on_disk(result: Result) -> float:
    return sum(use.bytes for use in result.stations() if use.kind == StationKind.OST)


def fetched(result: Result) -> float:
    """Return the bytes that nodes have read: of a job that only writes, pages it writes in part."""
    return sum(
        use.bytes
        for use in result.stations()
        if use.kind == StationKind.OSS and use.name.endswith("out")
    )


def lost(result: Result) -> int:
    return sum(trouble.bytes for trouble in result.troubles)


def check_at_rest(result: Result) -> None:
    """Nothing is on its way, nothing dirty, and no list holds what is not there."""
    assert result.plane is not None
    tables = result.plane.tables
    assert result.plane.free_rows()["BulkRpcs.rpcs"] == len(tables.bulk.rpcs)
    assert result.plane.free_rows()["PageCache.osc_extents"] == len(tables.cache.osc_extents)
    assert not tables.lnet.queued.any()
    assert not tables.osc.obds.dirty.any()
    assert not tables.osc.obds.in_flight.any()
    assert not tables.osc.clients.dirty.any()
    assert (tables.locks.resources.waiting_head == -1).all()
    assert (tables.locks.resources.waiting_count == 0).all()


def test_dirty_data_of_an_evicted_node_is_lost_and_counted(tmp_path: Path) -> None:
    ior = "-w -F -e -b 16m -t 1m"
    result = run("node 1 evicted at 10 ms", ior=ior, ppn=2)
    record = result.faults[0]
    assert record.lost > 0
    assert on_disk(result) + record.lost == 4 * (16 << 20)
    (trouble,) = result.troubles
    assert (trouble.name, trouble.bytes) == ("LOST", record.lost)
    assert "of the job's nodes 1)" in trouble.text
    document = simulator_document(result)
    assert document["faults"][0]["lost"] == record.lost
    assert document["troubles"][0]["bytes"] == record.lost
    result.save(tmp_path / "kept.xc40io")
    assert xc40io.load(tmp_path / "kept.xc40io").faults == result.faults
    check_at_rest(result)


def test_calls_past_the_cache_that_were_on_their_way_end_in_eio() -> None:
    # The disks are quick, so that bulk waits in the network, where the OSS has not got it.
    quick = {"lustre.ost_write_latency": 0.0, "lustre.ost_write_rate": 3e11}
    result = run("node 1 evicted at 20 ms", ior="-w -F -B -b 64m -t 16m", ppn=4, changes=quick)
    assert on_disk(result) + lost(result) == 8 * (64 << 20)
    check_at_rest(result)
    (trouble,) = result.troubles
    assert (trouble.name, trouble.ranks > 0) == ("EIO", True)
    assert "because an OST had evicted the node" in trouble.text


def test_an_ost_evicts_on_its_own_account_alone() -> None:
    two = {"striping": {"count": 2, "size": 1 << 20, "offset": 1}}
    ior = "-w -F -e -b 16m -t 1m"
    every = run("node 1 evicted at 10 ms", ior=ior, ppn=2, **two).faults[0].lost
    each = [run(f"node 1 evicted by OST {i} at 10 ms", ior=ior, ppn=2, **two) for i in (1, 2)]
    assert sum(one.faults[0].lost for one in each) == every > 0
    assert {one.faults[0].evictions for one in each} == {1}
    assert all(on_disk(one) + lost(one) == 4 * (16 << 20) for one in each)


def test_who_waits_for_a_lock_of_a_node_that_hangs_gets_it_after_the_timeout() -> None:
    usual = run()
    result = run("node 1 hung from 100 ms to 10 s, evicted after 2 s")
    record = result.faults[0]
    assert record.evictions == 1
    note = next(note for note in result.notes if "evicted node 1" in note)
    assert "OST 1 had waited 2.00 s for a lock of it" in note.replace("2 s", "2.00 s")
    waited = result.waits[:, Cause.CALLBACK] - usual.waits[:, Cause.CALLBACK]
    assert waited[0] == pytest.approx(2.0, abs=0.05)
    # Without the eviction the lock came when the node went on.
    late = run("node 1 hung from 100 ms to 10 s, evicted after 20 s")
    assert late.faults[0].evictions == 0
    assert late.waits[0].sum() > 9.0 + usual.waits[0].sum() / 2
    check_at_rest(result)
    check_at_rest(late)


def test_the_timeout_is_that_of_lustre_unless_it_is_said() -> None:
    timeout = default_recovery("2.7").lock_callback_timeout
    result = run("node 1 hung from 100 ms to 5 min")
    told = next(note for note in result.notes if "evicted node 1" in note)
    assert f"had waited {timeout:g} s for a lock" in told
    assert result.faults[0].recovery == pytest.approx(300.0 - 0.1)


def test_a_silent_node_is_evicted_though_nobody_waits_for_it() -> None:
    silent = default_recovery("2.7").ping_timeout
    own = {"ior": "-w -F -e -b 16m -t 1m"}
    assert run(f"node 1 hung from 10 ms to {silent - 1} s", **own).faults[0].evictions == 0
    result = run(f"node 1 hung from 10 ms to {silent + 1} s", **own)
    assert result.faults[0].evictions == result.machine.lustre.osts
    assert on_disk(result) + lost(result) == 2 * (16 << 20)
    assert lost(result) > 0


@settings(max_examples=25, deadline=None)
@given(
    at=st.floats(0.0, 0.8),
    node=st.integers(0, 1),
    hang=st.none() | st.tuples(st.floats(0.001, 3.0), st.floats(0.01, 2.0)),
    ior=st.sampled_from(
        [SHARED, "-w -F -e -b 8m -t 1m", "-w -e -B -b 8m -t 4m", "-w -e -b 47008 -t 47008 -s 40"]
    ),
)
def test_what_is_written_is_at_the_osts_or_lost(
    at: float, node: int, hang: tuple[float, float] | None, ior: str
) -> None:
    fault = f"node {node} evicted at {at:.9f} s"
    if hang is not None:
        times = f"from {at:.9f} s to {at + hang[0]:.9f} s, evicted after {hang[1]:.9f} s"
        fault = f"node {node} hung {times}"
    two = {"count": 2, "size": 1 << 20, "offset": 1}
    result = run(fault, ior=ior, ppn=2, striping=two)
    written = sum(row.bytes for row in result.rows if row.phase == "write")
    read = fetched(result)
    assert on_disk(result) + lost(result) == written + read
    assert read % PAGE == 0
    assert read <= result.stats[Stat.MISS_BYTES]  # less where the OST refused
    if "47008" not in ior:  # whole pages
        assert read == 0
    check_at_rest(result)


def test_reads_go_on_after_an_eviction() -> None:
    ior = "-w -r -C -e -F -b 8m -t 1m"
    usual = run(ior=ior)
    for share in (0.6, 0.7, 0.8, 0.9):
        result = run(f"node 0 evicted at {share * usual.simulated} s", ior=ior)
        check_at_rest(result)
        assert [row.bytes for row in result.rows] == [row.bytes for row in usual.rows]


def test_the_node_of_a_job_is_named() -> None:
    jobs = [
        {"name": name, "nodes": 1, "ppn": 1, "workload": {"ior": "-w -F -e -b 16m -t 1m"}}
        for name in ("a", "b")
    ]
    document = {"machine": "theta", "jobs": jobs}
    named = document | {"faults": ["node 0 of job b evicted at 10 ms"]}
    result = simulate_jobs(JobsScenario.model_validate(named))
    assert [len(one.result.troubles) for one in result.jobs] == [0, 1]
    with pytest.raises(InputError, match="several jobs; right would be node 0 of job a"):
        simulate_jobs(JobsScenario.model_validate(document | {"faults": ["node 0 evicted at 1 s"]}))
    wrong = document | {"faults": ["node 0 of job c evicted at 1 s"]}
    with pytest.raises(InputError, match="no such job; right would be one of a, b"):
        simulate_jobs(JobsScenario.model_validate(wrong))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("node 2 evicted at 1 s", "no node of the job; right would be node 0 to 1"),
        ("node 0 of job a evicted at 1 s", "there is one job; right would be node 0"),
        ("node 0 evicted by OST 56 at 1 s", "no OST 56; right would be OST 0 to 55"),
    ],
)
def test_what_is_not_there_cannot_be_evicted(fault: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run(fault)
