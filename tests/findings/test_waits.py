"""Where the time of the ranks went."""

from __future__ import annotations

import pytest

from xc40io import Result, Scenario, simulate
from xc40io.findings.waits import doing, phase_doing, phase_waits, waits
from xc40io.plane.causes import Cause


@pytest.fixture(scope="module")
def result() -> Result:
    ior = "-w -r -e -b 4m -t 1m -d 1"
    job = {"nodes": 4, "ppn": 4, "striping": {"count": 4, "size": "1m"}}
    return simulate(Scenario(machine="theta", workload={"ior": ior}, **job))


def test_waits_add_up_to_the_whole(result):
    found = waits(result)
    assert sum(wait.seconds for wait in found) == pytest.approx(result.simulated)
    assert found == sorted(found, key=lambda wait: -wait.seconds)


def test_a_phase_has_its_own_waits(result):
    (outcome,) = result.outcome.tests
    write, read = ({wait.cause for wait in phase_waits([r.stretch], 1.0)} for r in outcome.records)
    assert {"disk", "latency", "copy", "mds"} <= write
    assert "journal" in write - read
    assert "think" not in write | read


def test_what_ranks_are_at_is_told_beside_what_that_is_behind(result):
    (outcome,) = result.outcome.tests
    write, read = ({wait.cause for wait in phase_doing([r.stretch], 1.0)} for r in outcome.records)
    assert {"flush", "copy", "metadata"} <= write
    assert "flush" not in read
    seconds = sum(record.stretch.end - record.stretch.start for record in outcome.records)
    assert sum(wait.seconds for wait in doing(result)) == pytest.approx(seconds)


def test_the_last_rank_has_waited_until_the_end(result):
    (outcome,) = result.outcome.tests
    for record in outcome.records:
        last = record.close_end.argmax()
        seconds = record.close_end[last] - record.open_start[last]
        assert seconds <= record.stretch.end - record.stretch.start
        assert record.stretch.last_waits.sum() >= seconds


def test_threads_wait_in_place_of_their_ranks():
    ior = "-w -F -b 8m -t 1m"
    job = {"nodes": 1, "ppn": 2, "cores": {"threads": 4}}
    result = simulate(Scenario(machine="theta", workload={"ior": ior}, **job))
    assert result.waits.shape == (2, len(Cause))
    found = {wait.cause: wait.seconds for wait in waits(result)}
    assert found["copy"] > found.get("threads", 0.0)
    assert sum(found.values()) == pytest.approx(result.simulated)


def test_who_waits_for_aggregators_that_read_waits_for_what_these_do():
    ior = "-a MPIIO -c -w -r -C -b 16m -t 4m"
    job = {"nodes": 4, "ppn": 2, "striping": {"count": 4}}
    result = simulate(Scenario(machine="theta", workload={"ior": ior}, **job))
    (read,) = (one for one in result.activities if one.name == "read")
    (stretch,) = read.stretches
    whole = stretch.end - stretch.start
    for seconds in (stretch.waits, stretch.last_waits):
        assert seconds[Cause.COPY] > 0.5 * whole  # the aggregators copy out of their cache
        assert seconds[Cause.START] < 0.02 * whole
