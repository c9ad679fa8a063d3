"""``xc40io.replay``: a log replayed from a program as from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from darshan_logs import posix_writes, write_log

from xc40io import InputError, replay

MIB = 2**20


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four ranks that write a file each."""
    path: Path = tmp_path_factory.mktemp("logs") / "own.darshan"
    records = [posix_writes(rank, 4, MIB) | {"id": rank + 1} for rank in range(4)]
    names = {rank + 1: f"/lus/theta-fs0/out.{rank}" for rank in range(4)}
    return str(write_log(path, ranks=4, names=names, POSIX=records))


def test_without_changes_there_is_the_run_as_recorded_alone(log: str) -> None:
    report = replay(log, recorded=["ppn=2"])
    (run,) = report.runs
    assert (report.change, run.scenario.nodes, run.scenario.ppn) == ("", 2, 2)
    assert report.told == "--recorded ppn=2"


def test_a_what_if_stands_behind_it_with_all_that_was_asked_for(log: str) -> None:
    report = replay(log, nodes=4, stripe_count=2, assignments=["lustre.osts=112"], record=True)
    recorded, changed = report.runs
    assert report.change == "--nodes 4 --stripe-count 2 --set lustre.osts=112"
    assert (changed.scenario.striping.count, recorded.scenario.striping.count) == (2, None)
    assert (changed.machine.lustre.osts, recorded.machine.lustre.osts) == (112, 56)
    assert changed.recording is not None


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"nodes": 1, "ppn": 2}, "room for 4"),
        ({"target": "tape"}, "kind = 'tape'"),
        ({"recorded": ["ppn=none"]}, "--recorded ppn"),
    ],
)
def test_what_cannot_be_is_refused(log: str, job: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replay(log, **job)
