"""The staging kernel: what the application sees, and when the data are safe."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import run_kernel

from xc40io.config.errors import InputError
from xc40io.run.result import Result
from xc40io.workloads.job_results import Row

MIB = 1 << 20


def run(machine: str = "theta", nodes: int = 2, target: Any = "lustre", **options: Any) -> Result:
    told = {"machine": machine, "target": target, "striping": {"count": 4, "size": "1m"}}
    return run_kernel("staging", nodes, job=told, **({"size": 4 * MIB} | options))


def row(result: Result, phase: str, step: str = "all") -> Row:
    (found,) = [r for r in result.rows if (r.phase, r.step) == (phase, step)]
    return found


def test_the_application_waits_for_the_ssd_alone() -> None:
    result = run(steps=2, compute=0.5)
    application, safe = row(result, "application"), row(result, "until safe")
    assert application.seconds < 2 * 0.5 + 0.1
    assert safe.seconds >= application.seconds
    assert safe.bytes == application.bytes == 2 * 4 * 4 * MIB
    assert result.bulk_bytes == safe.bytes, "all of it went to Lustre"
    assert not result.troubles


def test_a_flush_begins_at_once_in_the_background_and_late_at_the_end() -> None:
    early, late = run(steps=2, compute=0.5), run(steps=2, compute=0.5, flush="end")
    assert row(early, "flush", "0").start < 0.1
    assert row(late, "flush", "0").start >= 1.0
    assert row(early, "until safe").seconds < row(late, "until safe").seconds
    assert row(early, "application").seconds == pytest.approx(
        row(late, "application").seconds, rel=0.1
    )


def test_a_job_that_ends_too_soon_leaves_bytes_unsafe() -> None:
    result = run(steps=2, grace=0.01)
    (trouble,) = result.troubles
    assert trouble.name == "UNSAFE"
    assert trouble.bytes + row(result, "until safe").bytes == 2 * 4 * 4 * MIB
    assert "had not been flushed" in trouble.text


def test_staging_pays_when_there_is_something_to_compute() -> None:
    staged, direct = run(steps=2, compute=0.5), run(steps=2, compute=0.5, direct=True)
    assert row(staged, "application").seconds < row(direct, "application").seconds


def test_input_is_read_from_lustre_once() -> None:
    result = run(mode="in", steps=3)
    # Both nodes copy the part of each of their ranks.
    assert result.bulk_bytes == pytest.approx(2 * 2 * 4 * MIB, rel=0.3)
    copied, read = row(result, "stage in", "in"), row(result, "read", "2")
    assert copied.bytes == read.bytes == 4 * 4 * MIB
    assert read.seconds < copied.seconds


@pytest.mark.parametrize(
    ("machine", "options", "words"),
    [
        ("titan", {}, "no section ssd"),
        ("theta", {"mode": "in", "flush": "end"}, "belong to mode: out"),
    ],
)
def test_what_cannot_be_is_refused(machine: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(machine, **options)


def test_service_nodes_move_what_they_hold_to_lustre_and_back() -> None:
    burst_buffer = {"kind": "bb", "capacity": "60 GB"}
    out = run("cori-knl", target=burst_buffer, steps=2, size=20 * MIB)
    assert row(out, "until safe").bytes == 2 * 4 * 20 * MIB
    assert row(out, "flush", "1").seconds > row(out, "local write", "1").seconds
    # Once from the nodes to the burst buffer, once from there, once to Lustre.
    assert out.bulk_bytes == 3 * 2 * 4 * 20 * MIB
    back = run("cori-knl", target=burst_buffer, mode="in", size=20 * MIB)
    assert row(back, "stage in", "in").bytes == 2 * 20 * MIB
    assert row(back, "read", "0").seconds < row(back, "stage in", "in").seconds


def test_a_private_burst_buffer_is_moved_too() -> None:
    private = {"kind": "bb", "capacity": "60 GB", "access": "private"}
    out = run("cori-knl", target=private, size=20 * MIB)
    assert row(out, "until safe").bytes == 4 * 20 * MIB
