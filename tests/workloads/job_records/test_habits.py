"""What is drawn where a record says nothing."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.config.stream import PopulationRequest, checked_stream
from xc40io.workloads.job_records.coarseness import LADDER, coarseness_of, rpcs_as_one
from xc40io.workloads.job_records.drawn import DrawnValue
from xc40io.workloads.job_records.habits import (
    completed,
    fewer_notes,
    load_habits,
    typical,
)
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.least_time import least_seconds
from xc40io.workloads.job_records.population import draw_population, load_population
from xc40io.workloads.job_records.stream_jobs import recorded_jobs

SOURCE = {"source": "a test", "firm": "assumed"}
HABITS = load_habits("production")


def test_what_is_known_stays() -> None:
    known = JobRecord(
        name="a", nodes=2, ranks=7, read_call=5, write_layout="rank", files=3, opens=9, stats=0
    )
    full = completed(known, HABITS, seed=1, draw=1)
    given_fields = known.model_dump(exclude_none=True)
    assert {name: getattr(full, name) for name in given_fields} == given_fields
    assert full.io_ranks == 7
    assert full.write_call is not None


def test_draws_differ_and_can_be_drawn_again() -> None:
    record = JobRecord(name="a", nodes=4)
    calls = {completed(record, HABITS, 1, draw).write_call for draw in range(1, 30)}
    assert len(calls) == 5
    assert completed(record, HABITS, 1, 3) == completed(record, HABITS, 1, 3)


def test_what_is_known_of_a_job_changes_no_other_draw() -> None:
    one = completed(JobRecord(name="a", nodes=4), HABITS, 1, 1)
    other = completed(JobRecord(name="a", nodes=4, read_call=11), HABITS, 1, 1)
    assert one.model_copy(update={"read_call": 11}) == other


def test_large_jobs_share_their_files() -> None:
    layouts = [
        completed(JobRecord(name=f"j{n}", nodes=512), HABITS, 1, 1).write_layout for n in range(40)
    ]
    assert set(layouts) == {"job"}


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1.0, 1e6), st.floats(1.0, 50.0))
def test_half_of_a_lognormal_draw_is_below_its_median(
    share: float, median: float, times: float
) -> None:
    drawn = DrawnValue(median=median, mean=median * times, **SOURCE)
    assert (drawn.value(share) <= median * (1 + 1e-9)) == (share <= 0.5) or times == 1.0


def test_the_mean_of_a_lognormal_draw_is_as_asked_for() -> None:
    drawn = DrawnValue(median=2.0, mean=3.0, **SOURCE)
    values = [drawn.value((number + 0.5) / 20000) for number in range(20000)]
    assert statistics.mean(values) == pytest.approx(3.0, rel=0.01)


def test_values_come_by_their_weights() -> None:
    drawn = DrawnValue(values=(1.0, 2.0), weights=(1.0, 3.0), **SOURCE)
    values = [drawn.value(number / 1000) for number in range(1000)]
    assert values.count(1.0) == 250


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "right would be values"),
        ({"values": (1.0,), "median": 1.0, "mean": 2.0}, "right would be values"),
        ({"median": 2.0, "mean": 1.0}, "at least its median"),
        ({"values": (1.0,), "weights": (1.0, 2.0)}, "2 weights for 1 values"),
        ({"values": (1.0,), "weights": (0.0,)}, "weights are at least 0"),
    ],
)
def test_what_is_no_distribution_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DrawnValue.model_validate(SOURCE | fields)


def test_a_population_has_the_bytes_of_its_distributions() -> None:
    request = PopulationRequest(name="theta", jobs=2000, interval=10.0)
    jobs = draw_population(request, seed=3)
    assert statistics.median(job.read for job in jobs) == pytest.approx(4.786e9, rel=0.2)
    assert jobs[-1].start == pytest.approx(20000.0, rel=0.1)
    limits = load_population("theta").limits
    assert all(job.nodes and (job.walltime or 0) <= limits.limit(job.nodes) for job in jobs)
    assert all((job.runtime or 0) <= (job.walltime or 0) for job in jobs)


def test_every_value_that_ships_names_its_source() -> None:
    assert {*shipped("habits"), *shipped("populations")} == {"production", "theta"}
    for field in type(HABITS).model_fields:
        assert field == "title" or getattr(HABITS, field).source


def test_an_unknown_habit_is_refused() -> None:
    with pytest.raises(InputError, match="'none' is not one of the habits that ship"):
        load_habits("none")


def test_coarse_jobs_move_the_same_bytes_and_are_told() -> None:
    document = {
        "machine": "theta",
        "queue": {},
        "population": {"name": "theta", "jobs": 5, "interval": 1},
    }
    all_of_them = {"most_ranks_per_node": 0, "most_calls": 0}
    fine = recorded_jobs(checked_stream(document | all_of_them, "a test"))
    coarse = recorded_jobs(
        checked_stream(document | all_of_them | {"most_ranks_per_node": 1}, "a test")
    )
    assert fine.notes == ()
    assert coarse.notes[0].startswith(
        "5 of 5 jobs are simulated more coarsely, with at most 1 rank"
    )
    for one, other in zip(fine.jobs, coarse.jobs, strict=True):
        assert other.ppn == 1
        assert one.workload.kernel is not None
        assert other.workload.kernel is not None
        assert one.workload.kernel["written"] == other.workload.kernel["written"]


def test_what_is_drawn_does_not_need_longer_than_the_job_ran() -> None:
    theta = load_machine("theta")
    # 64 GB in calls of 4 KiB by 64 ranks are 244,000 calls each, of 40 us: 10 s
    job = JobRecord(name="a", nodes=1, written=64 * 10**9, runtime=5.0, stripe_count=8)
    free = [completed(job, HABITS, 1, draw) for draw in range(1, 40)]
    kept = [completed(job, HABITS, 1, draw, theta) for draw in range(1, 40)]
    assert any(least_seconds(one, theta) > 5.0 for one in free)
    assert all(least_seconds(one, theta) <= 5.0 for one in kept)
    for one, other in zip(free, kept, strict=True):  # what could be stays as it was drawn
        assert one == other or least_seconds(one, theta) > 5.0
    # Where nothing is possible, the least of many draws: Theta writes 172 GB/s.
    hopeless = completed(job.model_copy(update={"runtime": 0.1}), HABITS, 1, 1, theta)
    assert hopeless.write_call in (993109, 1041440, 1048169)


def test_the_least_time_is_that_of_calls_of_disks_or_of_the_mds() -> None:
    theta = load_machine("theta")
    moved = {"name": "a", "nodes": 2, "ranks": 4, "io_ranks": 4, "opens": 1, "files": 1, "stats": 0}
    small = JobRecord(**moved, written=4000 * 1000, write_call=1000, write_layout="rank")
    opens = 4 / theta.lustre.mds.open_rate
    calls = least_seconds(small, theta)
    assert calls == pytest.approx(1000 * theta.nodes.call_time + opens)
    large = JobRecord(**moved, read=10**12, read_call=2**20, read_layout="job", stripe_count=2)
    disks = least_seconds(large, theta)
    assert disks == pytest.approx(10**12 / (2 * theta.lustre.ost_read_rate) + opens)
    asked = JobRecord(**(moved | {"stats": 10**6}))
    stats = least_seconds(asked, theta)
    assert stats == pytest.approx(4 * 10**6 / theta.lustre.mds.stat_rate + opens)


@given(
    st.integers(1, 4000),
    st.integers(0, 10**15),
    st.integers(1, 10**7),
    st.integers(1, 1000),
    st.integers(0, 10**6),
)
def test_the_fewer_calls_there_may_be_the_coarser_a_job_is(
    nodes: int, moved: int, call: int, steps: int, stats: int
) -> None:
    job = completed(
        JobRecord(name="a", nodes=nodes, written=moved, write_call=call, steps=steps, stats=stats),
        HABITS,
        1,
        1,
    )
    limits = [coarseness_of(job, most) for most in (1e2, 1e5, 1e8, 1e30)]
    assert sorted(limits) == limits
    assert limits[-1] == LADDER[0]


def test_rpcs_are_handled_as_one_as_far_as_a_client_may_hold_dirty() -> None:
    theta = load_machine("theta")
    assert rpcs_as_one(10 << 20, 100, theta) == 1
    assert rpcs_as_one(1000 << 20, 100, theta) == 10
    assert rpcs_as_one(10**15, 100, theta) == 32


def test_habits_follow_the_machine() -> None:
    usual, titan = load_habits("production"), load_machine("titan")
    few = load_machine("theta").with_changes({"lustre.osts": 28})
    shared = JobRecord(name="a", nodes=4, written=1, write_layout="job")
    own = typical(shared, usual.on(titan))
    assert (own.ranks, own.io_ranks, own.stripe_count) == (64, 64, 48)
    assert typical(JobRecord(name="a", ranks=64), usual.on(titan)).nodes == 4
    assert typical(shared, usual.on(few)).stripe_count == 28
    (stripes,) = fewer_notes([shared], usual, few)
    assert stripes.startswith("theta has 28 OSTs, so a shared file")
    (ranks,) = fewer_notes([shared], usual, titan)
    assert ranks.endswith("has 16 a node where habits say 64.")
    assert not fewer_notes([own], usual, few)
    assert not fewer_notes([own], usual, titan)
