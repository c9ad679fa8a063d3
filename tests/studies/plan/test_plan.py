"""Plans: what a change brings the mix and its jobs, what it costs, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_records import record

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.config.workload_mix import WorkloadMix, load_mix, read_mix
from xc40io.run.simulate import simulate
from xc40io.studies.plan.hardware import NAMES, all_hardware, doubled_and_halved, scaled
from xc40io.studies.plan.mix_runs import JobRuns, jobs_of_weights, throughput
from xc40io.studies.plan.plan import Plan, cost_of, plan
from xc40io.studies.plan.plan_answer import plan_answer
from xc40io.studies.plan.plan_why import felt
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

OWN = "-a POSIX -F -w -e -b 16m -t 4m"
ONE = "-a POSIX -w -e -b 64m -t 4m"


def mix(**fields: Any) -> WorkloadMix:
    """Two jobs: one over all OSTs, whose disks are slow, one that writes to a single OST.

    The second writes so much that one commit more or less, which is chance, is not felt.
    """
    jobs = [
        {"name": "wide", "weight": 3, "nodes": 8, "ppn": 7, "workload": {"ior": OWN}},
        {
            "name": "narrow",
            "nodes": 1,
            "ppn": 1,
            "striping": {"count": 1, "size": "4m", "offset": 0},
            "workload": {"ior": ONE},
        },
    ]
    slow = load_machine("theta").with_changes({"lustre.ost_write_rate": "50 MB/s"})
    return read_mix({"machine": slow, "jobs": jobs} | fields, "mine.yaml")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def done(store: Path) -> Plan:
    over = {"lustre.osts": "14,56", "machine.lnet.routers": [30, 60]}
    costs = {"lustre.osts": 1000.0, "lnet.routers": 10.0, "nodes.count": 1.0}
    return plan(mix(), over, costs=costs, jobs=1, store=store)


def test_all_combinations_and_each_change_alone_are_there_once(done: Plan) -> None:
    assert [dict(each.values) for each in done.configurations] == [
        {},
        {"lustre.osts": 14},
        {"lnet.routers": 60},
        {"lustre.osts": 14, "lnet.routers": 60},
    ]
    assert (done.simulated, done.recalled) == (16, 0)


def test_the_throughput_of_a_mix_is_all_bytes_over_all_seconds(done: Plan) -> None:
    results = [
        simulate(job.run.model_copy(update={"machine": done.mix.machine}))
        for job in done.mix.jobs
        if isinstance(job.run, Scenario)
    ]
    moved = [sum(row.bytes for row in result.rows) for result in results]
    taken = [
        sum(
            stretch.end - stretch.start
            for _, _, stretches in result.activities
            for stretch in stretches
        )
        for result in results
    ]
    expected = (3 * moved[0] + moved[1]) / (3 * taken[0] + taken[1])
    first = throughput(done.counts, done.present.runs, seed=0)
    assert first == pytest.approx(expected, rel=1e-12)
    harmonic = [1.0 / throughput(done.counts, done.present.runs, seed=seed) for seed in (0, 1)]
    assert done.present.rate == pytest.approx(2.0 / sum(harmonic), rel=1e-12)


def test_the_same_from_the_store_and_in_processes(done: Plan, store: Path) -> None:
    again = plan(done.mix, done.axes, costs=done.costs, jobs=2, store=store)
    assert (again.simulated, again.recalled) == (0, 16)
    assert again.configurations == done.configurations


def test_fewer_osts_hurt_the_job_that_uses_them_all_and_the_text_says_why(done: Plan) -> None:
    wide, narrow = felt(done, done.present, done.configurations[1])
    assert wide.ratio.value < 0.8
    assert wide.changed
    assert not narrow.changed
    assert "at the OSTs and their OSSs" in wide.said
    text = " ".join(text_of(plan_answer(done.mix, "", done)).split())
    assert "it slows wide" in text
    assert "no difference to narrow" in text
    assert "nodes.service_blades 54 -> 60, nodes.count 4392 -> 4368" in text


def test_what_follows_costs_whether_it_is_more_or_less(done: Plan) -> None:
    fewer, more = done.configurations[1:3]
    assert fewer.cost == -42 * 1000.0
    assert more.cost == 30 * 10.0 + 24 * 1.0  # the nodes that make way for service blades
    theta = load_machine("theta")
    quicker = theta.with_changes({"lustre.oss_rate": "8 GB/s"})
    assert cost_of(theta, quicker, ["lustre.oss_rate"], {"lustre.oss_rate": 5.0}) == 10.0
    assert cost_of(theta, quicker, ["lustre.oss_rate"], {"lustre.osts": 5.0}) is None


def test_of_what_is_far_apart_the_front_is_what_none_beats(done: Plan) -> None:
    for each in done.configurations:
        better = [
            other
            for other in done.configurations
            if (other.cost or 0) <= (each.cost or 0)
            and (other.rate or 0) >= (each.rate or 0) * 0.999  # less is not surely faster
            and (other.cost, other.rate) != (each.cost, each.rate)
        ]
        assert each.efficient == (not better)


def test_tables_for_programs(done: Plan) -> None:
    frame = done.to_pandas()
    assert len(frame) == 4 * 3
    mixed = frame[(frame["job"] == "mix") & (frame["lustre.osts"] == 56)]
    assert mixed["lnet.routers"].tolist() == [30, 60]
    document = document_of(plan_answer(done.mix, "", done))
    assert document["configurations"][1]["jobs"]["wide"]["bounds"][0]["phase"] == "write"


def test_weights_count_jobs_bytes_or_node_hours(store: Path) -> None:
    present = plan(mix(), {"lustre.osts": [14]}, jobs=1, store=store).present
    over = {"lustre.osts": [14]}
    by_bytes = plan(mix(weights="bytes"), over, jobs=1, store=store)
    moved = [n * runs.bytes for n, runs in zip(by_bytes.counts, present.runs, strict=True)]
    assert moved[0] / moved[1] == pytest.approx(3.0)
    by_hours = plan(mix(weights="node-hours"), over, jobs=1, store=store)
    used = [
        n * nodes * runs.mean
        for n, nodes, runs in zip(by_hours.counts, (8, 1), present.runs, strict=True)
    ]
    assert used[0] / used[1] == pytest.approx(3.0)


def test_jobs_at_the_same_time_count_from_the_first_begin_to_the_last_end(
    tmp_path: Path, store: Path
) -> None:
    (tmp_path / "both.yaml").write_text(
        "machine: theta\njobs:\n"
        "  - {name: a, nodes: 2, ppn: 2, workload: {ior: -w -b 4m -t 4m}}\n"
        "  - {name: b, start: 2 s, nodes: 1, ppn: 2, workload: {ior: -w -b 8m -t 4m}}\n",
        encoding="utf-8",
    )
    (tmp_path / "mix.yaml").write_text(
        "machine: theta\njobs: [{name: both, scenario: both.yaml}]\n", encoding="utf-8"
    )
    for known in (0, 4):
        found = plan(load_mix(tmp_path / "mix.yaml"), {"lustre.osts": [112]}, jobs=1, store=store)
        assert found.recalled == known
    (runs,) = found.present.runs
    assert runs.bytes == (2 * 2 * 4 + 2 * 8) << 20
    assert 2.0 < runs.mean < 4.0
    assert [bound.phase for bound in runs.bounds if bound.phase.startswith("job b")]


def test_what_is_bought_are_values_of_machines() -> None:
    cluster = Path(__file__).parents[2] / "support/cluster.yaml"
    names = {
        path
        for one in ("theta", "cori-knl", "titan", cluster)
        for path in load_machine(one).values()
    }
    assert set(NAMES) <= names


def test_without_values_each_kind_of_hardware_is_doubled_and_halved() -> None:
    axes = {axis.path: axis.values for axis in doubled_and_halved(mix())}
    assert axes["lustre.osts"] == (28, 112)
    assert axes["lnet.routers"] == (15, 60)
    assert axes["lustre.mds.mdts"] == (2,)
    assert axes["network.nic_rate"] == ("5.1 GB/s", "20.4 GB/s")
    assert axes["network.group_links"] == (24, 84)  # its blue ports do not hold 96
    assert not any(path.startswith("ssd") for path in axes)
    assert "ssd.write_rate" not in all_hardware(mix())
    local = {"name": "local", "nodes": 1, "ppn": 1, "target": "ssd", "workload": {"ior": "-w -F"}}
    assert "ssd.write_rate" in all_hardware(mix(jobs=[local]))
    assert scaled("lustre.osts", 1.13, load_machine("theta")) == 56


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"lustre.ost": [1]}, "--over lustre.ost=1: .* did you mean lustre.osts"),
        ({"lustre.osts": [57]}, "the nearest right counts: 56 and 70"),
        ({"network.group_links": [96]}, "--over network.group_links=96: network: .* ports hold"),
        ({"lustre.osts": [56]}, "the machine already has these values"),
        ({"lustre.osts": range(14, 14 * 200, 14), "lnet.routers": range(15, 90)}, "nearest right"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    over: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        plan(mix(), over, store=tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_configuration_that_a_job_cannot_run_on_is_named(store: Path) -> None:
    wide = {"name": "wide", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m -t 1m"}}
    jobs = [wide | {"striping": {"count": 48}}]
    found = plan(mix(jobs=jobs), {"lustre.osts": [28, 112]}, jobs=1, store=store)
    assert "wide: stripe count 48 is more than the 28" in found.configurations[1].reason
    assert "NOT RUN (lustre.osts=28): wide:" in text_of(plan_answer(found.mix, "", found))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"jobs": []}, "jobs = .*: right would be a list"),
        ({"weight": 3}, "there is no such field; did you mean weights"),
        ({"weights": "hours"}, "weights"),
        ({"machine": None}, "machine = None"),
        ({"costs": {"lustre.ost": 1}}, "costs: lustre.ost: there is no such value"),
        ({"costs": {"lustre.disk_seek": 1}}, "neither a count nor a rate"),
        (
            {"machine": "theta", "jobs": [{"name": "a", "scenario": "theta-twice-the-osts"}]},
            "it changes the machine",
        ),
        ({"jobs": [{"name": "a", "scenario": "nowhere"}]}, "not one of the scenarios"),
        ({"jobs": [{"name": "a", "start": "1 s"}]}, "jobs.0: start"),
        ({"jobs": [{"name": "a", "nodes": 1}]}, "jobs.0: ppn and workload are missing"),
        ({"jobs": [3]}, "jobs.0 = 3"),
    ],
)
def test_a_mix_that_is_wrong_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        mix(**fields)


def test_a_mix_needs_names_that_differ_and_jobs_that_move_bytes() -> None:
    job = {"name": "a", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m -t 1m"}}
    with pytest.raises(InputError, match="two jobs are called 'a'"):
        mix(jobs=[job, job])
    idle = JobRuns((replace(record(), phases=()),))
    with pytest.raises(InputError, match="wide: it moves no bytes"):
        jobs_of_weights(mix(), (idle, idle))


def test_the_mix_that_comes_with_xc40io_can_be_read() -> None:
    assert {one.name for one in load_mix("theta-mix").jobs} >= {"own-files", "shared-file"}
