"""What is drawn where a record says nothing."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.stream import PopulationRequest, checked_stream
from xc40io.workloads.job_records.drawn import Drawn
from xc40io.workloads.job_records.habits import completed, load_habits
from xc40io.workloads.job_records.job_record import JobRecord
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
    drawn = Drawn(median=median, mean=median * times, **SOURCE)
    assert (drawn.value(share) <= median * (1 + 1e-9)) == (share <= 0.5) or times == 1.0


def test_the_mean_of_a_lognormal_draw_is_as_asked_for() -> None:
    drawn = Drawn(median=2.0, mean=3.0, **SOURCE)
    values = [drawn.value((number + 0.5) / 20000) for number in range(20000)]
    assert statistics.mean(values) == pytest.approx(3.0, rel=0.01)


def test_values_come_by_their_weights() -> None:
    drawn = Drawn(values=(1.0, 2.0), weights=(1.0, 3.0), **SOURCE)
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
        Drawn.model_validate(SOURCE | fields)


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
    fine = recorded_jobs(checked_stream(document, "a test"))
    coarse = recorded_jobs(checked_stream(document | {"most_ranks_per_node": 1}, "a test"))
    assert fine.notes == ()
    assert coarse.notes[0].startswith(
        "5 of 5 jobs are simulated more coarsely, with at most 1 rank"
    )
    for one, other in zip(fine.jobs, coarse.jobs, strict=True):
        assert other.ppn == 1
        assert one.workload.kernel is not None
        assert other.workload.kernel is not None
        assert one.workload.kernel["written"] == other.workload.kernel["written"]
