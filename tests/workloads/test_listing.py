"""Reading a directory: the verb ``list`` of a kernel at work, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads import listing
from xc40io.workloads.skeleton import fileset
from xc40io.workloads.skeleton.kernel import read_kernel

KERNEL = """\
summary: Lists a directory.
files:
  small: {count: 120, stripe_count: 2}
phases:
  - {list: {file: small, only: local == 0}, row: ls -l}
"""


def listed(folder: Path, text: str = KERNEL, **changes: Any) -> Result:
    path = folder / "ls.yaml"
    path.write_text(text)
    job = {"machine": "theta", "nodes": 2, "ppn": 2, "changes": changes}
    return simulate(Scenario.model_validate({**job, "workload": {"kernel": {"name": str(path)}}}))


def test_two_nodes_list_a_directory_with_statahead_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = listed(tmp_path)
    one_by_one = listed(tmp_path, **{"lustre.statahead_max": 0})
    assert one_by_one.rows[0].seconds > 4 * ahead.rows[0].seconds
    assert ahead.stats[Stat.GLIMPSES] == one_by_one.stats[Stat.GLIMPSES] == 2 * 120 * 2
    # Names that come in more than one request are no reason to stop.
    monkeypatch.setattr(listing, "NAMES_A_REQUEST", 50)
    by_parts = listed(tmp_path)
    assert by_parts.stats[Stat.GLIMPSES] == 2 * 120 * 2
    assert by_parts.rows[0].seconds < 1.5 * ahead.rows[0].seconds


def test_what_cannot_be_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="has directory: own; right would be shared"):
        listed(tmp_path, KERNEL.replace("stripe_count: 2", "directory: own"))
    monkeypatch.setattr(fileset, "_MOST_STATS", 200)
    with pytest.raises(InputError, match="2 ranks list 120 files; right would be at most 200"):
        listed(tmp_path)


@pytest.mark.parametrize("api", ["mpiio", "hdf5"])
def test_only_files_of_posix_are_listed(tmp_path: Path, api: str) -> None:
    path = tmp_path / "ls.yaml"
    path.write_text(KERNEL.replace("stripe_count: 2", f"api: {api}"))
    with pytest.raises(InputError, match=f"files small have api: {api}; right would be posix"):
        read_kernel(path, "ls", {})
