"""Kinds of jobs: nothing is lost of the bytes, and alike jobs come together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.habits import load_habits
from xc40io.workloads.job_records.job_kinds import kinds_of
from xc40io.workloads.job_records.job_record import JobRecord

HABITS = load_habits("production")
GB = 10**9


def job(name: str, nodes: int, read: int = 0, written: int = 0, **more: object) -> JobRecord:
    return JobRecord.model_validate(
        {"name": name, "nodes": nodes, "read": read, "written": written, **more}
    )


def test_jobs_come_together_by_size_and_by_what_they_do() -> None:
    jobs = [
        job("a", 128, written=8 * GB, runtime=10.0),
        job("b", 256 - 1, written=4 * GB, runtime=10.0),
        job("c", 256, written=2 * GB),
        job("d", 128, read=8 * GB, written=GB),
        job("e", 128, read=8 * GB, written=8 * GB, write_layout="rank"),
        job("f", 1),
    ]
    found = kinds_of(jobs, HABITS)
    assert [(kind.record.name, kind.jobs) for kind in found.kinds] == [
        ("both-128", 1),
        ("write-181", 2),
        ("read-128", 1),
        ("write-256", 1),
    ]
    writes = found.kinds[1]
    assert (writes.nodes, writes.bytes, writes.record.written) == ((128, 255), 12 * GB, 6 * GB)
    assert writes.node_seconds == 10.0 * (128 + 255)
    assert (found.jobs, found.silent, found.bytes) == (6, 1, 39 * GB)


def test_layouts_and_calls_part_kinds_and_are_the_commonest_and_the_median() -> None:
    own = [job(f"o{n}", 4, written=GB, write_layout="rank", write_call=n << 20) for n in (1, 2, 9)]
    shared = job("s", 4, written=GB, write_layout="job", write_call=1 << 20)
    short = job("t", 4, written=GB, write_layout="job", write_call=4096)
    kinds = kinds_of([*own, shared, short], HABITS).kinds
    assert [kind.record.name for kind in kinds] == ["write-4", "write-4-2", "write-4-3"]
    assert [kind.record.write_layout for kind in kinds] == ["rank", "job", "job"]
    assert [kind.record.write_call for kind in kinds] == [2 << 20, 1 << 20, 4096]


@pytest.mark.parametrize(
    ("called", "kind"),
    [
        ("climate climate", "climate-4"),
        ("run_x.sh run_x_017.sh run_x-2-3", "run_x-4"),
        ("climate genes", "write-4"),
        ("climate genes climate", "climate-4"),
        ("batch 12345", "write-4"),
        ("two%words two%words", "two-words-4"),
        ("vasp6", "vasp6-4"),
    ],
)
def test_a_kind_is_called_as_most_of_its_jobs_are(called: str, kind: str) -> None:
    jobs = [
        job(f"j{number}", 4, written=GB, application=name)
        for number, name in enumerate(called.split())
    ]
    assert [found.record.name for found in kinds_of(jobs, HABITS).kinds] == [kind]


def test_where_layouts_are_not_known_the_other_one_is_told_too() -> None:
    own = [job(f"o{n}", 4, written=GB, write_layout="rank") for n in (1, 2)]
    unknown = [job(f"u{n}", 4, written=9 * GB) for n in (1, 2, 3)]
    first, second = kinds_of([*own, *unknown], HABITS).kinds
    assert first.otherwise is not None
    assert (first.record.write_layout, first.otherwise.write_layout) == ("job", "rank")
    assert (first.record.stripe_count, first.otherwise.stripe_count) == (48, None)
    assert second.otherwise is None
    (both,) = kinds_of([job("b", 4, read=GB, written=GB, read_layout="rank")], HABITS).kinds
    assert both.otherwise is not None
    assert (both.otherwise.read_layout, both.otherwise.write_layout) == ("rank", "rank")


def test_nothing_is_drawn() -> None:
    kinds = kinds_of([job("a", 4, written=GB)], HABITS).kinds
    assert kinds == kinds_of([job("a", 4, written=GB)], HABITS).kinds
    assert kinds[0].record.write_call == 993109
    assert kinds[0].record.ranks == 256


def test_without_bytes_there_is_no_kind() -> None:
    with pytest.raises(InputError, match="of no job the bytes are known; right would be a table"):
        kinds_of([job("a", 4)], HABITS)


@given(
    st.lists(
        st.tuples(st.integers(1, 5000), st.integers(0, 1 << 45), st.integers(0, 1 << 45)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 40),
)
def test_all_kinds_together_move_what_all_jobs_move(
    jobs: list[tuple[int, int, int]], most: int
) -> None:
    records = [job(f"j{n}", nodes, read, written) for n, (nodes, read, written) in enumerate(jobs)]
    if not any(read + written for _, read, written in jobs):
        return
    found = kinds_of(records, HABITS, most)
    assert len({kind.record.name for kind in found.kinds}) == len(found.kinds) <= most
    if len(found.kinds) < most:
        assert sum(kind.bytes for kind in found.kinds) == found.bytes
        assert sum(kind.jobs for kind in found.kinds) + found.silent == len(jobs)
    for kind in found.kinds:
        moved = kind.jobs * (kind.record.read + kind.record.written)
        assert abs(moved - kind.bytes) <= kind.jobs
