"""The critical path: without gaps from the first open to the last close, through what was slow."""

from __future__ import annotations

from typing import Any

import pytest
import small_jobs

from xc40io import Result, Scenario, simulate
from xc40io.findings import tracks
from xc40io.findings.critical_path import CriticalPath, critical_path, critical_paths


def run(ior: str, **given: Any) -> Result:
    striped = {"record": True, "striping": {"count": 2, "size": "1m"}}
    return small_jobs.run(ior, **(striped | given))


def the_path(result: Result) -> CriticalPath:
    ((_, path),) = critical_paths(result)
    return path


@pytest.mark.parametrize(
    "ior",
    [
        *("-w -e -b 2m -t 512k", "-F -w -e -b 8m -t 1m", "-w -B -b 2m -t 1m", "-r -b 2m -t 256k"),
        *("-a MPIIO -c -w -e -b 2m -t 1m", "-a MPIIO -c -r -b 1m -t 1m", "-F -w -r -b 1m -t 64k"),
    ],
)
def test_it_has_no_gap_and_its_shares_are_the_whole(ior: str) -> None:
    result = run(ior)
    for _, path in critical_paths(result):
        assert path.segments[0].start == pytest.approx(path.start, abs=1e-11)
        assert path.segments[-1].end == pytest.approx(path.end, abs=1e-11)
        for segment, following in zip(path.segments, path.segments[1:], strict=False):
            assert segment.end == pytest.approx(following.start, abs=1e-11)
        assert all(segment.end > segment.start for segment in path.segments)
        assert sum(share.share for share in path.shares()) == pytest.approx(1.0)
    assert len(critical_paths(result)) == len(result.activities)


def test_it_goes_through_the_ost_that_is_slow() -> None:
    path = the_path(run("-w -e -b 16m -t 4m", slow={"OST 3": 3000.0}, striping={"count": -1}))
    assert path.shares()[0].where == "OST 3"
    assert path.shares()[0].share > 0.5


def test_at_a_collective_it_goes_on_with_the_last_to_come() -> None:
    """An aggregator has slow disks: the others wait for it, and the path is its own."""
    slow = {"lustre.ost_write_rate": "1 MB/s"}
    path = the_path(run("-a MPIIO -c -w -e -b 4m -t 4m", changes=slow))
    disks = [share for share in path.shares() if "OST" in share.where]
    assert sum(share.share for share in disks) > 0.7


def test_at_a_lock_it_goes_through_what_the_holder_does() -> None:
    slow = {"lustre.journal_commit": "1 s"}
    path = the_path(run("-w -e -b 256k -t 256k -s 4", changes=slow, striping={"count": 1}))
    first = path.shares()[0]
    assert "commit" in first.what
    assert first.where.startswith("node ")


def test_of_what_was_not_recorded_there_is_none() -> None:
    result = run("-w -b 1m -t 1m", record=False)
    assert critical_paths(result) == []
    assert critical_path(result, 0.0, 1.0) is None


@pytest.mark.parametrize("name", ["adios", "hacc-io", "vpic-io", "e3sm", "wrf-restart"])
def test_it_comes_to_an_end_whatever_ranks_do(name: str) -> None:
    job = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"kernel": {"name": name}}}
    result = simulate(Scenario.model_validate(job), record=True)
    assert critical_paths(result)
    for _, path in critical_paths(result):
        assert sum(share.share for share in path.shares()) == pytest.approx(1.0)


def test_it_is_followed_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("-F -w -b 1m -t 1m")
    ((activity, path),) = critical_paths(result)
    monkeypatch.setattr(tracks.Tracks, "last_before", None)
    assert critical_paths(result) == [(activity, path)]
