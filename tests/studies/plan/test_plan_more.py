"""What the throughput of a mix depends on, and what failed parts do to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_records import record

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.plan.mix_runs import JobRuns
from xc40io.studies.plan.plan_answer import plan_note
from xc40io.studies.plan.plan_faults import _far_apart, plan_faults
from xc40io.studies.plan.plan_plot import faults_figure, sensitivity_figure
from xc40io.studies.plan.plan_sensitivity import MixSensitivity, sensitivity
from xc40io.studies.plan.plan_why import faults_words, lost_words
from xc40io.studies.record import Bound
from xc40io.telling.data import document_of


def mix(**fields: Any) -> WorkloadMix:
    """One job whose processes write to one OST each, limited by its disks."""
    job = {
        "name": "narrow",
        "nodes": 2,
        "ppn": 4,
        "striping": {"count": 1, "size": "4m", "offset": 0},
        "workload": {"ior": "-a POSIX -F -w -e -b 16m -t 4m"},
    }
    slow = load_machine("theta").with_changes({"lustre.ost_write_rate": "100 MB/s"})
    return read_mix({"machine": slow, "jobs": [job]} | fields, "mine.yaml")


PATHS = ("lustre.ost_write_rate", "lustre.ost_read_rate", "lustre.ost_write_latency")
# A reply that comes while another writer's data are committed waits for the next commit anyhow: a
# latency is felt that lasts longer than a commit.
RANGES = {"lustre.ost_write_latency": ("20 ms", "60 ms")}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def found(store: Path) -> MixSensitivity:
    return sensitivity(mix(), PATHS, ranges=RANGES, runs=8, sobol=2, jobs=1, store=store)


def test_what_a_job_does_not_use_has_no_effect(found: MixSensitivity) -> None:
    effects = {effect.range.path: effect for effect in found.effects}
    assert found.trajectories == 2
    assert effects["lustre.ost_read_rate"].size == 0.0
    assert effects["lustre.ost_write_rate"].mean > 0.0 > effects["lustre.ost_write_latency"].mean
    assert [effect.size for effect in found.effects] == sorted(
        (effect.size for effect in found.effects), reverse=True
    )
    assert found.shares[0].path == "lustre.ost_write_rate"
    assert "lustre.ost_read_rate" not in {share.path for share in found.shares}


def test_an_effect_is_what_the_value_alone_does_over_its_range(store: Path) -> None:
    bounds = {"lustre.ost_write_rate": ("50 MB/s", "100 MB/s")}
    one = sensitivity(mix(), list(bounds), ranges=bounds, runs=20, jobs=1, store=store)
    (effect,) = one.effects
    assert (effect.range.low, effect.range.high) == (5e7, 1e8)
    assert 0.0 < effect.size <= 5e7 * 1.1  # disks of 50 MB/s more bring no more than these


def test_the_same_numbers_come_from_the_store_and_from_processes(
    found: MixSensitivity, store: Path
) -> None:
    again = sensitivity(mix(), PATHS, ranges=RANGES, runs=8, sobol=2, jobs=2, store=store)
    assert again.simulated == 0
    assert (again.effects, again.shares) == (found.effects, found.shares)
    assert again.to_pandas()["size"].tolist() == [effect.size for effect in found.effects]


def test_a_bound_at_which_a_job_cannot_run_moves_inward(store: Path) -> None:
    job = {"name": "a", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m -t 1m"}}
    wide = mix(jobs=[job | {"striping": {"count": 48}}])
    (effect,) = sensitivity(wide, ["lustre.osts"], runs=4, jobs=1, store=store).effects
    assert (effect.range.low, effect.range.high) == (56, 84)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"runs": 7}, "right would be 8 or more, or fewer values"),
        ({"sobol": 3}, "--sobol 3: right would be a power of 2"),
        ({"width": 1.5}, "right would be a part of the value"),
        ({"paths": ["lustre.version"]}, "is not a number of theta"),
        ({"ranges": {"lustre.osts": (112, 56)}}, "right would be a smaller number and a larger"),
    ],
)
def test_what_cannot_be_measured_is_refused(asked: dict[str, Any], said: str, store: Path) -> None:
    paths = asked.pop("paths", PATHS)
    with pytest.raises(InputError, match=said):
        sensitivity(mix(), paths, store=store, **asked)


def test_effects_and_shares_are_drawn_in_the_same_rows(found: MixSensitivity) -> None:
    effects, shares = sensitivity_figure(found).axes
    assert [label.get_text() for label in effects.get_yticklabels()] == [
        effect.range.path for effect in found.effects
    ]
    assert effects.get_ylim() == shares.get_ylim()


def test_failed_parts_slow_the_jobs_that_use_them(store: Path) -> None:
    faults = ["OST slow 5", "LNET router slow 2"]
    found = plan_faults(mix(), faults, numbers=[1], jobs=1, store=store)
    slow, routers = found.curves
    assert [point.number for point in slow.points] == [0, 1]
    now, one = (point.rate or 0.0 for point in slow.points)
    assert now > 3 * one  # OST 0 fails first, on which the job has its files
    assert routers.points[0].rate == now
    assert len(found.to_pandas()) == 2 * 2 * 2
    (axes,) = faults_figure(found).axes
    assert axes.get_xticks().tolist() == [0, 1]


def test_a_sentence_with_a_number_lets_that_part_fail_and_says_what_jobs_wait_for(
    store: Path,
) -> None:
    sentence = "FGR group 0 down from 0 s to 10 s"
    found = plan_faults(mix(), [sentence, "FGR group 99 down to 1 s"], jobs=1, store=store)
    curve, none = found.curves
    assert [point.number for point in curve.points] == [0, 1]
    said, story = faults_words(found)
    assert said.startswith(f"{sentence}: narrow +")
    assert " without it; mostly " in said
    assert story.startswith("At 0 s: ")
    lost = document_of(plan_note(found))["faults"][0]["points"][1]["seconds_lost"]
    before, after = (point.runs[0].mean for point in curve.points)
    assert lost == {"narrow": pytest.approx(after - before)}
    assert after > before + 1.0
    assert none.points[1].reason.endswith("right would be FGR group 0 to 13")


def test_parts_that_fail_lie_far_apart_and_all_come_in_the_end() -> None:
    assert _far_apart(56)[:4] == [0, 28, 14, 42]
    for count in range(1, 70):
        assert sorted(_far_apart(count)) == list(range(count))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"faults": ["OST sad"]}, "with the number of its part or without"),
        ({"faults": ["FGR group 2 down"]}, "it has no end; .* FGR group 2 down from 0.2 s to"),
        ({"faults": ["OST gone"]}, "it has no end"),
        ({"numbers": [57]}, "right would be 56 at most, all OSTs"),
        ({"numbers": [-1]}, "--failed -1"),
        ({"repeat": 0}, "repeat = 0"),
    ],
)
def test_what_cannot_fail_is_refused(asked: dict[str, Any], said: str, store: Path) -> None:
    with pytest.raises(InputError, match=said):
        plan_faults(mix(), **asked, store=store)


def test_a_fault_that_one_seed_feels_and_another_does_not_is_told_by_the_seed() -> None:
    def runs(*seconds: float) -> JobRuns:
        bounds = [Bound("write", "", "", 0.0, "", 0.0, seconds=each) for each in seconds]
        return JobRuns(tuple(replace(record(), bounds=(bound,)) for bound in bounds))

    assert lost_words(runs(1.0, 1.1), runs(88.0, 1.1)) == "+0 s to +87.0 s, by the seed"
    assert lost_words(runs(1.0, 1.1), runs(88.0, 88.1)) == "+87.0 s"
    assert not lost_words(runs(1.0, 1.1), runs(1.05, 1.1))
